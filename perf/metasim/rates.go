package metasim

import (
	"cmp"
	"fmt"
	"slices"
)

// Rates are the hit rates of basic blocks in a simulation.
type Rates struct {
	Levels []string
	// Seen[l][b] reports whether block b accessed memory in the sample, with ByHistory as
	// far as that tells of level l.
	Seen [][]bool
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
	r := &Rates{Levels: s.Levels, Once: s.Once}
	for l := range s.Levels {
		weight, misses := make([]float64, n), make([]float64, n) // weight: denominators of the miss rates
		for i := range s.Stretches {
			t := &s.Stretches[i]
			counts, instructions := t.at(l, s.Sample.Combine)
			for _, c := range counts {
				w := t.Weight // by stretch: weight · (1 - misses/accesses)
				by := 1 / float64(c.accesses)
				if s.Sample.Combine != ByStretch {
					by = 1 / float64(max(instructions, 1))
					w *= float64(c.accesses) * by
				}
				weight[c.block] += w
				misses[c.block] += t.Weight * float64(c.misses) * by
			}
		}
		hit, seen := make([]float64, n), make([]bool, n)
		for b := range hit {
			hit[b], seen[b] = 1, weight[b] > 0
			if seen[b] {
				hit[b] = 1 - misses[b]/weight[b]
			}
		}
		r.Hit, r.Seen = append(r.Hit, hit), append(r.Seen, seen)
	}
	return r
}

// levelCounts are Counts at one level.
type levelCounts struct {
	block            int
	accesses, misses uint64
}

// at returns what a rule combines at a level, and of how many instructions it is.
func (t *StretchResult) at(level int, rule Combine) (list []levelCounts, instructions uint64) {
	add := func(all []Counts) {
		for _, c := range all {
			list = append(list, levelCounts{c.Block, c.Accesses, c.Misses[level]})
		}
	}
	add(t.Blocks)
	if rule != ByHistory || level == 0 {
		return list, t.Instructions
	}
	add(t.Like)
	slices.SortStableFunc(list, func(a, b levelCounts) int { return cmp.Compare(a.block, b.block) })
	sums := list[:0]
	for _, c := range list {
		if n := len(sums); n > 0 && sums[n-1].block == c.block {
			sums[n-1].accesses += c.accesses
			sums[n-1].misses += c.misses
		} else {
			sums = append(sums, c)
		}
	}
	return sums, t.Instructions + t.LikeInstructions
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
	if len(executions) != len(code.Blocks) || len(r.Hit) > 0 && len(r.Hit[0]) != len(code.Blocks) {
		return nil, fmt.Errorf("metasim: executions of %d blocks, or rates of others, for a program of %d", len(executions), len(code.Blocks))
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
			if r.Seen[l][b] {
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
