package anatomy

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/frame"
	"presage/perf/subject"
)

// Summary returns what static analysis found in a program, as one row for each
// quantity; with counts of a run (or nil) what was executed, and what placing
// counters on few edges saved.
//
//   - quantity, value
func Summary(prog *subject.Program, counts *Counts) dataframe.DataFrame {
	type row struct {
		Quantity string  `frame:"quantity"`
		Value    float64 `frame:"value"`
	}
	s := prog.Structure()
	if counts != nil {
		s = counts.structure
	}
	var rows []row
	put := func(quantity string, value int) { rows = append(rows, row{quantity, float64(value)}) }

	var instructions, blocks, edges, open, gaps, loops, irreducible int
	for _, r := range s.Graph.Routines {
		blocks += len(r.Blocks)
		edges += len(r.Edges)
		open += len(r.Open)
		for b := range r.Blocks {
			instructions += len(r.Blocks[b].Insts)
		}
		for _, g := range r.Gaps {
			gaps += int(g.To - g.From)
		}
		for _, l := range r.Loops {
			if loops++; l.Irreducible {
				irreducible++
			}
		}
	}
	put("routines", len(s.Graph.Routines))
	put("instructions", instructions)
	put("blocks", blocks)
	put("edges", edges)
	put("object_code_loops", loops)
	put("source_loops", sourceLoops(s))
	put("irreducible_loops", irreducible)
	put("open_indirect_jumps", open)
	put("gap_bytes", gaps)

	var stack, inLoops, regular, outside int
	for i := range s.Access.All {
		ref := &s.Access.All[i]
		switch {
		case !ref.InGraph:
			outside++
		case ref.Stack != access.NotStack:
			stack++
		case ref.Loop >= 0:
			if inLoops++; ref.Regular() {
				regular++
			}
		}
	}
	put("references", len(s.Access.All))
	put("references_stack_traffic", stack)
	put("references_outside_graphs", outside)
	put("references_in_loops", inLoops)
	put("references_in_loops_regular", regular)
	put("reference_groups", len(s.Groups.Refs))
	put("reference_sets", len(s.Groups.Sets))
	put("edge_counters", cfg.PlaceCounters(s.Graph).Savings(nil, nil).Counters)
	if counts != nil {
		put("executed_instructions", int(counts.Instructions))
		put("executed_edges", int(counts.Saved.EdgeIncrements))
		put("executed_blocks", int(counts.Saved.BlockIncrements))
		put("counter_increments", int(counts.Saved.Increments))
	}
	return frame.Of(rows)
}

func sourceLoops(s *subject.Structure) int {
	n := 0
	for i := range s.Scopes.Scopes {
		if s.Scopes.Scopes[i].Kind == cfg.LoopScope {
			n++
		}
	}
	return n
}
