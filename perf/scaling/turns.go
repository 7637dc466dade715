package scaling

import (
	"cmp"
	"math"
	"slices"

	"presage/perf/fit"
)

const (
	// fewestOfRegime is the least number of sizes that tell how memory grows.
	fewestOfRegime = 3
	// leastJump is the least part of the blocks of a size that counts as a jump: what is
	// less may be chance.
	leastJump = 0.02
)

// jump is where the number of blocks touched leaps, since memory is had in another way
// from there on: what malloc mapped is fresh each time, and what the heap has is used
// again.
type jump struct {
	at     float64   // mean parameter
	below  bool      // those below it differ, and not those from it on
	blocks []float64 // of each block size: the program touches so many more there
}

// jumpsOf finds the jumps between sizes that had memory in different ways. The longest
// stretch of sizes with one way is the base, whose functions foretell the nearest size
// on either side; what that has more is the jump, and so on outwards. There are none
// where no stretch is long enough to be continued.
func jumpsOf(sizes []fit.Point, blockBytes []uint64, blocks [][]float64, ways []uint64) ([]jump, error) {
	if ways == nil || !slices.ContainsFunc(ways, func(w uint64) bool { return w != ways[0] }) {
		return nil, nil
	}
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(meanParameter(sizes[a]), meanParameter(sizes[b]))
	})
	w := &widening{sizes: pick(sizes, order), blockBytes: blockBytes, ways: pick(ways, order)}
	for _, b := range blocks {
		w.blocks = append(w.blocks, pick(b, order))
	}
	lo, hi := w.longest()
	if hi-lo < fewestOfRegime {
		return nil, nil
	}
	return w.outwards(lo, hi)
}

// pick returns the elements of s at some indices.
func pick[T any](s []T, at []int) []T {
	out := make([]T, len(at))
	for i, k := range at {
		out[i] = s[k]
	}
	return out
}

// widening are the sizes in ascending order, and what is known of the jumps so far: the
// blocks of sizes within are as if there were none.
type widening struct {
	sizes      []fit.Point
	blockBytes []uint64
	ways       []uint64
	blocks     [][]float64 // by block size and size; changed
}

// longest returns the longest stretch of sizes of one way, of several the one with the
// largest sizes.
func (w *widening) longest() (lo, hi int) {
	for i := 0; i < len(w.ways); {
		end := i + 1
		for end < len(w.ways) && w.ways[end] == w.ways[i] {
			end++
		}
		if end-i >= hi-lo {
			lo, hi = i, end
		}
		i = end
	}
	return lo, hi
}

// outwards finds the jumps at both ends of a stretch, until it has all sizes.
func (w *widening) outwards(lo, hi int) ([]jump, error) {
	var jumps []jump
	for hi < len(w.ways) {
		if w.ways[hi] != w.ways[hi-1] {
			more, err := w.beyond(lo, hi, hi)
			if err != nil {
				return nil, err
			}
			w.lower(hi, len(w.ways), more)
			jumps = append(jumps, w.jump(hi, false, more))
		}
		hi++
	}
	for lo > 0 {
		if w.ways[lo-1] != w.ways[lo] {
			more, err := w.beyond(lo, hi, lo-1)
			if err != nil {
				return nil, err
			}
			w.lower(0, lo, more)
			jumps = append(jumps, w.jump(lo, true, more))
		}
		lo--
	}
	return jumps, nil
}

// beyond returns by how many blocks of each size the memory touched at a size is more
// than what that at the sizes from lo on and below hi foretells, or less if it is below
// them: with the size comes fresh memory, and what falls is no leap.
func (w *widening) beyond(lo, hi, at int) ([]float64, error) {
	c := &counter{sizes: w.sizes[lo:hi]}
	more := make([]float64, len(w.blocks))
	for i, b := range w.blocks {
		f, err := c.fit(b[lo:hi], w.blockBytes[i])
		if err != nil {
			return nil, err
		}
		off := b[at] - f.Eval(w.sizes[at])
		if up := (off > 0) == (at >= hi); up && math.Abs(off) > leastJump*b[at] {
			more[i] = off
		}
	}
	return more, nil
}

// lower takes blocks from those of some sizes.
func (w *widening) lower(lo, hi int, by []float64) {
	for i, b := range w.blocks {
		for k := lo; k < hi; k++ {
			b[k] -= by[i]
		}
	}
}

// jump is the one between the size before at and that one.
func (w *widening) jump(at int, below bool, more []float64) jump {
	return jump{math.Sqrt(meanParameter(w.sizes[at-1]) * meanParameter(w.sizes[at])), below, more}
}

// jumped returns how many more blocks of the i-th size the program touches at p than
// the functions say.
func (f *Footprint) jumped(i int, p fit.Point) float64 {
	sum, at := 0.0, meanParameter(p)
	for _, j := range f.jumps {
		if (at < j.at) == j.below {
			sum += j.blocks[i]
		}
	}
	return sum
}
