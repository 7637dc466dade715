package infer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/stat"
)

// Process is a regression with a Gaussian process for what it leaves: the posterior
// mean of the logarithm of the response, given training rows, under the prior of a
// Kernel (Rasmussen and Williams 2006, algorithm 2.1). Its trend is a ridge regression
// on products of variables; its likenesses are the process for the residual, and both
// are fitted at once. n rows take n³/3 multiplications and n² numbers of memory.
//
// Extend makes an update of it: the model of all rows so far is the prior of the next.
type Process struct {
	Kernel      Kernel
	Coordinates Coordinates

	mean               float64
	response           []float64 // logarithms, less the mean
	software, hardware *rows
	factor             blas64.Triangular // U, with UᵀU the covariance of the training rows
	weights            []float64         // (UᵀU)⁻¹ response
	least, most        float64           // of the response
}

// rows are coordinates, a row each.
type rows = blas64.General

func newRows(n, columns int) *rows {
	return &rows{Rows: n, Cols: columns, Stride: max(columns, 1), Data: make([]float64, n*max(columns, 1))}
}

// NewProcess fits a process to a table whose first variables are of software and the
// others of hardware. Responses are positive. The weights of rows divide their noise.
func NewProcess(t *Table, software int, k Kernel) (*Process, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if software < 0 || software > len(t.Names) {
		return nil, fmt.Errorf("infer: %d of %d variables are of software", software, len(t.Names))
	}
	if !(k.Noise > 0) || !finite(k.Noise) {
		return nil, fmt.Errorf("infer: the noise of a process is %g, not positive", k.Noise)
	}
	coordinates, err := NewCoordinates(t, software)
	if err != nil {
		return nil, err
	}
	p := &Process{Kernel: k, Coordinates: coordinates}
	logs, err := logarithms(t)
	if err != nil {
		return nil, err
	}
	p.mean = stat.Mean(logs, nil)
	return p.with(t, logs)
}

// Extend returns a process that also knows the rows of another table with the same
// variables. Its coordinates and mean are those of p, which is not modified; its
// result is the same as if p had been fitted to all rows with these.
func (p *Process) Extend(t *Table) (*Process, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	if !slices.Equal(t.Names, p.Coordinates.Names) {
		return nil, fmt.Errorf("infer: %w: a process of %v cannot learn from rows of %v", ErrData, p.Coordinates.Names, t.Names)
	}
	logs, err := logarithms(t)
	if err != nil {
		return nil, err
	}
	return p.with(t, logs)
}

// logarithms returns those of a table's responses.
func logarithms(t *Table) ([]float64, error) {
	logs := make([]float64, t.Rows())
	for i, z := range t.Ratios() {
		if z <= 0 {
			return nil, fmt.Errorf("infer: %w: row %d: the response is %g, which has no logarithm", ErrData, i, z)
		}
		logs[i] = math.Log(z)
	}
	return logs, nil
}

// with returns p with more rows, the first ones if it has none. With K₁₁ = U₁ᵀU₁ known,
// the factor of all rows is
//
//	U₁ U₁⁻ᵀK₁₂
//	0  the factor of K₂₂ - K₂₁K₁₁⁻¹K₁₂
func (p *Process) with(t *Table, logs []float64) (*Process, error) {
	software, hardware, err := p.Coordinates.place(t)
	if err != nil {
		return nil, err
	}
	own := p.covariances(software, hardware, software, hardware)
	for i := range own.Rows {
		own.Data[i*own.Stride+i] += p.Kernel.Noise / t.weight(i)
	}
	q := &Process{Kernel: p.Kernel, Coordinates: p.Coordinates, mean: p.mean, response: slices.Clone(p.response)}
	for _, y := range logs {
		q.response = append(q.response, y-p.mean)
	}
	before, n := len(p.response), len(q.response)
	q.factor = blas64.Triangular{N: n, Stride: n, Data: own.Data, Uplo: blas.Upper, Diag: blas.NonUnit}
	q.software, q.hardware = software, hardware
	if before > 0 {
		q.software, q.hardware = stack(p.software, software), stack(p.hardware, hardware)
		q.factor.Data = make([]float64, n*n)
		for i := range before {
			copy(q.factor.Data[i*n:i*n+before], p.factor.Data[i*before:])
		}
		cross := p.covariances(p.software, p.hardware, software, hardware)
		blas64.Trsm(blas.Left, blas.Trans, 1, p.factor, *cross)
		blas64.Gemm(blas.Trans, blas.NoTrans, -1, *cross, *cross, 1, *own)
		for i := range before {
			copy(q.factor.Data[i*n+before:(i+1)*n], cross.Data[i*cross.Stride:])
		}
		for i := range own.Rows {
			copy(q.factor.Data[(before+i)*n+before:(before+i+1)*n], own.Data[i*own.Stride:])
		}
	}
	return q, q.solve(before)
}

