package host

import (
	"maps"
	"slices"
)

// nest executes a loop with a fixed number of iterations in each round, and
// returns how many these were. Zero must be 0, unknown to the compiler: an
// iteration is then a chain of two operations on the count, and the one branch,
// which waits for them. So little runs beside the chain that another thread of
// the core hardly delays it, and a misprediction at the end delays all after it.
// A branch in every cycle would be too many: some cores treat them differently
// from the loops of programs.
//
//go:noinline
func nest(zero uint64, iterations, rounds int) uint64 {
	var i, total uint64
	for range rounds {
		for i < uint64(iterations) {
			i = (i ^ zero) + 1
		}
		total += i
		i -= uint64(iterations) // 0, but after the chain
	}
	return total
}

// Loops of up to maxIterations are tested, against one of endless iterations,
// of which the end no longer counts.
const (
	maxIterations = 256
	endless       = 1 << 16
)

// loops measures loops of increasing length.
func (c *calibration) loops() error {
	perOctave := 4
	if c.opt.Quick {
		perOctave = 2
	}
	of := func(iterations int) func(rounds int) {
		return integers(func(zero, _ uint64, rounds int) uint64 { return nest(zero, iterations, rounds) }, 0, 0)
	}
	for _, n := range sizes(2, maxIterations, 1, perOctave) {
		times, long, err := c.pairs(of(int(n)), of(endless))
		if err != nil {
			return err
		}
		if err := c.tick(); err != nil {
			return err
		}
		ends := make([]float64, len(times))
		for i := range ends {
			ends[i] = times[i] - long[i]*float64(n)/endless
		}
		c.Loops = append(c.Loops, Loop{int(n), sampleOf(times), sampleOf(ends)})
	}
	return nil
}

// endsCurve returns what loops take beyond their iterations, by their number,
// from the pass in which that was the steadiest.
func (p *Profile) endsCurve() (iterations []int, ns []float64) {
	steadiest := make(map[int]Sample)
	for _, l := range p.Loops {
		if s, ok := steadiest[l.Iterations]; !ok || l.Ends.Max-l.Ends.Min < s.Max-s.Min {
			steadiest[l.Iterations] = l.Ends
		}
	}
	iterations = slices.Sorted(maps.Keys(steadiest))
	for _, n := range iterations {
		ns = append(ns, steadiest[n].Median)
	}
	return iterations, ns
}

// findLoopReach finds the first loop that takes longer than its iterations by
// more than half a misprediction: its end is usually mispredicted. The next
// longer one must agree, as a single one may have been disturbed.
func (c *calibration) findLoopReach() {
	cost := c.Mispredict.Min
	if cost < minPenalty*c.Cycle.Min || len(c.Loops) == 0 {
		c.warn("what a wrong guess costs is too little for ends of loops to show whether they are foreseen")
		return
	}
	iterations, ns := c.endsCurve()
	wrong := func(i int) bool { return ns[i] > cost/2 }
	c.LoopReach = 1
	for i, n := range iterations {
		if wrong(i) && i+1 < len(iterations) && wrong(i+1) {
			c.LoopHi = n
			return
		}
		if !wrong(i) {
			c.LoopReach = n
		}
	}
}
