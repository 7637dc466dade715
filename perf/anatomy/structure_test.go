package anatomy

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/figure/diagram"
	"presage/perf/figure/graph"
	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// counted runs sweep3d and counts.
func counted(t *testing.T, n float64) *Counts {
	t.Helper()
	c, err := Count(t.Context(), perftest.Program(t), subject.Point{"n": n}, subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestLoopsOfSweep names what the source says about a loop that is executed a
// known number of times.
func TestLoopsOfSweep(t *testing.T) {
	c := counted(t, 8)
	loops, err := Loops(c.Program, LoopOptions{Routine: "main.solveLine", Counts: c})
	if err != nil {
		t.Fatal(err)
	}
	// One line of 8 cells at a time, n² of them for each of 6 angles in each of
	// 8 octants (S6).
	const lines = 8 * 8 * 6 * 8
	if len(loops) != 1 || perftest.Column(t, loops, "entries")[0] != lines || perftest.Column(t, loops, "trip_count")[0] != 8 {
		t.Errorf("got\n%s", frame.String(frame.Of(loops)))
	}
	if first := perftest.Column(t, loops, "first_line")[0]; !strings.HasSuffix(perftest.Text(t, loops, "file")[0], "sweep.go") || first < 50 {
		t.Errorf("at %s:%g", perftest.Text(t, loops, "file")[0], first)
	}
	static, err := Loops(c.Program, LoopOptions{})
	if err != nil || len(static) < 500 || perftest.Total(t, static, "entries") != 0 {
		t.Errorf("%d loops entered %g times, %v", len(static), perftest.Total(t, static, "entries"), err)
	}
	for _, name := range []string{"main.nothing", "solveLine"} {
		if _, err := Loops(c.Program, LoopOptions{Routine: name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("routine %s: %v", name, err)
		}
	}
}

func TestRoutinesAndSummary(t *testing.T) {
	routines := Routines(perftest.Program(t))
	i := slices.Index(perftest.Text(t, routines, "routine"), "main.solveLine")
	if i < 0 || perftest.Column(t, routines, "loops")[i] != 1 || perftest.Column(t, routines, "blocks")[i] < 5 || perftest.Column(t, routines, "references")[i] < 5 {
		t.Errorf("main.solveLine is row %d", i)
	}
	c := counted(t, 6)
	sum := Summary(c.Program, c)
	value := func(name string) float64 {
		i := slices.Index(perftest.Text(t, sum, "quantity"), name)
		if i < 0 {
			t.Fatalf("no %s in\n%s", name, frame.String(frame.Of(sum)))
		}
		return perftest.Column(t, sum, "value")[i]
	}
	if got, want := perftest.Total(t, routines, "references"), value("references")-value("references_outside_graphs"); got > want {
		t.Errorf("%g references in routines, %g in all", got, want)
	}
	if value("executed_instructions") != float64(c.Instructions) || value("counter_increments") >= value("executed_edges") {
		t.Errorf("got\n%s", frame.String(frame.Of(sum)))
	}
	if groups := value("reference_groups"); groups >= value("references") || groups < value("reference_sets") {
		t.Errorf("%g groups", groups)
	}
}

func TestEdgeCountsAreSortedAndPruned(t *testing.T) {
	c := counted(t, 6)
	all, err := Edges(c, EdgeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := perftest.Total(t, all, "executions"); got != float64(c.Saved.EdgeIncrements) {
		t.Errorf("%g executions, want %d", got, c.Saved.EdgeIncrements)
	}
	hot, err := Edges(c, EdgeOptions{ByFrequency: true, Least: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	n := perftest.Column(t, hot, "executions")
	if !slices.IsSortedFunc(n, func(a, b float64) int { return int(b - a) }) || len(n) == 0 || len(n) > 100 {
		t.Errorf("%d edges, %v", len(n), n)
	}
	for _, s := range perftest.Column(t, hot, "share") {
		if s < 0.01 {
			t.Errorf("a share of %g was not pruned", s)
		}
	}
	if _, err := Edges(c, EdgeOptions{Least: 2}); err == nil {
		t.Error("a least share of 2 was accepted")
	}
}

// TestReferencesOfSweep reads the formulas of a loop whose source is known:
// five arrays of doubles, element by element.
func TestReferencesOfSweep(t *testing.T) {
	df, err := References(perftest.Program(t), ReferenceOptions{Routine: "main.angularSource"})
	if err != nil {
		t.Fatal(err)
	}
	inner, group := 0, make(map[float64]bool)
	for i, strides := range perftest.Text(t, df, "strides") {
		if perftest.Column(t, df, "size_bytes")[i] == 8 && strides == "8" {
			inner++
			group[perftest.Column(t, df, "group")[i]] = true
		}
	}
	if inner != 5 || len(group) != 1 {
		t.Errorf("%d references with stride 8 in %d groups, want 5 in 1:\n%s", inner, len(group), frame.String(frame.Of(df)))
	}
	sizes := GroupSizes(perftest.Program(t))
	of := make(map[string]float64)
	for i, stage := range perftest.Text(t, sizes, "aggregation") {
		of[stage] += perftest.Column(t, sizes, "references")[i] * perftest.Column(t, sizes, "groups")[i]
	}
	if of["none"] == 0 || of["none"] != of["loop"] || of["loop"] != of["source loop"] {
		t.Errorf("references by stage: %v", of)
	}
}

func TestCheckStridesOfSweep(t *testing.T) {
	s, err := CheckStrides(t.Context(), perftest.Program(t), []string{"-n", "8", "-iterations", "1"}, subject.RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.AgreeShare() < 0.99 || s.CleanShare() < 0.9 || s.Agree < 1e5 {
		t.Errorf("%.4f of %d agree, %.3f are regular", s.AgreeShare(), s.Agree+s.Disagree, s.CleanShare())
	}
	if df := s.Rows(); len(df) == 0 || perftest.Total(t, df, "agree") != float64(s.Agree) {
		t.Errorf("%d rows", len(df))
	}
}

func TestDependencesOfSweep(t *testing.T) {
	loops, err := Loops(perftest.Program(t), LoopOptions{Routine: "main.angularSource"})
	if err != nil {
		t.Fatal(err)
	}
	df, err := Dependences(perftest.Program(t), perftest.Text(t, loops, "loop")[0], DependenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The index is a recurrence, the loads feed the sum.
	carried := slices.Contains(perftest.Column(t, df, "distance_iterations"), 1)
	kinds := perftest.Text(t, df, "kind")
	if !carried || !slices.Contains(kinds, "register") {
		t.Errorf("got\n%s", frame.String(frame.Of(df)))
	}
	worse, err := Dependences(perftest.Program(t), perftest.Text(t, loops, "loop")[0], DependenceOptions{Pessimistic: true})
	if err != nil || len(worse) <= len(df) {
		t.Errorf("%d dependences, pessimistic %d (%v)", len(df), len(worse), err)
	}
	if _, err := Dependences(perftest.Program(t), "main.nothing", DependenceOptions{}); err == nil {
		t.Error("no such loop: no error")
	}
}

func TestDrawings(t *testing.T) {
	c := counted(t, 6)
	g, err := ControlFlow(c.Program, "main.solveLine", DrawOptions{Counts: c, Instructions: 2})
	if err != nil {
		t.Fatal(err)
	}
	all, err := ControlFlow(c.Program, "main.solveLine", DrawOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(g.Frames) != 1 || len(all.Nodes) <= len(g.Nodes) || g.Heat == "" || all.Heat != "" {
		t.Errorf("%d frames, %d of %d blocks", len(g.Frames), len(g.Nodes), len(all.Nodes))
	}
	hottest := 0.0
	for _, n := range g.Nodes {
		hottest = max(hottest, n.Heat)
	}
	if hottest != 1 {
		t.Errorf("the hottest block has %g", hottest)
	}
	nest, err := LoopNest(c.Program, "", DrawOptions{Counts: c})
	if err != nil || len(nest.Edges) != len(nest.Nodes)-1 {
		t.Errorf("a nest of %d scopes with %d edges is no tree (%v)", len(nest.Nodes), len(nest.Edges), err)
	}
	for _, graph := range []*graph.Graph{g, all} {
		if _, err := diagram.New(t.Context(), graph); err != nil {
			t.Error(err)
		}
	}
	if _, err := ControlFlow(c.Program, "main.nothing", DrawOptions{}); err == nil {
		t.Error("no such routine: no error")
	}
	if _, err := ControlFlow(c.Program, "runtime.printlock", DrawOptions{Counts: c}); err == nil || !strings.Contains(err.Error(), "not executed") {
		t.Errorf("a routine that was not executed: %v", err)
	}
}

// TestCountsAreKept: the second time, nothing is run.
func TestCountsAreKept(t *testing.T) {
	st := store.Open(t.TempDir())
	opt := subject.RunOptions{Args: perftest.OneIteration, Store: st}
	first, err := Count(t.Context(), perftest.Program(t), subject.Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a run would fail
	again, err := Count(ctx, perftest.Program(t), subject.Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if first.Saved != again.Saved || first.Instructions != again.Instructions {
		t.Errorf("%+v and %+v", first.Saved, again.Saved)
	}
	if _, err := Count(ctx, perftest.Program(t), subject.Point{"n": 7}, opt); err == nil {
		t.Error("a cancelled run: no error")
	}
}

// TestStaleCountsAreNotUsed: what another version of the analysis counted is
// counted again, never taken for what this one would count.
func TestStaleCountsAreNotUsed(t *testing.T) {
	st := store.Open(t.TempDir())
	opt := subject.RunOptions{Args: perftest.OneIteration, Store: st}
	first, err := Count(t.Context(), perftest.Program(t), subject.Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	in, err := perftest.Program(t).Inputs(subject.Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	key, err := store.NewKey("flow", flowVersion, flowInputsOf(perftest.Program(t), in))
	if err != nil {
		t.Fatal(err)
	}
	var stored storedFlow
	if err := st.Load(key, &stored); err != nil {
		t.Fatal(err)
	}
	plan := stored.Plan
	stored.Plan = "of another version"
	for i := range stored.Flow.Edges {
		stored.Flow.Edges[i] += 1000
	}
	if err := st.Save(key, &stored); err != nil {
		t.Fatal(err)
	}
	again, err := Count(t.Context(), perftest.Program(t), subject.Point{"n": 6}, opt)
	if err != nil || again.Saved != first.Saved {
		t.Errorf("%+v, want %+v (%v)", again, first.Saved, err)
	}
	if err := st.Load(key, &stored); err != nil || stored.Plan != plan {
		t.Errorf("the store still holds counts of plan %q (%v)", stored.Plan, err)
	}
}

func TestStackIsLeftOutOfPlans(t *testing.T) {
	data, err := perftest.Program(t).DataPlan()
	if err != nil {
		t.Fatal(err)
	}
	all, err := perftest.Program(t).Plan()
	if err != nil {
		t.Fatal(err)
	}
	if len(data.Refs) >= len(all.Refs) || data.Groups() > all.Groups() {
		t.Errorf("%d references of %d", len(data.Refs), len(all.Refs))
	}
	of := make(map[uint64]int)
	for _, r := range all.Refs {
		of[uint64(r.PC)] = int(r.Group)
	}
	for _, r := range data.Refs {
		if of[uint64(r.PC)] != int(r.Group) {
			t.Fatalf("reference %#x is in group %d, and with the stack in %d", uint64(r.PC), r.Group, of[uint64(r.PC)])
		}
	}
}

// TestFrequencies trains on small meshes and holds predictions of a larger one
// against counts of it.
func TestFrequencies(t *testing.T) {
	opt := subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}
	counts, err := CountSweep(t.Context(), perftest.Program(t), subject.Sweep("n", 6, 8, 10, 12, 14), opt)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := Count(t.Context(), perftest.Program(t), subject.Point{"n": 20}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []Counted{OfEdges, OfBlocks, OfRoutines, OfClasses} {
		m, err := FitFrequency(t.Context(), counts, FrequencyOptions{Of: of})
		if err != nil {
			t.Fatal(err)
		}
		pred, err := m.Predict(subject.Sweep("n", 20))
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]float64)
		sum := 0.0
		if err := truth.each(of, func(name string, n uint64) { want[name] += float64(n); sum += float64(n) }); err != nil {
			t.Fatal(err)
		}
		wrong := 0.0
		n := perftest.Column(t, pred, "pred_executions")
		for i, name := range perftest.Text(t, pred, "name") {
			wrong += math.Abs(n[i] - want[name])
		}
		// The paths through the fixups of negative fluxes depend on data; all
		// else is a polynomial of the mesh size.
		if wrong/sum > 0.05 {
			t.Errorf("%s: wrong by %.3f of all executions", of, wrong/sum)
		}
		// One line of cells at a time: n² for 6 angles in each of 8 octants.
		if of == OfRoutines {
			i := slices.Index(perftest.Text(t, pred, "name"), "main.solveLine")
			if lines := 20.0 * 20 * 6 * 8; i < 0 || math.Abs(n[i]-lines) > 1e-6*lines {
				t.Errorf("main.solveLine, row %d of the predictions, is not entered %g times", i, lines)
			}
		}
		if df := m.Rows(); len(df) != len(pred) {
			t.Errorf("%s: %d models, %d predictions", of, len(df), len(pred))
		}
	}
	if _, err := FitFrequency(t.Context(), counts, FrequencyOptions{Of: "page"}); err == nil || !strings.Contains(err.Error(), "want edge") {
		t.Errorf("of pages: %v", err)
	}
	if _, err := FitFrequency(t.Context(), counts[:2], FrequencyOptions{}); err == nil {
		t.Error("two sizes: no error")
	}
	m, err := FitFrequency(t.Context(), counts, FrequencyOptions{Of: OfClasses, Basis: "1, n, n^2, n^3"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.Predict(subject.Sweep("k", 20)); err == nil || !strings.Contains(err.Error(), "parameter n") {
		t.Errorf("another parameter: %v", err)
	}
}

// TestFailingPrograms counts programs that panic, exit with a status and fault.
func TestFailingPrograms(t *testing.T) {
	dir := t.TempDir()
	source := `package main

import "os"

var table [8]int

func main() {
	n := len(os.Args[1])
	for i := range 100 {
		table[i%8] += i
	}
	switch n {
	case 1:
		os.Exit(3)
	case 2:
		panic("on purpose")
	}
	*(*int)(nil) = table[3]
}
`
	for name, content := range map[string]string{"go.mod": "module failing\n\ngo 1.26\n", "main.go": source} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	prog, err := subject.Build(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{"x": "exit status 3", "xx": "on purpose", "xxx": "nil pointer"} {
		opt := subject.RunOptions{Args: arg, Store: store.Open(t.TempDir())}
		c, err := Count(t.Context(), prog, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Warnings) == 0 || !strings.Contains(strings.Join(c.Warnings, "\n"), want) {
			t.Errorf("%s: warnings %q, want %q", arg, c.Warnings, want)
		}
		loops, err := Loops(prog, LoopOptions{Routine: "main.main", Counts: c})
		if err != nil || len(loops) != 1 || perftest.Column(t, loops, "iterations")[0] != 100 {
			t.Errorf("%s: loops %v, %v", arg, loops, err)
		}
		if s, err := CheckStrides(t.Context(), prog, []string{arg}, opt); err != nil || s.Agree == 0 || len(s.Warnings) == 0 {
			t.Errorf("%s: strides %v, %v", arg, s, err)
		}
	}
}

// TestCheckStridesIsCancelled half-way, by its own progress.
func TestCheckStridesIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := CheckStrides(ctx, perftest.Program(t), []string{"-n", "40"}, subject.RunOptions{Progress: func(progress.Report) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
