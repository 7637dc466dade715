package anatomy

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/cfg"
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// LoopOptions configures Loops.
type LoopOptions struct {
	// Routine keeps the loops of one routine, named as in the table of
	// routines; empty: all.
	Routine string
	// Counts of a run add how often loops were executed; may be nil.
	Counts *Counts
}

// Loop is a loop of the source, with the loops of the object code that come from
// it.
type Loop struct {
	Loop         string `frame:"loop"` // name of the scope
	Routine      string `frame:"routine"`
	Depth        int    `frame:"depth"` // 1 for an outermost loop
	File         string `frame:"file"`
	First        int    `frame:"first_line"`
	Last         int    `frame:"last_line"`
	Inlined      string `frame:"inlined_from"` // the routine that it was written in, if that was inlined
	PC           string `frame:"pc"`           // of the header of the first object-code loop
	ObjectLoops  int    `frame:"object_loops"`
	Blocks       int    `frame:"blocks"`       // in it and the loops inside it
	Instructions int    `frame:"instructions"` // likewise
	References   int    `frame:"references"`   // likewise
	Irreducible  bool   `frame:"irreducible"`  // control can enter it in the middle

	// Of the run that was counted; 0 without counts.
	Entries    float64 `frame:"entries"`               // from outside
	Iterations float64 `frame:"iterations"`            // executions of the header, except those that left the loop there
	TripCount  float64 `frame:"trip_count"`            // iterations per entry
	Executed   float64 `frame:"executed_instructions"` // in it and the loops inside it
	Share      float64 `frame:"share"`                 // of the program's executed instructions, from 0 to 1

	scope int
}

// Loops returns the loops of the source, outer before inner; with counts those
// that executed the most instructions first.
func Loops(prog *subject.Program, opt LoopOptions) ([]Loop, error) {
	of, err := choose(prog, opt.Counts, opt.Routine)
	if err != nil {
		return nil, err
	}
	references := referencesByScope(of.Structure)
	var rows []Loop
	for i := range of.Scopes.Scopes {
		if scope := &of.Scopes.Scopes[i]; scope.Kind == cfg.LoopScope && of.has(scope.Routine) {
			row := newLoop(of.Structure, i)
			row.References = references[i]
			rows = append(rows, row)
		}
	}
	if opt.Counts != nil {
		opt.Counts.addTo(rows)
	}
	return rows, nil
}

func newLoop(s *subject.Structure, i int) Loop {
	scope := &s.Scopes.Scopes[i]
	r := s.Graph.Routines[scope.Routine]
	row := Loop{
		Loop: scope.Path, Routine: s.Scopes.Scopes[s.OfRoutine[scope.Routine]].Path, Depth: scope.Depth,
		File: scope.Source.File, First: scope.Source.First, Last: scope.Source.Last,
		PC:          fmt.Sprintf("%#x", r.Blocks[r.Loops[scope.Loops[0]].Header].PC()),
		ObjectLoops: len(scope.Loops), scope: i,
	}
	if n := len(scope.Inlined); n > 0 {
		row.Inlined = scope.Inlined[n-1].Routine
	}
	for _, l := range scope.Loops {
		row.Irreducible = row.Irreducible || r.Loops[l].Irreducible
		row.Blocks += len(r.Loops[l].Blocks)
		for _, b := range r.Loops[l].Blocks {
			row.Instructions += len(r.Blocks[b].Insts)
		}
	}
	return row
}

// referencesByScope counts the references in each scope and those inside it.
func referencesByScope(s *subject.Structure) []int {
	n := make([]int, len(s.Scopes.Scopes))
	for i := range s.Access.All {
		if ref := &s.Access.All[i]; ref.InGraph {
			n[s.Scopes.Of(ref.RoutineIndex, ref.Block)]++
		}
	}
	for i := len(n) - 1; i > 0; i-- {
		n[s.Scopes.Scopes[i].Parent] += n[i]
	}
	return n
}

// addTo adds to loops how often they were executed, and sorts them by that.
func (c *Counts) addTo(rows []Loop) {
	executed := c.byScope()
	for i := range rows {
		row := &rows[i]
		entries, iterations := c.trips(row.scope)
		row.Entries, row.Iterations = float64(entries), float64(iterations)
		row.TripCount = num.Ratio(row.Iterations, row.Entries)
		row.Executed = float64(executed[row.scope])
		row.Share = num.Ratio(row.Executed, float64(executed[0]))
	}
	slices.SortStableFunc(rows, func(a, b Loop) int { return cmp.Compare(b.Executed, a.Executed) })
}
