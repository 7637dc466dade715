package replayed

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

func build(t *testing.T, flags, source string) *subject.Program {
	t.Helper()
	args := append(strings.Fields("-O2 -g -static "+flags), source)
	return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gcc"), args, "program")
}

func find(t *testing.T, name string) *machine.Machine {
	t.Helper()
	m, err := catalog.Find(name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// judged predicts with and without correction, and simulates; it compares levels of
// the routines.
type judged struct {
	method         string
	pred, full, is float64
}

func judge(t *testing.T, model *misses.Model, p *Program, m *machine.Machine, point subject.Point, simulated []misses.SimulatedRow) map[string]judged {
	t.Helper()
	rows, err := misses.Predict(t.Context(), model, m, []subject.Point{point}, misses.PredictOptions{
		By: subject.ByRoutine, Coverage: -1, Corrector: NewCorrector(p, model, m, Options{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	out := make(map[string]judged)
	for _, r := range rows {
		for _, s := range simulated {
			if s.Level == r.Level && s.Scope == r.Scope {
				out[r.Level+" "+r.Scope] = judged{r.Method, r.Misses, r.FullyAssoc, s.Misses}
			}
		}
	}
	return out
}

// TestConflictsOfOneExecutable tests that the misses of a kernel's routine at a power
// of two, where fully associative predictions are far off, are those of a simulation.
func TestConflictsOfOneExecutable(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "-DCHOLESKY -DHEAP", "../../replay/testdata/kernels.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20, 25, 30, 35, 41, 46), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Learn(t.Context(), runs, st)
	if err != nil {
		t.Fatal(err)
	}
	point := subject.Point{"n": 128}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	rows := judge(t, model, p, m, point, simulated)
	// A group of two accesses in the kernel's last block is not certified, as the
	// start of the run does not show where they go.
	if r := rows["L1 kernel"]; !strings.HasPrefix(r.method, Method) || math.Abs(r.pred-r.is) > 0.5 {
		t.Errorf("%q predicts %g, simulated %g", r.method, r.pred, r.is)
	} else if r.is < 1.5*r.full {
		t.Errorf("%g misses, %g if fully associative: the test wants conflicts", r.is, r.full)
	}
	// What was learned is found again.
	if _, err := Learn(t.Context(), runs, st); err != nil {
		t.Error(err)
	}
}

// TestConflictsOfSeveralExecutables tests the same where each size has an executable
// of its own and none is of the size that is predicted. How the library starts
// there is not known exactly.
func TestConflictsOfSeveralExecutables(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	at := func(n int) subject.BinaryPoint {
		return subject.BinaryPoint{Point: subject.Point{"n": float64(n)}, Program: build(t, fmt.Sprintf("-DN=%d", n), "testdata/fixed.c")}
	}
	var points []subject.BinaryPoint
	for _, n := range []int{20, 23, 26, 31, 36, 40, 45} {
		points = append(points, at(n))
	}
	opt := subject.RunOptions{Store: st}
	runs, err := locality.ProfileBinaries(t.Context(), points, locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Learn(t.Context(), runs, st)
	if err != nil {
		t.Fatal(err)
	}
	target := at(128)
	simulated, err := misses.SimulateBinaries(t.Context(), []subject.BinaryPoint{target}, m, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	rows := judge(t, model, p, m, target.Point, simulated)
	for _, routine := range []string{"relax", "columns"} {
		r := rows["L1 "+routine]
		if !strings.HasSuffix(r.method, Method) || r.pred < 0.99*r.is || r.pred > 1.01*r.is {
			t.Errorf("%s: %q predicts %g, %g if fully associative, simulated %g", routine, r.method, r.pred, r.full, r.is)
		}
	}
}

// TestProgramsThatCannotBeReplayed tests that these are predicted as before, and
// their rows say why.
func TestProgramsThatCannotBeReplayed(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "-DMATMUL", "../../replay/testdata/kernels.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 12, 14, 16), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Correctors(st, Options{})(t.Context(), model, m)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := misses.Predict(t.Context(), model, m, subject.Sweep("n", 40), misses.PredictOptions{Corrector: c})
	if err != nil {
		t.Fatal(err)
	}
	if r := rows[0]; strings.Contains(r.Method, Method) || !strings.Contains(r.Warning, "at least 4 sizes") {
		t.Errorf("method %q, warning %q; want one about too few sizes", r.Method, r.Warning)
	}
}

func TestArguments(t *testing.T) {
	run := func(n float64, args ...string) locality.Run {
		return locality.Run{Program: new(subject.Program), Point: subject.Point{"n": n}, Args: args}
	}
	s := &sweep{name: "n", sizes: []int64{20, 120}}
	a, b := run(20, "-k", "20x20", "--n=20"), run(120, "-k", "120x20", "--n=120")
	s.runs = []*locality.Run{&a, &b}
	if err := s.findParts(); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range s.parts {
		got = append(got, p.at(7))
	}
	if want := "-k 7x20 --n=7"; strings.Join(got, " ") != want {
		t.Errorf("arguments %q, want %q", got, want)
	}
	c := run(120, "-k", "7", "x")
	s.runs[1], s.parts = &c, nil
	if err := s.findParts(); err == nil {
		t.Error("arguments that do not follow the size were accepted")
	}
	d, e := run(20, "x"), run(120, "x")
	s.runs, s.parts = []*locality.Run{&d, &e}, nil
	if err := s.findParts(); err == nil {
		t.Error("arguments without the size were accepted")
	}
}
