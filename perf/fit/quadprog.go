package fit

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Errors of QuadProg.
var (
	ErrNotConvex     = errors.New("matrix of the quadratic programme is not positive definite")
	ErrInfeasible    = errors.New("constraints contradict each other")
	ErrNoConvergence = errors.New("quadratic programme did not converge")
)

// QPResult is the solution of a quadratic programme.
type QPResult struct {
	X           []float64 // the minimiser
	Value       float64   // of the objective at X
	Multipliers []float64 // one for each constraint, zero where it is not active
	Active      []int     // constraints that hold with equality at X, as they were added
	Iterations  int       // constraints added
}

// QuadProg minimises ½ xᵀGx − aᵀx subject to Cx ≥ b, where the first
// equalities rows shall hold with equality. G must be positive definite. C may
// be nil if b is empty. It panics if the shapes do not match.
//
// The method is the dual active-set method of Goldfarb and Idnani
// (Mathematical Programming 27, 1983): it begins at the unconstrained minimum
// and adds violated constraints one at a time, so it needs no feasible point
// to begin with, and stops at once where no constraint matters.
func QuadProg(g mat.Symmetric, a []float64, c mat.Matrix, b []float64, equalities int) (QPResult, error) {
	n := g.SymmetricDim()
	rows := 0
	if c != nil {
		r, cols := c.Dims()
		if cols != n {
			panic(fmt.Sprintf("fit: constraints on %d variables, programme has %d", cols, n))
		}
		rows = r
	}
	if len(a) != n || len(b) != rows || equalities < 0 || equalities > rows {
		panic("fit: quadratic programme with mismatched shapes")
	}
	var chol mat.Cholesky
	if !chol.Factorize(g) {
		return QPResult{}, fmt.Errorf("fit: %w", ErrNotConvex)
	}
	x := mat.NewVecDense(n, nil)
	if err := chol.SolveVecTo(x, mat.NewVecDense(n, a)); err != nil {
		return QPResult{}, fmt.Errorf("fit: %w: %v", ErrNotConvex, err)
	}
	var u, inv mat.TriDense // G = UᵀU, so U⁻¹ is the J of the method
	chol.UTo(&u)
	if err := inv.InverseTri(&u); err != nil {
		return QPResult{}, fmt.Errorf("fit: %w: %v", ErrNotConvex, err)
	}
	p := newProgramme(n)
	for i := range n {
		p.x[i] = x.AtVec(i)
		for k := range n {
			p.j[i*n+k] = inv.At(i, k)
		}
	}
	for r := range rows {
		row := make([]float64, n)
		for i := range row {
			row[i] = c.At(r, i)
		}
		p.constrain(row, b[r])
	}
	p.equalities = equalities
	if err := p.solve(); err != nil {
		return QPResult{}, fmt.Errorf("fit: %w", err)
	}
	out := QPResult{X: p.x, Multipliers: make([]float64, rows), Iterations: p.iterations}
	for i, k := range p.active {
		out.Active = append(out.Active, k)
		out.Multipliers[k] = p.u[i] * p.sign[i] / p.norm[k]
	}
	xv := mat.NewVecDense(n, p.x)
	out.Value = mat.Inner(xv, g, xv)/2 - mat.Dot(mat.NewVecDense(n, a), xv)
	return out, nil
}

// programme is the state of the dual active-set method. Invariants, with N the
// matrix whose columns are the active constraints' normals (scaled to unit
// length, times sign): JᵀN = [R; 0] with R upper triangular, JJᵀ = G⁻¹, and x
// minimises the objective where the active constraints hold with equality.
type programme struct {
	n          int
	x          []float64
	j          []float64 // n×n, by rows
	rows       []float64 // unit normals, n numbers each
	b          []float64
	norm       []float64 // lengths of the rows as given
	equalities int

	implied    []int // equalities that follow from the active ones
	active     []int
	sign       []float64 // -1 where an equality was approached from above
	u          []float64 // multipliers of the active constraints
	r          []float64 // n×n upper triangular, by rows
	d          []float64 // Jᵀn of the constraint to add
	z, step    []float64 // direction in x, and in the multipliers
	iterations int

	buf []float64 // what x, j, r, d, z and step are parts of
}

// feasibility is the violation of a constraint with unit normal that counts as
// rounding, relative to the size of x and b.
const feasibility = 1e-11

func newProgramme(n int) *programme {
	p := &programme{}
	p.begin(n)
	return p
}

