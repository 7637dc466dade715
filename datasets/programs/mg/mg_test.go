package main

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

// solve runs a problem.
func solve(o options) *problem {
	p := allocate(o)
	zran3(p)
	iterate(p)
	return p
}

func TestNASVerification(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, c := range npb.Classes("MG") {
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
		if f.want == nil {
			t.Errorf("class %s: not compared with NAS's norm", c.Name)
		}
		if err := verify(p, f); err != nil {
			t.Errorf("class %s: %v", c.Name, err)
		}
	}
	if len(classes) != 3 {
		t.Errorf("%d classes", len(classes))
	}
}

// periodic is a mesh without copies of its ends.
type periodic struct {
	n int
	v []float64
}

func (p periodic) at(i, j, k int) *float64 {
	n := p.n
	return &p.v[(i+n)%n+n*((j+n)%n+n*((k+n)%n))]
}

// random returns a mesh, and the same with copies of its ends.
func random(r *rand.Rand, n int) (periodic, []float64) {
	p := periodic{n, make([]float64, cube(n))}
	for i := range p.v {
		p.v[i] = r.Float64() - 0.5
	}
	return p, p.padded()
}

func (p periodic) padded() []float64 {
	m := p.n + 2
	v := make([]float64, cube(m))
	for i := range v {
		v[i] = *p.at(i%m-1, i/m%m-1, i/m/m-1)
	}
	return v
}

// near reports the first place where a mesh is not as wanted, copies included.
func near(t *testing.T, what string, got []float64, want periodic) {
	t.Helper()
	for i, w := range want.padded() {
		if math.Abs(got[i]-w) > 1e-14 {
			t.Fatalf("%s, n %d: element %d is %.17g, want %.17g", what, want.n, i, got[i], w)
		}
	}
}

// stencil applies an operator from its definition.
func stencil(weights [4]float64, v periodic, i, j, k int) float64 {
	sum := 0.0
	for d := range 27 {
		x, y, z := d%3-1, d/3%3-1, d/9-1
		sum += weights[x*x+y*y+z*z] * *v.at(i+x, j+y, k+z)
	}
	return sum
}

// The operators against their definitions, with numbers of RNR-94-007.
func TestOperatorsMatchDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	laplace := [4]float64{-8.0 / 3, 0, 1.0 / 6, 1.0 / 12}
	smooth := [4]float64{-3.0 / 8, 1.0 / 32, -1.0 / 64, 0}
	restrict := [4]float64{1.0 / 2, 1.0 / 4, 1.0 / 8, 1.0 / 16}
	for _, n := range []int{2, 4, 8} {
		p := allocate(options{n: 2 * n, iterations: 1})
		m := n + 2
		u, uPadded := random(r, n)
		v, vPadded := random(r, n)
		fine, finePadded := random(r, 2*n)
		each := func(n int, f func(i, j, k int) float64) periodic {
			w := periodic{n, make([]float64, cube(n))}
			for i := range w.v {
				w.v[i] = f(i%n, i/n%n, i/n/n)
			}
			return w
		}

		got := make([]float64, cube(m))
		p.resid(got, uPadded, vPadded, m)
		near(t, "resid", got, each(n, func(i, j, k int) float64 { return *v.at(i, j, k) - stencil(laplace, u, i, j, k) }))
		got = slices.Clone(vPadded)
		p.resid(got, uPadded, got, m)
		near(t, "resid in place", got, each(n, func(i, j, k int) float64 { return *v.at(i, j, k) - stencil(laplace, u, i, j, k) }))
		got = slices.Clone(uPadded)
		p.psinv(got, vPadded, m)
		near(t, "psinv", got, each(n, func(i, j, k int) float64 { return *u.at(i, j, k) + stencil(smooth, v, i, j, k) }))
		got = make([]float64, cube(m))
		p.rprj3(got, m, finePadded, 2*n+2)
		near(t, "rprj3", got, each(n, func(i, j, k int) float64 { return stencil(restrict, fine, 2*i+1, 2*j+1, 2*k+1) }))
		got = slices.Clone(finePadded)
		p.interp(got, 2*n+2, uPadded, m)
		near(t, "interp", got, each(2*n, func(i, j, k int) float64 {
			return *fine.at(i, j, k) + trilinear(u, i, j, k)
		}))
	}
}

// trilinear interpolates a coarse mesh, whose point c lies at 2c+1 of the fine one.
func trilinear(u periodic, i, j, k int) float64 {
	sum := 0.0
	for d := range 27 {
		x, y, z := i+d%3-1, j+d/3%3-1, k+d/9-1
		if x&1 == 1 && y&1 == 1 && z&1 == 1 { // the next points that are coarse ones
			off := math.Abs(float64(x-i)) + math.Abs(float64(y-j)) + math.Abs(float64(z-k))
			sum += math.Pow(0.5, off) * *u.at((x-1)/2, (y-1)/2, (z-1)/2)
		}
	}
	return sum
}

