package scaling

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"presage/perf/fit"
)

// Footprint gives the number of distinct blocks that a program touches, for
// several block sizes, as functions of the size. All block sizes see the same
// memory, which the smallest blocks know best: of pages a program at a training
// size touches a few dozen, of lines thousands. So blocks of b bytes are
//
//	blocks(b) = blocks(b₀)·b₀/b + waste(b)
//
// with b₀ the smallest block size and waste the parts of blocks at the ends of
// arrays, and between the rows of arrays that are not used whole. Where data are
// used with strides, waste grows as the data do, and a function fitted to the
// number of blocks itself is better: the one that predicts the largest size from
// the others is taken.
//
// The counts of a group are no smooth function of the size where another group
// is the first to touch the data, as when an allocator begins to take fresh pages
// from the system, which need not be cleared. Their sum is.
type Footprint struct {
	blockBytes []uint64 // ascending
	smallest   fit.Func // blocks of the first size
	others     []blocksOf
}

// muchBetter is the ratio of errors from which the model with more freedom is
// taken; a difference of a block is none.
const muchBetter = 2

// blocksOf models the number of larger blocks.
type blocksOf struct {
	direct, waste fit.Func
	byWaste       bool // the second is better at the largest size
}

// FitFootprint fits the number of blocks touched at each size: blocks[i][k] is
// that of blocks of blockBytes[i] bytes at sizes[k]. Block sizes are ascending.
// It fails where Fit does.
func FitFootprint(sizes []fit.Point, blockBytes []uint64, blocks [][]float64) (*Footprint, error) {
	f := &Footprint{blockBytes: blockBytes}
	top := largestOf(sizes)
	all, rest := &counter{sizes: sizes}, &counter{sizes: without(sizes, top)}
	var err error
	if f.smallest, err = all.fit(blocks[0], blockBytes[0]); err != nil {
		return nil, err
	}
	for i := 1; i < len(blockBytes); i++ {
		var o blocksOf
		waste := make([]float64, len(sizes))
		for k := range sizes {
			waste[k] = math.Max(0, blocks[i][k]-blocks[0][k]*f.ratio(i))
		}
		if o.direct, err = all.fit(blocks[i], blockBytes[i]); err != nil {
			return nil, err
		}
		if o.waste, err = all.fit(waste, blockBytes[i]); err != nil {
			return nil, err
		}
		// Pages at the ends of arrays come and go with the size. The mean of so few
		// is a better guess than a slope, unless a slope predicts much better.
		off := func(y []float64) float64 {
			f, err := rest.fit(without(y, top), blockBytes[i])
			if err != nil {
				return math.Inf(1)
			}
			return math.Abs(f.Eval(sizes[top]) - y[top])
		}
		mean := stat.Mean(without(waste, top), nil)
		least, extra, direct := math.Abs(mean-waste[top]), off(waste), off(blocks[i])
		if least <= muchBetter*math.Min(extra, direct)+1 {
			o.waste, extra = fit.Constant(stat.Mean(waste, nil)), 0
		}
		o.byWaste = extra <= direct
		f.others = append(f.others, o)
	}
	return f, nil
}

// ratio returns the size of the smallest blocks relative to that of the i-th.
func (f *Footprint) ratio(i int) float64 {
	return float64(f.blockBytes[0]) / float64(f.blockBytes[i])
}

// Blocks returns the number of distinct blocks of a size that is modelled, which
// the program touches at p. Whatever the functions say, larger blocks are no more
// than smaller ones, and no fewer than hold them. It panics for other block sizes.
func (f *Footprint) Blocks(blockBytes uint64, p fit.Point) float64 {
	least := math.Max(0, f.smallest.Eval(p))
	most := least
	for i, b := range f.blockBytes {
		v := most
		if i > 0 {
			least = most * float64(f.blockBytes[i-1]) / float64(b)
			v = math.Min(math.Max(f.estimate(i, p), least), most)
		}
		if b == blockBytes {
			return v
		}
		most = v
	}
	panic(fmt.Sprintf("scaling: no footprint in blocks of %d bytes", blockBytes))
}

// Range returns an interval of Blocks: what the two functions say.
func (f *Footprint) Range(blockBytes uint64, p fit.Point) fit.Interval {
	v := f.Blocks(blockBytes, p)
	out := fit.Interval{Lo: v, Hi: v}
	for i, b := range f.blockBytes {
		if b == blockBytes && i > 0 {
			least := math.Max(0, f.smallest.Eval(p)) * f.ratio(i)
			for _, w := range []float64{f.others[i-1].direct.Eval(p), least + math.Max(0, f.others[i-1].waste.Eval(p))} {
				w = math.Max(w, least)
				out.Lo, out.Hi = math.Min(out.Lo, w), math.Max(out.Hi, w)
			}
		}
	}
	return out
}

func (f *Footprint) estimate(i int, p fit.Point) float64 {
	o := &f.others[i-1]
	if !o.byWaste {
		return o.direct.Eval(p)
	}
	return math.Max(0, f.smallest.Eval(p))*f.ratio(i) + math.Max(0, o.waste.Eval(p))
}

// counter fits counts at some sizes. Block sizes that have the same terms for
// alignment share a design.
type counter struct {
	sizes   []fit.Point
	fitters []*fitter
}

func (c *counter) fit(counts []float64, blockBytes uint64) (fit.Func, error) {
	if len(c.sizes) == 0 {
		return fit.Func{}, ErrData
	}
	basis := withAlignment(fit.Monomials(3, sortedNames(c.sizes[0])...), c.sizes, blockBytes)
	for _, f := range c.fitters {
		if f.basis.String() == basis.String() && OfPages(f.blockBytes) == OfPages(blockBytes) {
			return f.frequency(counts)
		}
	}
	f, err := newFitter(c.sizes, nil, Options{Basis: basis, BlockBytes: blockBytes})
	if err != nil {
		return fit.Func{}, err
	}
	f.chance = true // how much of its memory a program touches may depend on its data
	c.fitters = append(c.fitters, f)
	return f.frequency(counts)
}

// without returns s without an element.
func without[T any](s []T, at int) []T {
	return slices.Delete(slices.Clone(s), at, at+1)
}

// largestOf returns the index of the size with the largest mean parameter.
func largestOf(sizes []fit.Point) int {
	at := 0
	for i := range sizes {
		if meanParameter(sizes[i]) > meanParameter(sizes[at]) {
			at = i
		}
	}
	return at
}
