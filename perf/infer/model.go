package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/leastsquares"
)

// FitOptions configures Fit. The zero value fits the response itself.
type FitOptions struct {
	Scaling Scaling

	// Basis is the scales to use; nil: computed from the table. A model fitted
	// to part of a table can use the scales of all of it.
	Basis *Basis

	// Ridge shrinks all coefficients but the constant: Ridge times their sum of
	// squares is added to the weighted sum of squared residuals. Terms that few
	// rows determine then stay small. 0: least squares.
	Ridge float64
}

// Scaling is the transformation of the response in a fit. The zero value fits
// the response itself, with equal weights.
type Scaling struct {
	// Log fits the logarithm of the response, which must be positive.
	Log bool

	// Power fits this power of the response, which must be positive, with
	// relative residuals: weighted by the reciprocal of the power. 1 is the
	// response itself with relative residuals. Small powers approach the
	// logarithm; larger ones suit a response close to the largest of several
	// limits, as the sum of large powers is. 0: no power.
	Power float64
}

// of returns the transformed response and the factor by which its residual is
// multiplied.
func (s Scaling) of(z float64) (y, relative float64) {
	switch {
	case s.Log:
		return math.Log(z), 1
	case s.Power == 0:
		return z, 1
	case s.Power == 1:
		return z, 1 / z
	}
	y = math.Pow(z, s.Power)
	return y, 1 / y
}

// back returns the response for a fitted value y. A negative value of a power
// other than 1 counts as 0.
func (s Scaling) back(y float64) float64 {
	switch {
	case s.Log:
		return math.Exp(y)
	case s.Power == 0 || s.Power == 1:
		return y
	}
	return math.Pow(max(y, 0), 1/s.Power)
}

// check returns an error if s is contradictory.
func (s Scaling) check() error {
	if s.Power < 0 || !finite(s.Power) || s.Log && s.Power != 0 {
		return fmt.Errorf("infer: the response is scaled by logarithm %v and the power %g; it is one of them, and the power is not negative", s.Log, s.Power)
	}
	return nil
}

// Model is a fitted regression. It is plain data and can be stored as JSON.
type Model struct {
	Spec    Spec
	Basis   Basis
	Scaling Scaling

	// Relative means that the model is of the response relative to an estimate.
	Relative bool

	// Least and Most are the range of the fitted values. A model of corrections
	// applies none outside the range of its training rows; see Bounded.
	Least, Most float64

	// Bound means that a model without an estimate keeps to that range as well.
	Bound bool `json:",omitempty"`

	Terms        []Term    // those kept; the constant comes first
	Coefficients []float64 // by term; of the scaled variables
	Dropped      []Term    // terms that depend on earlier ones (rank-revealing QR)

	Rows          int
	ResidualError float64 // standard error of the (weighted) residuals; NaN without degrees of freedom; by Ridge their root mean square
	R2            float64 // of the fitted response, weighted
}

// ErrNoTerms is returned if a table determines no coefficient.
var ErrNoTerms = errors.New("infer: no term is determined")

// Fit fits the terms of spec to a table by weighted least squares.
func Fit(t *Table, spec Spec, opt FitOptions) (*Model, error) {
	m, units, err := newModel(t, spec, opt)
	if err != nil {
		return nil, err
	}
	y, weights, err := response(t, opt.Scaling)
	if err != nil {
		return nil, err
	}
	if !(opt.Ridge >= 0) || !finite(opt.Ridge) {
		return nil, fmt.Errorf("infer: the ridge is %g; it is not negative", opt.Ridge)
	}
	return m, m.solve(units, y, weights, opt.Ridge)
}

// newModel returns a model without terms, and the scaled variables of the table.
func newModel(t *Table, spec Spec, opt FitOptions) (*Model, [][]float64, error) {
	if err := t.Check(); err != nil {
		return nil, nil, err
	}
	if err := spec.Check(len(t.Names)); err != nil {
		return nil, nil, err
	}
	basis := opt.Basis
	if basis == nil {
		b, err := NewBasis(t)
		if err != nil {
			return nil, nil, err
		}
		basis = b
	} else if err := basis.check(t); err != nil {
		return nil, nil, err
	}
	units, err := basis.units(t)
	if err != nil {
		return nil, nil, err
	}
	ratios := t.Ratios()
	m := &Model{Spec: spec.Clone(), Basis: *basis, Scaling: opt.Scaling, Relative: t.Estimate != nil, Rows: t.Rows(), Least: slices.Min(ratios), Most: slices.Max(ratios)}
	return m, units, nil
}