// All numbers sorted, where zran3 keeps the extreme ones while it draws them.
func TestChargesAreAtTheExtremes(t *testing.T) {
	for _, n := range []int{4, 8, 32} {
		numbers := make([]float64, cube(n))
		seed := uint64(npb.Seed)
		npb.Vranlc(&seed, numbers)
		order := make([]int, len(numbers))
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(numbers[a], numbers[b]) })
		want := periodic{n, make([]float64, cube(n))}
		for i := range 10 {
			want.v[order[i]], want.v[order[len(order)-1-i]] = -1, 1
		}
		p := allocate(options{n: n})
		zran3(p)
		near(t, "charges", p.v, want)
	}
}

func TestResidualFalls(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{4, 16, 64} {
		before := math.Inf(1)
		for iterations := 1; iterations <= 8; iterations++ {
			p := solve(options{n: n, iterations: iterations})
			if !(p.last < 0.5*before) {
				t.Errorf("n %d: after %d iterations the norm is %.3g, before %.3g", n, iterations, p.last, before)
			}
			before = p.last
		}
	}
}

// The solution that the cycles come near, from the eigenvalues of A: for A w = 0 only
// constant w, so that u is unique up to a constant.
func TestSolvesSingleWaves(t *testing.T) {
	const n = 16
	p := allocate(options{n: n, iterations: 60})
	wave := periodic{n, make([]float64, cube(n))}
	for i := range wave.v {
		wave.v[i] = math.Cos(2 * math.Pi * (float64(i%n) + 2*float64(i/n%n)) / n)
	}
	copy(p.v, wave.padded())
	iterate(p)
	eigenvalue := 0.0 // A cos = eigenvalue cos
	for d := range 27 {
		x, y, z := d%3-1, d/3%3-1, d/9-1
		eigenvalue += a[x*x+y*y+z*z] * math.Cos(2*math.Pi*float64(x+2*y)/n)
	}
	mean := 0.0
	top := &p.level[len(p.level)-1]
	got := make([]float64, len(wave.v))
	for i := range got {
		got[i] = top.u[i%n+1+(n+2)*(i/n%n+1+(n+2)*(i/n/n+1))]
		mean += got[i] / float64(len(got))
	}
	for i, w := range wave.v {
		if math.Abs(got[i]-mean-w/eigenvalue) > 1e-12 {
			t.Fatalf("point %d: u is %.15g, want %.15g", i, got[i]-mean, w/eigenvalue)
		}
	}
}

func TestVerifyAcceptsEverySize(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{4, 8, 16, 32} {
		for _, iterations := range []int{1, 2, 4, 30, 100} {
			if p := solve(options{n: n, iterations: iterations}); verify(p, examine(p)) != nil {
				t.Errorf("n %d, %d iterations: %v", n, iterations, verify(p, examine(p)))
			}
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	own := 5 + 34*(6+34*7)
	for _, tc := range []struct {
		name, want, class string
		n                 int
		change            func(p *problem, top *level)
	}{
		{"residual", "differs from v - A u", "", 8, func(_ *problem, top *level) { top.r[1+10*(1+10)] += 1e-13 }},
		{"solution", "differs from v - A u", "", 8, func(_ *problem, top *level) { top.u[1+10*(1+10)] += 1e-13 }},
		{"charge", "differs from v - A u", "", 8, func(p *problem, _ *level) { p.v[1+10*(1+10)]++ }},
		{"everywhere", "differs from v - A u", "", 64, func(_ *problem, top *level) {
			for i := range top.r {
				top.r[i] += 1e-13
			}
		}},
		{"one of many", "adds up to", "", 32, func(_ *problem, top *level) { top.r[own] += 1e-8 }},
		{"no progress", "more than the iterations may leave", "", 16, func(p *problem, _ *level) { p.last = p.first / 15 }},
		{"norm of the class", "the norm of the residual, component 1", "S", 32, func(p *problem, _ *level) { p.last *= 1 + 2e-8 }},
		{"not a number", "not finite", "", 16, func(p *problem, _ *level) { p.last = math.NaN() }},
		{"one not a number", "differs from v - A u", "", 8, func(_ *problem, top *level) { top.r[1+10*(1+10)] = math.NaN() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := solve(options{class: tc.class, n: tc.n, iterations: 4})
			tc.change(p, &p.level[len(p.level)-1])
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
	p := solve(options{n: 8, iterations: 2})
	if a := testing.AllocsPerRun(3, func() { zran3(p); iterate(p) }); a != 0 {
		t.Errorf("%g allocations", a)
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 8", 0, "verification: successful\n", ""},
		{"-class S", 0, "class S: NAS's norm is 0.000053077070057\n", ""},
		{"-class S -iterations 2", 0, "mg: n 32, meshes 5, iterations 2\n", ""},
		{"-n 8 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: mg"},
		{"-class B", 2, "", `mg: -class "B": want S, W or A`},
		{"-class S -n 32", 2, "", "-n: class S sets it"},
		{"-n 2", 2, "", "-n 2: want a power of two from 4 to 512\n"},
		{"-n 24", 2, "", "-n 24: want a power of two"},
		{"-n 1024", 2, "", "-n 1024: want a power of two"},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 1000"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-n 8 20", 2, "", `unexpected argument "20"`},
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
