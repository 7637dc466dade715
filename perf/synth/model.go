package synth

import (
	"errors"
	"fmt"

	"presage/perf/pipeline"
	"presage/perf/sched"
	"presage/perf/trace"
)

// Model is what walks through a program are drawn by.
type Model struct {
	Frequencies *sched.Frequencies // of the program's graphs

	// Wrong is the share of each edge's executions that are mispredicted, by routine
	// and edge.
	Wrong [][]float64

	// Counted reports, by routine and loop, that the number of trips of a loop follows
	// from its own counter, so that it is about the same each time it is entered. The
	// trips of others are drawn one by one.
	Counted [][]bool

	// Access is what becomes of each of Program.Refs.
	Access []Access
}

// Access is what becomes of the accesses of a memory reference.
type Access struct {
	// Missed is the share of accesses that miss in each level, by index in the
	// configuration's Memory.Levels, and in those before: it does not increase, but for
	// levels that are passed by, whose share is 1. None: every access hits.
	Missed []float64

	// Steps is by how many of a level's blocks an access of a stream moves on, and Starts
	// where in a block the first one lies, in blocks. A level then misses at accesses that
	// enter one of its blocks, so that streams that enter blocks together miss together.
	// None: misses are spread evenly, each stream's for itself.
	Steps, Starts []float64

	// Ahead is how many cycles before the access a block was requested that misses in
	// each level, and is found in the next; none: not before.
	Ahead []int32

	// Walks are the misses of TLBs.
	Walks []Walk

	// Stream names references that walk through memory together, or that access one
	// block in each iteration: see pipeline.Outcome. Their misses are spread over their
	// accesses together. It is 0 for others; streams are numbered from 1.
	Stream int32

	// Enters says that each access of the stream's reference is to another block than the
	// one before, as a node of a list is.
	Enters bool

	// From are the stores whose values a load may get: the latest execution of one of
	// them that is Back executions ago.
	From []Source
}

// waits returns how many cycles an access waits for what it misses, in the mean, if nothing
// is done meanwhile.
func (a *Access) waits(c *pipeline.Memory) float64 {
	sum := 0.0
	for k, share := range a.Missed {
		next := c.Latency
		if k+1 < len(c.Levels) {
			next = c.Levels[k+1].Latency
		}
		sum += share * float64(next-c.Levels[k].Latency)
		if a.Ahead != nil {
			found := share // in the next level
			if k+1 < len(a.Missed) {
				found -= a.Missed[k+1]
			}
			sum -= found * float64(a.Ahead[k])
		}
	}
	for _, w := range a.Walks {
		sum += w.Share * float64(w.Cycles)
	}
	return max(0, sum)
}

// Walk is the share of accesses that miss in a TLB, and what each costs in cycles.
type Walk struct {
	Share  float64
	Cycles int32
}

// Source is a store, by index in Program.Refs, and how many of its executions a load
// goes back: 0 for the latest.
type Source struct {
	Store trace.RefID
	Back  int
}

// maxBack is how many executions of a store are remembered.
const maxBack = 8

// check returns an error unless the model is of the program.
func (m *Model) check(p *Program, c *pipeline.Config) error {
	if len(m.Access) != len(p.Refs) {
		return fmt.Errorf("synth: outcomes of %d references for a program of %d", len(m.Access), len(p.Refs))
	}
	routines := p.graph.Routines
	if m.Frequencies == nil || len(m.Frequencies.Routines) != len(routines) || len(m.Wrong) != len(routines) || len(m.Counted) != len(routines) {
		return fmt.Errorf("synth: the model is not of the program's %d routines", len(routines))
	}
	for i, r := range routines {
		f := &m.Frequencies.Routines[i]
		if len(f.Blocks) != len(r.Blocks) || len(f.Edges) != len(r.Edges) || len(m.Wrong[i]) != len(r.Edges) || len(m.Counted[i]) != len(r.Loops) {
			return fmt.Errorf("synth: the model of %s is not of its %d blocks, %d edges and %d loops", r.Name, len(r.Blocks), len(r.Edges), len(r.Loops))
		}
	}
	if !p.Covers(m.Frequencies) {
		return errors.New("synth: the model has frequencies of code that was not executed when the program was made")
	}
	for i := range m.Access {
		a := &m.Access[i]
		if len(a.Missed) > len(c.Memory.Levels) || a.Ahead != nil && len(a.Ahead) != len(a.Missed) || len(a.Steps) != len(a.Starts) || a.Steps != nil && len(a.Steps) != len(a.Missed) || a.Stream < 0 {
			return fmt.Errorf("synth: reference %d misses in %d levels of %d", i, len(a.Missed), len(c.Memory.Levels))
		}
		for _, s := range a.From {
			if int(s.Store) >= len(p.Refs) || s.Back < 0 {
				return fmt.Errorf("synth: reference %d gets its value from reference %d, %d executions ago", i, s.Store, s.Back)
			}
		}
	}
	return nil
}
