package sched

import (
	"fmt"
	"math"

	"presage/perf/cfg"
)

// Frequencies are how often everything in a program is executed: counted in a run,
// or predicted by models for a size that was never run.
type Frequencies struct {
	Routines []RoutineFrequencies // of cfg.Program.Routines
}

// RoutineFrequencies are how often the blocks and edges of a routine are
// executed. Flow need not be conserved: inconsistent frequencies, such as those of
// edges modelled one by one, are accounted for block by block.
type RoutineFrequencies struct {
	Blocks []float64 // by block: how often it is begun
	Edges  []float64 // by edge: how often it is taken

	// Steps are what was executed of blocks beyond Blocks, see cfg.Step.
	Steps []Step
}

// Step says that the instructions of Block from Inst on are executed Delta
// times more often than those before; fewer times, if it is negative.
type Step struct {
	Block, Inst int
	Delta       float64
}

// Counted returns the frequencies that were counted in a run. They are exact up
// to 2^53.
func Counted(c *cfg.Counts) *Frequencies {
	f := &Frequencies{Routines: make([]RoutineFrequencies, len(c.Routines))}
	for i := range c.Routines {
		from, to := &c.Routines[i], &f.Routines[i]
		to.Blocks, to.Edges = floats(from.Blocks), floats(from.Edges)
		for _, s := range from.Steps {
			to.Steps = append(to.Steps, Step{s.Block, s.Inst, float64(s.Delta)})
		}
	}
	return f
}

// FromEdges returns the frequencies of a routine from those of its edges and, in
// the order of Routine.Entries, its entries:
//
//	block = Σ edges that arrive + entries, if it is one
func FromEdges(r *cfg.Routine, edges, entries []float64) RoutineFrequencies {
	f := RoutineFrequencies{Blocks: make([]float64, len(r.Blocks)), Edges: edges}
	for e, n := range edges {
		f.Blocks[r.Edges[e].To] += n
	}
	for i, n := range entries {
		f.Blocks[r.Entries[i]] += n
	}
	return f
}

// check returns an error if the frequencies are not of the program p.
func (f *Frequencies) check(p *cfg.Program) error {
	if len(f.Routines) != len(p.Routines) {
		return fmt.Errorf("sched: frequencies of %d routines for a program of %d: were they counted on this graph?", len(f.Routines), len(p.Routines))
	}
	for i, r := range p.Routines {
		if err := f.Routines[i].check(r); err != nil {
			return err
		}
	}
	return nil
}

func (f *RoutineFrequencies) check(r *cfg.Routine) error {
	if len(f.Blocks) != len(r.Blocks) || len(f.Edges) != len(r.Edges) {
		return fmt.Errorf("sched: %s: frequencies of %d blocks and %d edges for %d and %d: were they counted on this graph?",
			r.Name, len(f.Blocks), len(f.Edges), len(r.Blocks), len(r.Edges))
	}
	for b, n := range f.Blocks {
		if !(n >= 0) || math.IsInf(n, 0) {
			return fmt.Errorf("sched: %s: block at pc %#x has the frequency %g: want a number from 0", r.Name, r.Blocks[b].PC(), n)
		}
	}
	for e, n := range f.Edges {
		if !(n >= 0) || math.IsInf(n, 0) {
			return fmt.Errorf("sched: %s: edge from pc %#x has the frequency %g: want a number from 0", r.Name, r.Blocks[r.Edges[e].From].Last().PC, n)
		}
	}
	for _, s := range f.Steps {
		if s.Block < 0 || s.Block >= len(r.Blocks) || s.Inst < 1 || s.Inst >= len(r.Blocks[s.Block].Insts) {
			return fmt.Errorf("sched: %s: a step at instruction %d of block %d, which does not exist", r.Name, s.Inst, s.Block)
		}
	}
	return nil
}

func floats(counts []uint64) []float64 {
	list := make([]float64, len(counts))
	for i, n := range counts {
		list[i] = float64(n)
	}
	return list
}
