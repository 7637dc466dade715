package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
)

// ErrData is wrapped by errors about points and values that no function can be
// fitted to.
var ErrData = errors.New("bad data")

// Weighting is how much the residual at each point counts.
type Weighting int

// The weightings. Relative suits counts that grow by orders of magnitude over
// the points: residuals are divided by the values. Zeros, and values below
// weightFloor times the largest, weigh as much as the smallest other value.
const (
	Uniform Weighting = iota
	Relative
)

// weightFloor is the smallest value, relative to the largest, with a relative
// weight of its own.
const weightFloor = 1e-13

// Options configures a fit. The zero value weights all points equally, chooses
// the terms by leave-one-out error and does not restrict the shape.
type Options struct {
	Weighting Weighting
	// Weights, if given, replaces Weighting: residuals are multiplied by them.
	// They must be positive, one for each point.
	Weights []float64

	// AllTerms keeps every term of the basis that the points can determine,
	// instead of choosing.
	AllTerms bool
	// MaxTerms bounds the number of chosen terms; 0 for DefaultMaxTerms.
	MaxTerms int
	// Slack is the leave-one-out error, relative to the least, that may be
	// given up for a model with fewer or earlier terms; 0 for DefaultSlack,
	// negative for none.
	Slack float64
	// Cancellation penalises terms that cancel each other, standing in for a
	// missing one: when terms are chosen, their leave-one-out error is
	// multiplied by this power of the ratio of the sum of their absolute values
	// to the data. 0 for no penalty.
	Cancellation float64

	// Ahead counts errors where a function is to be used in place of errors among
	// the points: when terms are chosen, their leave-one-out error is multiplied by
	// this power of the ratio of the standard error of a value predicted at
	// aheadOf times the largest parameters to that of the data. Two functions may
	// meet noisy points about as well, of which one is certain there, and the other
	// anything. 0 for errors among the points.
	Ahead float64

	Shape Shape

	// NoSpread leaves Func.Spread out, for functions of which only the value is
	// needed.
	NoSpread bool
}

// Defaults of Options.
const (
	DefaultMaxTerms = 4
	DefaultSlack    = 0.1
)

// Design is a basis evaluated at the points of an experiment, shared by all
// fits over these points. Fits do not modify it and may run in parallel.
type Design struct {
	basis   *Basis
	points  int
	columns [][]float64 // columns[j][i] is term j at point i
	ahead   [][]float64 // terms beyond the points; see Options.Ahead
	domain  map[string]Interval
	shape   *shapeRows

	resampled []float64 // weights of the points in each Bayesian bootstrap; see judge

	searches sync.Pool // of *search, for their memory

	made   []Point // what the design was made of
	reach  Reach
	fewer  sync.Mutex
	others map[string]*Design // see Without
}

// Point returns a point, by its number.
func (d *Design) Point(i int) Point { return d.made[i] }

// Without returns the design without some of the points, by their numbers.
func (d *Design) Without(points ...int) (*Design, error) {
	d.fewer.Lock()
	defer d.fewer.Unlock()
	key := fmt.Sprint(points)
	if known := d.others[key]; known != nil {
		return known, nil
	}
	var left []Point
	for i, p := range d.made {
		if !slices.Contains(points, i) {
			left = append(left, p)
		}
	}
	out, err := NewDesign(d.basis, left, d.reach)
	if err != nil {
		return nil, err
	}
	if d.others == nil {
		d.others = make(map[string]*Design)
	}
	d.others[key] = out
	return out, nil
}

// Reach is the range of each parameter over which shapes hold. The default for
// a parameter is from its smallest value in the points to ReachLimit times its
// largest.
type Reach map[string]Interval

