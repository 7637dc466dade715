package main

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"presage/datasets/programs/internal/program"
)

// solve runs a problem.
func solve(o options) *problem {
	p := allocate(o)
	initialize(p)
	for range p.repeat {
		multiply(p)
	}
	return p
}

// Small integers make every sum exact, whatever its order: the definition of a
// product must be met to the last bit, with and without remainder tiles.
func TestMultiplyMatchesDefinition(t *testing.T) {
	for n := 1; n <= 21; n++ {
		for block := 1; block <= n+2; block++ {
			p := allocate(options{n: n, block: block, repeat: 2})
			for i := range p.a {
				p.a[i], p.b[i] = float64(i*i%13-6), float64(i*7%11-5)
			}
			multiply(p)
			multiply(p)
			for i := range n {
				for j := range n {
					want := 0.0
					for k := range n {
						want += p.a[i*n+k] * p.b[k*n+j]
					}
					if got := p.c[i*n+j]; got != 2*want {
						t.Fatalf("n %d, block %d: C(%d, %d) = %g, want %g", n, block, i, j, got, 2*want)
					}
				}
			}
		}
	}
}

// Tiles change the order of nothing but whole sums: every element is still
// summed up along k from 0, so that the tile size must not change a bit.
func TestBlockDoesNotChangeTheResult(t *testing.T) {
	want := solve(options{n: 45, block: 45, repeat: 1})
	for _, block := range []int{1, 2, 7, 16, 44, 4000} {
		if got := solve(options{n: 45, block: block, repeat: 1}); fmt.Sprint(got.c) != fmt.Sprint(want.c) {
			t.Errorf("block %d gives another product than no tiles", block)
		}
	}
}

// The elements must be what the comment says, and of no visible pattern: a
// pattern could hide an exchange of indices.
func TestElements(t *testing.T) {
	p := solve(options{n: 60, block: 16, repeat: 1})
	initialize(p)
	if slices.ContainsFunc(p.c, func(e float64) bool { return e != 0 }) {
		t.Error("C does not start from zero")
	}
	seen := map[float64]bool{}
	all := append(append([]float64{}, p.a...), p.b...)
	for _, x := range p.x {
		all = append(all, x...)
	}
	sum := 0.0
	for _, e := range all {
		if !(e >= 0.5 && e < 1) {
			t.Fatalf("element %g is outside [0.5, 1)", e)
		}
		seen[e] = true
		sum += e
	}
	if len(seen) != len(all) {
		t.Errorf("%d elements, but only %d different ones", len(all), len(seen))
	}
	// Uniform: mean 3/4, standard deviation of the mean 1/(2 sqrt(12 m)).
	if mean, deviation := sum/float64(len(all)), 1/(2*math.Sqrt(12*float64(len(all)))); math.Abs(mean-0.75) > 4*deviation {
		t.Errorf("mean of the elements is %g, want 0.75 ± %g", mean, deviation)
	}
}

func TestVerifyAcceptsEveryProblem(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{1, 2, 3, 4, 15, 16, 17, 31, 50, 97, 200} {
		for _, block := range []int{1, 16, 33, 4000} {
			for _, repeat := range []int{1, 3} {
				o := options{n: n, block: block, repeat: repeat}
				if err := verify(solve(o)); err != nil {
					t.Errorf("%+v: %v", o, err)
				}
			}
		}
	}
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	const n = 50
	at := func(i, j int) int { return i*n + j }
	for _, tc := range []struct {
		name, want string
		before     func(*problem) // breaks the problem
		after      func(*problem) // breaks the result
	}{
		{name: "an element by a few roundings", want: "row 7 of C", after: func(p *problem) { p.c[at(7, 3)] *= 1 + 4e-12 }},
		{name: "last element", want: "row 49 of C", after: func(p *problem) { p.c[n*n-1] *= 1 - 1e-11 }},
		{name: "exchange in a row", want: "row 8 of C", after: func(p *problem) {
			p.c[at(8, 3)], p.c[at(8, 4)] = p.c[at(8, 4)], p.c[at(8, 3)]
		}},
		{name: "exchange in a column", want: "row 8 of C", after: func(p *problem) {
			p.c[at(8, 3)], p.c[at(9, 3)] = p.c[at(9, 3)], p.c[at(8, 3)]
		}},
		{name: "transposed", want: "row 0 of C", after: func(p *problem) {
			for i := range n {
				for j := range i {
					p.c[at(i, j)], p.c[at(j, i)] = p.c[at(j, i)], p.c[at(i, j)]
				}
			}
		}},
		{name: "not a number", want: "is NaN", after: func(p *problem) { p.c[at(20, 20)] = math.NaN() }},
		{name: "infinite", want: "is +Inf", after: func(p *problem) { p.c[at(20, 20)] = math.Inf(1) }},
		{name: "not started from zero", want: "row 2 of C", before: func(p *problem) { p.c[at(2, 30)] = 1e-9 }},
		{name: "last tile left out", want: "row 48 of C", before: func(p *problem) {
			tail := p.c[at(48, 48)]
			multiplyTile(p.c[at(48, 48):], p.a[at(48, 0):], p.b[at(0, 48):], n, 2, 2, n)
			p.c[at(48, 48)] = tail
		}},
		{name: "once too often", want: "row 0 of C", after: multiply},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := allocate(options{n: n, block: 16, repeat: 2})
			initialize(p)
			if tc.before != nil {
				tc.before(p)
			}
			multiply(p)
			multiply(p)
			if tc.after != nil {
				tc.after(p)
			}
			var out bytes.Buffer
			status := program.Conclude(&out, verify(p))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 6", 0, "verification: successful\n", ""},
		{"-n 6 -block 4 -repeat 2", 0, "n 6, block 4, repeat 2", ""},
		{"-n 6 -block 40", 0, "block 6", ""},
		{"-n 6 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: matmul"},
		{"-n 0", 2, "", "matmul: -n 0: want an integer from 1 to 4000\n"},
		{"-n 4001", 2, "", "-n 4001: want an integer from 1 to 4000"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-block 0", 2, "", "-block 0: want an integer from 1 to 4000"},
		{"-repeat 0", 2, "", "-repeat 0: want an integer from 1 to 1000"},
		{"-m 20", 2, "", "flag provided but not defined: -m"},
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
			if strings.Contains(tc.args, "-quiet") && strings.Count(stdout.String(), "\n") != 1 {
				t.Errorf("-quiet printed %q", stdout.String())
			}
		})
	}
}

func TestMultiplyDoesNotAllocate(t *testing.T) {
	p := solve(options{n: 20, block: 16, repeat: 1})
	if a := testing.AllocsPerRun(5, func() { multiply(p) }); a != 0 {
		t.Errorf("%g allocations in a multiplication", a)
	}
}
