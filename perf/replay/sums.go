package replay

import (
	"slices"

	"presage/perf/trace"
)

// A branch may depend on the sum or difference of two indices, and go one way for most values of
// both:
//
//	for (i = 0; i < n; i++)
//	  for (d = -1; d <= 1; d++)
//	    if (i + d < n)              goes the other way at i = n-1 and d = 1 alone
//
// As a bound of d that is only known at i = n-1: the other steps of i show nothing but that it
// is not less than 1 there. As a bound of i+d it is n-1.

// sum is a sum or difference of two coordinates on which outcomes of a branch depend, as long as
// they do, with the stretches of its values that have one outcome.
type sum struct {
	of       Split
	segments []segment // by ascending values, first and last being those that were seen
}

// maxSums is the number of those that are kept.
const maxSums = 4

// RunSum is a sum of two coordinates with the blocks that follow as it grows, and the largest
// value at which each does, in eighths.
type RunSum struct {
	Of    Split
	Shape []trace.BlockID
	Last  []int64
}

// newSums returns the sums to try at a depth.
func newSums(depth int) (list []sum) {
	for a := int8(depth) - 1; a >= 0; a-- {
		for b := a - 1; b >= 0; b-- {
			list = append(list, sum{of: Split{A: a, B: b, Sign: 1}}, sum{of: Split{A: a, B: b, Sign: -1}})
		}
	}
	return list
}

// value returns that of the sum at a vector.
func (s Split) value(v []int64) int64 { return v[s.A] + int64(s.Sign)*v[s.B] }

// add takes an execution. It returns false if the sum does not decide.
func (s *sum) add(v []int64, next trace.BlockID) bool {
	x := s.of.value(v)
	k := 0
	for k < len(s.segments) && s.segments[k].last < x {
		k++
	}
	if k < len(s.segments) && s.segments[k].first <= x {
		return s.segments[k].next == next
	}
	switch {
	case k > 0 && s.segments[k-1].next == next:
		s.segments[k-1].last = x
	case k < len(s.segments) && s.segments[k].next == next:
		s.segments[k].first = x
	default:
		s.segments = slices.Insert(s.segments, k, segment{next, x, x})
	}
	return len(s.segments) <= maxSegments
}

// addSums takes an execution of a branch.
func (b *branch) addSums(v []int64, next trace.BlockID) {
	kept := 0
	for i := range b.sums {
		if b.sums[i].add(v, next) {
			if kept < i {
				b.sums[kept] = b.sums[i]
			}
			kept++
		}
	}
	b.sums = b.sums[:kept]
}

// keepSums returns what is kept of sums: of those of which the outcomes follow each other without
// a gap.
func (b *branch) keepSums() (list []RunSum) {
	for i := range b.sums {
		out, whole := RunSum{Of: b.sums[i].of}, true
		for k, g := range b.sums[i].segments {
			whole = whole && (k == 0 || g.first == b.sums[i].segments[k-1].last+1)
			out.Shape, out.Last = append(out.Shape, g.next), append(out.Last, g.last*scale)
		}
		if whole && len(out.Shape) > 1 && len(list) < maxSums {
			list = append(list, out)
		}
	}
	return list
}

// sumsLike returns what each run has of a sum at place i, nil where a run has not been there;
// nil if one was and has nothing.
func (f *fitter) sumsLike(i int, like RunSum) []*RunSum {
	runs := make([]*RunSum, len(f.runs))
	for r, in := range f.in[i] {
		if in == nil {
			continue
		}
		k := slices.IndexFunc(in.Sums, func(s RunSum) bool { return s.Of == like.Of && slices.Equal(s.Shape, like.Shape) })
		if k < 0 {
			return nil
		}
		runs[r] = &in.Sums[k]
	}
	return runs
}

// fitSum looks for a sum that decides about the branch at the end of place i in all runs, with
// polynomials of the size for bounds; nil if there is none.
func (f *fitter) fitSum(i int) *Branch {
	var last *RunPlace
	for _, in := range f.in[i] {
		if in != nil {
			last = in
		}
	}
	if last == nil {
		return nil
	}
	for _, like := range last.Sums {
		runs := f.sumsLike(i, like)
		if runs == nil {
			continue
		}
		b := &Branch{Pivot: alongSum, Sum: like.Of, Classes: make([]Outcomes, 1)}
		for _, id := range like.Shape {
			b.Classes[0].Shape = append(b.Classes[0].Shape, int32(f.prog.Places[i].way(id)))
		}
		for k := range len(like.Shape) - 1 {
			b.Classes[0].Bounds = append(b.Classes[0].Bounds, Bound{Pieces: []Affine{{f.series(func(r int) (int64, bool) {
				if runs[r] == nil {
					return 0, false
				}
				return runs[r].Last[k], true
			})}}})
		}
		if f.settled(b) {
			return b
		}
	}
	return nil
}