// solve computes the coefficients.
func (m *Model) solve(units [][]float64, y, weights []float64, ridge float64) error {
	terms := m.Basis.Terms(m.Spec)
	columns := make([][]float64, len(terms))
	for j, term := range terms {
		columns[j] = make([]float64, len(y))
		m.Basis.column(columns[j], term, units)
	}
	sum, total := 0.0, 0.0
	for i, v := range y {
		sum += weights[i] * v
		total += weights[i]
	}
	mean, spread := sum/total, 0.0
	qty := make([]float64, len(y))
	for i, v := range y {
		w := math.Sqrt(weights[i])
		qty[i] = w * v
		for j := range columns {
			columns[j][i] *= w
		}
		spread += weights[i] * (v - mean) * (v - mean)
	}
	qty = shrink(columns, qty, ridge)
	solution := leastsquares.Solve(columns, qty, leastsquares.DefaultTolerance)
	if len(solution.Kept) == 0 {
		return ErrNoTerms
	}
	m.Coefficients = solution.Coefficients
	for _, j := range solution.Kept {
		m.Terms = append(m.Terms, terms[j])
	}
	for _, j := range solution.Aside {
		m.Dropped = append(m.Dropped, terms[j])
	}
	left := solution.RSS
	m.ResidualError, m.R2 = math.NaN(), 1
	if free := len(y) - len(solution.Kept); free > 0 {
		m.ResidualError = math.Sqrt(left / float64(free))
	}
	if spread > 0 {
		m.R2 = 1 - left/spread
	}
	return nil
}

// shrink appends the rows of the ridge penalty: one for each column but the
// first that asks for a coefficient of 0; none if the penalty is 0.
func shrink(columns [][]float64, qty []float64, penalty float64) []float64 {
	if penalty == 0 {
		return qty
	}
	rows := len(qty)
	for j := range columns {
		columns[j] = append(columns[j], make([]float64, len(columns)-1)...)
		if j > 0 {
			columns[j][rows+j-1] = math.Sqrt(penalty)
		}
	}
	return append(qty, make([]float64, len(columns)-1)...)
}

// response returns the values to fit and the weights of their squared
// residuals.
func response(t *Table, scaling Scaling) (y, weights []float64, err error) {
	if err := scaling.check(); err != nil {
		return nil, nil, err
	}
	y, weights = make([]float64, t.Rows()), make([]float64, t.Rows())
	for i, z := range t.Ratios() {
		if z <= 0 && scaling != (Scaling{}) {
			return nil, nil, fmt.Errorf("infer: %w: row %d: the response is %g, which has no logarithm and no relative residual", ErrData, i, z)
		}
		var relative float64
		y[i], relative = scaling.of(z)
		weights[i] = t.weight(i) * relative * relative
	}
	return y, weights, nil
}

// Predict returns the predicted response of each row of t. The response of t is
// ignored and may be missing (NaN).
func (m *Model) Predict(t *Table) ([]float64, error) {
	if err := m.Basis.check(t); err != nil {
		return nil, err
	}
	if m.Relative != (t.Estimate != nil) {
		return nil, fmt.Errorf("infer: %w: the model corrects estimates: %v, the table has some: %v", ErrData, m.Relative, t.Estimate != nil)
	}
	if err := t.checkEstimate(); err != nil {
		return nil, err
	}
	units, err := m.Basis.units(t)
	if err != nil {
		return nil, err
	}
	rows := 0
	if len(t.Columns) > 0 {
		rows = len(t.Columns[0])
	}
	out, column := make([]float64, rows), make([]float64, rows)
	for j, term := range m.Terms {
		m.Basis.column(column, term, units)
		for i, x := range column {
			out[i] += m.Coefficients[j] * x
		}
	}
	for i, v := range out {
		out[i] = m.Scaling.back(v)
		if m.Relative || m.Bound {
			out[i] = m.bound(out[i])
		}
		if m.Relative {
			out[i] *= t.Estimate[i]
		}
	}
	return out, nil
}

func (m *Model) bound(correction float64) float64 {
	return math.Max(m.Least, math.Min(m.Most, correction))
}

// Bounded reports, for each row of t, whether the prediction is at the limit of
// the fitted corrections, so that the model would have corrected by more.
func (m *Model) Bounded(t *Table) ([]bool, error) {
	predicted, err := m.Predict(t)
	if err != nil {
		return nil, err
	}
	at := make([]bool, len(predicted))
	for i, z := range predicted {
		at[i] = m.Relative && (z <= m.Least*t.Estimate[i] || z >= m.Most*t.Estimate[i])
	}
	return at, nil
}

// Outside returns, for each row of t, the indices of the variables outside the
// range of the training rows, where the model extrapolates.
func (m *Model) Outside(t *Table) ([][]int, error) {
	if err := m.Basis.check(t); err != nil {
		return nil, err
	}
	units, err := m.Basis.units(t)
	if err != nil {
		return nil, err
	}
	rows := 0
	if len(units) > 0 {
		rows = len(units[0])
	}
	out := make([][]int, rows)
	for v, column := range units {
		for i, z := range column {
			if math.Abs(z) > 1+1e-9 && !m.Basis.Scales[v].Constant() {
				out[i] = append(out[i], v)
			}
		}
	}
	return out, nil
}
