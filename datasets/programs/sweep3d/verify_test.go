package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
)

func TestVerifyAcceptsEveryProblem(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{2, 3, 10, 17, 24} {
		for _, sigt := range []float64{0.01, 1, 3, 10} {
			for _, scattering := range []float64{0, 0.5, 1} {
				for _, fixup := range []bool{true, false} {
					o := with(n, 3, func(o *options) {
						o.sigt, o.scattering, o.fixup, o.anisotropy = sigt, scattering, fixup, 1.0/3
					})
					p := solve(o, o.margin())
					if err := verify(p, examine(p)); err != nil {
						t.Errorf("%+v: %v", o, err)
					}
				}
			}
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const n, edge = 7, 3 // the cell in the middle of the bottom edge: (3, 0, 0)
	nc := n * n * n
	for _, tc := range []struct {
		name, want string
		before     func(*problem) // breaks the problem
		after      func(*problem) // breaks the result
	}{
		{name: "flux of a cell", want: "cell (3, 0, 0) differ", after: func(p *problem) { p.flux[edge] *= 1 + 1e-8 }},
		{name: "current along k", want: "differ", after: func(p *problem) { p.flux[3*nc+5] *= 1 + 1e-6 }},
		{name: "sign of a current", want: "differ", after: func(p *problem) { p.flux[nc+5] *= -1 }},
		{name: "currents exchanged", want: "differ", after: func(p *problem) {
			c := 2*n*n + 1*n + 0
			p.flux[nc+c], p.flux[2*nc+c] = p.flux[2*nc+c], p.flux[nc+c]
		}},
		{name: "not a number", want: "cell (3, 0, 0) is NaN", after: func(p *problem) { p.flux[edge] = math.NaN() }},
		{name: "negative", want: "negative", after: func(p *problem) { p.flux[edge] *= -1 }},
		{name: "leakage of a face", want: "face 4", after: func(p *problem) { p.leak[4] *= 1 + 1e-8 }},
		{name: "particles", want: "iteration 2 loses", after: func(p *problem) { p.history[1].bal.collided *= 1 + 1e-10 }},
		{name: "worst particles", want: "iteration 3 loses", after: func(p *problem) {
			p.history[0].bal.leaked += 1e-6
			p.history[2].bal.leaked += 1e-3
		}},
		{name: "NaN particles", want: "iteration 1 loses", after: func(p *problem) { p.history[0].bal.leaked = math.NaN() }},
		{name: "NaN current", want: "differ", after: func(p *problem) { p.flux[2*nc+5] = math.NaN() }},
		{name: "weight", want: "loses", before: func(p *problem) { p.quad.w[2] *= 1 + 1e-9 }},
		{name: "source off the middle", want: "differ", before: func(p *problem) { p.srcx[0] = 1 }},
		{name: "cross-section of a cell", want: "differ", before: func(p *problem) { p.sigt[edge] *= 1.001 }},
		{name: "cosine", want: "differ", before: func(p *problem) { p.quad.xi[1] *= 1 + 1e-7 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := with(n, 3, nil)
			p := allocate(o)
			initialize(p, o, o.margin())
			if tc.before != nil {
				tc.before(p)
			}
			inner(p)
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

// All 48 maps of the cube, written out, must leave the result unchanged: what
// asymmetry finds with one representative an orbit.
func TestAsymmetryCoversAllMaps(t *testing.T) {
	p := solve(with(6, 2, nil), 1)
	depths := func(c cellIndex) (d [3]int) {
		for l, a := range folded(p.n, c) {
			d[l] = a.depth
		}
		return d
	}
	for c := range p.cells {
		for mapped := range orbit(p.n, cellOf(p.n, c)) {
			if got, want := depths(mapped), depths(cellOf(p.n, c)); got != want {
				t.Fatalf("%v has the representative %v, but the equivalent %v has %v", mapped, got, cellOf(p.n, c), want)
			}
			to := (mapped[2]*p.n+mapped[1])*p.n + mapped[0]
			if d := math.Abs(p.flux[to]-p.flux[c]) / p.flux[c]; d > symmetryTolerance {
				t.Fatalf("%v and %v differ by %g", cellOf(p.n, c), mapped, d)
			}
		}
	}
	// And each cell alone must be able to trip the check.
	for c := range p.cells {
		saved := p.flux[c]
		p.flux[c] *= 1 + 1e-6
		worst, _ := asymmetry(p)
		alone := len(orbit(p.n, cellOf(p.n, c))) == 1
		if p.flux[c] = saved; worst < 1e-7 && !alone {
			t.Fatalf("a change in %v is not seen", cellOf(p.n, c))
		}
	}
}

// orbit returns the cells that the symmetries of the cube map c to.
func orbit(n int, c cellIndex) map[cellIndex]bool {
	cells := map[cellIndex]bool{}
	for _, perm := range [][3]int{{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}} {
		for flips := range 8 {
			var to cellIndex
			for a := range 3 {
				to[a] = c[perm[a]]
				if flips>>a&1 == 1 {
					to[a] = n - 1 - to[a]
				}
			}
			cells[to] = true
		}
	}
	return cells
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 6 -iterations 2", 0, "verification: successful\n", ""},
		{"-n 6 -quiet", 0, "verification: successful\n", ""},
		{"-n 6 -fixup=false", 0, "fixup off", ""},
		{"-n 6 -mk 4 -mmi 4", 0, "mk 4, mmi 4", ""},
		{"-help", 0, "", "usage: sweep3d"},
		{"-n 1", 2, "", "sweep3d: -n 1: want an integer from 2 to 400\n"},
		{"-n 401", 2, "", "-n 401: want an integer from 2 to 400"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 10000"},
		{"-mk 0", 2, "", "-mk 0: want an integer from 1 to 400"},
		{"-mmi 7", 2, "", "-mmi 7: want an integer from 1 to 6"},
		{"-sigt 0", 2, "", "-sigt 0: want a number from 0.01 to 10"},
		{"-sigt NaN", 2, "", "-sigt NaN: want a number"},
		{"-scattering 1.5", 2, "", "-scattering 1.5: want a number from 0 to 1"},
		{"-anisotropy 0.5", 2, "", "-anisotropy 0.5: want a number from 0 to 0.3333"},
		{"-fixup=maybe", 2, "", `invalid boolean value "maybe" for -fixup`},
		{"-nx 20", 2, "", "flag provided but not defined: -nx"},
		{"-n 6 20", 2, "", `unexpected argument "20"`},
	} {
		t.Run(tc.args, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			if status := run(strings.Fields(tc.args), &stdout, &stderr); status != tc.status {
				t.Errorf("exit status %d, want %d", status, tc.status)
			}
			if !strings.Contains(stdout.String(), tc.stdout) || tc.stdout == "" && stdout.Len() > 0 {
				t.Errorf("stdout %q, want %q", stdout.String(), tc.stdout)
			}
			if !strings.Contains(stderr.String(), tc.stderr) || tc.stderr == "" && stderr.Len() > 0 {
				t.Errorf("stderr %q, want %q", stderr.String(), tc.stderr)
			}
		})
	}
}

func TestOutputIsDeterministic(t *testing.T) {
	var out [2]bytes.Buffer
	for i := range out {
		run([]string{"-n", "9"}, &out[i], &out[i])
	}
	if out[0].String() != out[1].String() {
		t.Errorf("two runs differ:\n%s\n%s", &out[0], &out[1])
	}
}

// Fixup must be at work in the default problem, or wavefront's rare path would
// stay cold in every profile.
func TestDefaultProblemNeedsFixup(t *testing.T) {
	for _, n := range []int{8, 14, 20} {
		p := solve(with(n, 3, nil), n/4)
		updates := octants * angles * p.cells
		for it, h := range p.history {
			if share := float64(h.fixups) / float64(updates); share < 0.01 || share > 0.5 {
				t.Errorf("n %d, iteration %d: fixup in %.3f of the updates", n, it+1, share)
			}
		}
	}
}

func Example_fixup() {
	// A thick cell without source, lit through its i face alone: the diamond
	// difference would let out less than nothing.
	psi, i, j, k := fixup(0, 4, coefficients{1, 1, 1}, 8, 0, 0)
	fmt.Println(psi, i, j, k)
	// Output: 0.6666666666666666 0 1.3333333333333333 1.3333333333333333
}
