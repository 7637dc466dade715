package replay

import (
	"math"
	"slices"
)

// scale is the denominator that coefficients have: an address that rises by 8
// bytes every second iteration has the slope 4 in each class modulo 2.
const scale = 8

// affine is a function y = c₀ + Σ cₖ₊₁·vₖ of integer vectors, found from a stream of
// points. A point in a new direction, independent of those before, determines one
// more coefficient; any other point must agree. So each point is checked against
// all before it with a state of at most one row for each coordinate.
type affine struct {
	coef   []int64 // times scale, the constant first
	origin []int64 // the first point
	value  int64   // there
	rows   []direction
	points bool // has seen one
	unit   bool // every row is a unit vector
	whole  *whole

	// coarse says that coefficients are no multiples of 1/scale, as those of
	// y = 2a-b, known on the line a = 3b alone: further points may change that.
	coarse bool
}

// direction is a row of the reduced echelon form of the points minus the origin.
type direction struct {
	pivot  int
	vector []quotient
	rise   quotient // of y along it
}

// whole is what the rows say in integers, all times den: there are few rows, and many points
// that are held against them, each of which would take several quotients.
type whole struct {
	den     int64
	rises   []int64   // by row
	vectors [][]int64 // by row and coordinate
}

// maxDen bounds the denominators of a whole, so that products with its elements do not
// overflow.
const maxDen = 1 << 16

// add takes the point (v, y). It returns false if no affine function goes through all
// points.
func (a *affine) add(v []int64, y int64) bool {
	if !a.points {
		a.points, a.unit = true, true
		a.origin, a.value = slices.Clone(v), y
		a.coef = make([]int64, len(v)+1)
		a.coef[0] = y * scale
		return true
	}
	if len(a.rows) < len(v) && a.leaves(v) {
		if a.extend(v, y) {
			return true
		}
	}
	switch {
	case !a.coarse:
		return a.at(v) == y*scale
	case a.whole != nil:
		return a.whole.rise(a, v) == (y-a.value)*a.whole.den
	}
	return a.exactly(v) == integer(y)
}

// rise returns by how much the function rises from the origin to a point that others
// determine, times the denominator.
func (w *whole) rise(a *affine, v []int64) int64 {
	sum := int64(0)
	for i := range a.rows {
		p := a.rows[i].pivot
		sum += w.rises[i] * (v[p] - a.origin[p])
	}
	return sum
}

// spans reports whether the rows reach a point.
func (w *whole) spans(a *affine, v []int64) bool {
	for k, x := range v {
		apart := w.den * (x - a.origin[k])
		for i := range a.rows {
			p := a.rows[i].pivot
			apart -= w.vectors[i][k] * (v[p] - a.origin[p])
		}
		if apart != 0 {
			return false
		}
	}
	return true
}

// exactly returns the value at a point that others determine.
func (a *affine) exactly(v []int64) quotient {
	y := integer(a.value)
	for i := range a.rows {
		r := &a.rows[i]
		y = y.less(integer(a.origin[r.pivot]-v[r.pivot]), r.rise)
	}
	return y
}

// at returns the function's value times scale, unless it is coarse.
func (a *affine) at(v []int64) int64 {
	sum := a.coef[0]
	for k, x := range v {
		sum += a.coef[k+1] * x
	}
	return sum
}

// leaves reports whether v may lie outside of what the points span. It is exact
// if the rows are known in integers.
func (a *affine) leaves(v []int64) bool {
	switch {
	case a.whole != nil:
		return !a.whole.spans(a, v)
	case !a.unit:
		return true
	}
	for k, x := range v {
		if x != a.origin[k] && !a.pivots(k) {
			return true
		}
	}
	return false
}

func (a *affine) pivots(k int) bool {
	for i := range a.rows {
		if a.rows[i].pivot == k {
			return true
		}
	}
	return false
}

// extend adds the direction of v, if it is new.
func (a *affine) extend(v []int64, y int64) (grown bool) {
	var room [16]quotient
	d := direction{pivot: -1, vector: room[:0], rise: integer(y - a.value)}
	for k := range v {
		d.vector = append(d.vector, integer(v[k]-a.origin[k]))
	}
	for i := range a.rows {
		d.subtract(&a.rows[i], d.vector[a.rows[i].pivot])
	}
	for k := range d.vector {
		if !d.vector[k].zero() {
			d.pivot = k
			break
		}
	}
	if d.pivot < 0 {
		return false
	}
	d.divide(d.vector[d.pivot])
	for i := range a.rows {
		a.rows[i].subtract(&d, a.rows[i].vector[d.pivot])
	}
	d.vector = slices.Clone(d.vector)
	a.rows = append(a.rows, d)
	a.solve()
	return true
}

