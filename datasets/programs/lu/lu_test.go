package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// problemOf returns a problem that is set up, with an order of the points.
func problemOf(n int, order string) *problem {
	o := defaults()
	o.n, o.max, o.order = n, n+3, order
	p := allocate(o)
	initialize(p)
	return p
}

// perturb sets the solution to the exact one with up to a tenth added.
func perturb(p *problem, random *rand.Rand) {
	for k := range p.n {
		for j := range p.n {
			for i := range p.n {
				u := p.exact(i, j, k)
				for m := range u {
					u[m] *= 1 + 0.1*random.Float64()
				}
				p.u[p.at(i, j, k)] = u
			}
		}
	}
}

// insides calls visit with each point inside.
func insides(p *problem, visit func(i, j, k int)) {
	for k := 1; k < p.n-1; k++ {
		for j := 1; j < p.n-1; j++ {
			for i := 1; i < p.n-1; i++ {
				visit(i, j, k)
			}
		}
	}
}

// What the forcing is for: with it, the exact solution does not move.
func TestExactSolutionIsSteady(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{7, 10, 13, 24} {
		p := problemOf(n, plane)
		for k := range n {
			for j := range n {
				for i := range n {
					p.u[p.at(i, j, k)] = p.exact(i, j, k)
				}
			}
		}
		rhs(p)
		// The largest element of the solution is below 50.
		if norm, most := l2norm(p), residualTolerance*p.t1*50; distance(norm, vec{}) > most {
			t.Errorf("n %d: residual norms %.3g, want at most %.3g", n, norm, most)
		}
		if e := errorNorm(p); e != (vec{}) {
			t.Errorf("n %d: error norms %.3g of the exact solution", n, e)
		}
	}
}

// rhs line by line, against the operator point by point, on any state; points on
// the faces have no residual.
func TestRhsMatchesOperator(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{7, 8, 11} {
		p := problemOf(n, plane)
		perturb(p, random)
		rhs(p)
		insides(p, func(i, j, k int) {
			want, f := p.operator(p.u, i, j, k), p.frct[p.at(i, j, k)]
			for m := range want {
				want[m] -= f[m]
			}
			if d := distance(p.rsd[p.at(i, j, k)], want); !(d < 1e-9*p.t1) {
				t.Fatalf("n %d, point (%d, %d, %d): residual %.9g, want %.9g", n, i, j, k, p.rsd[p.at(i, j, k)], want)
			}
		})
		for i := range n {
			if r := p.rsd[p.at(i, 0, n-1)]; r != (vec{}) {
				t.Errorf("n %d: residual %v on an edge", n, r)
			}
		}
	}
}

// numeric returns 1 - dt ∂rsd(point)/∂u(other) without the fourth-order
// dissipation, the operator's part of weight, by central differences.
func numeric(p *problem, i, j, k, other int, weight float64) block {
	const h = 1e-5
	var b block
	for column := range 5 {
		saved := p.u[other][column]
		p.u[other][column] = saved + h
		hi := p.operator(p.u, i, j, k)
		p.u[other][column] = saved - h
		lo := p.operator(p.u, i, j, k)
		p.u[other][column] = saved
		for m := range hi {
			b[5*column+m] = -p.dt * (hi[m] - lo[m]) / (2 * h)
		}
		b[6*column] -= p.dt * dssp * weight
		if other == p.at(i, j, k) {
			b[6*column]++
		}
	}
	return b
}

// The blocks are derivatives of the residual, but for its fourth differences.
func TestBlocksAreDerivatives(t *testing.T) {
	const n = 9 // points in the middle have all of 1 -4 6 -4 1
	random := rand.New(rand.NewPCG(3, 4))
	for _, order := range []string{plane, hyperplane} {
		p := problemOf(n, order)
		p.dt = 0.3
		perturb(p, random)
		primitives(p)
		for f := range p.fronts.count {
			for _, sweep := range []struct {
				form func(*problem, patch)
				sign int
			}{{jacld, -1}, {jacu, 1}} {
				if order == plane {
					sweep.form(p, p.planePatch(f))
				} else {
					for at, cell := range p.hyperplanePoints(f) {
						sweep.form(p, single(at, cell))
					}
				}
				p.each(f, func(cell, at int) {
					i, j, k := cell%p.row, cell/p.row%p.row, cell/p.plane
					if min(i, j, k) < 3 || max(i, j, k) > n-4 {
						return
					}
					for _, c := range []struct {
						name   string
						got    block
						other  int
						weight float64
					}{
						{"a", p.a[at], cell + sweep.sign*p.plane, -4},
						{"b", p.b[at], cell + sweep.sign*p.row, -4},
						{"c", p.c[at], cell + sweep.sign, -4},
						{"d", p.d[at], cell, 18},
					} {
						want := numeric(p, i, j, k, c.other, c.weight)
						for e := range want {
							if !(math.Abs(c.got[e]-want[e]) < 1e-6*p.dt*p.t1) {
								t.Fatalf("%s, point (%d, %d, %d): %s(%d, %d) = %.9g, by differences %.9g", order, i, j, k, c.name, e%5+1, e/5+1, c.got[e], want[e])
							}
						}
					}
				})
			}
		}
	}
}

