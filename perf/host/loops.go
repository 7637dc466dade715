package host

import (
	"maps"
	"math"
	"slices"
)

// nest executes a loop with a fixed number of iterations in each round. An
// iteration is four independent additions, the count, and the one branch: few
// enough that a misprediction at the end shows among many iterations, and
// enough that the branch does not execute in every cycle, which some cores
// treat differently from the loops of programs.
//
//go:noinline
func nest(y uint64, iterations, rounds int) uint64 {
	a, b, c, d := y, y+1, y+2, y+3
	for range rounds {
		for range iterations {
			a += y
			b ^= y
			c += y
			d ^= y
		}
	}
	return a + b + c + d
}

// maxIterations is the longest loop tested.
const maxIterations = 256

// loops measures loops of increasing length.
func (c *calibration) loops() error {
	perOctave := 4
	if c.opt.Quick {
		perOctave = 2
	}
	for _, n := range sizes(2, maxIterations, 1, perOctave) {
		s, err := c.timed(1, integers(func(_, y uint64, rounds int) uint64 { return nest(y, int(n), rounds) }, 0, oddInteger))
		if err != nil {
			return err
		}
		if err := c.tick(); err != nil {
			return err
		}
		c.Loops = append(c.Loops, Loop{int(n), s})
	}
	return nil
}

// loopsCurve returns the least times of all passes by number of iterations.
func (p *Profile) loopsCurve() (iterations []int, ns []float64) {
	least := make(map[int]float64)
	for _, l := range p.Loops {
		if v, ok := least[l.Iterations]; !ok || l.Execution.Min < v {
			least[l.Iterations] = l.Execution.Min
		}
	}
	iterations = slices.Sorted(maps.Keys(least))
	for _, n := range iterations {
		ns = append(ns, least[n])
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
	iterations, ns := c.loopsCurve()
	each := math.Inf(1) // iteration: a loop's beginning and end only add to it
	for i, n := range iterations {
		each = min(each, ns[i]/float64(n))
	}
	wrong := func(i int) bool { return ns[i]-each*float64(iterations[i]) > cost/2 }
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
