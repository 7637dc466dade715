package fit

import (
	"fmt"
	"math"
	"slices"
)

// Trend restricts the sign of the slope along every parameter.
type Trend int

// The trends. TrendOfData is the sign of the data's correlation with each
// parameter.
const (
	AnyTrend Trend = iota
	Rising
	Falling
	TrendOfData
)

// Curvature restricts the sign of the second derivative along every parameter.
type Curvature int

// The curvatures. OneCurvature is convex or concave, whichever fits better.
const (
	AnyCurvature Curvature = iota
	Convex
	Concave
	OneCurvature
)

// Shape restricts a fitted function over the Reach of its Design. It is
// enforced at shapeSteps+3 places along each parameter, with the other
// parameters at the values they have at the points. Between the places it is
// not guaranteed, but functions of the usual bases cannot stray far.
type Shape struct {
	NonNegative bool
	Trend       Trend
	Curvature   Curvature
}

func (s Shape) restricts() bool { return s != Shape{} }

// shapeSteps is the number of intervals into which the range of a parameter is
// cut, geometrically if it is positive.
const shapeSteps = 12

// endStep is the distance from an end of the range to the place added beside
// it, relative to the interval there.
const endStep = 1e-3

// maxShapeLines bounds the number of lines through the points along which
// shapes are enforced, for each parameter.
const maxShapeLines = 64

// shapeRows are the linear forms on the coefficients of the whole basis that
// must not be negative: rows·c ≥ 0.
type shapeRows struct {
	value     [][]float64
	slope     []axisRows
	curvature [][]float64
	err       error // a term is not finite within the reach
}

// axisRows are the slopes along one parameter.
type axisRows struct {
	rows [][]float64
	at   []float64 // the parameter at each point, for TrendOfData
}

func newShapeRows(b *Basis, params []string, points []Point, domain map[string]Interval, reach Reach) *shapeRows {
	s := &shapeRows{}
	for _, name := range params {
		axis := axisRows{}
		for _, p := range points {
			axis.at = append(axis.at, p[name])
		}
		xs := places(domain[name], name, reach)
		for _, p := range linesThrough(points, params, name) {
			values := s.along(b, p, name, xs)
			s.value = append(s.value, values...)
			slopes := differences(values, xs)
			axis.rows = append(axis.rows, slopes...)
			if len(xs) > 1 {
				s.curvature = append(s.curvature, differences(slopes, middles(xs))...)
			}
		}
		s.slope = append(s.slope, axis)
	}
	return s
}

// along returns the terms at p with parameter name set to each of xs; terms
// that jump are 0. It records the first term that is not finite in s.err.
func (s *shapeRows) along(b *Basis, p Point, name string, xs []float64) [][]float64 {
	values := make([][]float64, len(xs))
	for k, x := range xs {
		p[name] = x
		values[k] = make([]float64, len(b.Terms))
		for j, t := range b.Terms {
			if t.code.jumps {
				continue
			}
			v := t.Eval(p)
			if !finite(v) && s.err == nil {
				s.err = fmt.Errorf("fit: %w: term %s is %g at %v, within the reach of the shape: reduce the reach or leave the term out", ErrData, t, v, p)
			}
			values[k][j] = v
		}
	}
	return values
}

// places returns the values of a parameter at which shapes are enforced.
func places(domain Interval, name string, reach Reach) []float64 {
	r, ok := reach[name]
	if !ok {
		r = domain
		if r.Hi > 0 {
			r.Hi *= ReachLimit
		}
	}
	if !(r.Hi > r.Lo) {
		return []float64{r.Lo}
	}
	xs := make([]float64, 0, shapeSteps+3)
	for i := range shapeSteps + 1 {
		t := float64(i) / shapeSteps
		if r.Lo > 0 {
			xs = append(xs, r.Lo*math.Pow(r.Hi/r.Lo, t))
		} else {
			xs = append(xs, r.Lo+(r.Hi-r.Lo)*t)
		}
	}
	// A place close to each end makes the first and last difference the slope
	// at that end; a chord alone would let a concave function turn within it.
	last := len(xs) - 1
	xs = append(xs, xs[0]+(xs[1]-xs[0])*endStep, xs[last]-(xs[last]-xs[last-1])*endStep)
	slices.Sort(xs)
	return xs
}

// linesThrough returns one point for each distinct combination of the
// parameters other than name, in order of first appearance.
func linesThrough(points []Point, params []string, name string) []Point {
	var out []Point
	for _, p := range points {
		seen := false
		for _, q := range out {
			same := true
			for _, other := range params {
				same = same && (other == name || p[other] == q[other])
			}
			seen = seen || same
		}
		if !seen && len(out) < maxShapeLines {
			q := Point{}
			for _, other := range params {
				q[other] = p[other]
			}
			out = append(out, q)
		}
	}
	return out
}

// differences returns the divided differences of consecutive rows.
func differences(rows [][]float64, xs []float64) [][]float64 {
	var out [][]float64
	for k := 1; k < len(rows); k++ {
		d := make([]float64, len(rows[k]))
		for j := range d {
			d[j] = (rows[k][j] - rows[k-1][j]) / (xs[k] - xs[k-1])
		}
		out = append(out, d)
	}
	return out
}

func middles(xs []float64) []float64 {
	out := make([]float64, len(xs)-1)
	for k := range out {
		out[k] = (xs[k] + xs[k+1]) / 2
	}
	return out
}

// signedRows is a family of rows that must all have the given sign.
type signedRows struct {
	rows [][]float64
	sign float64
}

// alternatives returns sets of restrictions, of which one must hold: one set,
// or two for OneCurvature. y decides TrendOfData.
func (s *shapeRows) alternatives(shape Shape, y []float64) [][]signedRows {
	all := make([]signedRows, 0, 2+len(s.slope))
	if shape.NonNegative {
		all = append(all, signedRows{s.value, 1})
	}
	for _, axis := range s.slope {
		switch shape.Trend {
		case Rising:
			all = append(all, signedRows{axis.rows, 1})
		case Falling:
			all = append(all, signedRows{axis.rows, -1})
		case TrendOfData:
			if c := covariance(axis.at, y); c != 0 {
				all = append(all, signedRows{axis.rows, math.Copysign(1, c)})
			}
		}
	}
	switch shape.Curvature {
	case Convex:
		all = append(all, signedRows{s.curvature, 1})
	case Concave:
		all = append(all, signedRows{s.curvature, -1})
	case OneCurvature:
		n := len(all)
		return [][]signedRows{
			append(all[:n:n], signedRows{s.curvature, 1}),
			append(all[:n:n], signedRows{s.curvature, -1}),
		}
	}
	return [][]signedRows{all}
}

func covariance(x, y []float64) float64 {
	mx, my := 0.0, 0.0
	for i := range x {
		mx += x[i] / float64(len(x))
		my += y[i] / float64(len(y))
	}
	s := 0.0
	for i := range x {
		s += (x[i] - mx) * (y[i] - my)
	}
	return s
}

// shapeTolerance is the negative value of a row that counts as rounding,
// relative to the sum of the magnitudes of its summands.
const shapeTolerance = 1e-9

// satisfied reports whether the function Σ c[i]·term[subset[i]] obeys the
// restrictions.
func satisfied(restrictions []signedRows, subset []int, c []float64) bool {
	for _, family := range restrictions {
		for _, row := range family.rows {
			s, size := 0.0, 0.0
			for i, j := range subset {
				v := row[j] * c[i]
				s += v
				size += math.Abs(v)
			}
			if s*family.sign < -shapeTolerance*size {
				return false
			}
		}
	}
	return true
}
