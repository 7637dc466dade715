package replay

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// maxPieces is the number of affine functions of which the least or greatest is
	// looked for: the difference of two bounds, each of two functions, is one of four.
	maxPieces = 4
	// maxVariables is the number of variables that a piece may depend on.
	maxVariables = 3
	// maxBent is the number of variables along which a function may bend, the size
	// included.
	maxBent = 4
)

// sample is a point of a function of integer variables.
type sample struct {
	x []int64
	y int64 // in eighths
}

// piece is an affine function. Its coefficients are multiples of 1/8: half as many steps
// as the size has, if loops are unrolled.
type piece struct {
	coef     []int64 // by variable, in eighths
	constant int64   // in eighths
	depends  uint    // variables that it may depend on, as bits
}

// at returns the value in eighths.
func (p *piece) at(x []int64) int64 {
	sum := p.constant
	for k, c := range p.coef {
		sum += c * x[k]
	}
	return sum
}

// envelope finds affine functions of which the greatest (sign 1) or the least (sign
// -1) goes through all points: none lies beyond any point, and each goes through as
// many as determine it, in its variables alone, and some to spare. It looks for
// functions of few variables first. It returns nil if it finds none.
type envelope struct {
	points []sample
	sign   int64
	spare  int
	least  []int64 // by variable: of all points
}

// piecesOf returns the pieces of the least or greatest of affine functions through
// points, with the sign that takes fewer, and that sign.
func piecesOf(points []sample, spare int) (best []piece, sign int64) {
	if len(points) == 0 || len(points[0].x) > maxBent {
		return nil, 0
	}
	for _, s := range []int64{-1, 1} {
		e := envelope{points: points, sign: s, spare: spare, least: slices.Clone(points[0].x)}
		for _, p := range points {
			for k, x := range p.x {
				e.least[k] = min(e.least[k], x)
			}
		}
		if found := e.solve(); found != nil && (best == nil || len(found) < len(best)) {
			best, sign = found, s
		}
	}
	return best, sign
}

func (e *envelope) solve() []piece {
	left := slices.Clone(e.points)
	var found []piece
	for len(left) > 0 {
		if len(found) == maxPieces {
			return nil
		}
		p, ok := e.next(left)
		if !ok {
			return nil
		}
		found = append(found, p)
		before := len(left)
		left = slices.DeleteFunc(left, func(s sample) bool { return p.at(s.x) == s.y })
		if (before-len(left))*(maxPieces-len(found)+1) < before {
			return nil // no piece after it goes through more
		}
	}
	slices.SortFunc(found, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.depends, b.depends), slices.Compare(a.coef, b.coef), cmp.Compare(a.constant, b.constant))
	})
	return found
}

// next returns the piece that goes through most of the points that are left.
func (e *envelope) next(left []sample) (best piece, ok bool) {
	most := 0
	try := func(p piece, tight int) {
		if tight > most {
			best, most, ok = p, tight, true
		}
	}
	n := len(e.points[0].x)
	for size := 0; size <= min(n, maxVariables); size++ {
		for set := uint(0); set < 1<<n; set++ {
			if bits.OnesCount(set) == size {
				e.through(left, set, func(p piece) {
					if tight, fits := e.tight(left, p); fits {
						try(p, tight)
					}
				})
			}
		}
	}
	if !ok {
		e.lifted(left, try)
	}
	return best, ok
}

// lifted tries pieces that are known where a variable has its least value alone: they
// hold there, and rise along it so that they do not matter elsewhere.
func (e *envelope) lifted(left []sample, try func(piece, int)) {
	n := len(e.least)
	for k := range n {
		var edge []sample
		for _, s := range left {
			if s.x[k] == e.least[k] {
				edge = append(edge, s)
			}
		}
		for set := uint(0); set < 1<<n; set++ {
			if set&(1<<k) != 0 || bits.OnesCount(set) > maxVariables-1 {
				continue
			}
			e.through(edge, set, func(p piece) {
				slope := int64(0)
				for _, s := range e.points {
					beyond, steps := e.sign*(p.at(s.x)-s.y), s.x[k]-e.least[k]
					switch {
					case beyond <= 0:
					case steps == 0:
						return
					default:
						slope = max(slope, (beyond+steps-1)/steps)
					}
				}
				p.coef[k] = -e.sign * slope
				p.constant += e.sign * slope * e.least[k]
				p.depends |= 1 << k
				if tight, fits := e.tight(left, p); fits {
					try(p, tight)
				}
			})
		}
	}
}

// tight returns how many of the points that are left a piece goes through; fits is
// false if it lies beyond some point of all, or has too few to be sure of it.
func (e *envelope) tight(left []sample, p piece) (tight int, fits bool) {
	for _, s := range e.points {
		if e.sign*(p.at(s.x)-s.y) > 0 {
			return 0, false
		}
	}
	return p.on(left, e.spare)
}

// on returns how many points a piece goes through, and whether there are some to spare
// beside those that determine it.
func (p *piece) on(points []sample, spare int) (tight int, enough bool) {
	var places [][]int64
	want := bits.OnesCount(p.depends) + 1 + spare
	for _, s := range points {
		if p.at(s.x) != s.y {
			continue
		}
		tight++
		if len(places) >= want || slices.ContainsFunc(places, func(x []int64) bool { return distance(x, s.x, p.depends) == 0 }) {
			continue
		}
		places = append(places, s.x)
	}
	return tight, len(places) >= want || p.depends == 0 && tight > spare
}

