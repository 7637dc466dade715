package main

import (
	"bytes"
	"math"
	"os"
	"strings"
	"testing"

	"presage/datasets/programs/internal/npb"
	"presage/datasets/programs/internal/program"
)

// solve runs a problem.
func solve(o options) *problem {
	p := allocate(o)
	initialize(p)
	ssor(p)
	return p
}

// classOptions returns the options of a NAS class.
func classOptions(t *testing.T, class string) options {
	c, ok := npb.Find(benchmark, class)
	if !ok {
		t.Fatalf("no class %s", class)
	}
	return options{n: c.N, max: c.N, iterations: c.Steps, dt: c.Dt, order: plane}
}

// classA names the variable that, set to 1, has class A done as well: it takes 25 s and more.
const classA = "PRESAGE_NAS_CLASS_A"

// NAS's own verification.
func TestClasses(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, class := range []string{"S", "W", "A"} {
		t.Run(class, func(t *testing.T) {
			if class == "A" && os.Getenv(classA) != "1" {
				t.Skipf("skipped: takes most of a minute, set %s=1 to have it done", classA)
			}
			o := classOptions(t, class)
			if got := o.classed(); got != class {
				t.Fatalf("the parameters are taken for class %q", got)
			}
			p := solve(o)
			if err := verify(p, examine(p), class); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestVerifyAcceptsEveryProblem(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{10, 11, 12, 17, 30} {
		for _, iterations := range []int{1, 2, 5, 40} {
			for _, dt := range []float64{1e-6, 0.01, 2, 10} {
				o := options{n: n, max: n, iterations: iterations, dt: dt, order: hyperplane}
				p := solve(o)
				if err := verify(p, examine(p), o.classed()); err != nil {
					t.Errorf("%+v: %v", o, err)
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
	middle := func(p *problem) *vec { return &p.u[p.at(5, 6, 7)] }
	for _, tc := range []struct {
		name, want string
		before     func(*problem) // breaks the problem
		after      func(*problem) // breaks the result
		found      func(*findings)
	}{
		{name: "not a number", want: "not finite", after: func(p *problem) { middle(p)[3] = math.NaN() }},
		{name: "infinite", want: "not finite", after: func(p *problem) { middle(p)[3] = math.Inf(1) }},
		{name: "face", want: "on the faces", after: func(p *problem) { p.u[p.at(0, 3, 4)][2] *= 1 + 1e-11 }},
		{name: "edge", want: "on the faces", after: func(p *problem) { p.u[p.at(11, 11, 4)][2] *= 1 + 1e-11 }},
		{name: "solution", want: "residual differs", after: func(p *problem) { middle(p)[0] *= 1 + 1e-12 }},
		{name: "residual", want: "residual differs", after: func(p *problem) { p.rsd[p.at(4, 4, 4)][4] += 1e-6 }},
		{name: "residual not a number", want: "residual differs", after: func(p *problem) { p.rsd[p.at(4, 4, 4)][4] = math.NaN() }},
		{name: "lower sweep", want: "lower sweep", found: func(f *findings) { f.lower = 1e-12 }},
		{name: "upper sweep", want: "upper sweep", found: func(f *findings) { f.upper = math.NaN() }},
		{name: "no step", want: "error of component 1", before: func(p *problem) { p.steps = 0 }},
		{name: "a step less", want: "class S residual_rms_norm, component 1", before: func(p *problem) { p.steps-- }},
		{name: "forcing", want: "class S residual_rms_norm", before: func(p *problem) { p.frct[p.at(4, 5, 6)][0] += 1e-3 }},
		{name: "error norm", want: "class S error_rms_norm, component 5", after: func(p *problem) { p.ended.error[4] *= 1 + 1e-7 }},
		{name: "integral", want: "class S surface_integral", after: func(p *problem) { p.ended.integral *= 1 - 1e-7 }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := allocate(classOptions(t, "S"))
			initialize(p)
			if tc.before != nil {
				tc.before(p)
			}
			ssor(p)
			if tc.after != nil {
				tc.after(p)
			}
			f := examine(p)
			if tc.found != nil {
				tc.found(&f)
			}
			var out bytes.Buffer
			status := program.Conclude(&out, verify(p, f, "S"))
			got := out.String()
			if status != program.Failed || !strings.HasPrefix(got, "verification: FAILED: ") || !strings.Contains(got, tc.want) {
				t.Errorf("status %d, output %q, want FAILED with %q", status, got, tc.want)
			}
		})
	}
}

// The check of the sweeps accepts what they make of a front, and no other result.
func TestSweepError(t *testing.T) {
	for _, order := range []string{plane, hyperplane} {
		for _, isLower := range []bool{true, false} {
			p := problemOf(10, order)
			rhs(p)
			if e := p.sweepError(3, isLower); !(e < sweepTolerance) {
				t.Errorf("%s, lower %t: %.3g", order, isLower, e)
			}
			p.each(3, func(cell, _ int) { p.rsd[cell][1] *= 1 + 1e-9 })
			if e := p.frontError(3, isLower); !(e > sweepTolerance) {
				t.Errorf("%s, lower %t: the error of a changed result is %.3g", order, isLower, e)
			}
		}
	}
}

func TestRun(t *testing.T) {
	for _, tc := range []struct {
		args           string
		status         int
		stdout, stderr string
	}{
		{"", 0, "lu: n 12, arrays for 12, iterations 50, dt 2, order plane\n", ""},
		{"-class S", 0, "NAS class S: norms and integral agree to 1e-08\n", ""},
		{"-class S -order hyperplane -max 20", 0, "arrays for 20, iterations 50, dt 0.5, order hyperplane\n", ""},
		{"-class W -n 10 -iterations 1", 0, "lu: n 10, arrays for 10, iterations 1, dt 0.0015,", ""},
		{"-n 12 -dt 0.5", 0, "NAS class S: norms", ""},
		{"-class S -iterations 49", 0, "NAS class: none", ""},
		{"-n 10 -quiet", 0, "verification: successful\n", ""},
		{"-help", 0, "", "usage: lu"},
		{"-n 9", 2, "", "lu: -n 9: want an integer from 10 to 200\n"},
		{"-n 201", 2, "", "-n 201: want an integer from 10 to 200"},
		{"-n 20 -max 19", 2, "", "-max 19: want an integer from 20 to 200"},
		{"-n 20 -max 201", 2, "", "-max 201: want an integer from 20 to 200"},
		{"-iterations 0", 2, "", "-iterations 0: want an integer from 1 to 10000"},
		{"-dt 0", 2, "", "-dt 0: want a number"},
		{"-dt NaN", 2, "", "-dt NaN: want a number"},
		{"-class X", 2, "", "-class X: want one of S, W, A, B, C"},
		{"-class D", 2, "", "-class D: want one of"},
		{"-order diagonal", 2, "", "-order diagonal: want plane or hyperplane"},
		{"-n ten", 2, "", `invalid value "ten" for flag -n`},
		{"-nx 20", 2, "", "flag provided but not defined: -nx"},
		{"-n 12 20", 2, "", `unexpected argument "20"`},
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
