package metasim

import (
	"fmt"
)

// Rates are the hit rates of basic blocks in a simulation.
type Rates struct {
	Levels []string
	// Seen[b] reports whether block b accessed memory in the sample.
	Seen []bool
	// Hit[l][b] is the cumulative hit rate of block b at level l, from 0 to 1. It
	// is 1 if the block was not seen, as in the paper (section 5.2.2), or accesses
	// no memory.
	Hit [][]float64
	// Once[l] are misses at level l that the run has besides, whatever blocks' hit
	// rates: see WarmHistory. nil: none.
	Once []uint64
}

// RatesOf returns the hit rates of blocks, combined as the simulation's sample
// specifies.
func RatesOf(code *Code, s *Simulation) *Rates {
	n := len(code.Blocks)
	r := &Rates{Levels: s.Levels, Seen: make([]bool, n), Once: s.Once}
	weight := make([]float64, n) // denominators of the miss rates
	misses := make([][]float64, len(s.Levels))
	for l := range misses {
		misses[l] = make([]float64, n)
	}
	for i := range s.Stretches {
		t := &s.Stretches[i]
		for _, c := range t.Blocks {
			w := t.Weight // by stretch: weight · (1 - misses/accesses)
			by := 1 / float64(c.Accesses)
			if s.Sample.Combine == ByAccess {
				by = 1 / float64(max(t.Instructions, 1))
				w *= float64(c.Accesses) * by
			}
			r.Seen[c.Block] = true
			weight[c.Block] += w
			for l, m := range c.Misses {
				misses[l][c.Block] += t.Weight * float64(m) * by
			}
		}
	}
	for l := range s.Levels {
		hit := make([]float64, n)
		for b := range hit {
			hit[b] = 1
			if weight[b] > 0 {
				hit[b] = 1 - misses[l][b]/weight[b]
			}
		}
		r.Hit = append(r.Hit, hit)
	}
	return r
}

// ProgramRate is the hit rate of a program at one level: the mean of the rates
// of its blocks, weighted by how often each accesses memory in the full run.
type ProgramRate struct {
	Level string
	// Hit assumes that blocks that were not seen always hit, as the paper does.
	Hit float64
	// ByExecutions weights the blocks that access memory by their executions
	// instead, another reading of the paper's text (section 5.2.1). It is not the
	// fraction of accesses that hit.
	ByExecutions float64
	// Unseen is the fraction of the full run's accesses made by blocks that were
	// not seen in the sample. The hit rate is Lo if all of them miss, Hi if all
	// hit (equal to Hit), and Like if they hit at the same rate as the others.
	Unseen, Lo, Hi, Like float64
}

// Program returns the hit rates of the whole program by level, given the number of
// executions of each block.
func (r *Rates) Program(code *Code, executions []uint64) ([]ProgramRate, error) {
	if len(executions) != len(code.Blocks) || len(r.Seen) != len(code.Blocks) {
		return nil, fmt.Errorf("metasim: executions of %d blocks and rates of %d for a program of %d", len(executions), len(r.Seen), len(code.Blocks))
	}
	var list []ProgramRate
	for l, name := range r.Levels {
		p := ProgramRate{Level: name, Hit: 1, ByExecutions: 1, Lo: 1, Hi: 1, Like: 1}
		var all, seen, hits, executed, hitsByExecution float64
		for b, n := range executions {
			refs := code.Blocks[b].Refs
			if n == 0 || refs == 0 {
				continue
			}
			accesses := float64(n) * float64(refs)
			all += accesses
			executed += float64(n)
			hitsByExecution += float64(n) * r.Hit[l][b]
			if r.Seen[b] {
				seen += accesses
				hits += accesses * r.Hit[l][b]
			}
		}
		if r.Once != nil {
			hits -= min(hits, float64(r.Once[l]))
		}
		if all > 0 {
			p.Unseen = (all - seen) / all
			p.Lo, p.Hi = hits/all, (hits+(all-seen))/all
			p.Hit = p.Hi
			p.ByExecutions = hitsByExecution / executed
		}
		if seen > 0 {
			p.Like = hits / seen
		}
		list = append(list, p)
	}
	return list, nil
}
