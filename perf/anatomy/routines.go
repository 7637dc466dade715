package anatomy

import (
	"fmt"

	"presage/perf/cfg"
	"presage/perf/subject"
)

// Routine is a routine of a program.
type Routine struct {
	Routine      string `frame:"routine"`    // its name, with the file where several have the name
	File         string `frame:"file"`       // of its own instructions, where known
	First        int    `frame:"first_line"` // of them
	Last         int    `frame:"last_line"`  // of them
	PC           string `frame:"pc"`         // its address
	Size         uint64 `frame:"size_bytes"`
	Instructions int    `frame:"instructions"` // in its control-flow graph, as all that follows
	Blocks       int    `frame:"blocks"`
	Edges        int    `frame:"edges"`
	Loops        int    `frame:"loops"`
	Deepest      int    `frame:"deepest_loop"` // depth of its deepest nest of loops
	References   int    `frame:"references"`   // to memory
	Open         int    `frame:"open_jumps"`   // indirect jumps whose targets are not all known
	Gap          uint64 `frame:"gap_bytes"`    // that control was not found to reach
}

// Routines returns the program's routines, by ascending address.
func Routines(prog *subject.Program) []Routine {
	s := prog.Structure()
	references := make([]int, len(s.Graph.Routines))
	for i := range s.Access.All {
		if ref := &s.Access.All[i]; ref.InGraph {
			references[ref.RoutineIndex]++
		}
	}
	var rows []Routine
	for i := range s.Scopes.Scopes {
		scope := &s.Scopes.Scopes[i]
		if scope.Kind != cfg.RoutineScope {
			continue
		}
		r := s.Graph.Routines[scope.Routine]
		row := Routine{
			Routine: scope.Path, File: scope.Source.File, First: scope.Source.First, Last: scope.Source.Last,
			PC: fmt.Sprintf("%#x", r.Addr), Size: r.Size, Blocks: len(r.Blocks), Edges: len(r.Edges), Loops: len(r.Loops),
			References: references[scope.Routine], Open: len(r.Open),
		}
		for b := range r.Blocks {
			row.Instructions += len(r.Blocks[b].Insts)
		}
		for _, l := range r.Loops {
			row.Deepest = max(row.Deepest, l.Depth)
		}
		for _, g := range r.Gaps {
			row.Gap += g.To - g.From
		}
		rows = append(rows, row)
	}
	return rows
}

// chosen is what a table is about.
type chosen struct {
	*subject.Structure
	only int // index of the one routine; -1: all
}

// choose returns the structure of the counts, or without any that of the
// program, and the routine called name, or without a name all of them.
func choose(p *subject.Program, counts *Counts, name string) (chosen, error) {
	of := chosen{structureOf(p, counts), -1}
	if name == "" {
		return of, nil
	}
	var err error
	of.only, err = of.Routine(name)
	return of, err
}

// has reports whether a routine is chosen.
func (c *chosen) has(routine int) bool { return c.only < 0 || c.only == routine }

// structureOf returns the structure that counts completed, or without any that
// of the program.
func structureOf(p *subject.Program, counts *Counts) *subject.Structure {
	if counts != nil {
		return counts.structure
	}
	return p.Structure()
}
