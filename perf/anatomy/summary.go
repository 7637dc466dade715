package anatomy

import (
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/subject"
)

// Quantity is a number that sums up a program or a run.
type Quantity struct {
	Quantity string  `frame:"quantity"`
	Value    float64 `frame:"value"`
}

// Summary returns what static analysis found in a program, as one row for each
// quantity; with counts of a run (or nil) what was executed, and what placing
// counters on few edges saved.
func Summary(prog *subject.Program, counts *Counts) []Quantity {
	s := structureOf(prog, counts)
	rows := slices.Concat(ofGraph(s), ofReferences(s))
	rows = append(rows, quantity("edge_counters", s.Counters().Savings(nil, nil).Counters))
	if counts != nil {
		rows = append(rows,
			quantity("executed_instructions", int(counts.Instructions)),
			quantity("executed_edges", int(counts.Saved.EdgeIncrements)),
			quantity("executed_blocks", int(counts.Saved.BlockIncrements)),
			quantity("counter_increments", int(counts.Saved.Increments)))
	}
	return rows
}

func quantity(name string, value int) Quantity { return Quantity{name, float64(value)} }

// ofGraph sums up the control-flow graphs.
func ofGraph(s *subject.Structure) []Quantity {
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
	return []Quantity{
		quantity("routines", len(s.Graph.Routines)),
		quantity("instructions", instructions),
		quantity("blocks", blocks),
		quantity("edges", edges),
		quantity("object_code_loops", loops),
		quantity("source_loops", sourceLoops(s)),
		quantity("irreducible_loops", irreducible),
		quantity("open_indirect_jumps", open),
		quantity("gap_bytes", gaps),
	}
}

// ofReferences sums up the memory references.
func ofReferences(s *subject.Structure) []Quantity {
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
	return []Quantity{
		quantity("references", len(s.Access.All)),
		quantity("references_stack_traffic", stack),
		quantity("references_outside_graphs", outside),
		quantity("references_in_loops", inLoops),
		quantity("references_in_loops_regular", regular),
		quantity("reference_groups", len(s.Groups.Refs)),
		quantity("reference_sets", len(s.Groups.Sets)),
	}
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
