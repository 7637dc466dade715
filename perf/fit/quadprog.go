package fit

import (
	"errors"
	"math"
	"slices"
)

// Errors of quadratic programmes.
var (
	ErrInfeasible    = errors.New("constraints contradict each other")
	ErrNoConvergence = errors.New("quadratic programme did not converge")
)

// programme minimises ½ xᵀGx − aᵀx subject to Cx ≥ b, with G positive definite.
//
// The method is the dual active-set method of Goldfarb and Idnani
// (Mathematical Programming 27, 1983): it begins at the unconstrained minimum
// and adds violated constraints one at a time, so it needs no feasible point
// to begin with, and stops at once where no constraint matters. Invariants,
// with N the matrix whose columns are the active constraints' normals (scaled to
// unit length): JᵀN = [R; 0] with R upper triangular, JJᵀ = G⁻¹, and x minimises
// the objective where the active constraints hold with equality.
type programme struct {
	n    int
	x    []float64
	j    []float64 // n×n, by rows
	rows []float64 // unit normals, n numbers each
	b    []float64

	active     []int
	u          []float64 // multipliers of the active constraints
	r          []float64 // n×n upper triangular, by rows
	d          []float64 // Jᵀn of the constraint to add
	z, step    []float64 // direction in x, and in the multipliers
	iterations int

	buf []float64 // backs x, j, r, d, z and step
}

// feasibility is the violation of a constraint with unit normal that counts as
// rounding, relative to the size of x and b.
const feasibility = 1e-11

// begin resets p to a programme in n variables without constraints, with x and
// J zero, and reuses its memory.
func (p *programme) begin(n int) {
	p.buf = resized(p.buf, 2*n*n+4*n+1)
	clear(p.buf)
	buf := p.buf
	take := func(k int) []float64 { s := buf[:k:k]; buf = buf[k:]; return s }
	p.n = n
	p.x, p.d, p.z, p.step = take(n), take(n), take(n), take(n+1)
	p.j, p.r = take(n*n), take(n*n)
	p.rows, p.b = p.rows[:0], p.b[:0]
	p.restart()
}

// restart empties the active set and keeps the constraints.
func (p *programme) restart() {
	p.active, p.u = p.active[:0], p.u[:0]
}

// scaleLast completes the constraint whose normal begins at p.rows[at].
func (p *programme) scaleLast(at int, b float64) {
	row := p.rows[at:]
	s := norm2(row)
	if s > 0 {
		for i := range row {
			row[i] /= s
		}
		b /= s
	}
	p.b = append(p.b, b)
}

func (p *programme) row(k int) []float64 { return p.rows[k*p.n : (k+1)*p.n] }

func (p *programme) solve() error {
	limit := 100 + 50*(p.n+len(p.b))
	for p.iterations = 0; p.iterations < limit; p.iterations++ {
		k, slack := p.violated()
		if k < 0 {
			return nil
		}
		if err := p.add(k, slack, limit); err != nil {
			return err
		}
	}
	return ErrNoConvergence
}

// violated returns the most violated inactive constraint and its slack, or -1
// if none is violated.
func (p *programme) violated() (k int, slack float64) {
	scale := 1 + norm2(p.x)
	k = -1
	rows := p.rows
	for i, b := range p.b {
		s := 0.0
		for j, v := range p.x {
			s += rows[j] * v
		}
		rows = rows[p.n:]
		if s -= b; s < slack && s < -feasibility*(scale+math.Abs(b)) && !slices.Contains(p.active, i) {
			k, slack = i, s
		}
	}
	return k, slack
}

// add brings constraint k into the active set, dropping those that block it:
// step 2 of the method, with partial steps in the dual and full steps in both
// spaces.
func (p *programme) add(k int, slack float64, limit int) error {
	row := p.row(k)
	u := 0.0 // multiplier of k
	for range limit {
		free := p.direct(row)
		drop, dual := p.blocking()
		full := math.Inf(1)
		if free > 1e-12*norm2(p.d) && free > 0 {
			full = -slack / (free * free) // zᵀn = |d₂|²
		}
		t := math.Min(dual, full)
		if math.IsInf(t, 1) {
			return ErrInfeasible
		}
		for i := range p.active {
			p.u[i] -= t * p.step[i]
		}
		u += t
		if !math.IsInf(full, 1) {
			for i := range p.n {
				p.x[i] += t * p.z[i]
			}
			slack += t * free * free
		}
		if full <= dual {
			p.push(k, u)
			return nil
		}
		p.remove(drop)
	}
	return ErrNoConvergence
}