// NewDesign evaluates basis at points. It fails if there is no point, a point
// lacks a parameter, or a term is not finite at a point.
func NewDesign(basis *Basis, points []Point, reach Reach) (*Design, error) {
	if len(points) == 0 {
		return nil, fmt.Errorf("fit: %w: no point", ErrData)
	}
	if len(basis.Terms) == 0 {
		return nil, fmt.Errorf("fit: %w: basis without terms", ErrData)
	}
	params := basis.Params()
	d := &Design{basis: basis, points: len(points), made: points, reach: reach, domain: map[string]Interval{}}
	d.searches.New = func() any { return new(search) }
	for i, p := range points {
		for _, name := range params {
			x, ok := p[name]
			if !ok || !finite(x) {
				return nil, fmt.Errorf("fit: %w: point %d has no finite value for parameter %s of basis %q", ErrData, i, name, basis)
			}
			iv := Interval{x, x}
			if i > 0 {
				iv = d.domain[name]
				iv.Lo, iv.Hi = math.Min(iv.Lo, x), math.Max(iv.Hi, x)
			}
			d.domain[name] = iv
		}
	}
	for _, t := range basis.Terms {
		col := make([]float64, len(points))
		for i, p := range points {
			col[i] = t.Eval(p)
			if !finite(col[i]) {
				return nil, fmt.Errorf("fit: %w: term %s is %g at point %d, %v: leave the term or the point out", ErrData, t, col[i], i, p)
			}
		}
		d.columns = append(d.columns, col)
	}
	d.lookAhead(points)
	d.resampled = resample(len(points))
	d.shape = newShapeRows(basis, params, points, d.domain, reach)
	return d, nil
}

// Domain returns the range of each parameter over the points.
func (d *Design) Domain() map[string]Interval { return d.domain }

// Fit fits y, which has one value for each point. It returns an error if a
// value is not finite, and panics if the number of values or weights differs
// from that of the points.
func (d *Design) Fit(y []float64, opt Options) (Func, error) {
	w, err := d.check(y, opt)
	if err != nil {
		return Func{}, err
	}
	if zero(y) {
		return Func{Residuals: make([]float64, len(y)), R2: 1, Condition: 1, Domain: d.domain}, nil
	}
	s := d.searches.Get().(*search)
	defer d.searches.Put(s)
	s.begin(d, y, w, opt)
	best := s.choose()
	if best.bound && best.coef == nil {
		return Func{}, fmt.Errorf("fit: shape over terms %v: %w", best.terms, ErrNoConvergence)
	}
	return s.finish(best, y, w), nil
}

// LeaveOneOut returns the LOO of the function that Fit would return, without
// building it. It fails and panics where Fit does.
func (d *Design) LeaveOneOut(y []float64, opt Options) (float64, error) {
	w, err := d.check(y, opt)
	if err != nil || zero(y) {
		return 0, err
	}
	s := d.searches.Get().(*search)
	defer d.searches.Put(s)
	s.begin(d, y, w, opt)
	return capped(s.choose().loo), nil
}

// capped returns v, or math.MaxFloat64 if v is not finite, so that it can be
// stored as JSON.
func capped(v float64) float64 {
	if !finite(v) {
		return math.MaxFloat64
	}
	return v
}

// check returns the weights of y.
func (d *Design) check(y []float64, opt Options) ([]float64, error) {
	if len(y) != d.points || opt.Weights != nil && len(opt.Weights) != d.points {
		panic(fmt.Sprintf("fit: %d values and %d weights for %d points", len(y), len(opt.Weights), d.points))
	}
	for i, v := range y {
		if !finite(v) {
			return nil, fmt.Errorf("fit: %w: value %d is %g", ErrData, i, v)
		}
	}
	if opt.Shape.restricts() && d.shape.err != nil {
		return nil, d.shape.err
	}
	return weights(y, opt)
}

func zero(y []float64) bool {
	return !slices.ContainsFunc(y, func(v float64) bool { return v != 0 })
}

func weights(y []float64, opt Options) ([]float64, error) {
	if opt.Weights != nil {
		for i, w := range opt.Weights {
			if !(w > 0) || !finite(w) {
				return nil, fmt.Errorf("fit: %w: weight %d is %g, not positive", ErrData, i, w)
			}
		}
		return opt.Weights, nil
	}
	w := make([]float64, len(y))
	largest, smallest := 0.0, math.Inf(1)
	for _, v := range y {
		largest = math.Max(largest, math.Abs(v))
	}
	for _, v := range y {
		if a := math.Abs(v); a >= weightFloor*largest && a > 0 {
			smallest = math.Min(smallest, a)
		}
	}
	for i, v := range y {
		w[i] = 1
		if opt.Weighting == Relative && largest > 0 {
			w[i] = 1 / math.Max(math.Abs(v), smallest)
		}
	}
	return w, nil
}
