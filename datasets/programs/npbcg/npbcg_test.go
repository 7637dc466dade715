package main

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

// solve runs a problem.
func solve(o options) *problem {
	p := allocate(o)
	makea(&p.matrix, p.generator, p.shift)
	iterate(p)
	return p
}

func TestNASVerification(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range npb.Classes("CG") {
		o, ok := classes[c.Name]
		if !ok || testing.Short() && c.Name == "A" {
			continue
		}
		if o.n != c.N || o.iterations != c.Steps {
			t.Errorf("class %s is %+v, NAS's is %+v", c.Name, o, c)
		}
		o.class = c.Name
		p := solve(o)
		f := examine(p)
		if f.reference == nil {
			t.Errorf("class %s: not compared with NAS's zeta", c.Name)
		}
		if err := verify(p, f); err != nil {
			t.Errorf("class %s: %v", c.Name, err)
		}
	}
	if len(classes) != 3 {
		t.Errorf("%d classes", len(classes))
	}
}

// dense makes B = A + shift I from the definition: vectors as maps, their outer
// products added up in full.
func dense(n, nonzer int) [][]float64 {
	b := make([][]float64, n)
	for i := range b {
		b[i] = make([]float64, n)
		b[i][i] = rcond
	}
	places := math.Exp2(math.Ceil(math.Log2(float64(n))))
	seed := uint64(npb.Seed)
	npb.Randlc(&seed)
	for i := range n {
		v := map[int]float64{}
		for len(v) < nonzer {
			value := npb.Randlc(&seed)
			at := int(places * npb.Randlc(&seed))
			if _, drawn := v[at]; at < n && !drawn {
				v[at] = value
			}
		}
		v[i] = 0.5
		omega := math.Pow(rcond, float64(i)/float64(n))
		for r, x := range v {
			for c, y := range v {
				b[r][c] += omega * x * y
			}
		}
	}
	return b
}

func TestMatrixMatchesDefinition(t *testing.T) {
	for _, o := range []options{{n: 100, nonzer: 1, shift: 3}, {n: 128, nonzer: 3, shift: 5}, {n: 130, nonzer: 12, shift: 40}} {
		p := allocate(o)
		makea(&p.matrix, p.generator, o.shift)
		want := dense(o.n, o.nonzer)
		m := &p.matrix
		for row := range o.n {
			got := make([]float64, o.n)
			columns := m.colidx[m.rowstr[row]:m.rowstr[row+1]]
			for k, c := range columns {
				got[c] = m.a[int(m.rowstr[row])+k]
				if k > 0 && columns[k-1] >= c {
					t.Fatalf("%+v: the columns of row %d do not ascend", o, row)
				}
			}
			for c := range got {
				w := want[row][c]
				if c == row {
					w -= o.shift
				}
				if math.Abs(got[c]-w) > 1e-14*o.shift {
					t.Fatalf("%+v: A(%d, %d) = %g, want %g", o, row, c, got[c], w)
				}
				if w == 0 && slices.Contains(columns, int32(c)) {
					t.Errorf("%+v: A(%d, %d) is stored, but 0", o, row, c)
				}
			}
		}
		if most := o.n * (o.nonzer + 1) * (o.nonzer + 1); cap(m.a) != most || cap(m.colidx) != most {
			t.Errorf("%+v: the matrix outgrew its %d elements", o, most)
		}
	}
}

// largest returns the largest eigenvalue of a symmetric matrix, by cyclic Jacobi
// rotations.
func largest(b [][]float64) float64 {
	n := len(b)
	for range 12 {
		for p := range n {
			for q := p + 1; q < n; q++ {
				if b[p][q] == 0 {
					continue
				}
				sin, cos := math.Sincos(math.Atan2(2*b[p][q], b[q][q]-b[p][p]) / 2)
				for k := range n {
					b[p][k], b[q][k] = cos*b[p][k]-sin*b[q][k], sin*b[p][k]+cos*b[q][k]
				}
				for k := range n {
					b[k][p], b[k][q] = cos*b[k][p]-sin*b[k][q], sin*b[k][p]+cos*b[k][q]
				}
			}
		}
	}
	most := math.Inf(-1)
	for i := range n {
		most = max(most, b[i][i])
	}
	return most
}

func TestZetaIsTheLargestEigenvalue(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, o := range []options{{n: 100, nonzer: 3, shift: 5, iterations: 200}, {n: 120, nonzer: 7, shift: 14, iterations: 200}} {
		want := largest(dense(o.n, o.nonzer))
		p := solve(o)
		if got := p.zeta[len(p.zeta)-1]; math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: zeta %.12g, the largest eigenvalue is %.12g", o, got, want)
		}
	}
}

// Conjugate directions without the recurrence: each is the residual, made conjugate
// to all directions before it. The shift is near the eigenvalue, so that 25 steps
// leave a residual that is no rounding error and shows each deviation.
func TestConjGradMatchesConjugateDirections(t *testing.T) {
	b := dense(100, 3)
	shift := largest(dense(100, 3)) + 0.01
	p := solve(options{n: 100, nonzer: 3, shift: shift, iterations: 1})
	multiply := func(v []float64) []float64 { // A v
		w := make([]float64, len(v))
		for i := range w {
			w[i] = dot(b[i], v) - shift*v[i]
		}
		return w
	}
	r, z := make([]float64, 100), make([]float64, 100)
	for i := range r {
		r[i] = 1
	}
	var directions [][]float64
	for range cgitmax {
		d := slices.Clone(r)
		for _, before := range directions {
			image := multiply(before)
			factor := dot(d, image) / dot(before, image)
			for i := range d {
				d[i] -= factor * before[i]
			}
		}
		directions = append(directions, d)
		image := multiply(d)
		alpha := dot(r, d) / dot(d, image)
		advance(z, r, d, image, alpha)
	}
	want := math.Sqrt(dot(r, r))
	if got := p.rnorm[0]; want < 1e-11 || math.Abs(got-want) > 1e-4*want {
		t.Errorf("the residual left is %.9g, want %.9g", got, want)
	}
}

func TestVerifyAcceptsEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []string{"100", "129", "1500"} {
		for _, nonzer := range []string{"1", "2", "5", "8", "20"} {
			for _, iterations := range []string{"1", "2", "25"} {
				var out bytes.Buffer
				if status := run([]string{"-n", n, "-nonzer", nonzer, "-iterations", iterations}, &out, &out); status != program.OK {
					t.Errorf("n %s, nonzer %s, %s iterations: status %d\n%s", n, nonzer, iterations, status, &out)
				}
			}
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		before     func(*problem) // breaks the matrix
		after      func(*problem) // breaks the result
	}{
		{name: "entry", want: "not symmetric", before: func(p *problem) { p.matrix.a[0] *= 1 + 1e-15; p.matrix.a[1] *= 1 + 1e-15 }},
		{name: "column", want: "not symmetric", before: func(p *problem) { p.matrix.colidx[0]++ }},
		{name: "shift", want: "not negative definite", before: func(p *problem) {
			for i := range p.n {
				for k := p.matrix.rowstr[i]; k < p.matrix.rowstr[i+1]; k++ {
					if int(p.matrix.colidx[k]) == i {
						p.matrix.a[k] += 9
					}
				}
			}
		}},
		{name: "diagonal", want: "zeta, component 1", before: func(p *problem) {
			at, _ := slices.BinarySearch(p.matrix.colidx[:p.matrix.rowstr[1]], 0)
			p.matrix.a[at] += 1e-4
		}},
		{name: "one solution not solved", want: "residual carried along", after: func(p *problem) { p.rnorm[3] = 1e-3 }},
		{name: "steps", want: "the energy that the steps took", after: func(p *problem) { p.work[2] *= 1 - 1e-10 }},
		{name: "zeta falls", want: "zeta fell", after: func(p *problem) { p.zeta[4] += 1e-2 }},
		{name: "zeta too large", want: "more than the Rayleigh quotient", after: func(p *problem) { p.zeta[len(p.zeta)-1] += 1e-8 }},
		{name: "vector", want: "less than that of the first vector", after: func(p *problem) { clear(p.x); p.x[p.n-1] = 1 }},
		{name: "rounding only", want: "zeta, component 1", after: func(p *problem) { p.zeta[len(p.zeta)-1] -= 9e-10 }},
		{name: "not a number", want: "not negative definite", after: func(p *problem) { p.mostCurved = math.NaN() }},
		{name: "residual not a number", want: "residual carried along", after: func(p *problem) { p.rnorm[3] = math.NaN() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := classes["S"]
			o.class = "S"
			p := allocate(o)
			makea(&p.matrix, p.generator, p.shift)
			if tc.before != nil {
				tc.before(p)
			}
			iterate(p)
			if tc.after != nil {
				tc.after(p)
			}
			var out bytes.Buffer
			status := program.Conclude(&out, verify(p, examine(p)))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

func TestIterationsDoNotAllocate(t *testing.T) {
	p := solve(options{n: 200, nonzer: 4, shift: 8, iterations: 3})
	if a := testing.AllocsPerRun(3, func() { p.zeta, p.rnorm, p.rho, p.work = p.zeta[:0], p.rnorm[:0], p.rho[:0], p.work[:0]; iterate(p) }); a != 0 {
		t.Errorf("%g allocations in the iterations", a)
	}
	if a := testing.AllocsPerRun(1, func() { clear(p.generator.marked); makea(&p.matrix, p.generator, 8) }); a != 0 {
		t.Errorf("%g allocations in makea", a)
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 200", 0, "verification: successful\n", ""},
		{"-class S", 0, "class S: NAS's zeta is 8.5971775079\n", ""},
		{"-class S -iterations 3", 0, "iteration 3: zeta 8.5954510374\nmatrix", ""},
		{"-n 200 -quiet", 0, "verification: successful\n", ""},
		{"-n 200 -shift 2", 1, "give a larger one", ""},
		{"-help", 0, "", "usage: npbcg"},
		{"-class B", 2, "", `npbcg: -class "B": want S, W or A`},
		{"-class S -n 300", 2, "", "-n: class S sets it"},
		{"-class S -shift 3", 2, "", "-shift: class S sets it"},
		{"-n 99", 2, "", "-n 99: want an integer from 100 to 1000000\n"},
		{"-nonzer 0", 2, "", "-nonzer 0: want an integer from 1 to 20"},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 10000"},
		{"-shift NaN", 2, "", "-shift NaN: want a number"},
		{"-shift -1", 2, "", "-shift -1: want a number"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-n 200 20", 2, "", `unexpected argument "20"`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(strings.Fields(tc.args), &stdout, &stderr); status != tc.status {
				t.Errorf("exit status %d, want %d\n%s", status, tc.status, &stdout)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || tc.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout %q, want %q", stdout.String(), tc.stdout)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr %q, want %q", stderr.String(), tc.stderr)
			}
			if strings.Contains(tc.args, "-quiet") && strings.Count(stdout.String(), "\n") != 1 {
				t.Errorf("-quiet printed %q", stdout.String())
			}
		})
	}
}
