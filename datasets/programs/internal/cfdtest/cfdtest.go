// Package cfdtest is given BT or SP, and tests what both must fulfil in each of
// their two structures.
package cfdtest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"

	"presage/datasets/programs/internal/cfd"
)

// SlowVariable is the environment variable that, when 1, also runs class A,
// which takes about half a minute for each program and structure.
const SlowVariable = "PRESAGE_SLOW"

// Program is a program under test.
type Program struct {
	Name, Benchmark string
	Allocate        func(*cfd.Options, cfd.Coefficients) cfd.Solver
	ComputeRHS      func(cfd.Solver)
}

// Structures are the values of -structure.
var Structures = []string{cfd.Structure23, cfd.Structure30}

// New returns a problem in its initial state, with its coefficients.
func (p Program) New(structure string, n, most int, dt float64) (cfd.Solver, *cfd.Coefficients) {
	c := cfd.NewCoefficients(n, dt)
	s := p.Allocate(&cfd.Options{Benchmark: p.Benchmark, N: n, Max: most, Dt: dt, Structure: structure}, c)
	u, forcing, rhs := s.Fields()
	c.Forcing(forcing, rhs)
	c.Initialize(u)
	return s, &c
}

// Verified runs NAS's classes S and W, and A if it is asked for.
func Verified(t *testing.T, p Program) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	classes := []string{"S", "W", "A"}
	switch {
	case testing.Short():
		classes = classes[:1]
	case os.Getenv(SlowVariable) != "1":
		classes = classes[:2]
	}
	for _, structure := range Structures {
		for _, class := range classes {
			t.Run(structure+"/"+class, func(t *testing.T) {
				t.Parallel()
				out, status := p.Run("-class", class, "-structure", structure)
				if status != 0 || !strings.Contains(out, "compared with NAS's values") || !strings.HasSuffix(out, "verification: successful\n") {
					t.Errorf("status %d\n%s", status, out)
				}
			})
		}
	}
}

// Run runs the program and returns what it printed and its exit status.
func (p Program) Run(args ...string) (output string, status int) {
	var out bytes.Buffer
	status = cfd.Run(p.Name, p.Benchmark, args, &out, &out, p.Allocate)
	return out.String(), status
}

// RightHandSide holds the program's right-hand side against the operator that
// is evaluated line by line: on the exact solution, where it is 0, and on
// states around it.
func RightHandSide(t *testing.T, p Program) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, structure := range Structures {
		for _, n := range []int{6, 7, 12} {
			for _, noise := range []float64{0, 0.01} {
				const dt = 0.001
				s, c := p.New(structure, n, n+n%2*3, dt)
				u, forcing, rhs := s.Fields()
				c.SetExact(u)
				Each(c, u, func(at int) { u.Data[at] *= 1 + noise*r.NormFloat64() })
				p.ComputeRHS(s)
				got := append([]float64(nil), rhs.Data...)
				c.Residual(rhs, u, forcing)
				largest := 0.0
				Each(c, rhs, func(at int) { largest = max(largest, math.Abs(rhs.Data[at])) })
				// Terms of the operator are up to u/h² and cancel in part.
				tolerance := 1e-13 * 100 * c.T1
				if noise > 0 && largest < 1 {
					t.Errorf("%s, n %d: the residual is at most %g, which shows nothing", structure, n, largest)
				}
				if noise == 0 && largest > tolerance {
					t.Errorf("%s, n %d: the exact solution's residual is up to %g", structure, n, largest)
				}
				Each(c, rhs, func(at int) {
					if d := math.Abs(got[at]/dt - rhs.Data[at]); !(d <= tolerance) {
						t.Fatalf("%s, n %d, noise %g: element %d is %g, want %g", structure, n, noise, at, got[at]/dt, rhs.Data[at])
					}
				})
			}
		}
	}
}

// Each calls do with the place of every element at the inner points of a field.
func Each(c *cfd.Coefficients, f cfd.Field, do func(at int)) {
	for k := 1; k < c.N-1; k++ {
		for j := 1; j < c.N-1; j++ {
			for i := 1; i < c.N-1; i++ {
				for m := range 5 {
					do(m*f.M + i*f.I + j*f.J + k*f.K)
				}
			}
		}
	}
}

