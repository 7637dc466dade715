package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/anatomy"
	"presage/perf/figure/diagram"
)

// Counts is how often every block and edge of a program was executed in a run,
// recovered from counters on the edges off a spanning tree (2004, section
// 2.2.1).
type Counts = anatomy.Counts

// Count runs prog at a point and counts how often every block and edge was
// executed. Code that static analysis did not foresee, such as handlers of
// exceptions, is learned of from a first run and counted in another. A program
// that fails, by exit status, panic or fault, is counted up to there, with a
// warning. The result is kept in the store.
func Count(ctx context.Context, prog *Program, point Point, opt RunOptions) (*Counts, error) {
	return anatomy.Count(ctx, prog, point, opt)
}

// EdgeOptions say which edges a table has, and in which order.
type EdgeOptions = anatomy.EdgeOptions

// EdgeCounts returns how often edges were taken (2004, section 2.3.1: sorted by
// location or by frequency, pruned at a significance threshold): a row for each
// that was.
//
//   - routine, loop (the innermost scope of where the edge begins, empty for
//     none)
//   - from_pc, to_pc: the last instruction before and the first after;
//     file, line of the former
//   - kind: falls, taken, jumps, table, call returns, restarts
//   - back: the edge leads back to the header of a loop
//   - executions, and their share of all edges' in the run
func EdgeCounts(c *Counts, opt EdgeOptions) (dataframe.DataFrame, error) {
	return anatomy.EdgeCounts(c, opt)
}

// DependenceOptions say which dependences a table is about.
type DependenceOptions = anatomy.DependenceOptions

// Dependences returns the dependence graph of a loop's body (2004, section 2.1;
// 2005, section 2.2): a row for each pair of instructions of which the second
// has to wait for the first. The loop is named as in the table of loops; of
// several object-code loops that come from it the first is taken, and of its
// body the blocks that are in no loop inside it, in the order of their
// addresses, as if each iteration went through all of them. Registers are
// renamed.
//
//   - from_pc, from, to_pc, to: the instructions
//   - kind: register, memory flow (store to load), memory anti (load to store),
//     memory output (store to store)
//   - distance_iterations: 0 within an iteration
//   - assumed: the formulas do not tell
func Dependences(prog *Program, loop string, opt DependenceOptions) (dataframe.DataFrame, error) {
	return anatomy.Dependences(prog, loop, opt)
}

// DrawOptions say what ControlFlow and LoopNest draw.
type DrawOptions = anatomy.DrawOptions

// ControlFlow returns the control-flow graph of a routine, named as in the table
// of routines, to be drawn by package diagram: blocks with address, line and
// executions, coloured by the instructions executed in them; loops as frames
// around them. Back edges are heavy; edges of indirect jumps, and of Go's jump
// back to a routine's beginning once the stack has grown, are dashed.
func ControlFlow(prog *Program, routine string, opt DrawOptions) (*diagram.Graph, error) {
	return anatomy.ControlFlow(prog, routine, opt)
}

// LoopNest returns the loop nest of a routine, or with "" of the whole program,
// to be drawn by package diagram: routines and the loops of the source in them,
// coloured by the instructions executed in each and all inside it.
func LoopNest(prog *Program, routine string, opt DrawOptions) (*diagram.Graph, error) {
	return anatomy.LoopNest(prog, routine, opt)
}

// CountSweep counts at each point, as Count does at one.
func CountSweep(ctx context.Context, prog *Program, points []Point, opt RunOptions) ([]*Counts, error) {
	return anatomy.CountSweep(ctx, prog, points, opt)
}

// Routines returns the program's routines, by ascending address: a row for
// each.
//
//   - routine: its name, with the file where several have the name
//   - file, first_line, last_line: of its own instructions, where known
//   - pc, size_bytes: where it is
//   - instructions, blocks, edges, loops, deepest_loop: of its control-flow
//     graph, the depth of its deepest nest of loops
//   - references: memory references in the graph
//   - open_jumps: indirect jumps with targets that are not known
//   - gap_bytes: bytes that control was not found to reach
func Routines(prog *Program) dataframe.DataFrame {
	return anatomy.Routines(prog)
}

