package infer

import (
	"errors"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// testKernel has all that a kernel can have. a and b are software, c hardware.
var testKernel = Kernel{
	Trend:    Trend{Variance: 0.5, Software: 1, Hardware: 0.5, Degree: 2},
	Likeness: []Likeness{{0.2, 2, 3}, {0.1, 1, 0}, {0.1, 0, 1}},
	Noise:    0.01,
}

func process(t *testing.T, table *Table, k Kernel) *Process {
	t.Helper()
	p, err := NewProcess(table, 2, k)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func predictions(t *testing.T, p *Process, table *Table) []float64 {
	t.Helper()
	out, err := p.Predict(table)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// differs returns the largest relative difference.
func differs(a, b []float64) float64 {
	worst := 0.0
	for i := range a {
		worst = max(worst, math.Abs(a[i]/b[i]-1))
	}
	return worst
}

// TestTrendIsRidge: a trend of degree 2 is the ridge regression on the products that
// (1 + u·v)² multiplies out to, worked out with these as columns.
func TestTrendIsRidge(t *testing.T) {
	train, fresh := invented(60, 0.05, 3), invented(20, 0, 4)
	k := Kernel{Trend: Trend{Variance: 0.3, Software: 2, Hardware: 0.5, Degree: 2}, Noise: 0.02}
	p := process(t, train, k)
	columns := func(table *Table) *mat.Dense {
		s, h, err := p.Coordinates.place(table)
		if err != nil {
			t.Fatal(err)
		}
		out := mat.NewDense(table.Rows(), 21, nil) // 1, 5 of one, 15 of two
		for i := range table.Rows() {
			u := []float64{1}
			for _, x := range s.Data[i*s.Stride : (i+1)*s.Stride] {
				u = append(u, math.Sqrt(k.Trend.Software)*x)
			}
			for _, x := range h.Data[i*h.Stride : (i+1)*h.Stride] {
				u = append(u, math.Sqrt(k.Trend.Hardware)*x)
			}
			n := 0
			for a := range u {
				for b := a; b < len(u); b++ {
					v := math.Sqrt(k.Trend.Variance) * u[a] * u[b]
					if a != b {
						v *= math.Sqrt2
					}
					out.Set(i, n, v)
					n++
				}
			}
		}
		return out
	}
	x := columns(train)
	_, n := x.Dims()
	var normal mat.Dense
	normal.Mul(x.T(), x)
	for j := range n {
		normal.Set(j, j, normal.At(j, j)+k.Noise)
	}
	var right, b, y mat.VecDense
	right.MulVec(x.T(), mat.NewVecDense(len(p.response), p.response))
	if err := b.SolveVec(&normal, &right); err != nil {
		t.Fatal(err)
	}
	y.MulVec(columns(fresh), &b)
	want := make([]float64, fresh.Rows())
	for i := range want {
		want[i] = math.Exp(p.mean + min(max(y.AtVec(i), p.least), p.most))
	}
	if d := differs(predictions(t, p, fresh), want); d > 1e-7 {
		t.Errorf("the trend and the regression differ by %g", d)
	}
}

// TestProcessByDefinition compares with the covariances of pairs of rows, worked out
// one by one, and the inverse of their matrix.
func TestProcessByDefinition(t *testing.T) {
	train, fresh := invented(40, 0.1, 5).Balanced(), invented(10, 0, 6)
	train.Weights[3] = 4
	p := process(t, train, testKernel)
	at := func(table *Table, i int) [][]float64 {
		s, h, err := p.Coordinates.place(table)
		if err != nil {
			t.Fatal(err)
		}
		return [][]float64{s.Data[i*s.Stride : (i+1)*s.Stride], h.Data[i*h.Stride : (i+1)*h.Stride]}
	}
	covariance := func(u, v [][]float64) float64 {
		var product, distance [2]float64
		for part := range u {
			for i, x := range u[part] {
				product[part] += x * v[part][i]
				distance[part] += (x - v[part][i]) * (x - v[part][i])
			}
		}
		matern := func(square, length float64) float64 {
			if length == 0 {
				return 1
			}
			r := math.Sqrt(3) * math.Sqrt(square) / length
			return (1 + r) * math.Exp(-r)
		}
		k := testKernel
		sum := k.Trend.Variance * math.Pow(1+k.Trend.Software*product[0]+k.Trend.Hardware*product[1], float64(k.Trend.Degree))
		for _, l := range k.Likeness {
			sum += l.Variance * matern(distance[0], l.Software) * matern(distance[1], l.Hardware)
		}
		return sum
	}
	n := train.Rows()
	all := mat.NewDense(n, n, nil)
	for i := range n {
		for j := range n {
			all.Set(i, j, covariance(at(train, i), at(train, j)))
		}
		all.Set(i, i, all.At(i, i)+testKernel.Noise/train.Weights[i])
	}
	var weights mat.VecDense
	if err := weights.SolveVec(all, mat.NewVecDense(n, p.response)); err != nil {
		t.Fatal(err)
	}
	want := make([]float64, fresh.Rows())
	for i := range want {
		y := 0.0
		for j := range n {
			y += covariance(at(fresh, i), at(train, j)) * weights.AtVec(j)
		}
		want[i] = math.Exp(p.mean + min(max(y, p.least), p.most))
	}
	if d := differs(predictions(t, p, fresh), want); d > 1e-7 {
		t.Errorf("predictions differ by %g from the definition", d)
	}
}

// TestExtendIsTheFitToAll, in two steps, and leaves what it extends alone.
func TestExtendIsTheFitToAll(t *testing.T) {
	first, second, third, fresh := invented(50, 0.1, 7), invented(8, 0.1, 8), invented(1, 0.1, 9), invented(30, 0, 10)
	p := process(t, first, testKernel)
	before := predictions(t, p, fresh)
	extended := p
	rows := first
	for _, more := range []*Table{second, third} {
		var err error
		if extended, err = extended.Extend(more); err != nil {
			t.Fatal(err)
		}
		if rows, err = rows.Join(more); err != nil {
			t.Fatal(err)
		}
	}
	logs, err := logarithms(rows)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := (&Process{Kernel: p.Kernel, Coordinates: p.Coordinates, mean: p.mean}).with(rows, logs)
	if err != nil {
		t.Fatal(err)
	}
	if d := differs(predictions(t, extended, fresh), predictions(t, whole, fresh)); d > 1e-9 {
		t.Errorf("the update differs by %g from the fit to all rows", d)
	}
	if d := differs(predictions(t, extended, fresh), before); d < 1e-6 {
		t.Error("the update changed nothing")
	}
	if d := differs(predictions(t, p, fresh), before); d != 0 {
		t.Error("the update changed what it extends")
	}
}

// TestProcessFindsAFunction that it was not told of, better with more rows, and keeps
// to the range of what it saw.
func TestProcessFindsAFunction(t *testing.T) {
	fresh := invented(200, 0, 11)
	few := Judge(predictions(t, process(t, invented(50, 0.02, 12), testKernel), fresh), fresh.Response)
	many := Judge(predictions(t, process(t, invented(800, 0.02, 12), testKernel), fresh), fresh.Response)
	if many.Median > 0.02 || many.Correlation < 0.99 || few.Median < 1.5*many.Median {
		t.Errorf("median error %.3f of 50 rows, %.3f and correlation %.3f of 800", few.Median, many.Median, many.Correlation)
	}
	far := &Table{Names: fresh.Names, Columns: [][]float64{{1e6}, {1e6}, {0}}, Response: []float64{1}}
	train := invented(100, 0.02, 13)
	p := process(t, train, testKernel)
	if z := predictions(t, p, far)[0]; math.Log(z)-p.mean > p.most+1e-12 || math.Log(z)-p.mean < p.least-1e-12 {
		t.Errorf("far away it predicts %g", z)
	}
}

func TestProcessRejects(t *testing.T) {
	good := invented(10, 0.1, 14)
	negative, variable := invented(10, 0.1, 14), invented(10, 0.1, 14)
	negative.Response[4], variable.Columns[0][4] = -1, -1
	for name, table := range map[string]*Table{"response": negative, "variable": variable, "no rows": {}} {
		if _, err := NewProcess(table, 2, testKernel); !errors.Is(err, ErrData) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := NewProcess(good, 4, testKernel); err == nil {
		t.Error("four of three variables are of software")
	}
	if _, err := NewProcess(good, 2, Kernel{}); err == nil {
		t.Error("a kernel without noise")
	}
	p := process(t, good, testKernel)
	other := *good
	other.Names = []string{"a", "b", "d"}
	if _, err := p.Extend(&other); !errors.Is(err, ErrData) {
		t.Errorf("other variables: %v", err)
	}
	if _, err := p.Predict(&other); !errors.Is(err, ErrData) {
		t.Errorf("other variables: %v", err)
	}
}
