package fit

import "math"

// dependence is the length that a unit column may have left after projecting
// out the columns before it, below which it counts as dependent on them.
const dependence = 1e-9

// qr is an orthogonal factorisation X = QR of a tall matrix that grows and
// shrinks by a column at the right, together with what least squares need of
// it: the residual of y and the leverages (the diagonal of QQᵀ). It is built
// by modified Gram-Schmidt, each column orthogonalised twice, which keeps Q
// orthogonal to rounding.
type qr struct {
	rows, k int
	q       []float64 // column c at [c*rows, (c+1)*rows)
	r       []float64 // column c at [c*max, c*max+c]
	max     int
	qty     []float64 // Qᵀy
	// resid and lev hold, for each number of columns from 0 to k, the residual
	// and the leverages: level c at [c*rows, (c+1)*rows).
	resid, lev []float64
	buf        []float64 // what the slices above are parts of
}

// begin makes f the factorisation without columns of a problem with data y and
// at most maxColumns columns, in the memory of the one before.
func (f *qr) begin(y []float64, maxColumns int) {
	n := len(y)
	f.rows, f.max, f.k = n, maxColumns, 0
	need := n*maxColumns + maxColumns*maxColumns + maxColumns + 2*n*(maxColumns+1)
	f.buf = resized(f.buf, need)
	buf := f.buf
	take := func(k int) []float64 { s := buf[:k:k]; buf = buf[k:]; return s }
	f.q, f.r, f.qty = take(n*maxColumns), take(maxColumns*maxColumns), take(maxColumns)
	f.resid, f.lev = take(n*(maxColumns+1)), take(n*(maxColumns+1))
	copy(f.resid, y)
	clear(f.lev[:n])
}

// resized returns v with length n, in its own memory if that suffices; the
// values are arbitrary.
func resized(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	return v[:n]
}

func (f *qr) column(c int) []float64   { return f.q[c*f.rows : (c+1)*f.rows] }
func (f *qr) residual() []float64      { return f.resid[f.k*f.rows : (f.k+1)*f.rows] }
func (f *qr) leverage() []float64      { return f.lev[f.k*f.rows : (f.k+1)*f.rows] }
func (f *qr) entry(row, c int) float64 { return f.r[c*f.max+row] }

// push adds a column of unit length and reports whether it is independent of
// the ones before it; if not, the factorisation stays as it was.
func (f *qr) push(x []float64) bool {
	k := f.k
	if k == f.max || k >= f.rows {
		return false
	}
	v := f.column(k)
	copy(v, x)
	r := f.r[k*f.max : k*f.max+k+1]
	clear(r)
	for range 2 {
		for c := range k {
			q := f.column(c)
			s := dot(q, v)
			r[c] += s
			for i := range v {
				v[i] -= s * q[i]
			}
		}
	}
	length := norm2(v)
	if !(length > dependence) {
		return false
	}
	r[k] = length
	resid, lev := f.residual(), f.leverage()
	for i := range v {
		v[i] /= length
	}
	f.qty[k] = dot(v, resid)
	f.k++
	next, nextLev := f.residual(), f.leverage()
	for i := range v {
		next[i] = resid[i] - f.qty[k]*v[i]
		nextLev[i] = lev[i] + v[i]*v[i]
	}
	return true
}

func (f *qr) pop() { f.k-- }

// solve returns c of least |Xc − y|.
func (f *qr) solve() []float64 { return f.solveTo(make([]float64, f.k)) }

// solveTo is solve with the result in c, of length k.
func (f *qr) solveTo(c []float64) []float64 {
	for i := f.k - 1; i >= 0; i-- {
		s := f.qty[i]
		for j := i + 1; j < f.k; j++ {
			s -= f.entry(i, j) * c[j]
		}
		c[i] = s / f.entry(i, i)
	}
	return c
}

// inverse returns R⁻¹ by rows.
func (f *qr) inverse() []float64 { return f.inverseTo(make([]float64, f.k*f.k)) }

// inverseTo is inverse with the result in inv, which must be zero below the
// diagonal.
func (f *qr) inverseTo(inv []float64) []float64 {
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

// condition returns |R|·|R⁻¹| in the Frobenius norm: at least the condition
// number in the spectral norm, at most k times as much.
func (f *qr) condition() float64 {
	if f.k == 0 {
		return 1
	}
	s := 0.0
	for c := range f.k {
		for i := 0; i <= c; i++ {
			s += f.entry(i, c) * f.entry(i, c)
		}
	}
	return math.Sqrt(s) * norm2(f.inverse())
}

// leaveOneOut returns the root mean square of the leave-one-out residuals
// eᵢ/(1−hᵢ) of the current columns: what each point's error would be if the
// other points alone had been fitted. It is infinite if a point determines a
// coefficient alone (hᵢ = 1).
func (f *qr) leaveOneOut() float64 {
	e, h := f.residual(), f.leverage()
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