// denseSolve solves a x = b by elimination with row pivoting.
func denseSolve(a [][]float64, b []float64) []float64 {
	n := len(b)
	for q := range n {
		pivot := q
		for r := q + 1; r < n; r++ {
			if math.Abs(a[r][q]) > math.Abs(a[pivot][q]) {
				pivot = r
			}
		}
		a[q], a[pivot] = a[pivot], a[q]
		b[q], b[pivot] = b[pivot], b[q]
		for r := q + 1; r < n; r++ {
			if f := a[r][q] / a[q][q]; f != 0 {
				for c := q; c < n; c++ {
					a[r][c] -= f * a[q][c]
				}
				b[r] -= f * b[q]
			}
		}
	}
	for q := n - 1; q >= 0; q-- {
		for c := q + 1; c < n; c++ {
			b[q] -= a[q][c] * b[c]
		}
		b[q] /= a[q][q]
	}
	return b
}

// Own blocks are near triangular: here are some that are full.
func TestSolveAgainstDenseSolve(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for range 100 {
		var b block
		var v vec
		rows := make([][]float64, 5)
		for m := range v {
			v[m] = random.NormFloat64()
			rows[m] = make([]float64, 5)
			for n := range v {
				b[5*n+m] = random.NormFloat64()
				if m == n {
					b[6*m] += 20
				}
				rows[m][n] = b[5*n+m]
			}
		}
		want := vec(denseSolve(rows, slices.Clone(v[:])))
		if b.solve(&v); !(distance(v, want) < 1e-14) {
			t.Fatalf("solution %.15g, want %.15g", v, want)
		}
	}
}

// The sweeps together solve (D + ωL) D⁻¹ (D + ωU) v = r: written out, with the
// blocks that were formed front by front, and solved by a method for any matrix.
func TestSweepsAgainstDenseSolve(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const n, inside = 6, 4
	unknown := func(i, j, k int) int { return 5 * (i - 1 + inside*(j-1+inside*(k-1))) }
	for _, order := range []string{plane, hyperplane} {
		random := rand.New(rand.NewPCG(5, 6))
		p := problemOf(7, order)
		p.n, p.dt = n, 0.05
		if p.fronts = planes(p); order == hyperplane {
			p.fronts = hyperplanes(p)
		}
		perturb(p, random)
		primitives(p)
		clear(p.rsd)
		right := make([]float64, 5*inside*inside*inside)
		insides(p, func(i, j, k int) {
			for m := range 5 {
				right[unknown(i, j, k)+m] = random.NormFloat64()
			}
			copy(p.rsd[p.at(i, j, k)][:], right[unknown(i, j, k):])
		})

		// One sweep after the other, the matrices from what was formed on the way.
		matrices := map[int][][]float64{}
		diagonal := make([][]float64, len(right))
		for _, sign := range []int{-1, 1} {
			m := make([][]float64, len(right))
			for r := range m {
				m[r] = make([]float64, len(right))
			}
			for step := range p.fronts.count {
				f := step
				if sign < 0 {
					lower(p, f)
				} else {
					f = p.fronts.count - 1 - step
					upper(p, f)
				}
				p.each(f, func(cell, at int) {
					i, j, k := cell%p.row, cell/p.row%p.row, cell/p.plane
					place := func(b block, i2, j2, k2 int, factor float64) {
						if min(i2, j2, k2) < 1 || max(i2, j2, k2) > inside {
							return
						}
						for e, v := range b {
							m[unknown(i, j, k)+e%5][unknown(i2, j2, k2)+e/5] = factor * v
						}
					}
					place(p.a[at], i, j, k+sign, omega)
					place(p.b[at], i, j+sign, k, omega)
					place(p.c[at], i+sign, j, k, omega)
					place(p.d[at], i, j, k, 1)
					for q := range 5 {
						row := make([]float64, 5)
						for column := range 5 {
							row[column] = p.d[at][5*column+q]
						}
						diagonal[unknown(i, j, k)+q] = row
					}
				})
			}
			matrices[sign] = m
		}

		y := denseSolve(matrices[-1], right)
		for r := range diagonal { // D y, block by block
			sum := 0.0
			for q, e := range diagonal[r] {
				sum += e * y[r/5*5+q]
			}
			diagonal[r] = append(diagonal[r], sum)
		}
		dy := make([]float64, len(y))
		for r := range dy {
			dy[r] = diagonal[r][5]
		}
		v := denseSolve(matrices[1], dy)
		insides(p, func(i, j, k int) {
			want := vec(v[unknown(i, j, k):][:5])
			if d := distance(p.rsd[p.at(i, j, k)], want); !(d < 1e-11) {
				t.Fatalf("%s, point (%d, %d, %d): %.12g, dense solution %.12g", order, i, j, k, p.rsd[p.at(i, j, k)], want)
			}
		})
	}
}