// begin makes p a programme in n variables without constraints, with x and J
// zero, in the memory of the one before.
func (p *programme) begin(n int) {
	p.buf = resized(p.buf, 2*n*n+4*n+1)
	clear(p.buf)
	buf := p.buf
	take := func(k int) []float64 { s := buf[:k:k]; buf = buf[k:]; return s }
	p.n, p.equalities = n, 0
	p.x, p.d, p.z, p.step = take(n), take(n), take(n), take(n+1)
	p.j, p.r = take(n*n), take(n*n)
	p.rows, p.b, p.norm = p.rows[:0], p.b[:0], p.norm[:0]
	p.restart()
}

// restart forgets what is active, but not the constraints.
func (p *programme) restart() {
	p.implied, p.active, p.sign, p.u = p.implied[:0], p.active[:0], p.sign[:0], p.u[:0]
}

// constrain adds row·x ≥ b, scaled to a unit normal.
func (p *programme) constrain(row []float64, b float64) {
	at := len(p.rows)
	p.rows = append(p.rows, row...)
	p.scaleLast(at, b)
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
	} else {
		s = 1
	}
	p.b = append(p.b, b)
	p.norm = append(p.norm, s)
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

// violated returns the first equality that does not hold yet, or else the
// inequality that is violated most, and its slack; -1 if there is none.
func (p *programme) violated() (k int, slack float64) {
	scale := 1 + norm2(p.x)
	k = -1
	for i, b := range p.b {
		s := dot(p.row(i), p.x) - b
		worse := s < slack && s < -feasibility*(scale+math.Abs(b))
		if i >= p.equalities && !worse || slices.Contains(p.active, i) || slices.Contains(p.implied, i) {
			continue
		}
		if i < p.equalities {
			// An equality joins the active set even where it already holds, so
			// that later steps keep it.
			return i, s
		}
		k, slack = i, s
	}
	return k, slack
}

// add brings constraint k into the active set, dropping those that block it:
// step 2 of the method, with partial steps in the dual and full steps in both
// spaces.
func (p *programme) add(k int, slack float64, limit int) error {
	sign := 1.0
	if slack > 0 { // an equality, from above
		sign, slack = -1, -slack
	}
	row := p.row(k)
	u := 0.0 // multiplier of k
	for range limit {
		q := len(p.active)
		for c := range p.n { // d = Jᵀn
			s := 0.0
			for i := range p.n {
				s += p.j[i*p.n+c] * row[i]
			}
			p.d[c] = s * sign
		}
		free := norm2(p.d[q:])
		for i := range p.n { // z = J₂d₂
			p.z[i] = dot(p.j[i*p.n+q:(i+1)*p.n], p.d[q:])
		}
		p.backSubstitute(q) // step = R⁻¹d₁

		drop, dual := -1, math.Inf(1)
		for i := range q {
			if p.step[i] > 0 && p.active[i] >= p.equalities {
				if t := p.u[i] / p.step[i]; t < dual {
					drop, dual = i, t
				}
			}
		}
		full := math.Inf(1)
		if free > 1e-12*norm2(p.d) && free > 0 {
			full = -slack / (free * free) // zᵀn = |d₂|²
		}
		t := math.Min(dual, full)
		if math.IsInf(t, 1) {
			if k < p.equalities && math.Abs(slack) <= 1e-9*(1+norm2(p.x)+math.Abs(p.b[k])) {
				p.implied = append(p.implied, k)
				return nil
			}
			return ErrInfeasible
		}
		for i := range q {
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
			p.push(k, sign, u)
			return nil
		}
		p.remove(drop)
	}
	return ErrNoConvergence
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
func (p *programme) push(k int, sign, u float64) {
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
	p.sign = append(p.sign, sign)
	p.u = append(p.u, u)
}

// remove takes the l-th active constraint out: its column leaves R, and
// rotations make R triangular again.
func (p *programme) remove(l int) {
	q := len(p.active) - 1
	copy(p.active[l:], p.active[l+1:])
	copy(p.sign[l:], p.sign[l+1:])
	copy(p.u[l:], p.u[l+1:])
	p.active, p.sign, p.u = p.active[:q], p.sign[:q], p.u[:q]
	for c := l; c < q; c++ {
		for i := 0; i <= c+1; i++ {
			p.r[i*p.n+c] = p.r[i*p.n+c+1]
		}
		cs, sn, h := givens(p.r[c*p.n+c], p.r[(c+1)*p.n+c])
		p.r[c*p.n+c], p.r[(c+1)*p.n+c] = h, 0
		// Columns right of c have not been shifted yet: they stand one further.
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
