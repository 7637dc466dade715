package leastsquares

import "math"

// Growing is a QR factorisation X = QR of a tall matrix that grows and shrinks
// by a column at the right. It keeps the residual of the data y and the
// leverages (the diagonal of QQᵀ) for each number of columns, so that Pop costs
// nothing. Columns are orthogonalised by modified Gram-Schmidt, each twice,
// which keeps Q orthogonal to rounding.
//
// The zero value is ready for Begin. The slices that methods return are valid
// until the next Begin, Push or Pop.
type Growing struct {
	rows, k   int
	tolerance float64
	q         []float64 // column c at [c*rows, (c+1)*rows)
	r         []float64 // column c at [c*max, c*max+c]
	max       int
	qty       []float64 // Qᵀy
	// resid and lev hold, for each number of columns from 0 to k, the residual
	// and the leverages: level c at [c*rows, (c+1)*rows).
	resid, lev []float64
	buf        []float64 // backs the slices above
}

// Begin resets f to a factorisation without columns, for data y and at most
// maxColumns columns, and reuses its memory. Push rejects a unit column of which
// projecting out the columns before it leaves no more than tolerance.
func (f *Growing) Begin(y []float64, maxColumns int, tolerance float64) {
	n := len(y)
	f.rows, f.max, f.k, f.tolerance = n, maxColumns, 0, tolerance
	need := n*maxColumns + maxColumns*maxColumns + maxColumns + 2*n*(maxColumns+1)
	if cap(f.buf) < need {
		f.buf = make([]float64, need)
	}
	buf := f.buf[:need]
	take := func(k int) []float64 { s := buf[:k:k]; buf = buf[k:]; return s }
	f.q, f.r, f.qty = take(n*maxColumns), take(maxColumns*maxColumns), take(maxColumns)
	f.resid, f.lev = take(n*(maxColumns+1)), take(n*(maxColumns+1))
	copy(f.resid, y)
	clear(f.lev[:n])
}

// Columns returns the number of columns.
func (f *Growing) Columns() int { return f.k }

// Rows returns the number of rows.
func (f *Growing) Rows() int { return f.rows }

// Q returns column c of Q.
func (f *Growing) Q(c int) []float64 { return f.q[c*f.rows : (c+1)*f.rows] }

// Leverage returns the diagonal of QQᵀ, in [0,1].
func (f *Growing) Leverage() []float64 { return f.lev[f.k*f.rows : (f.k+1)*f.rows] }

func (f *Growing) residual() []float64      { return f.resid[f.k*f.rows : (f.k+1)*f.rows] }
func (f *Growing) entry(row, c int) float64 { return f.r[c*f.max+row] }

// Push adds a column of unit length and reports whether it is independent of
// the ones before it; if not, the factorisation stays as it was.
func (f *Growing) Push(x []float64) bool {
	k := f.k
	if k == f.max || k >= f.rows {
		return false
	}
	v := f.Q(k)
	copy(v, x)
	r := f.r[k*f.max : k*f.max+k+1]
	clear(r)
	for range 2 {
		for c := range k {
			q := f.Q(c)
			s := dot(q, v)
			r[c] += s
			for i := range v {
				v[i] -= s * q[i]
			}
		}
	}
	length := norm2(v)
	if !(length > f.tolerance) {
		return false
	}
	r[k] = length
	resid, lev := f.residual(), f.Leverage()
	for i := range v {
		v[i] /= length
	}
	f.qty[k] = dot(v, resid)
	f.k++
	next, nextLev := f.residual(), f.Leverage()
	for i := range v {
		next[i] = resid[i] - f.qty[k]*v[i]
		nextLev[i] = lev[i] + v[i]*v[i]
	}
	return true
}

// Pop removes the last column.
func (f *Growing) Pop() { f.k-- }

// Solve returns the coefficients c that minimise |Xc − y|.
func (f *Growing) Solve() []float64 { return f.SolveTo(make([]float64, f.k)) }

// SolveTo is Solve with the result in c, whose length is the number of columns.
func (f *Growing) SolveTo(c []float64) []float64 {
	for i := f.k - 1; i >= 0; i-- {
		s := f.qty[i]
		for j := i + 1; j < f.k; j++ {
			s -= f.entry(i, j) * c[j]
		}
		c[i] = s / f.entry(i, i)
	}
	return c
}

// Inverse returns R⁻¹ by rows.
func (f *Growing) Inverse() []float64 { return f.InverseTo(make([]float64, f.k*f.k)) }

// InverseTo is Inverse with the result in inv, which must be zero below the
// diagonal.
func (f *Growing) InverseTo(inv []float64) []float64 {
	k := f.k
	for c := range k {
		for i := c; i >= 0; i-- {
			s := 0.0
			if i == c {
				s = 1
			}
			for j := i + 1; j <= c; j++ {
				s -= f.entry(i, j) * inv[j*k+c]
			}
			inv[i*k+c] = s / f.entry(i, i)
		}
	}
	return inv
}

// Condition returns |R|·|R⁻¹| in the Frobenius norm: at least the condition
// number in the spectral norm, at most k times as much.
func (f *Growing) Condition() float64 {
	if f.k == 0 {
		return 1
	}
	s := 0.0
	for c := range f.k {
		for i := 0; i <= c; i++ {
			s += f.entry(i, c) * f.entry(i, c)
		}
	}
	return math.Sqrt(s) * norm2(f.Inverse())
}

// LeaveOneOut returns the root mean square of the leave-one-out residuals
// eᵢ/(1−hᵢ): the error at each point of a fit to the other points alone. It is infinite if a point determines a
// coefficient alone (hᵢ = 1).
func (f *Growing) LeaveOneOut() float64 {
	e, h := f.residual(), f.Leverage()
	s := 0.0
	for i := range e {
		free := 1 - h[i]
		if free < 1e-10 {
			return math.Inf(1)
		}
		d := e[i] / free
		s += d * d
	}
	return math.Sqrt(s / float64(len(e)))
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func norm2(a []float64) float64 { return math.Sqrt(dot(a, a)) }

// Variance returns xᵀ(XᵀX)⁻¹x = |R⁻ᵀx|²: the variance of the value that the solution has
// at a row x, relative to that of an element of y.
func (f *Growing) Variance(x []float64) float64 {
	sum := 0.0
	var buf [64]float64
	z := buf[:0]
	for i := range f.k {
		s := x[i]
		for j := range i {
			s -= f.entry(j, i) * z[j]
		}
		z = append(z, s/f.entry(i, i))
		sum += z[i] * z[i]
	}
	return sum
}
