package infer

import (
	"errors"
	"fmt"
	"math"
)

// FitOptions say how a model is fitted. The zero value fits the response
// itself.
type FitOptions struct {
	// Log fits the logarithm of the response, which must be positive:
	// predictions are then medians, and residuals relative.
	Log bool

	// Basis is the scales to use; nil: made from the table. A model that is
	// fitted to part of a table may take the scales of all of it.
	Basis *Basis
}

// Model is a fitted regression. It is plain data and can be stored as JSON.
type Model struct {
	Spec  Spec
	Basis Basis
	Log   bool

	Terms        []Term    // those kept, the constant first
	Coefficients []float64 // by term; of the scaled variables
	Dropped      []Term    // those that depend on terms before them (rank-revealing QR)

	Rows          int
	ResidualError float64 // standard error of the (weighted) residuals; NaN without degrees of freedom
	R2            float64 // of the fitted response, weighted
}

// ErrNoTerms is returned where a table determines no coefficient.
var ErrNoTerms = errors.New("infer: no term is determined")

// Fit fits the terms of spec to a table by weighted least squares.
func Fit(t *Table, spec Spec, opt FitOptions) (*Model, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := spec.Check(len(t.Names)); err != nil {
		return nil, err
	}
	basis := opt.Basis
	if basis == nil {
		b, err := NewBasis(t)
		if err != nil {
			return nil, err
		}
		basis = b
	} else if err := basis.check(t); err != nil {
		return nil, err
	}
	y, err := response(t, opt.Log)
	if err != nil {
		return nil, err
	}
	units, err := basis.units(t)
	if err != nil {
		return nil, err
	}
	m := &Model{Spec: spec.Clone(), Basis: *basis, Log: opt.Log, Rows: t.Rows()}
	return m, m.solve(t, units, y)
}

// solve finds the coefficients.
func (m *Model) solve(t *Table, units [][]float64, y []float64) error {
	terms := m.Basis.Terms(m.Spec)
	columns := make([][]float64, len(terms))
	for j, term := range terms {
		columns[j] = make([]float64, len(y))
		m.Basis.column(columns[j], term, units)
	}
	sum, total := 0.0, 0.0
	for i, v := range y {
		sum += t.weight(i) * v
		total += t.weight(i)
	}
	mean, spread := sum/total, 0.0
	qty := make([]float64, len(y))
	for i, v := range y {
		w := math.Sqrt(t.weight(i))
		qty[i] = w * v
		for j := range columns {
			columns[j][i] *= w
		}
		spread += t.weight(i) * (v - mean) * (v - mean)
	}
	kept, aside := factorise(columns, qty)
	if len(kept) == 0 {
		return ErrNoTerms
	}
	m.Coefficients = backward(columns, kept, qty)
	for _, j := range kept {
		m.Terms = append(m.Terms, terms[j])
	}
	for _, j := range aside {
		m.Dropped = append(m.Dropped, terms[j])
	}
	left := 0.0
	for _, v := range qty[len(kept):] {
		left += v * v
	}
	m.ResidualError, m.R2 = math.NaN(), 1
	if free := len(y) - len(kept); free > 0 {
		m.ResidualError = math.Sqrt(left / float64(free))
	}
	if spread > 0 {
		m.R2 = 1 - left/spread
	}
	return nil
}

// response returns what is fitted.
func response(t *Table, log bool) ([]float64, error) {
	if !log {
		return t.Response, nil
	}
	y := make([]float64, t.Rows())
	for i, z := range t.Response {
		if z <= 0 {
			return nil, fmt.Errorf("infer: %w: row %d: the response is %g, which has no logarithm", ErrData, i, z)
		}
		y[i] = math.Log(z)
	}
	return y, nil
}

// Predict returns the predicted response of each row of t, whose own response
// is not looked at and may be missing (NaN).
func (m *Model) Predict(t *Table) ([]float64, error) {
	if err := m.Basis.check(t); err != nil {
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
	if m.Log {
		for i, v := range out {
			out[i] = math.Exp(v)
		}
	}
	return out, nil
}

// Outside returns, for each row of t, the variables that lie outside the range
// that the model was made from, by number: there it extrapolates.
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
