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
	if strings.HasSuffix(source, ".F90") {
		args := append(strings.Fields("-O2 -g -static "+flags), "-J", t.TempDir(), source)
		return perftest.Link(t, oracle.Need(t, "riscv64-linux-gnu-gfortran"), args, "program")
	}
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

func judge(t *testing.T, model *misses.Model, p *Program, m *machine.Machine, point subject.Point, opt Options, simulated []misses.SimulatedRow) map[string]judged {
	t.Helper()
	rows, err := misses.Predict(t.Context(), model, m, []subject.Point{point}, misses.PredictOptions{
		By: subject.ByRoutine, Coverage: -1, Corrector: NewCorrector(p, model, m, opt),
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
	rows := judge(t, model, p, m, point, Options{}, simulated)
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

// learnOne profiles a program of one executable at sizes, and returns its model and its
// loops.
func learnOne(t *testing.T, prog *subject.Program, m *machine.Machine, opt subject.RunOptions, sizes ...float64) (*misses.Model, *Program) {
	t.Helper()
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", sizes...), locality.ProfileOptions{RunOptions: opt, BlockBytes: m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: opt.Store})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Learn(t.Context(), runs, opt.Store)
	if err != nil {
		t.Fatal(err)
	}
	return model, p
}

// several is a program whose sizes have executables of their own, with a model of some.
type several struct {
	build   func(n int) *subject.Program
	m       *machine.Machine
	store   *store.Store
	model   *misses.Model
	program *Program
}

func learnSeveral(t *testing.T, source string, sizes ...int) *several {
	t.Helper()
	return learnBuilt(t, func(n int) *subject.Program { return build(t, fmt.Sprintf("-DN=%d", n), source) }, sizes...)
}

func learnBuilt(t *testing.T, build func(n int) *subject.Program, sizes ...int) *several {
	t.Helper()
	s := &several{build: build, m: find(t, "origin2000"), store: store.Open(t.TempDir())}
	var points []subject.BinaryPoint
	for _, n := range sizes {
		points = append(points, s.at(n))
	}
	runs, err := locality.ProfileBinaries(t.Context(), points, locality.ProfileOptions{RunOptions: subject.RunOptions{Store: s.store}, BlockBytes: s.m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	if s.model, err = misses.Fit(t.Context(), runs, misses.FitOptions{Store: s.store}); err != nil {
		t.Fatal(err)
	}
	if s.program, err = Learn(t.Context(), runs, s.store); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *several) at(n int) subject.BinaryPoint {
	return subject.BinaryPoint{Point: subject.Point{"n": float64(n)}, Program: s.build(n)}
}

func (s *several) simulate(t *testing.T, at subject.BinaryPoint) []misses.SimulatedRow {
	t.Helper()
	rows, err := misses.SimulateBinaries(t.Context(), []subject.BinaryPoint{at}, s.m, misses.SimulateOptions{RunOptions: subject.RunOptions{Store: s.store}, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestConflictsOfSeveralExecutables tests the same where each size has an executable
// of its own. Where none is of the size that is predicted, how the library starts
// there is not known exactly; where one is, the counts are equal.
func TestConflictsOfSeveralExecutables(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestConflictsOfOneExecutable runs the same goroutines")
	}
	s := learnSeveral(t, "testdata/fixed.c", 20, 23, 26, 31, 36, 40, 45)
	target := s.at(128)
	simulated := s.simulate(t, target)
	without := judge(t, s.model, s.program, s.m, target.Point, Options{}, simulated)
	with := judge(t, s.model, s.program, s.m, target.Point, Options{Executables: []subject.BinaryPoint{target}}, simulated)
	for _, routine := range []string{"relax", "columns"} {
		r := without["L1 "+routine]
		if !strings.Contains(r.method, Method) || r.pred < 0.99*r.is || r.pred > 1.01*r.is {
			t.Errorf("%s: %q predicts %g, %g if fully associative, simulated %g", routine, r.method, r.pred, r.full, r.is)
		}
	}
	// The start of the run does not show what the executable does at the end of the program,
	// but its code does: routines that are others for this size are not replayed.
	for _, routine := range []string{"turn", "shorten"} {
		if r := with["L1 "+routine]; strings.Contains(r.method, Method) {
			t.Errorf("%s, with its executable: %q", routine, r.method)
		}
	}
	for _, routine := range []string{"relax", "columns"} {
		if r := with["L1 "+routine]; !strings.HasPrefix(r.method, Method) || math.Abs(r.pred-r.is) > 0.5 {
			t.Errorf("%s, with its executable: %q predicts %g, simulated %g", routine, r.method, r.pred, r.is)
		}
	}
	s.relabel(t)
}

// relabel tests that the same executables, said to be of other sizes, do not share a
// stored replay with these.
func (s *several) relabel(t *testing.T) {
	t.Helper()
	var points []subject.BinaryPoint
	for _, r := range s.model.Runs().Runs {
		points = append(points, subject.BinaryPoint{Point: subject.Point{"n": 2 * r.Point["n"]}, Program: r.Program})
	}
	runs, err := locality.ProfileBinaries(t.Context(), points, locality.ProfileOptions{RunOptions: subject.RunOptions{Store: s.store}, BlockBytes: s.m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	other, err := programOf(runs, s.store)
	if err != nil {
		t.Fatal(err)
	}
	var keys []store.Key
	for _, p := range []*Program{s.program, other} {
		c := &Corrector{program: p}
		in, err := c.inputs(128, nil)
		if err != nil {
			t.Fatal(err)
		}
		key, err := store.NewKey(replayKind, replayVersion, in)
		if err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	if keys[0] == keys[1] {
		t.Errorf("replays at n=128 from sizes up to 45 and up to 90 have one key, %v", keys[0])
	}
}

// TestExecutablesThatDifferInMoreThanConstants tests executables of which no two have the
// same references in a loop.
func TestExecutablesThatDifferInMoreThanConstants(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestConflictsOfOneExecutable runs the same goroutines")
	}
	s := learnSeveral(t, "testdata/spills.F90", 13, 14, 15, 17, 19, 22)
	target := s.at(32)
	rows := judge(t, s.model, s.program, s.m, target.Point, Options{Executables: []subject.BinaryPoint{target}}, s.simulate(t, target))
	for name, r := range rows {
		if strings.HasSuffix(name, "smooth") {
			t.Logf("%s: %q predicts %g, %g if fully associative, simulated %g", name, r.method, r.pred, r.full, r.is)
		}
	}
	if r := rows["L1 __arrays_MOD_smooth"]; !strings.Contains(r.method, Method) || math.Abs(r.pred-r.is) > 0.01*r.is {
		t.Errorf("%q predicts %g, %g if fully associative, simulated %g", r.method, r.pred, r.full, r.is)
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

// TestDataThatTheStartDoesNotShow: where matrices lie that turn from the heap to mappings
// between the sizes of the runs, and are first accessed in the second half of a run, is
// told by what malloc writes; a vector that lay where a buffer was before is of no one
// allocation with it.
func TestDataThatTheStartDoesNotShow(t *testing.T) {
	st := store.Open(t.TempDir())
	m := find(t, "origin2000")
	prog := build(t, "", "testdata/late.c")
	opt := subject.RunOptions{Store: st, Args: "{n}"}
	model, p := learnOne(t, prog, m, opt, 60, 75, 92, 104, 120, 136, 150)
	point := subject.Point{"n": 256}
	simulated, err := misses.Simulate(t.Context(), prog, m, []subject.Point{point}, misses.SimulateOptions{RunOptions: opt, By: subject.ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	rows := judge(t, model, p, m, point, Options{TrainedSizesOnly: true}, simulated)
	for _, scope := range []string{"L1 kernel", "L1 begin"} {
		if r := rows[scope]; !strings.HasPrefix(r.method, Method) || math.Abs(r.pred-r.is) > 0.5 {
			t.Errorf("%s: %q predicts %g, simulated %g", scope, r.method, r.pred, r.is)
		}
	}
	if r := rows["L1 kernel"]; r.is < 1.5*r.full {
		t.Errorf("%g misses, %g if fully associative: the test wants conflicts", r.is, r.full)
	}
}
