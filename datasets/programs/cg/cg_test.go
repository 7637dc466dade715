package main

import (
	"math"
	"slices"
	"testing"
)

// solve runs a problem.
func solve(n, iterations int) *problem {
	p := allocate(options{n: n, iterations: iterations})
	initialize(p)
	iterate(p)
	return p
}

// dense writes a matrix out.
func dense(m *csr) [][]float64 {
	rows := len(m.start) - 1
	a := make([][]float64, rows)
	for row := range a {
		a[row] = make([]float64, rows)
		for e := m.start[row]; e < m.start[row+1]; e++ {
			a[row][m.column[e]] += m.value[e]
		}
	}
	return a
}

// The definition: 6 on the diagonal, -1 where two mesh points are at distance 1.
func TestAssembleMatchesDefinition(t *testing.T) {
	for n := 2; n <= 6; n++ {
		p := allocate(options{n: n, iterations: 1})
		initialize(p)
		if got := len(p.matrix.value); got != entries(n) || got != 7*n*n*n-6*n*n || got != cap(p.matrix.value) || got != len(p.matrix.column) {
			t.Errorf("n %d: %d entries, room for %d, want 7n³ - 6n² = %d", n, got, cap(p.matrix.value), 7*n*n*n-6*n*n)
		}
		if len(p.matrix.start) != p.rows+1 {
			t.Fatalf("n %d: %d row starts, want %d", n, len(p.matrix.start), p.rows+1)
		}
		for row := range p.rows {
			if !slices.IsSorted(p.matrix.column[p.matrix.start[row]:p.matrix.start[row+1]]) {
				t.Errorf("n %d: the columns of row %d do not ascend", n, row)
			}
		}
		for row, entry := range dense(&p.matrix) {
			for column, got := range entry {
				apart := math.Abs(float64(row%n-column%n)) + math.Abs(float64(row/n%n-column/n%n)) + math.Abs(float64(row/n/n-column/n/n))
				want := map[float64]float64{0: 6, 1: -1}[apart]
				if got != want {
					t.Fatalf("n %d: A(%d, %d) = %g, want %g", n, row, column, got, want)
				}
			}
		}
	}
}

func TestProductsMatchDefinition(t *testing.T) {
	for n := 2; n <= 6; n++ {
		p := allocate(options{n: n, iterations: 1})
		initialize(p)
		for i := range p.x { // small integers: sums are exact in any order
			p.x[i] = float64(i*i%17 - 8)
		}
		multiply(p.q, &p.matrix, p.x)
		stencil(p.r, p.x, n)
		for row, entry := range dense(&p.matrix) {
			want := 0.0
			for column, e := range entry {
				want += e * p.x[column]
			}
			if p.q[row] != want || p.r[row] != want {
				t.Fatalf("n %d, row %d: multiply gives %g, stencil %g, want %g", n, row, p.q[row], p.r[row], want)
			}
		}
	}
}

// What makes the method what it is: all residuals are orthogonal, and so are
// the search directions with respect to A (Hestenes and Stiefel, theorem 5:1).
func TestResidualsAndDirections(t *testing.T) {
	const n, steps, tolerance = 9, 12, 1e-11
	var residuals, directions, products [][]float64
	for i := range steps {
		p := solve(n, i+1)
		residuals = append(residuals, p.r)
		directions = append(directions, p.p) // the next one, r + beta p
		ap := make([]float64, p.rows)
		multiply(ap, &p.matrix, p.p)
		products = append(products, ap)
	}
	cosine := func(a, b []float64) float64 { return math.Abs(dot(a, b)) / math.Sqrt(dot(a, a)*dot(b, b)) }
	for i := range steps {
		for j := range i {
			if c := cosine(residuals[i], residuals[j]); c > tolerance {
				t.Errorf("residuals %d and %d: cosine %.3g", i, j, c)
			}
			if c := cosine(directions[i], products[j]); c > tolerance {
				t.Errorf("directions %d and %d: A-cosine %.3g", i, j, c)
			}
		}
	}
}

// In as many steps as there are different eigenvalues the solution is found:
// sums of three of the n eigenvalues of a line, n (n+1) (n+2) / 6 at most.
func TestSolvesInFiniteSteps(t *testing.T) {
	for n := 2; n <= 8; n++ {
		p := solve(n, 1000)
		f := examine(p)
		// The error is at most the residual over the smallest eigenvalue.
		smallest := 12 * math.Pow(math.Sin(math.Pi/(2*float64(n+1))), 2)
		bound := 2 * converged * math.Sqrt(dot(p.b, p.b)) / smallest
		if f.error > bound {
			t.Errorf("n %d: the solution is off by %.3g, at most %.3g was wanted", n, f.error, bound)
		}
		if steps, most := len(p.history), n*(n+1)*(n+2)/6; steps > most {
			t.Errorf("n %d: %d iterations, want at most %d", n, steps, most)
		}
		if last := p.history[len(p.history)-1]; !(last.residual <= converged*converged*dot(p.b, p.b)) {
			t.Errorf("n %d: ended at a squared residual of %.3g", n, last.residual)
		}
	}
}