// stack returns the rows of a, then those of b.
func stack(a, b *rows) *rows {
	return &rows{Rows: a.Rows + b.Rows, Cols: a.Cols, Stride: a.Stride, Data: slices.Concat(a.Data, b.Data)}
}

// solve factors the block of the factor below and right of the rows before, which are
// factored, and computes the weights.
func (p *Process) solve(before int) error {
	n := p.factor.N
	block := blas64.Symmetric{N: n - before, Stride: n, Data: p.factor.Data[before*n+before:], Uplo: blas.Upper}
	if _, ok := lapack64.Potrf(block); !ok {
		return fmt.Errorf("infer: %w: the covariance of %d rows is singular with a noise of %g: take a larger one", ErrData, n, p.Kernel.Noise)
	}
	p.least, p.most = slices.Min(p.response), slices.Max(p.response)
	p.weights = slices.Clone(p.response)
	right := blas64.Vector{N: n, Inc: 1, Data: p.weights}
	blas64.Trsv(blas.Trans, p.factor, right)
	blas64.Trsv(blas.NoTrans, p.factor, right)
	return nil
}

// covariances returns the prior covariances of the rows of a with those of b.
func (p *Process) covariances(softwareA, hardwareA, softwareB, hardwareB *rows) *rows {
	s, h := products(softwareA, softwareB), products(hardwareA, hardwareB)
	sa, sb, ha, hb := squares(softwareA), squares(softwareB), squares(hardwareA), squares(hardwareB)
	for i := range s.Rows {
		row, hw := s.Data[i*s.Stride:(i+1)*s.Stride], h.Data[i*h.Stride:]
		for j, x := range row {
			y := hw[j]
			row[j] = p.Kernel.of(x, y, sa[i]+sb[j]-2*x, ha[i]+hb[j]-2*y)
		}
	}
	return s
}

// products returns those of the rows of a with those of b.
func products(a, b *rows) *rows {
	out := newRows(a.Rows, b.Rows)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, *a, *b, 0, *out)
	return out
}

// squares returns the squared length of each row.
func squares(a *rows) []float64 {
	list := make([]float64, a.Rows)
	for i := range list {
		for _, x := range a.Data[i*a.Stride : i*a.Stride+a.Cols] {
			list[i] += x * x
		}
	}
	return list
}

// Predict returns the responses predicted for the rows of a table with the same
// variables, within the range of the training rows' responses. Its own responses are
// not read.
func (p *Process) Predict(t *Table) ([]float64, error) {
	if !slices.Equal(t.Names, p.Coordinates.Names) {
		return nil, fmt.Errorf("infer: %w: a process of %v cannot predict rows of %v", ErrData, p.Coordinates.Names, t.Names)
	}
	software, hardware, err := p.Coordinates.place(t)
	if err != nil {
		return nil, err
	}
	k := p.covariances(software, hardware, p.software, p.hardware)
	out := make([]float64, k.Rows)
	blas64.Gemv(blas.NoTrans, 1, *k, blas64.Vector{N: k.Cols, Inc: 1, Data: p.weights}, 0, blas64.Vector{N: k.Rows, Inc: 1, Data: out})
	for i, y := range out {
		out[i] = math.Exp(p.mean + min(max(y, p.least), p.most))
		if t.Estimate != nil {
			out[i] *= t.Estimate[i]
		}
	}
	return out, nil
}
