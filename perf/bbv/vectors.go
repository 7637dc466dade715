package bbv

import (
	"fmt"
	"math"
	"slices"
)

// Vectors holds the basic-block vectors of a run's intervals, in order of time,
// as sparse rows that share memory.
type Vectors struct {
	// Starts[i] is the number of instructions executed before interval i.
	Starts []uint64
	// Lengths[i] is the number of instructions executed in interval i. It can
	// exceed the sum of the vector's elements if code outside the blocks was
	// executed, and differ slightly where a fault ended a block.
	Lengths []uint64

	// The elements of interval i are those from First[i] to First[i+1], by
	// ascending block without repeats.
	First        []int
	Blocks       []uint32 // dense from 0; a .bb file counts from 1
	Instructions []uint64 // executed in the block; not 0
}

// Len returns the number of intervals.
func (v *Vectors) Len() int { return len(v.Lengths) }

// Interval returns the vector of an interval: blocks and the instructions
// executed in each.
func (v *Vectors) Interval(i int) (blocks []uint32, instructions []uint64) {
	from, to := v.First[i], v.First[i+1]
	return v.Blocks[from:to:to], v.Instructions[from:to:to]
}

// Total returns the number of instructions executed in all intervals.
func (v *Vectors) Total() uint64 {
	var sum uint64
	for _, n := range v.Lengths {
		sum += n
	}
	return sum
}

// Check returns an error if v is inconsistent.
func (v *Vectors) Check() error {
	n := len(v.Lengths)
	if len(v.Starts) != n || len(v.First) != n+1 || len(v.Blocks) != len(v.Instructions) || v.First[0] != 0 || v.First[n] != len(v.Blocks) {
		return fmt.Errorf("bbv: %d starts, %d lengths, %d firsts, %d blocks and %d counts do not fit together",
			len(v.Starts), n, len(v.First), len(v.Blocks), len(v.Instructions))
	}
	var sum uint64
	for i := range n {
		if v.First[i+1] < v.First[i] {
			return fmt.Errorf("bbv: interval %d begins at element %d and ends at %d", i, v.First[i], v.First[i+1])
		}
		if v.Starts[i] != v.Starts[0]+sum {
			return fmt.Errorf("bbv: interval %d starts at instruction %d, the one before ended at %d", i, v.Starts[i], v.Starts[0]+sum)
		}
		if v.Lengths[i] == 0 || v.Lengths[i] > math.MaxUint64-sum {
			return fmt.Errorf("bbv: interval %d has %d instructions", i, v.Lengths[i])
		}
		sum += v.Lengths[i]
		blocks, counts := v.Interval(i)
		for j := range blocks {
			if counts[j] == 0 || j > 0 && blocks[j] <= blocks[j-1] {
				return fmt.Errorf("bbv: interval %d has block %d with %d instructions after block %d", i, blocks[j], counts[j], blocks[max(j, 1)-1])
			}
		}
	}
	return nil
}

// add appends an interval whose elements have already been appended.
func (v *Vectors) add(start, length uint64) {
	v.Starts = append(v.Starts, start)
	v.Lengths = append(v.Lengths, length)
	v.First = append(v.First, len(v.Blocks))
}

// Join returns the vectors of longer intervals: interval i consists of those of
// v from cuts[i-1] (0 for the first) up to cuts[i], which ascend to v.Len().
// Their lengths may differ, as when a run is cut at its loops.
func (v *Vectors) Join(cuts []int) (*Vectors, error) {
	if len(cuts) == 0 || cuts[len(cuts)-1] != v.Len() {
		return nil, fmt.Errorf("bbv: the last cut must be at the end, %d, of the intervals", v.Len())
	}
	out := &Vectors{First: []int{0}}
	from := 0
	sum := make(map[uint32]uint64)
	for _, to := range cuts {
		if to <= from {
			return nil, fmt.Errorf("bbv: a cut at %d does not follow the one at %d", to, from)
		}
		clear(sum)
		var length uint64
		for i := from; i < to; i++ {
			length += v.Lengths[i]
			blocks, counts := v.Interval(i)
			for j, b := range blocks {
				sum[b] += counts[j]
			}
		}
		first := len(out.Blocks)
		for b := range sum {
			out.Blocks = append(out.Blocks, b)
		}
		slices.Sort(out.Blocks[first:])
		for _, b := range out.Blocks[first:] {
			out.Instructions = append(out.Instructions, sum[b])
		}
		out.add(v.Starts[from], length)
		from = to
	}
	return out, nil
}

// Coarser returns the vectors of intervals that are factor times as long; the
// last one may be shorter. So a run collected once provides all larger sizes.
func (v *Vectors) Coarser(factor int) (*Vectors, error) {
	if factor < 1 {
		return nil, fmt.Errorf("bbv: intervals cannot become %d times as long", factor)
	}
	if v.Len() == 0 {
		return nil, fmt.Errorf("bbv: there are no intervals to join")
	}
	var cuts []int
	for at := factor; at < v.Len(); at += factor {
		cuts = append(cuts, at)
	}
	return v.Join(append(cuts, v.Len()))
}

// Difference compares the mix of code of two intervals: half the sum of
// absolute differences between the blocks' shares of the instructions. It is 0
// if the shares are equal and 1 if the intervals have no block in common; an
// interval without elements differs from others by 1/2.
func (v *Vectors) Difference(i, j int) float64 {
	a, na := v.Interval(i)
	b, nb := v.Interval(j)
	share := func(counts []uint64) float64 {
		var sum uint64
		for _, n := range counts {
			sum += n
		}
		return 1 / float64(max(sum, 1))
	}
	sa, sb := share(na), share(nb)
	var sum float64
	for x, y := 0, 0; x < len(a) || y < len(b); {
		switch {
		case y == len(b) || x < len(a) && a[x] < b[y]:
			sum += float64(na[x]) * sa
			x++
		case x == len(a) || b[y] < a[x]:
			sum += float64(nb[y]) * sb
			y++
		default:
			sum += math.Abs(float64(na[x])*sa - float64(nb[y])*sb)
			x++
			y++
		}
	}
	return math.Min(1, sum/2) // not beyond by rounding
}
