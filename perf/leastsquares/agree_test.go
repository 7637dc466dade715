package leastsquares

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

const rounding = 1e-9 // coefficients are of order 1, condition numbers below 1e4

// random returns columns of unit length and data of the given number of rows.
func random(rng *rand.Rand, rows, n int) (columns [][]float64, y []float64) {
	vector := func() []float64 {
		v := make([]float64, rows)
		for i := range v {
			v[i] = rng.NormFloat64()
		}
		return v
	}
	for range n {
		x := vector()
		floats.Scale(1/floats.Norm(x, 2), x)
		columns = append(columns, x)
	}
	return columns, vector()
}

func clone(columns [][]float64) (out [][]float64) {
	for _, x := range columns {
		out = append(out, slices.Clone(x))
	}
	return out
}

func grow(t *testing.T, columns [][]float64, y []float64) *Growing {
	t.Helper()
	f := new(Growing)
	f.Begin(y, len(columns), DefaultTolerance)
	for j, x := range columns {
		if !f.Push(x) {
			t.Fatalf("column %d is said to depend on those before it", j)
		}
	}
	return f
}

// reference returns gonum's least-squares coefficients.
func reference(t *testing.T, columns [][]float64, y []float64) []float64 {
	t.Helper()
	a := mat.NewDense(len(y), len(columns), nil)
	for j, x := range columns {
		a.SetCol(j, x)
	}
	var c mat.VecDense
	if err := c.SolveVec(a, mat.NewVecDense(len(y), y)); err != nil {
		t.Fatal(err)
	}
	return c.RawVector().Data
}

func TestBothAgreeWithGonum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		n := 1 + rng.IntN(6)
		columns, y := random(rng, n+2+rng.IntN(12), n)
		want := reference(t, columns, y)
		f := grow(t, columns, y)
		s := Solve(clone(columns), slices.Clone(y), DefaultTolerance)
		if len(s.Aside) > 0 || !floats.EqualApprox(s.Coefficients, want, rounding) || !floats.EqualApprox(f.Solve(), want, rounding) {
			t.Fatalf("Solve %v (aside %v), Growing %v, gonum %v", s.Coefficients, s.Aside, f.Solve(), want)
		}
		if rss := floats.Dot(f.residual(), f.residual()); math.Abs(rss-s.RSS) > rounding {
			t.Fatalf("residual sums of squares: Growing %g, Solve %g", rss, s.RSS)
		}
		if n == 1 {
			continue
		}
		f.Pop()
		if less := reference(t, columns[:n-1], y); !floats.EqualApprox(f.Solve(), less, rounding) {
			t.Fatalf("after Pop: %v, gonum %v", f.Solve(), less)
		}
	}
}

// The leave-one-out error against fits that leave each point out.
func TestLeaveOneOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		columns, y := random(rng, 9, 3)
		sum := 0.0
		for i := range y {
			less := clone(columns)
			for j := range less {
				less[j] = slices.Delete(less[j], i, i+1)
			}
			e := y[i]
			for j, c := range Solve(less, slices.Delete(slices.Clone(y), i, i+1), DefaultTolerance).Coefficients {
				e -= c * columns[j][i]
			}
			sum += e * e
		}
		want := math.Sqrt(sum / float64(len(y)))
		if got := grow(t, columns, y).LeaveOneOut(); math.Abs(got-want) > rounding*want {
			t.Fatalf("leave-one-out error %g, by leaving points out %g", got, want)
		}
	}
}

// A column that depends on earlier ones is set aside, never an earlier one.
func TestDependentColumnsAreSetAside(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	columns, y := random(rng, 8, 3)
	both := make([]float64, 8)
	floats.AddScaledTo(both, columns[0], 2, columns[1])
	all := [][]float64{columns[0], make([]float64, 8), columns[1], both, columns[2]}
	s := Solve(clone(all), slices.Clone(y), DefaultTolerance)
	if !slices.Equal(s.Kept, []int{0, 2, 4}) || !slices.Equal(s.Aside, []int{1, 3}) {
		t.Fatalf("kept %v, set aside %v", s.Kept, s.Aside)
	}
	if want := reference(t, columns, y); !floats.EqualApprox(s.Coefficients, want, rounding) {
		t.Errorf("coefficients %v, want %v", s.Coefficients, want)
	}
	if c := s.Combination(3); !floats.EqualApprox(c, []float64{1, 2}, rounding) {
		t.Errorf("column 3 is %v of columns 0 and 2, want 1 and 2", c)
	}
	f := new(Growing)
	f.Begin(y, 4, DefaultTolerance)
	floats.Scale(1/floats.Norm(both, 2), both)
	if !f.Push(columns[0]) || !f.Push(columns[1]) || f.Push(both) || !f.Push(columns[2]) || f.Columns() != 3 {
		t.Errorf("Growing kept %d columns, want 3", f.Columns())
	}
}

// The tolerance decides what is dependent.
func TestTolerance(t *testing.T) {
	x, near := []float64{1, 0, 0}, []float64{1, 1e-6, 0}
	for _, c := range []struct {
		tolerance float64
		kept      int
	}{{1e-7, 2}, {1e-5, 1}} {
		if s := Solve(clone([][]float64{x, near}), []float64{1, 2, 3}, c.tolerance); len(s.Kept) != c.kept {
			t.Errorf("tolerance %g: Solve keeps %d columns, want %d", c.tolerance, len(s.Kept), c.kept)
		}
		f := new(Growing)
		f.Begin([]float64{1, 2, 3}, 2, c.tolerance)
		if f.Push(x); f.Push(near) != (c.kept == 2) {
			t.Errorf("tolerance %g: Growing has %d columns, want %d", c.tolerance, f.Columns(), c.kept)
		}
	}
}
