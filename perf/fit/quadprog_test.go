package fit

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// qpTolerance is the error allowed of solutions of random programmes with
// condition numbers below about 1e4.
const qpTolerance = 1e-7

// programmeCase is a random quadratic programme.
type programmeCase struct {
	n, rows int
	g       *mat.SymDense
	a, b    []float64
	c       *mat.Dense
}

func randomProgramme(r *rand.Rand) programmeCase {
	p := programmeCase{n: 1 + r.IntN(4)}
	p.rows = 1 + r.IntN(6)
	m := mat.NewDense(p.n, p.n, nil)
	for i := range p.n {
		for k := range p.n {
			m.Set(i, k, r.NormFloat64())
		}
	}
	p.g = mat.NewSymDense(p.n, nil)
	for i := range p.n {
		for k := i; k < p.n; k++ {
			v := mat.Dot(m.RowView(i), m.RowView(k))
			if i == k {
				v += 0.1
			}
			p.g.SetSym(i, k, v)
		}
	}
	p.c = mat.NewDense(p.rows, p.n, nil)
	for range p.n {
		p.a = append(p.a, r.NormFloat64()*3)
	}
	for i := range p.rows {
		for k := range p.n {
			p.c.Set(i, k, math.Round(r.NormFloat64()*2)) // ties and parallels are frequent
		}
		p.b = append(p.b, math.Round(r.NormFloat64()*2))
	}
	return p
}

// bruteForce tries every set of inequalities as the active one: it solves the
// stationarity conditions for each and keeps the best feasible solution.
func bruteForce(p programmeCase) (x []float64, value float64) {
	value = math.Inf(1)
	for set := range 1 << p.rows {
		var rows []int
		for i := range p.rows {
			if set>>i&1 == 1 {
				rows = append(rows, i)
			}
		}
		k := len(rows)
		if k > p.n {
			continue
		}
		kkt := mat.NewDense(p.n+k, p.n+k, nil)
		rhs := mat.NewVecDense(p.n+k, nil)
		for i := range p.n {
			rhs.SetVec(i, p.a[i])
			for c := range p.n {
				kkt.Set(i, c, p.g.At(i, c))
			}
			for j, row := range rows {
				kkt.Set(i, p.n+j, -p.c.At(row, i))
				kkt.Set(p.n+j, i, p.c.At(row, i))
			}
		}
		for j, row := range rows {
			rhs.SetVec(p.n+j, p.b[row])
		}
		var sol mat.VecDense
		if err := sol.SolveVec(kkt, rhs); err != nil {
			continue
		}
		cand := sol.RawVector().Data[:p.n]
		ok := true
		for i := range p.rows {
			s := mat.Dot(p.c.RowView(i), mat.NewVecDense(p.n, cand)) - p.b[i]
			ok = ok && s > -1e-8
		}
		if v := objective(p, cand); ok && v < value {
			x, value = append([]float64(nil), cand...), v
		}
	}
	return x, value
}

func objective(p programmeCase, x []float64) float64 {
	v := mat.NewVecDense(p.n, x)
	return mat.Inner(v, p.g, v)/2 - mat.Dot(mat.NewVecDense(p.n, p.a), v)
}

func TestQuadProgAgainstAllActiveSets(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	r := rand.New(rand.NewPCG(1, 2))
	solved, infeasible, dropped := 0, 0, 0
	for range 4000 {
		p := randomProgramme(r)
		want, value := bruteForce(p)
		got, err := quadProg(p.g, p.a, p.c, p.b)
		if want == nil {
			// The brute force skips singular sets. Where it finds nothing, any
			// solution must prove itself feasible.
			if err == nil {
				checkFeasible(t, p, got.X)
				continue
			}
			if !errors.Is(err, ErrInfeasible) {
				t.Fatalf("no solution, but error %v", err)
			}
			infeasible++
			continue
		}
		if err != nil {
			t.Fatalf("error %v, solution %v exists: %+v", err, want, p)
		}
		checkFeasible(t, p, got.X)
		if math.Abs(got.Value-value) > qpTolerance*(1+math.Abs(value)) {
			t.Fatalf("value %g, want %g at %v", got.Value, value, want)
		}
		checkStationary(t, p, got)
		solved++
		if got.Iterations > len(got.Active) {
			dropped++
		}
	}
	if solved < 2000 || infeasible < 200 || dropped < 50 {
		t.Errorf("weak sample: %d solved, %d infeasible, %d with constraints dropped on the way", solved, infeasible, dropped)
	}
}

func checkFeasible(t *testing.T, p programmeCase, x []float64) {
	t.Helper()
	for i := range p.rows {
		s := mat.Dot(p.c.RowView(i), mat.NewVecDense(p.n, x)) - p.b[i]
		if s < -qpTolerance {
			t.Fatalf("constraint %d has slack %g at %v", i, s, x)
		}
	}
}

// checkStationary verifies Gx − a = Cᵀλ with λ ≥ 0.
func checkStationary(t *testing.T, p programmeCase, got qpResult) {
	t.Helper()
	for i := range p.n {
		s := -p.a[i]
		size := 1.0
		for k := range p.n {
			s += p.g.At(i, k) * got.X[k]
		}
		for r := range p.rows {
			s -= p.c.At(r, i) * got.Multipliers[r]
			size += math.Abs(p.c.At(r, i) * got.Multipliers[r])
		}
		if math.Abs(s) > qpTolerance*size {
			t.Fatalf("gradient %d is off by %g", i, s)
		}
	}
	for r := range p.rows {
		if got.Multipliers[r] < -qpTolerance {
			t.Fatalf("multiplier %d is %g", r, got.Multipliers[r])
		}
	}
}

// TestQuadProgManualExample solves the example of Goldfarb and Idnani's method
// in the manual of R's quadprog: minimise −(0 5 0)x + ½xᵀx under three
// constraints.
func TestQuadProgManualExample(t *testing.T) {
	g := mat.NewSymDense(3, []float64{1, 0, 0, 0, 1, 0, 0, 0, 1})
	c := mat.NewDense(3, 3, []float64{-4, -3, 0, 2, 1, 0, 0, -2, 1})
	got, err := quadProg(g, []float64{0, 5, 0}, c, []float64{-8, 2, 0})
	if err != nil {
		t.Fatal(err)
	}
	want := []float64{0.4761905, 1.0476190, 2.0952381}
	for i := range want {
		if math.Abs(got.X[i]-want[i]) > 1e-6 {
			t.Fatalf("x = %v, want %v", got.X, want)
		}
	}
	if math.Abs(got.Value+2.380952) > 1e-5 {
		t.Errorf("value %g", got.Value)
	}
}

func TestQuadProgRefuses(t *testing.T) {
	if _, err := quadProg(mat.NewSymDense(2, []float64{1, 0, 0, -1}), []float64{0, 0}, nil, nil); !errors.Is(err, errNotConvex) {
		t.Errorf("indefinite matrix: %v", err)
	}
	c := mat.NewDense(2, 1, []float64{1, -1})
	if _, err := quadProg(mat.NewSymDense(1, []float64{1}), []float64{0}, c, []float64{1, 0}); !errors.Is(err, ErrInfeasible) {
		t.Errorf("x >= 1 and x <= 0: %v", err)
	}
}
