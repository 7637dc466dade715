package infer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"
)

// Everything returns the spec with all terms that there can be: a spline of each
// variable, and all products of two variables, each to a power of 1 to powers.
func Everything(variables, powers int) Spec { return everything(variables, powers) }

// Ridge fits all terms of spec, of which there may be nearly as many as rows, and
// chooses none: opt.Ridge, which must be positive, shrinks all coefficients but the
// constant. It solves the normal equations, so that thousands of terms take seconds;
// Fit is more exact for few terms, and needs no ridge. Predictions are kept within the
// range of the training rows' responses: see Model.Bound.
func Ridge(t *Table, spec Spec, opt FitOptions) (*Model, error) {
	if !(opt.Ridge > 0) || !finite(opt.Ridge) {
		return nil, fmt.Errorf("infer: the ridge is %g; it has to be positive to fit all terms", opt.Ridge)
	}
	m, units, err := newModel(t, spec, opt)
	if err != nil {
		return nil, err
	}
	y, weights, err := response(t, opt.Scaling)
	if err != nil {
		return nil, err
	}
	m.Terms, m.Bound = m.Basis.Terms(spec), true
	rows, n := len(y), len(m.Terms)
	x := blas64.General{Rows: rows, Cols: n, Stride: n, Data: make([]float64, rows*n)}
	column, right := make([]float64, rows), make([]float64, n)
	for j, term := range m.Terms {
		m.Basis.column(column, term, units)
		for i, v := range column {
			x.Data[i*n+j] = math.Sqrt(weights[i]) * v
			right[j] += weights[i] * v * y[i]
		}
	}
	normal := mat.NewSymDense(n, nil)
	blas64.Syrk(blas.Trans, 1, x, 0, normal.RawSymmetric())
	for j := 1; j < n; j++ { // the constant is the first
		normal.SetSym(j, j, normal.At(j, j)+opt.Ridge)
	}
	var factor mat.Cholesky
	if !factor.Factorize(normal) {
		return nil, fmt.Errorf("infer: %w: the normal equations of %d terms are singular with a ridge of %g: take a larger one", ErrData, n, opt.Ridge)
	}
	solution := mat.NewVecDense(n, nil)
	if err := factor.SolveVecTo(solution, mat.NewVecDense(n, right)); err != nil {
		return nil, fmt.Errorf("infer: %w: %d terms with a ridge of %g: %w", ErrData, n, opt.Ridge, err)
	}
	m.Coefficients = slices.Clone(solution.RawVector().Data)
	m.fitted(x, y, weights)
	return m, nil
}

// fitted sets what is known of the residuals. x has the weighted terms.
func (m *Model) fitted(x blas64.General, y, weights []float64) {
	sum, total := 0.0, 0.0
	for i, v := range y {
		sum += weights[i] * v
		total += weights[i]
	}
	mean, spread, left := sum/total, 0.0, 0.0
	for i, v := range y {
		p := 0.0
		for j, b := range m.Coefficients {
			p += b * x.Data[i*x.Stride+j]
		}
		r := math.Sqrt(weights[i])*v - p
		left += r * r
		spread += weights[i] * (v - mean) * (v - mean)
	}
	m.ResidualError, m.R2 = math.Sqrt(left/float64(len(y))), 1 // there may be more terms than rows
	if spread > 0 {
		m.R2 = 1 - left/spread
	}
}
