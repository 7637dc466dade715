package spmv

import (
	"math"
	"testing"
)

func generated(t *testing.T, entries []Entry, n int) *Matrix {
	t.Helper()
	m, err := NewMatrix(n, n, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// product returns m x.
func product(m *Matrix, x []float64) []float64 {
	y := make([]float64, m.Rows)
	for row := range m.Rows {
		for i := m.Start[row]; i < m.Start[row+1]; i++ {
			y[row] += m.Value[i] * x[m.Column[i]]
		}
	}
	return y
}

// Products of sines are eigenvectors of the difference equations, with eigenvalues
// Σ 2 - 2 cos(k π / (p + 1)), and there are as many entries as neighbours.
func TestPoissonsEigenvalues(t *testing.T) {
	for _, points := range [][]int{{7}, {6, 9}, {5, 4, 7}} {
		entries, n := poisson(points)
		m := generated(t, entries, n)
		want := n
		for _, p := range points {
			want += 2 * n / p * (p - 1)
		}
		if m.NonZeros() != want {
			t.Errorf("%v: %d entries, want %d", points, m.NonZeros(), want)
		}
		for k := 1; k <= 4; k++ {
			x := make([]float64, n)
			value := 0.0
			for at := range x {
				x[at] = 1
				rest := at
				for i, p := range points {
					x[at] *= math.Sin(float64((k+i)*(rest%p+1)) * math.Pi / float64(p+1))
					rest /= p
				}
			}
			for i, p := range points {
				value += 2 - 2*math.Cos(float64(k+i)*math.Pi/float64(p+1))
			}
			for at, y := range product(m, x) {
				if math.Abs(y-value*x[at]) > 1e-12 {
					t.Fatalf("%v, mode %d: row %d gives %g, want %g", points, k, at, y, value*x[at])
				}
			}
		}
	}
}

// Motions of a rigid body need no force, and a bar in simple tension has the energy
// and the forces of elementary mechanics, which trilinear bricks represent exactly.
func TestElasticityOfRigidBodiesAndOfABar(t *testing.T) {
	const nx, ny, nz, stretch = 3, 2, 4, 1e-3
	entries, n := elasticity(nx, ny, nz)
	m := generated(t, entries, n)
	field := func(u func(x, y, z float64) [3]float64) []float64 {
		out := make([]float64, n)
		for a := range n / 3 {
			d := u(float64(a%(nx+1)), float64(a/(nx+1)%(ny+1)), float64(a/((nx+1)*(ny+1))))
			copy(out[3*a:], d[:])
		}
		return out
	}
	for name, u := range map[string]func(x, y, z float64) [3]float64{
		"along x": func(x, y, z float64) [3]float64 { return [3]float64{1, 0, 0} },
		"along y": func(x, y, z float64) [3]float64 { return [3]float64{0, 1, 0} },
		"along z": func(x, y, z float64) [3]float64 { return [3]float64{0, 0, 1} },
		"about x": func(x, y, z float64) [3]float64 { return [3]float64{0, -z, y} },
		"about y": func(x, y, z float64) [3]float64 { return [3]float64{z, 0, -x} },
		"about z": func(x, y, z float64) [3]float64 { return [3]float64{-y, x, 0} },
	} {
		for row, force := range product(m, field(u)) {
			if math.Abs(force) > 1e-12 {
				t.Fatalf("a rigid motion %s takes a force of %g at unknown %d", name, force, row)
			}
		}
	}
	bar := field(func(x, y, z float64) [3]float64 {
		return [3]float64{stretch * x, -poissonsRatio * stretch * y, -poissonsRatio * stretch * z}
	})
	forces := product(m, bar)
	energy, pull := 0.0, 0.0
	for i, f := range forces {
		energy += f * bar[i] / 2
		if i%3 == 0 && i/3%(nx+1) == nx {
			pull += f
		}
	}
	if want := stretch * stretch * nx * ny * nz / 2; math.Abs(energy/want-1) > 1e-12 {
		t.Errorf("energy %g, want %g: half of strain times stress times volume", energy, want)
	}
	if want := stretch * ny * nz; math.Abs(pull/want-1) > 1e-12 {
		t.Errorf("the end is pulled with %g, want %g: stress times area", pull, want)
	}
}

// Generated matrices have the sizes that their descriptions say, and symmetric
// patterns; what is found for them is of no stand-in.
func TestFamilies(t *testing.T) {
	rows := map[string][2]int{
		"poisson2d": {200 * 200, 5*200*200 - 4*200},
		"poisson3d": {34 * 34 * 34, 7*34*34*34 - 6*34*34},
		"elastic3d": {3 * 16 * 16 * 16, 9 * 46 * 46 * 46}, // along each side 16 nodes have 2 × 15 + 16 neighbours with themselves
	}
	for _, f := range AllFamilies() {
		m, err := f.Generate()
		if err != nil {
			t.Fatal(err)
		}
		if want := rows[f.Name]; m.Rows != want[0] || m.NonZeros() != want[1] || m.StandIn || m.Name != f.Name {
			t.Errorf("%s: %d rows, %d entries, stand-in %v; want %v", f.Name, m.Rows, m.NonZeros(), m.StandIn, want)
		}
		if _, ok := storedHalf(m); !ok {
			t.Errorf("%s is not symmetric", f.Name)
		}
	}
	if _, err := FindFamily("poisson9d"); err == nil {
		t.Error("poisson9d was found")
	}
}