// pinned reports whether the points on a piece determine it without any one of them. A slope
// that a single point gives is no finding: some piece goes through that point and a plane of
// others, whatever the function is.
func (p *piece) pinned(points []sample) bool {
	var vars []int
	for k, c := range p.coef {
		if c != 0 {
			vars = append(vars, k)
		}
	}
	if len(vars) == 0 {
		return true
	}
	var on [][]int64
	for _, s := range points {
		if p.at(s.x) == s.y {
			at := make([]int64, len(vars))
			for i, k := range vars {
				at[i] = s.x[k]
			}
			on = append(on, at)
		}
	}
	for _, one := range basis(on, nil) {
		if len(basis(on, one)) <= len(vars) {
			return false
		}
	}
	return true
}

// basis returns the points, but for those equal to one, that span all of them: each lies
// outside of what those before it span.
func basis(points [][]int64, without []int64) (found [][]int64) {
	var a affine
	for _, x := range points {
		if without != nil && slices.Equal(x, without) {
			continue
		}
		before := len(a.rows)
		if first := !a.points; a.add(x, 0) && (first || len(a.rows) > before) {
			found = append(found, x)
		}
	}
	return found
}

const (
	seeds = 6  // points from which pieces are looked for
	near  = 10 // points near one of them that are combined with it
)

// through passes on functions of a set of variables through points that lie near each
// other.
func (e *envelope) through(points []sample, set uint, use func(piece)) {
	size := bits.OnesCount(set)
	step := max(1, len(points)/seeds)
	for i := 0; i < len(points); i += step {
		from := points[i]
		around := neighbours(points, from, set)
		combine(len(around), size, func(chosen []int) {
			rows := make([]sample, len(chosen))
			for r, c := range chosen {
				rows[r] = around[c]
			}
			if p, ok := hyperplane(from, rows, set); ok {
				use(p)
			}
		})
	}
}

// distance returns that of two points in a set of variables.
func distance(a, b []int64, set uint) int64 {
	sum := int64(0)
	for k := range a {
		if set&(1<<k) != 0 {
			sum += abs(a[k] - b[k])
		}
	}
	return sum
}

// neighbours returns the points nearest to one in a set of variables, of those that
// differ there, the nearest first.
func neighbours(points []sample, from sample, set uint) []sample {
	away := make([]int64, len(points))
	for i := range points {
		away[i] = distance(points[i].x, from.x, set)
	}
	var list []sample
	for within := int64(0); len(list) < near; {
		next := int64(math.MaxInt64)
		for _, d := range away {
			if d > within {
				next = min(next, d)
			}
		}
		if within = next; within == math.MaxInt64 {
			break
		}
		first := len(list)
		for i, d := range away {
			if d != within {
				continue
			}
			if s := points[i]; len(list) == first || list[len(list)-1].y != s.y || distance(list[len(list)-1].x, s.x, set) > 0 {
				list = append(list, s)
			}
		}
	}
	return list[:min(near, len(list))]
}

// combine passes on each choice of k out of n.
func combine(n, k int, use func([]int)) {
	chosen := make([]int, 0, k)
	var choose func(from int)
	choose = func(from int) {
		if len(chosen) == k {
			use(chosen)
			return
		}
		for i := from; i < n; i++ {
			chosen = append(chosen, i)
			choose(i + 1)
			chosen = chosen[:len(chosen)-1]
		}
	}
	choose(0)
}

// hyperplane returns the function of a set of variables through points, by Cramer's
// rule; false if they do not determine it, or its coefficients are no integers.
func hyperplane(from sample, rows []sample, set uint) (piece, bool) {
	var vars []int
	for k := range from.x {
		if set&(1<<k) != 0 {
			vars = append(vars, k)
		}
	}
	m := make([][]int64, len(rows))
	right := make([]int64, len(rows))
	for r := range rows {
		for _, k := range vars {
			m[r] = append(m[r], rows[r].x[k]-from.x[k])
		}
		right[r] = rows[r].y - from.y
	}
	det := determinant(m)
	if det == 0 {
		return piece{}, false
	}
	p := piece{coef: make([]int64, len(from.x)), constant: from.y, depends: set}
	for c, k := range vars {
		with := make([][]int64, len(m))
		for r := range m {
			with[r] = slices.Clone(m[r])
			with[r][c] = right[r]
		}
		d := determinant(with)
		if d%det != 0 {
			return piece{}, false
		}
		p.coef[k] = d / det
		p.constant -= p.coef[k] * from.x[k]
	}
	return p, true
}

// determinant returns that of a square matrix of up to three rows.
func determinant(m [][]int64) int64 {
	switch len(m) {
	case 0:
		return 1
	case 1:
		return m[0][0]
	case 2:
		return m[0][0]*m[1][1] - m[0][1]*m[1][0]
	}
	return m[0][0]*(m[1][1]*m[2][2]-m[1][2]*m[2][1]) -
		m[0][1]*(m[1][0]*m[2][2]-m[1][2]*m[2][0]) +
		m[0][2]*(m[1][0]*m[2][1]-m[1][1]*m[2][0])
}
