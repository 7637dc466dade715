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
	for _, n := range []int{2, 3, 4, 5, 6, 7, 10, 17, 32, 50} {
		for _, iterations := range []int{1, 2, 15, 60, 1000} {
			if n > 20 && iterations > 60 {
				continue
			}
			if err := verify(examine(solve(n, iterations))); err != nil {
				t.Errorf("n %d, %d iterations: %v", n, iterations, err)
			}
		}
	}
}

// entry returns where the entry (row, column) stands.
func entry(t *testing.T, m *csr, row, column int) int {
	t.Helper()
	for e := m.start[row]; e < m.start[row+1]; e++ {
		if int(m.column[e]) == column {
			return int(e)
		}
	}
	t.Fatalf("no entry (%d, %d)", row, column)
	return 0
}

// Each of these breaks one thing; the verdict must be FAILED, for that reason.
func TestVerifyRejects(t *testing.T) {
	const n, c = 7, 171 // the mesh point in the middle
	for _, tc := range []struct {
		name, want string
		before     func(*testing.T, *problem) // breaks the problem
		after      func(*testing.T, *problem) // breaks the result
	}{
		{name: "entry", want: "not symmetric: row 171", before: func(t *testing.T, p *problem) {
			p.matrix.value[entry(t, &p.matrix, c, c+1)] *= 1 + 1e-15
		}},
		{name: "column", want: "not symmetric", before: func(t *testing.T, p *problem) {
			p.matrix.column[entry(t, &p.matrix, c, c+n)]++
		}},
		{name: "row start", want: "not symmetric", before: func(_ *testing.T, p *problem) { p.matrix.start[c]++ }},
		{name: "entry and its mirror image", want: "matrix times the solution", before: func(t *testing.T, p *problem) {
			p.matrix.value[entry(t, &p.matrix, c, c+1)] *= 1 + 1e-12
			p.matrix.value[entry(t, &p.matrix, c+1, c)] *= 1 + 1e-12
		}},
		{name: "diagonal", want: "matrix times the solution", before: func(t *testing.T, p *problem) {
			p.matrix.value[entry(t, &p.matrix, 0, 0)] = 5
		}},
		{name: "right-hand side", want: "matrix times the solution", before: func(_ *testing.T, p *problem) { p.b[5] += 1e-11 }},
		{name: "solution", want: "matrix times the solution", before: func(_ *testing.T, p *problem) { p.solution[5] *= 1 + 1e-11 }},
		{name: "unknown", want: "residual carried along", after: func(_ *testing.T, p *problem) { p.x[c] *= 1 + 1e-10 }},
		{name: "residual", want: "residual carried along", after: func(_ *testing.T, p *problem) { p.r[c] += 1e-10 }},
		{name: "length of a step", want: "energy", after: func(_ *testing.T, p *problem) { p.history[3].alpha *= 1 + 1e-8 }},
		{name: "step left out", want: "energy", after: func(_ *testing.T, p *problem) { p.history = append(p.history[:2], p.history[3:]...) }},
		{name: "nothing done", want: "more than conjugate gradients can leave", after: func(_ *testing.T, p *problem) {
			clear(p.x)
			copy(p.r, p.b)
			for i := range p.history {
				p.history[i] = step{}
			}
		}},
		{name: "steepest descent", want: "more than conjugate gradients can leave", after: steepestDescent},
		{name: "not a number", want: "not finite", after: func(_ *testing.T, p *problem) { p.x[9] = math.NaN() }},
		{name: "infinite", want: "not finite", after: func(_ *testing.T, p *problem) { p.x[9] = math.Inf(-1) }},
		{name: "residual not a number", want: "residual carried along", after: func(_ *testing.T, p *problem) { p.r[9] = math.NaN() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := allocate(options{n: n, iterations: 15})
			initialize(p)
			if tc.before != nil {
				tc.before(t, p)
			}
			iterate(p)
			if tc.after != nil {
				tc.after(t, p)
			}
			var out bytes.Buffer
			status := program.Conclude(&out, verify(examine(p)))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

// steepestDescent starts again, with every direction the residual: beta = 0. Its
// residual and its energy are in order; only conjugacy is missing.
func steepestDescent(_ *testing.T, p *problem) {
	clear(p.x)
	copy(p.r, p.b)
	p.history = p.history[:0]
	rr := dot(p.r, p.r)
	for range p.iterations {
		copy(p.p, p.r)
		multiply(p.q, &p.matrix, p.p)
		s := step{alpha: rr / dot(p.p, p.q), before: rr}
		advance(p.x, p.r, p.p, p.q, s.alpha)
		rr = dot(p.r, p.r)
		s.residual = rr
		p.history = append(p.history, s)
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"-n 6", 0, "verification: successful\n", ""},
		{"-n 6 -iterations 3", 0, "iteration 3: ", ""},
		{"-n 2 -iterations 10000", 0, "iterations at most 10000", ""},
		{"-n 6 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: cg"},
		{"-n 1", 2, "", "cg: -n 1: want an integer from 2 to 256\n"},
		{"-n 257", 2, "", "-n 257: want an integer from 2 to 256"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 10000"},
		{"-iterations 10001", 2, "", "-iterations 10001: want an integer from 1 to 10000"},
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
			if strings.Contains(tc.args, "-quiet") && strings.Count(stdout.String(), "\n") != 1 {
				t.Errorf("-quiet printed %q", stdout.String())
			}
		})
	}
}

// The energy that report prints is what examine measures in another way.
func TestReportedEnergy(t *testing.T) {
	p := solve(10, 8)
	f := examine(p)
	var out bytes.Buffer
	report(&out, p, f)
	for _, want := range []string{
		fmt.Sprintf("energy of the error %.9f\nsolution", f.remaining),
		"cg: n 10, unknowns 1000, entries 6400, iterations at most 8\n",
		"matrix: symmetric true",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("report lacks %q:\n%s", want, &out)
		}
	}
}
