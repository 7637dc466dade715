package anatomy

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/cfg"
	"presage/perf/internal/num"
	"presage/perf/subject"
)

// EdgeOptions configures Edges.
type EdgeOptions struct {
	// Routine keeps the edges of one routine, named as in the table of
	// routines; empty: all.
	Routine string
	// ByFrequency sorts edges by how often they were taken, most first; the
	// default order is by routine, and by block in the routine.
	ByFrequency bool
	// Least prunes edges that were taken less often than this share of all
	// executions of edges; 0 keeps all that were taken.
	Least float64
}

// Edge is an edge of a control-flow graph that was taken in a run.
type Edge struct {
	Routine    string  `frame:"routine"`
	Loop       string  `frame:"loop"`    // the innermost one that holds its beginning; empty for none
	From       string  `frame:"from_pc"` // of the last instruction before it
	To         string  `frame:"to_pc"`   // of the first after it
	File       string  `frame:"file"`    // of From
	Line       int     `frame:"line"`    // of From
	Kind       string  `frame:"kind"`    // falls, taken, jumps, table, call returns, restarts
	Back       bool    `frame:"back"`    // it leads back to the header of a loop
	Executions uint64  `frame:"executions"`
	Share      float64 `frame:"share"` // of the executions of all edges, from 0 to 1
}

// Edges returns how often edges were taken (2004, section 2.3.1: sorted by
// location or by frequency, pruned at a significance threshold): a row for each
// that was.
func Edges(c *Counts, opt EdgeOptions) ([]Edge, error) {
	if opt.Least < 0 || opt.Least > 1 || opt.Least != opt.Least {
		return nil, fmt.Errorf("perf: a least share of %g: want 0 to 1", opt.Least)
	}
	of, err := choose(c.Program, c, opt.Routine)
	if err != nil {
		return nil, err
	}
	var total uint64
	for i := range c.Recovered.Routines {
		for _, n := range c.Recovered.Routines[i].Edges {
			total += n
		}
	}
	var rows []Edge
	for i := range of.Graph.Routines {
		if !of.has(i) {
			continue
		}
		for e, n := range c.Recovered.Routines[i].Edges {
			share := num.Ratio(float64(n), float64(total))
			if n > 0 && share >= opt.Least {
				row := newEdge(of.Structure, i, e)
				row.Executions, row.Share = n, share
				rows = append(rows, row)
			}
		}
	}
	if opt.ByFrequency {
		slices.SortStableFunc(rows, func(a, b Edge) int { return cmp.Compare(b.Executions, a.Executions) })
	}
	return rows, nil
}

func newEdge(s *subject.Structure, routine, e int) Edge {
	r := s.Graph.Routines[routine]
	edge := r.Edges[e]
	last := r.Blocks[edge.From].Last()
	row := Edge{
		Routine: s.Scopes.Scopes[s.OfRoutine[routine]].Path, Loop: loopOf(s, routine, edge.From),
		From: fmt.Sprintf("%#x", last.PC), To: fmt.Sprintf("%#x", r.Blocks[edge.To].PC()),
		Kind: edge.Kind.String(), Back: slices.ContainsFunc(r.Loops, func(l cfg.Loop) bool { return slices.Contains(l.Back, e) }),
	}
	if line, ok := s.Graph.File.LineAt(last.PC); ok {
		row.File, row.Line = line.File, line.Line
	}
	return row
}

// loopOf names the innermost loop that holds a block; empty for none.
func loopOf(s *subject.Structure, routine, block int) string {
	if scope := &s.Scopes.Scopes[s.Scopes.Of(routine, block)]; scope.Kind == cfg.LoopScope {
		return scope.Path
	}
	return ""
}