// Each point inside is in one hyper-plane, after all that its lower solve needs.
func TestHyperplanes(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for n := 5; n <= 14; n++ {
		p := problemOf(max(n, 7), hyperplane)
		p.n = n
		p.fronts = hyperplanes(p)
		front := map[int]int{}
		for f := range p.fronts.count {
			for _, cell := range p.hyperplanePoints(f) {
				if _, twice := front[int(cell)]; twice {
					t.Fatalf("n %d: point %d twice", n, cell)
				}
				front[int(cell)] = f
			}
			if most := len(p.d); len(p.hyperplanePoints(f)) > most {
				t.Errorf("n %d: %d points on a hyper-plane, room for the blocks of %d", n, len(p.hyperplanePoints(f)), most)
			}
		}
		if want := (n - 2) * (n - 2) * (n - 2); len(front) != want {
			t.Errorf("n %d: %d points, want %d", n, len(front), want)
		}
		insides(p, func(i, j, k int) {
			here := front[p.at(i, j, k)]
			for _, before := range []int{p.at(i-1, j, k), p.at(i, j-1, k), p.at(i, j, k-1)} {
				if f, inside := front[before]; inside && f >= here {
					t.Fatalf("n %d: (%d, %d, %d) is in front %d, one before it in %d", n, i, j, k, here, f)
				}
			}
		})
	}
}

// Order and room in the arrays change where numbers are, not what they are.
func TestOrderAndRoomDoNotMatter(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{10, 15} {
		var want results
		for c, o := range []options{
			{n: n, max: n, order: plane},
			{n: n, max: n, order: hyperplane},
			{n: n, max: n + 9, order: plane},
			{n: n, max: 40, order: hyperplane},
		} {
			o.iterations, o.dt = 3, 2
			p := allocate(o)
			initialize(p)
			ssor(p)
			if c == 0 {
				want = p.ended
			}
			if p.ended != want {
				t.Errorf("%+v: %v, want %v", o, p.ended, want)
			}
		}
	}
}

// The trapezoidal rule is exact where the pressure is linear along each axis: the
// integral over two opposite faces is their area times the sum in their middles.
func TestSurfaceIntegral(t *testing.T) {
	p := problemOf(11, plane)
	for k := range p.n {
		for j := range p.n {
			for i := range p.n {
				x, y, z := p.position(i), p.position(j), p.position(k)
				u := vec{2, 1, 3, 2, 0}
				u[4] = (1+2*x)*(2-y)*(3+z)/c2 + 0.5*(1+9+4)/2
				p.u[p.at(i, j, k)] = u
			}
		}
	}
	pressure := func(x, y, z float64) float64 { return (1 + 2*x) * (2 - y) * (3 + z) }
	x1, x2, y1, y2, z1, z2 := .1, .9, .1, .8, .2, .9
	x, y, z := (x1+x2)/2, (y1+y2)/2, (z1+z2)/2
	want := (x2-x1)*(y2-y1)*(pressure(x, y, z1)+pressure(x, y, z2)) +
		(x2-x1)*(z2-z1)*(pressure(x, y1, z)+pressure(x, y2, z)) +
		(y2-y1)*(z2-z1)*(pressure(x1, y, z)+pressure(x2, y, z))
	if got := pintgr(p); math.Abs(got-want) > 1e-12*want {
		t.Errorf("surface integral %.15g, want %.15g", got, want)
	}
}

// Profiles take it that a step costs the same each time and asks for no memory.
func TestStepsDoNotAllocate(t *testing.T) {
	for _, order := range []string{plane, hyperplane} {
		p := problemOf(10, order)
		p.steps = 2
		if a := testing.AllocsPerRun(2, func() { ssor(p) }); a != 0 {
			t.Errorf("%s: %g allocations", order, a)
		}
	}
}

// The formulas of README.md.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{10, 13, 64} {
		for _, order := range []string{plane, hyperplane} {
			p := problemOf(n, order)
			ld := (n+3)/2*2 + 1
			room := n + 3
			got := 40*(len(p.u)+len(p.rsd)+len(p.frct)+len(p.tv)+len(p.before)+len(p.flux)) +
				8*(len(p.rhoi)+len(p.qs)+len(p.phi1)+len(p.phi2)) +
				200*(len(p.a)+len(p.b)+len(p.c)+len(p.d)) +
				4*(len(p.fronts.points)+len(p.fronts.start))
			want := 136*ld*ld*room + 896*ld*room + 40*room
			if order == hyperplane {
				want += 4 * ((n-2)*(n-2)*(n-2) + 3*n - 7)
			}
			if got != want {
				t.Errorf("n %d, %s: %d bytes, want %d", n, order, got, want)
			}
		}
	}
}

func TestStateIsLeftmostFastest(t *testing.T) {
	p := problemOf(10, plane)
	if p.row != 13 || p.plane != 169 || p.at(1, 2, 3) != 1+13*2+169*3 {
		t.Errorf("row %d, plane %d, point %d", p.row, p.plane, p.at(1, 2, 3))
	}
	var b block
	b.row(1, 1, 2, 3, 4, 5)
	if want := []float64{0, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 3, 0, 0, 0, 0, 4, 0, 0, 0, 0, 5, 0, 0, 0}; !slices.Equal(b[:], want) {
		t.Errorf("row 1: %v", b)
	}
}
