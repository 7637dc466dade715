package replay

import "slices"

// bends collects points of an integer function of iteration vectors that is not affine
// as a whole, but may be the least or greatest of a few affine functions. With
//
//	for (jj = 0; jj < n; jj += 12)
//	  for (j = jj; j < min(jj+12, n); j++)
//
// the inner loop's last index is min(11, n-1-12·J) in the outer one's step J: it bends
// along J. Along most loops the function rises by the same in each step; points are
// kept where it does not, and some where it does.
type bends struct {
	seen   bool
	last   []int64
	value  int64
	heads  []headPoint // by coordinate: where it, or one before, last changed
	rise   []int64     // by coordinate, from one step to the next
	state  []rising    // by coordinate
	kept   []int       // by coordinate: points kept where it changed
	points [][]int64
	failed bool // no function
}

// rising says how a function changes along a coordinate.
type rising uint8

const (
	unsteady rising = iota // not known
	constant               // by the same in each step
	varying
)

// headPoint is a point at which a coordinate changed.
type headPoint struct {
	v []int64
	y int64
}

// The numbers of points that are kept where a coordinate changes along which the
// function rises evenly, and where it does not.
const (
	evenPoints = 24
	bentPoints = 240
)

// add takes the point (v, y).
func (b *bends) add(v []int64, y int64) {
	if b.failed {
		return
	}
	if !b.seen {
		b.seen = true
		b.last, b.value = slices.Clone(v), y
		b.heads = make([]headPoint, len(v))
		b.rise, b.state, b.kept = make([]int64, len(v)), make([]rising, len(v)), make([]int, len(v))
		for k := range b.heads {
			b.heads[k] = headPoint{slices.Clone(v), y}
		}
		b.keep(v, y)
		return
	}
	c := 0
	for c < len(v) && v[c] == b.last[c] {
		c++
	}
	if c == len(v) {
		b.failed = y != b.value
		return
	}
	b.compare(c, v, y)
	for k := c; k < len(v); k++ {
		copy(b.heads[k].v, v)
		b.heads[k].y = y
	}
	copy(b.last, v)
	b.value = y
	if most := [...]int{bentPoints, evenPoints, bentPoints}[b.state[c]]; b.kept[c] < most {
		b.kept[c]++
		b.keep(v, y)
	}
}

func (b *bends) keep(v []int64, y int64) { b.points = append(b.points, append(slices.Clone(v), y)) }

// compare holds the step along coordinate c that led to (v, y) against earlier ones.
func (b *bends) compare(c int, v []int64, y int64) {
	h := &b.heads[c]
	rise := y - h.y
	for k := c + 1; k < len(v); k++ {
		if v[k] == h.v[k] {
			continue
		}
		if b.state[k] != constant {
			return
		}
		rise -= b.rise[k] * (v[k] - h.v[k])
	}
	steps := v[c] - h.v[c]
	switch {
	case rise%steps != 0:
		b.state[c] = varying
	case b.state[c] == unsteady:
		b.state[c], b.rise[c] = constant, rise/steps
	case b.rise[c] != rise/steps:
		b.state[c] = varying
	}
}

// result returns what is kept; nil if it is no function.
func (b *bends) result() *RunBends {
	if b.failed || !b.seen {
		return nil
	}
	r := &RunBends{Rise: b.rise, Points: b.points}
	for _, s := range b.state {
		r.Even = append(r.Even, s == constant)
		r.Bent = append(r.Bent, s == varying)
	}
	return r
}

// bent reports whether some coordinate is bent.
func (r *RunBends) bent() bool { return r != nil && slices.Contains(r.Bent, true) }

// fits reports whether the points are of vectors of a length.
func (r *RunBends) fits(depth int) bool {
	if len(r.Points) == 0 {
		return true
	}
	return len(r.Rise) == depth && len(r.Even) == depth && len(r.Bent) == depth &&
		!slices.ContainsFunc(r.Points, func(p []int64) bool { return len(p) != depth+1 })
}

// bendsFit reports whether all points and jumps of a place at a depth are of its vectors,
// or of the coordinates before a branch's pivot.
func (p *RunPlace) bendsFit(depth int) bool {
	for j := range p.Refs {
		if b := p.Refs[j].Bends; b != nil && !b.fits(depth) {
			return false
		}
		if slices.ContainsFunc(p.Refs[j].Wraps, func(w RunWraps) bool { return !w.fits(depth) }) {
			return false
		}
	}
	for k := range p.Branch {
		for _, c := range p.Branch[k].Classes {
			if slices.ContainsFunc(c.Bends, func(b RunBends) bool { return !b.fits(int(p.Branch[k].Pivot)) }) {
				return false
			}
		}
	}
	return true
}
