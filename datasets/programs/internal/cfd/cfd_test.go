package cfd

import (
	"bytes"
	"io"
	"math"
	"strings"
	"testing"

	"presage/datasets/programs/internal/npb"
)

// layouts are fields of n points along an edge, component leftmost and rightmost.
func layouts(n int) map[string]Field {
	edge := Pad(n)
	points := edge * edge * edge
	return map[string]Field{
		"components first": {make([]float64, 5*points), 1, 5, 5 * edge, 5 * edge * edge},
		"components last":  {make([]float64, 5*points), points, 1, edge, edge * edge},
	}
}

func (f Field) at(m, i, j, k int) *float64 { return &f.Data[m*f.M+i*f.I+j*f.J+k*f.K] }

func TestExactAtMeshPoints(t *testing.T) {
	const n = 9
	c := NewCoefficients(n, 0.01)
	for name, u := range layouts(n) {
		c.SetExact(u)
		for _, p := range [][3]int{{0, 0, 0}, {8, 8, 8}, {1, 5, 7}, {0, 3, 8}} {
			var want [5]float64
			npb.Exact(&want, float64(p[0])/8, float64(p[1])/8, float64(p[2])/8)
			for m := range want {
				if got := *u.at(m, p[0], p[1], p[2]); math.Abs(got-want[m]) > 1e-14*want[m] {
					t.Errorf("%s, point %v, component %d: %v, want %v", name, p, m+1, got, want[m])
				}
			}
		}
	}
}

// The initial state at an inner point, worked out with the formula as NAS
// has it.
func TestInitialize(t *testing.T) {
	const n = 6
	c := NewCoefficients(n, 0.01)
	exact := func(m int, x, y, z float64) float64 {
		var u [5]float64
		npb.Exact(&u, x, y, z)
		return u[m]
	}
	for name, u := range layouts(n) {
		c.Initialize(u)
		if !c.BoundaryIsExact(u) {
			t.Errorf("%s: not exact on the boundary", name)
		}
		x, y, z := 1.0/5, 3.0/5, 4.0/5
		for m := range 5 {
			px := (1-x)*exact(m, 0, y, z) + x*exact(m, 1, y, z)
			py := (1-y)*exact(m, x, 0, z) + y*exact(m, x, 1, z)
			pz := (1-z)*exact(m, x, y, 0) + z*exact(m, x, y, 1)
			want := px + py + pz - px*py - px*pz - py*pz + px*py*pz
			if got := *u.at(m, 1, 3, 4); math.Abs(got-want) > 1e-13*math.Abs(want) {
				t.Errorf("%s: component %d is %v, want %v", name, m+1, got, want)
			}
		}
		*u.at(2, 0, 3, 3) *= 1 + 1e-15
		if c.BoundaryIsExact(u) {
			t.Errorf("%s: a boundary value that is off by its last bit is called exact", name)
		}
	}
}

// On a state that does not vary, all that is left of the operator is the fourth
// difference where it is one-sided: 2 u in the first and the last point, -u in
// the ones after and before.
func TestApplyConstant(t *testing.T) {
	const n = 8
	c := NewCoefficients(n, 0.01)
	state := [5]float64{2, 0.5, -0.25, 1, 8}
	weight := [n]float64{1: 2, 2: -1, n - 3: -1, n - 2: 2}
	for name, u := range layouts(n) {
		dst := layouts(n)[name]
		c.each(u, func(at, i, j, k int) { u.set(at, &state) })
		c.Apply(dst, u, 2)
		c.each(dst, func(at, i, j, k int) {
			want := -2 * Dssp * (weight[i] + weight[j] + weight[k])
			if !c.inside(i) || !c.inside(j) || !c.inside(k) {
				want = 0
			}
			for m := range state {
				if got := dst.Data[at+m*dst.M]; math.Abs(got-want*state[m]) > 1e-12 {
					t.Errorf("%s: (%d, %d, %d), component %d: %v, want %v", name, i, j, k, m+1, got, want*state[m])
				}
			}
		})
	}
}

// The operator is of second order away from the boundary: with half the spacing
// it is four times nearer to the differential operator, so that the distance
// between three meshes falls by four.
func TestApplyConverges(t *testing.T) {
	value := func(n int) [5]float64 {
		c := NewCoefficients(n, 0.01)
		u, dst := layouts(n)["components first"], layouts(n)["components first"]
		c.SetExact(u)
		c.Apply(dst, u, 1)
		quarter := (n - 1) / 4
		var v [5]float64
		for m := range v {
			v[m] = *dst.at(m, quarter, quarter, quarter)
		}
		return v
	}
	a, b, d := value(17), value(33), value(65)
	for m := range a {
		if ratio := (a[m] - b[m]) / (b[m] - d[m]); math.Abs(ratio-4) > 1 {
			t.Errorf("component %d: %v, %v, %v: ratio of the differences %v, want 4", m+1, a[m], b[m], d[m], ratio)
		}
	}
}