// Profiles want the same work at each size.
func TestDefaultIterationsAreAllDone(t *testing.T) {
	for n := 4; n <= 12; n++ {
		o := defaults()
		if got := len(solve(n, o.iterations).history); got != o.iterations {
			t.Errorf("n %d: %d iterations of %d", n, got, o.iterations)
		}
	}
}

// The condition number in closed form, against that of the largest eigenvalues
// of A and of 12 - A as their powers show them: 12 bounds those of A.
func TestChebyshevConditionNumber(t *testing.T) {
	for n := 2; n <= 6; n++ {
		p := allocate(options{n: n, iterations: 1})
		initialize(p)
		power := func(shift, sign float64) (eigenvalue float64) {
			v := slices.Clone(p.solution)
			w := make([]float64, p.rows)
			for range 4000 {
				stencil(w, v, n)
				for i := range w {
					w[i] = shift*v[i] + sign*w[i]
				}
				eigenvalue = math.Sqrt(dot(w, w) / dot(v, v))
				scale := 1 / math.Sqrt(dot(w, w))
				for i := range w {
					v[i] = w[i] * scale
				}
			}
			return eigenvalue
		}
		largest, smallest := power(0, 1), 12-power(12, -1)
		rootKappa := math.Sqrt(largest / smallest)
		want := math.Pow(2*math.Pow((rootKappa-1)/(rootKappa+1), 5), 2)
		if got := chebyshev(n, 5); math.Abs(got-min(1, want)) > 1e-9 {
			t.Errorf("n %d: bound after 5 steps %.12g, want %.12g", n, got, min(1, want))
		}
	}
}

func TestIterateStartsFromZero(t *testing.T) {
	p, want := solve(6, 4), solve(6, 4)
	p.history = p.history[:0]
	if iterate(p); !slices.Equal(p.x, want.x) || !slices.Equal(p.history, want.history) {
		t.Error("a second solution differs from the first")
	}
}

// Every entry that is changed or moved must be seen (on the diagonal, moved).
func TestAsymmetricSeesEveryEntry(t *testing.T) {
	p := solve(3, 1)
	m := &p.matrix
	if row := asymmetric(m, p.next); row != -1 {
		t.Fatalf("row %d is not symmetric", row)
	}
	a := dense(m)
	for row := range p.rows {
		for e := m.start[row]; e < m.start[row+1]; e++ {
			saved, column := m.value[e], int(m.column[e])
			m.value[e] = math.Nextafter(saved, 9)
			if got := asymmetric(m, p.next); column != row && got != min(row, column) {
				t.Errorf("entry (%d, %d) changed: row %d found", row, column, got)
			}
			m.value[e] = saved
			for other := range p.rows {
				if a[row][other] != 0 {
					continue
				}
				if m.column[e] = int32(other); asymmetric(m, p.next) < 0 {
					t.Errorf("entry (%d, %d) moved to column %d: not found", row, column, other)
				}
			}
			m.column[e] = int32(column)
		}
	}
}

// Patterns that only one of the comparisons can tell from symmetric ones.
func TestAsymmetricPatterns(t *testing.T) {
	for _, c := range []struct {
		name    string
		columns [][]int32
		want    int
	}{
		{"symmetric", [][]int32{{1, 2}, {0}, {0, 2}}, -1},
		{"cycle", [][]int32{{1}, {2}, {0}}, 0},
		{"last row without entries", [][]int32{{1}, {}}, 0},
		{"first row without entries", [][]int32{{}, {0}}, 1},
	} {
		m := csr{start: []int32{0}}
		for _, columns := range c.columns {
			for _, column := range columns {
				m.add(true, column, 1)
			}
			m.start = append(m.start, int32(len(m.value)))
		}
		if got := asymmetric(&m, make([]int32, len(c.columns))); got != c.want {
			t.Errorf("%s: row %d, want %d", c.name, got, c.want)
		}
	}
}

func TestIterationsDoNotAllocate(t *testing.T) {
	p := allocate(options{n: 9, iterations: 5})
	initialize(p)
	if a := testing.AllocsPerRun(5, func() { p.history = p.history[:0]; iterate(p) }); a != 0 {
		t.Errorf("%g allocations in the iterations", a)
	}
	p = allocate(options{n: 9, iterations: 5})
	if a := testing.AllocsPerRun(1, func() {
		p.matrix.start, p.matrix.column, p.matrix.value = p.matrix.start[:0], p.matrix.column[:0], p.matrix.value[:0]
		initialize(p)
	}); a != 0 {
		t.Errorf("%g allocations in the set-up", a)
	}
}
