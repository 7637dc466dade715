package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/anatomy"
	"presage/perf/figure/graph"
)

// Counts is how often every block and edge of a program was executed in a run,
// recovered from counters on the edges off a spanning tree (2004, section
// 2.2.1).
type Counts = anatomy.Counts

// Count runs prog at a point and counts how often every block and edge was
// executed. A program that fails, by exit status, panic or fault, is counted up
// to there, with a warning. The result is kept in the store.
func Count(ctx context.Context, prog *Program, point Point, opt RunOptions) (*Counts, error) {
	return anatomy.Count(ctx, prog, point, opt)
}

// CountSweep counts at each point, as Count does at one.
func CountSweep(ctx context.Context, prog *Program, points []Point, opt RunOptions) ([]*Counts, error) {
	return anatomy.CountSweep(ctx, prog, points, opt)
}

// LoopOptions configures Loops.
type LoopOptions = anatomy.LoopOptions

// Loops returns a row for each loop of the source, with the number of loops that
// the compiler made of it, outer before inner; with Counts, by executed
// instructions, most first. anatomy.Loop describes the columns; without Counts
// the table has none of the columns about a run.
func Loops(prog *Program, opt LoopOptions) (dataframe.DataFrame, error) {
	df, err := table(anatomy.Loops(prog, opt))
	if err != nil || opt.Counts != nil {
		return df, err
	}
	return df.Drop([]string{"entries", "iterations", "trip_count", "executed_instructions", "share"}), nil
}

// ReferenceOptions configures References.
type ReferenceOptions = anatomy.ReferenceOptions

// References describes the memory references: formulas of the first location
// accessed and of strides, and groups. A row for each, by ascending address,
// or with Counts by accesses, most first; anatomy.Reference describes the columns.
// Without Counts there is no column of accesses, and without Observed
// (anatomy.ObserveStrides) none of strides that a run showed.
func References(prog *Program, opt ReferenceOptions) (dataframe.DataFrame, error) {
	df, err := table(anatomy.References(prog, opt))
	if err != nil {
		return df, err
	}
	var unknown []string
	if opt.Counts == nil {
		unknown = append(unknown, "accesses")
	}
	if opt.Observed == nil {
		unknown = append(unknown, "strides_from", "observed_stride_bytes", "observed_share")
	}
	if unknown == nil {
		return df, nil
	}
	return df.Drop(unknown), nil
}

// MixOptions configures InstructionMix.
type MixOptions = anatomy.MixOptions

// InstructionMix counts instructions by class, loads and stores by width: a row
// for each scope and class that occurs in it. anatomy.Class describes the columns;
// without Counts the table has none of the columns about a run.
func InstructionMix(prog *Program, opt MixOptions) (dataframe.DataFrame, error) {
	df, err := table(anatomy.InstructionMix(prog, opt))
	if err != nil || opt.Counts != nil {
		return df, err
	}
	return df.Drop([]string{"executed_instructions", "share"}), nil
}

// DrawOptions configures ControlFlow.
type DrawOptions = anatomy.DrawOptions

// ControlFlow returns the control-flow graph of a routine, named as in the table
// of routines, to be drawn by package diagram: blocks with address, line and
// executions, coloured by the instructions executed in them; loops as frames
// around them. Back edges are heavy; edges of indirect jumps, and of Go's jump
// back to a routine's beginning once the stack has grown, are dashed.
func ControlFlow(prog *Program, routine string, opt DrawOptions) (*graph.Graph, error) {
	return anatomy.ControlFlow(prog, routine, opt)
}
