package host

import (
	"maps"
	"math/rand/v2"
	"slices"
)

// Patterns of minPattern directions and more, up to maxPattern, are tried; of each, so
// many repetitions are executed before it is timed.
const (
	minPattern      = 1 << 9
	maxPattern      = 1 << 18
	patternsLearned = 48
)

// Pattern is the time of a branch whose directions, drawn at random once, come again.
type Pattern struct {
	Directions int
	Branch     Sample // beyond what one takes that always goes the same way
}

// follow executes one branch per round whose direction a pattern says, beginning at a
// place in it. Both sides are loads, as in guess, and the next branch has the pattern's
// next direction, of whatever the last one was.
//
//go:noinline
func follow(w *words, pattern []uint8, at, rounds int) (next int, sum uint64) {
	var a, b uint64
	for range rounds {
		if pattern[at] != 0 {
			a += w[0]
		} else {
			b += w[1]
		}
		if at++; at == len(pattern) {
			at = 0
		}
	}
	return at, a ^ b
}

// patterns measures patterns of increasing length.
func (c *calibration) patterns() error {
	var w words
	same := make([]uint8, minPattern)
	rng := rand.New(rand.NewPCG(c.opt.Seed, 2))
	for n := minPattern; n <= maxPattern; n *= 2 {
		pattern := make([]uint8, n)
		for i := range pattern {
			pattern[i] = uint8(rng.IntN(2))
		}
		at, steady := 0, 0
		body := func(rounds int) { at, _ = follow(&w, pattern, at, rounds) }
		body(patternsLearned * n)
		times, least, err := c.pairs(body, func(rounds int) { steady, _ = follow(&w, same, steady, rounds) })
		if err != nil {
			return err
		}
		for i := range times {
			times[i] -= least[i]
		}
		c.Patterns = append(c.Patterns, Pattern{n, sampleOf(times)})
		if err := c.tick(); err != nil {
			return err
		}
	}
	return nil
}

// learnedShare is the share of the time of branches that are guessed at random, up to
// which a pattern counts as learned.
const learnedShare = 0.25

// findPatternReach finds the longest pattern whose branches are seldom guessed wrong, in
// the steadiest pass of each length. The next two must be slower, as a single one may have
// been disturbed.
func (c *calibration) findPatternReach() {
	cost := c.Mispredict.Min
	if cost < minPenalty*c.Cycle.Min {
		return // a warning says that ends of loops do not show, either
	}
	steadiest := make(map[int]Sample)
	for _, p := range c.Patterns {
		if s, ok := steadiest[p.Directions]; !ok || p.Branch.Max-p.Branch.Min < s.Max-s.Min {
			steadiest[p.Directions] = p.Branch
		}
	}
	learned := func(directions int) bool { return steadiest[directions].Median < learnedShare*cost/2 }
	for _, n := range slices.Sorted(maps.Keys(steadiest)) {
		switch {
		case learned(n):
			c.PatternReach, c.PatternHi = n, 0
		case c.PatternHi == 0:
			c.PatternHi = n
		default:
			return
		}
	}
}