// subtract takes away f times o.
func (d *direction) subtract(o *direction, f quotient) {
	if f.zero() {
		return
	}
	for k := range d.vector {
		d.vector[k] = d.vector[k].less(f, o.vector[k])
	}
	d.rise = d.rise.less(f, o.rise)
}

func (d *direction) divide(f quotient) {
	if f == integer(1) {
		return
	}
	for k := range d.vector {
		d.vector[k] = d.vector[k].over(f)
	}
	d.rise = d.rise.over(f)
}

// solve computes the coefficients: the rise of each row belongs to its pivot.
func (a *affine) solve() {
	clear(a.coef)
	constant := integer(a.value)
	a.unit, a.coarse = true, false
	put := func(k int, x quotient) {
		c, ok := x.times(scale, math.MaxInt64)
		if !ok {
			c = 0
		}
		a.coef[k] = c
		a.coarse = a.coarse || !ok
	}
	for i := range a.rows {
		r := &a.rows[i]
		put(r.pivot+1, r.rise)
		constant = constant.less(integer(a.origin[r.pivot]), r.rise)
		for k := range r.vector {
			a.unit = a.unit && (k == r.pivot || r.vector[k].zero())
		}
	}
	put(0, constant)
	a.whole = nil
	if !a.unit || a.coarse {
		a.whole = wholeOf(a.rows)
	}
}

// wholeOf returns the rows in integers; nil if these are too large.
func wholeOf(rows []direction) *whole {
	den := int64(1)
	with := func(x quotient) bool {
		if x.wide != nil || x.den > maxDen {
			return false
		}
		den *= x.den / gcd(den, x.den)
		return den <= maxDen
	}
	for i := range rows {
		if !with(rows[i].rise) {
			return nil
		}
		for _, x := range rows[i].vector {
			if !with(x) {
				return nil
			}
		}
	}
	w := &whole{den: den, rises: make([]int64, len(rows)), vectors: make([][]int64, len(rows))}
	fits, ok := true, false
	for i, r := range rows {
		w.rises[i], ok = r.rise.times(den, 1<<40)
		fits = fits && ok
		w.vectors[i] = make([]int64, len(r.vector))
		for k, x := range r.vector {
			w.vectors[i][k], ok = x.times(den, maxDen)
			fits = fits && ok
		}
	}
	if !fits {
		return nil
	}
	return w
}

// Split divides vectors into Modulus classes, by the residue of coordinate A or of
// A plus Sign times B. The zero Split has one class.
type Split struct {
	Modulus int8 // 2, 4, 8, or 3 of A alone; less: no division
	Sign    int8 // -1, 0 or 1; 0: A alone
	A, B    int8
	More    int8 `json:",omitempty"` // with Modulus 2 and Sign 1: so many coordinates before B are added, as the colours of a grid's points ask
}

// class returns the class of v, from 0.
func (s Split) class(v []int64) int {
	if s.Modulus <= 1 {
		return 0
	}
	x := v[s.A]
	if s.Sign != 0 {
		x += int64(s.Sign) * v[s.B]
	}
	for k := range s.More {
		x += v[s.B-1-k]
	}
	if s.Modulus == 3 {
		return int(x % 3)
	}
	return int(x & int64(s.Modulus-1))
}

// coords returns the coordinates that the class depends on, as bits.
func (s Split) coords() uint64 {
	if s.Modulus <= 1 {
		return 0
	}
	set := uint64(1) << s.A
	if s.Sign != 0 {
		set |= 1 << s.B
	}
	for k := range s.More {
		set |= 1 << (s.B - 1 - k)
	}
	return set
}

func (s Split) classes() int { return max(1, int(s.Modulus)) }

// splits returns the divisions of vectors of a length, the simplest first.
func splits(depth int) []Split {
	list := []Split{{}}
	for m := int8(2); m <= 8; m *= 2 {
		for a := int8(depth) - 1; a >= 0; a-- {
			list = append(list, Split{Modulus: m, A: a})
		}
		for a := int8(depth) - 1; a >= 0; a-- {
			for b := a - 1; b >= 0; b-- {
				list = append(list, Split{Modulus: m, A: a, B: b, Sign: -1}, Split{Modulus: m, A: a, B: b, Sign: 1})
			}
		}
		if m == 2 {
			list = append(list, colours(int8(depth))...)
		}
	}
	return list
}

// colours returns the divisions by parities of sums of three or four coordinates that follow
// each other, the innermost loop's among them or, if it goes in steps of two, up to it.
func colours(depth int8) []Split {
	var list []Split
	for a := depth - 1; a >= max(2, depth-2); a-- {
		for more := int8(1); more <= min(2, a-1); more++ {
			list = append(list, Split{Modulus: 2, A: a, B: a - 1, Sign: 1, More: more})
		}
	}
	return list
}
