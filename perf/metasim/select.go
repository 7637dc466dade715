package metasim

import (
	"fmt"

	"presage/perf/trace"
)

// Select returns the result for another sample whose stretches have all been
// simulated, so that one run serves many choices of points. Weights and Combine are
// those of the sample, and Simulated counts its instructions. Executed and Elapsed
// are unknown and therefore 0.
//
// If caches are emptied before each stretch, with WarmFixed or WarmNone, the
// results are those of a run of the sample alone, except that a stretch whose
// warm-up overlaps another simulated stretch begins with the contents left by that
// one.
func (s *Simulation) Select(sample Sample) (*Simulation, error) {
	if err := sample.check(); err != nil {
		return nil, err
	}
	at := make(map[trace.Window]int, len(s.Stretches))
	for i := range s.Stretches {
		at[s.Stretches[i].Window] = i
	}
	out := &Simulation{Sample: sample, Hierarchy: s.Hierarchy, Levels: s.Levels, Warnings: s.Warnings}
	for _, want := range sample.Stretches {
		i, ok := at[want.Window]
		if !ok {
			return nil, fmt.Errorf("metasim: sample %q: the simulation of %q has no stretch [%d, %d)", sample.Name, s.Sample.Name, want.From, want.To)
		}
		r := s.Stretches[i]
		r.Stretch = want
		out.Stretches = append(out.Stretches, r)
		out.Simulated += r.Instructions
	}
	return out, nil
}

// Union returns a sample that has every stretch of the samples once, for use with
// Select. Stretches of different samples must be equal or disjoint, as intervals of
// equal length are. The weights are equal and have no meaning.
func Union(name string, samples ...Sample) (Sample, error) {
	seen := make(map[trace.Window]bool)
	u := Sample{Name: name, Combine: ByAccess}
	for _, s := range samples {
		for _, p := range s.Stretches {
			if !seen[p.Window] {
				seen[p.Window] = true
				u.Stretches = append(u.Stretches, Stretch{Window: p.Window})
			}
		}
	}
	sortStretches(u.Stretches)
	for i := range u.Stretches {
		u.Stretches[i].Weight = 1 / float64(len(u.Stretches))
	}
	return u, u.check()
}

// Warming returns the number of warm-up instructions in a run of the sample
// under opt. It panics if opt is invalid.
func (s *Sample) Warming(opt SimulateOptions) uint64 {
	if err := opt.fill(); err != nil {
		panic(err)
	}
	var sum uint64
	for _, g := range segmentsOf(s, &opt) {
		if g.stretch < 0 {
			sum += g.To - g.From
		}
	}
	return sum
}