// Agreement holds the two structures against each other, and against themselves
// in larger arrays, element by element after some steps.
func Agreement(t *testing.T, p Program) {
	for _, n := range []int{6, 7, 9, 12} {
		const dt = 0.005
		var want []float64
		for _, structure := range Structures {
			for _, most := range []int{n, n + 1, n + 4} {
				s, c := p.New(structure, n, most, dt)
				for range 3 {
					s.Step()
				}
				u, _, _ := s.Fields()
				var got []float64
				Each(c, u, func(at int) { got = append(got, u.Data[at]) })
				if want == nil {
					want = got
				}
				for i := range want {
					if math.Abs(got[i]-want[i]) > 1e-11*(1+math.Abs(want[i])) {
						t.Fatalf("n %d, structure %s, arrays for %d: element %d is %v, the first run has %v", n, structure, most, i, got[i], want[i])
					}
				}
			}
		}
	}
}

// Prints holds what the structures print against each other, line by line but
// for the first, which names the structure and the arrays.
func Prints(t *testing.T, p Program) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{6, 11, 20} {
		var want string
		for _, structure := range Structures {
			for _, most := range []int{n, n + 5} {
				out, status := p.Run("-n", strconv.Itoa(n), "-max", strconv.Itoa(most), "-structure", structure)
				first, rest, _ := strings.Cut(out, "\n")
				if status != 0 || !strings.Contains(first, "structure "+structure+", arrays for n "+strconv.Itoa(most)) {
					t.Fatalf("status %d\n%s", status, out)
				}
				if want == "" {
					want = rest
				}
				if rest != want {
					t.Errorf("n %d: structure %s, arrays for %d prints\n%swant\n%s", n, structure, most, rest, want)
				}
			}
		}
	}
}

// Steps tests that a step allocates nothing, and that a step from the exact
// solution leads nowhere.
func Steps(t *testing.T, p Program) {
	for _, structure := range Structures {
		s, c := p.New(structure, 8, 9, 0.01)
		if n := testing.AllocsPerRun(3, s.Step); n != 0 {
			t.Errorf("%s: a step allocates %v times", structure, n)
		}
		u, _, _ := s.Fields()
		c.SetExact(u)
		s.Step()
		for m, e := range c.ErrorNorm(u) {
			if e > 1e-12 {
				t.Errorf("%s: a step leads away from the exact solution, component %d by %g", structure, m+1, e)
			}
		}
	}
}

// Converges tests the program's own check: over many sizes and from the first
// step on, residual and error fall.
func Converges(t *testing.T, p Program) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, n := range []int{6, 7, 10, 13, 20, 25, 37} {
		for _, steps := range []string{"1", "2", "6"} {
			if out, status := p.Run("-n", strconv.Itoa(n), "-iterations", steps); status != 0 {
				t.Errorf("n %d, %s steps: %s", n, steps, out)
			}
		}
	}
}

// Spoiled is a solver that breaks its state after each step.
type Spoiled struct {
	cfd.Solver
	Spoil func(u cfd.Field)
}

// Step does the solver's step and spoils the state.
func (s Spoiled) Step() {
	s.Solver.Step()
	u, _, _ := s.Fields()
	s.Spoil(u)
}

// Fails tests that a run with a broken result says so.
func Fails(t *testing.T, p Program) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	middle := func(u cfd.Field) int { return 5*u.I + 5*u.J + 5*u.K }
	for _, c := range []struct {
		name, want string
		spoil      func(u cfd.Field)
	}{
		{"a digit", "to a relative 1e-08", func(u cfd.Field) { u.Data[middle(u)+4*u.M] *= 1 + 1e-7 }},
		{"not a number", "want it lower", func(u cfd.Field) { u.Data[middle(u)] = math.NaN() }},
		{"far off", "want it lower", func(u cfd.Field) { u.Data[middle(u)+u.M] = 1e6 }},
		{"boundary", "boundary have changed", func(u cfd.Field) { u.Data[5*u.J+5*u.K] += 1e-15 }},
	} {
		broken := p
		broken.Allocate = func(o *cfd.Options, k cfd.Coefficients) cfd.Solver { return Spoiled{p.Allocate(o, k), c.spoil} }
		out, status := broken.Run("-class", "S")
		if status != 1 || !strings.Contains(out, "verification: FAILED: ") || !strings.Contains(out, c.want) {
			t.Errorf("%s: status %d, want 1 and %q\n%s", c.name, status, c.want, out)
		}
	}
}