func TestNorms(t *testing.T) {
	const n = 7
	c := NewCoefficients(n, 0.01)
	for name, u := range layouts(n) {
		c.SetExact(u)
		*u.at(1, 2, 3, 4) += 3
		*u.at(1, 5, 1, 1) -= 4
		if got := c.ErrorNorm(u); got[0] != 0 || math.Abs(got[1]-5/math.Sqrt(125)) > 1e-13 {
			t.Errorf("%s: error norm %v", name, got)
		}
		clear(u.Data)
		*u.at(4, 1, 1, 1) = 3
		*u.at(4, 5, 5, 5) = 4
		*u.at(4, 6, 5, 5) = 100 // on the boundary: not counted
		if got := c.Norm(u); got[3] != 0 || math.Abs(got[4]-5/math.Sqrt(125)) > 1e-15 {
			t.Errorf("%s: norm %v", name, got)
		}
	}
}

func TestParse(t *testing.T) {
	for _, c := range []struct {
		args string
		want Options
	}{
		{"", Options{N: 24, Max: 24, Iterations: 3, Dt: 0.0008, Structure: "3.0"}},
		{"-n 12", Options{N: 12, Max: 12, Iterations: 3, Dt: 0.01, Structure: "3.0"}},
		{"-n 13 -max 64 -quiet", Options{N: 13, Max: 64, Iterations: 3, Dt: 0.0008, Structure: "3.0", Quiet: true}},
		{"-n 162 -structure 2.3", Options{N: 162, Max: 162, Iterations: 3, Dt: 0.0001, Structure: "2.3"}},
		{"-n 9 -dt 0.001 -iterations 7", Options{N: 9, Max: 9, Iterations: 7, Dt: 0.001, Structure: "3.0"}},
		{"-class S", Options{Class: npb.Class{Name: "S", N: 12, Steps: 60, Dt: 0.01}, N: 12, Max: 12, Iterations: 60, Dt: 0.01, Structure: "3.0"}},
		{"-class A -iterations 2 -max 70", Options{Class: npb.Class{Name: "A", N: 64, Steps: 200, Dt: 0.0008}, N: 64, Max: 70, Iterations: 2, Dt: 0.0008, Structure: "3.0"}},
	} {
		c.want.Benchmark = "BT"
		got, err := parse("bt", "BT", strings.Fields(c.args), io.Discard)
		if err != nil || *got != c.want {
			t.Errorf("%q: %+v (%v), want %+v", c.args, got, err, c.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"-n 5":                 "-n 5: want an integer from 6 to 200",
		"-n 201":               "-n 201",
		"-n 20 -max 19":        "-max 19: want an integer from 20 to 200",
		"-max 0":               "-max 0",
		"-iterations 0":        "-iterations 0",
		"-dt 0":                "-dt 0",
		"-dt NaN":              "-dt NaN",
		"-dt 0.03":             "-dt 0.03",
		"-structure 3.1":       `-structure "3.1": want 2.3 or 3.0`,
		"-class X":             `-class "X": want S, W, A, B or C`,
		"-class S -n 12":       "-class S sets -n and -dt",
		"-class S -dt 0.01":    "-class S sets -n and -dt",
		"12":                   `unexpected argument "12"`,
		"-points 12":           "flag provided but not defined",
		"-class S -max 11":     "-max 11: want an integer from 12",
		"-class S -iterations": "flag needs an argument",
	} {
		var out, errs bytes.Buffer
		status := Run("bt", "BT", strings.Fields(args), &out, &errs, nil)
		if status != 2 || out.Len() > 0 || !strings.Contains(errs.String(), want) || !strings.HasPrefix(errs.String(), "bt: ") {
			t.Errorf("%q: status %d, output %q, errors %q, want %q", args, status, out.String(), errs.String(), want)
		}
	}
	var errs bytes.Buffer
	if status := Run("bt", "BT", []string{"-help"}, io.Discard, &errs, nil); status != 0 || !strings.HasPrefix(errs.String(), "usage: bt [flags]\n") {
		t.Errorf("-help: status %d, %s", status, errs.String())
	}
}

func TestTimeStep(t *testing.T) {
	for _, c := range []struct {
		n    int
		want float64
	}{{6, 0.015}, {12, 0.015}, {13, 0.0015}, {64, 0.0015}, {102, 0.001}, {162, 0.00067}, {200, 0.00067 * 161 * 161 / 199 / 199}} {
		if got := timeStep("SP", c.n); math.Abs(got-c.want) > 1e-18 {
			t.Errorf("n %d: %v, want %v", c.n, got, c.want)
		}
	}
}