// LoopOptions say which loops a table is about.
type LoopOptions = anatomy.LoopOptions

// Loops returns the loops of the source, each with those of the object code
// that come from it: a row for each, outer before inner; with Counts those that
// executed the most instructions first.
//
//   - loop: the scope's name; routine, depth (1 for an outermost loop)
//   - file, first_line, last_line; inlined_from: the routine that the loop was
//     written in, if that was inlined
//   - pc: of the header of the first object-code loop; object_loops: how many
//     there are
//   - blocks, instructions, references: in it and the loops inside it
//   - irreducible: can be entered in the middle
//
// With Counts: entries (times that control came to it from outside),
// iterations (executions of its header, less those that left the loop there),
// trip_count (iterations per entry), executed_instructions and their share of
// the program's.
func Loops(prog *Program, opt LoopOptions) (dataframe.DataFrame, error) {
	return anatomy.Loops(prog, opt)
}

// ReferenceOptions say which references a table is about.
type ReferenceOptions = anatomy.ReferenceOptions

// References returns what is known of memory references: a row for each, by
// ascending address, or most executed first.
//
//   - routine, loop (the innermost scope, empty for none), file, line, pc
//   - kind (load, store, read-modify-write), size_bytes, float
//   - first: formula of the first location accessed, in registers as they are
//     when the routine begins, memory cells, and values that instructions leave
//   - strides: by how much it changes with an iteration of each loop, from the
//     innermost out, separated by semicolons
//   - irregular, indirect: flags of any of the strides
//   - stack: what a reference to the stack is for; empty for data
//   - group, set: references of one group share a histogram; groups of one
//     set come from one loop of the source and are added up after a run
//
// With Counts: accesses.
func References(prog *Program, opt ReferenceOptions) (dataframe.DataFrame, error) {
	return anatomy.References(prog, opt)
}

// GroupSizes returns how the references fall into groups (Figure 3 of the 2005
// paper): a row for each size of a group that occurs, with the number of
// groups of that size. The traffic of the stack is left out.
//
//   - aggregation: none (each reference for itself), loop (one histogram each
//     at run time), source loop (added up after the run)
//   - references: in a group; groups: that have so many
func GroupSizes(prog *Program) dataframe.DataFrame {
	return anatomy.GroupSizes(prog)
}

// MixOptions say how instructions are counted.
type MixOptions = anatomy.MixOptions

// InstructionMix counts instructions by class, loads and stores by width: a
// row for each scope and class that occurs in it.
//
//   - scope, class, group (integer, fp, load, store, branch, other)
//   - size_bytes: of the memory operand, 0 for none
//   - instructions: in the code
//
// With Counts: executed_instructions, and their share of the scope's.
func InstructionMix(prog *Program, opt MixOptions) (dataframe.DataFrame, error) {
	return anatomy.InstructionMix(prog, opt)
}

// Strides is how far the stride formulas of a program agree with what it did in
// a run.
type Strides = anatomy.Strides

// CheckStrides runs prog with arguments, once to see where its indirect jumps
// lead, and once to compare, for every memory reference in a loop, the change of
// its address from one iteration to the next with the formula of its stride, for
// each loop that holds it. RunOptions.Args is not used; nothing is stored. A
// program that fails is compared up to there, with a warning.
func CheckStrides(ctx context.Context, prog *Program, args []string, opt RunOptions) (*Strides, error) {
	return anatomy.CheckStrides(ctx, prog, args, opt)
}

// Summary returns what static analysis found in a program, as one row for each
// quantity; with counts of a run (or nil) what was executed, and what placing
// counters on few edges saved.
//
//   - quantity, value
func Summary(prog *Program, counts *Counts) dataframe.DataFrame {
	return anatomy.Summary(prog, counts)
}