// direct computes the directions z and step towards a constraint with unit
// normal row, and returns the length of d₂: 0 if the active constraints allow x
// no move towards it.
func (p *programme) direct(row []float64) float64 {
	q := len(p.active)
	for c := range p.n { // d = Jᵀn
		s := 0.0
		for i := range p.n {
			s += p.j[i*p.n+c] * row[i]
		}
		p.d[c] = s
	}
	for i := range p.n { // z = J₂d₂
		p.z[i] = dot(p.j[i*p.n+q:(i+1)*p.n], p.d[q:])
	}
	p.backSubstitute(q) // step = R⁻¹d₁
	return norm2(p.d[q:])
}

// blocking returns the index in active of the constraint whose multiplier
// reaches 0 first along step, and the step length at which it does, or +Inf if
// none does.
func (p *programme) blocking() (drop int, dual float64) {
	drop, dual = -1, math.Inf(1)
	for i := range p.active {
		if p.step[i] > 0 {
			if t := p.u[i] / p.step[i]; t < dual {
				drop, dual = i, t
			}
		}
	}
	return drop, dual
}

// backSubstitute computes step = R⁻¹d₁ for the q active constraints.
func (p *programme) backSubstitute(q int) {
	for i := q - 1; i >= 0; i-- {
		s := p.d[i]
		for c := i + 1; c < q; c++ {
			s -= p.r[i*p.n+c] * p.step[c]
		}
		p.step[i] = s / p.r[i*p.n+i]
	}
}

// push makes k active: rotations of the columns of J turn d into a new last
// column of R.
func (p *programme) push(k int, u float64) {
	q := len(p.active)
	for c := p.n - 1; c > q; c-- {
		cs, sn, h := givens(p.d[c-1], p.d[c])
		p.d[c-1], p.d[c] = h, 0
		p.rotateJ(c-1, c, cs, sn)
	}
	for i := 0; i <= q; i++ {
		p.r[i*p.n+q] = p.d[i]
	}
	p.active = append(p.active, k)
	p.u = append(p.u, u)
}

// remove takes the l-th active constraint out: its column leaves R, and
// rotations make R triangular again.
func (p *programme) remove(l int) {
	q := len(p.active) - 1
	copy(p.active[l:], p.active[l+1:])
	copy(p.u[l:], p.u[l+1:])
	p.active, p.u = p.active[:q], p.u[:q]
	for c := l; c < q; c++ {
		for i := 0; i <= c+1; i++ {
			p.r[i*p.n+c] = p.r[i*p.n+c+1]
		}
		cs, sn, h := givens(p.r[c*p.n+c], p.r[(c+1)*p.n+c])
		p.r[c*p.n+c], p.r[(c+1)*p.n+c] = h, 0
		// Columns right of c have not been shifted yet: each is one further
		// right.
		for k := c + 2; k <= q; k++ {
			a, b := p.r[c*p.n+k], p.r[(c+1)*p.n+k]
			p.r[c*p.n+k], p.r[(c+1)*p.n+k] = cs*a+sn*b, cs*b-sn*a
		}
		p.rotateJ(c, c+1, cs, sn)
	}
}

// rotateJ applies the rotation to columns a and b of J.
func (p *programme) rotateJ(a, b int, cs, sn float64) {
	for i := range p.n {
		x, y := p.j[i*p.n+a], p.j[i*p.n+b]
		p.j[i*p.n+a], p.j[i*p.n+b] = cs*x+sn*y, cs*y-sn*x
	}
}

// givens returns the rotation that takes (a, b) to (h, 0).
func givens(a, b float64) (cs, sn, h float64) {
	h = math.Hypot(a, b)
	if h == 0 {
		return 1, 0, 0
	}
	return a / h, b / h, h
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func norm2(a []float64) float64 { return math.Sqrt(dot(a, a)) }

func norm1(a []float64) float64 {
	sum := 0.0
	for _, v := range a {
		sum += math.Abs(v)
	}
	return sum
}
