package perf

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/figure/diagram"
	"presage/perf/frame"
	"presage/perf/store"
)

// counted runs sweep3d and counts.
func counted(t *testing.T, n float64) *Counts {
	t.Helper()
	c, err := Count(t.Context(), program(t), Point{"n": n}, RunOptions{Args: oneIteration, Store: store.Open(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func text(t *testing.T, df dataframe.DataFrame, name string) []string {
	t.Helper()
	v, err := frame.Strings(df, name)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func total(t *testing.T, df dataframe.DataFrame, name string) float64 {
	t.Helper()
	sum := 0.0
	for _, v := range column(t, df, name) {
		sum += v
	}
	return sum
}

// TestCountsAddUp holds the tables against what the engine counted by itself.
func TestCountsAddUp(t *testing.T) {
	c := counted(t, 8)
	for _, w := range c.Warnings {
		if strings.Contains(w, "not recorded") {
			t.Errorf("no reference was to be recorded: %s", w)
		}
	}
	for _, by := range []Scope{ByProgram, ByRoutine} {
		mix, err := InstructionMix(c.Program, MixOptions{By: by, Counts: c})
		if err != nil {
			t.Fatal(err)
		}
		if got := total(t, mix, "executed_instructions"); got != float64(c.Instructions) {
			t.Errorf("by %s: %g instructions executed, the engine counted %d", by, got, c.Instructions)
		}
	}
	all, err := Profile(t.Context(), c.Program, []Point{c.Point}, ProfileOptions{
		RunOptions: RunOptions{Args: oneIteration, Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64}, Stack: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	refs, err := References(c.Program, ReferenceOptions{Stack: true, Counts: c})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := total(t, refs, "accesses"), float64(all.Runs[0].Accesses); got != want {
		t.Errorf("%g accesses counted, %g recorded", got, want)
	}
	data := profile(t, store.Open(t.TempDir()), []float64{8}, 64).Runs[0]
	if data.Stack == 0 || data.Accesses+data.Stack != all.Runs[0].Accesses {
		t.Errorf("%d accesses without %d to the stack, %d in all", data.Accesses, data.Stack, all.Runs[0].Accesses)
	}
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
	if loops.Nrow() != 1 || column(t, loops, "entries")[0] != lines || column(t, loops, "trip_count")[0] != 8 {
		t.Errorf("got\n%s", frame.String(loops))
	}
	if first := column(t, loops, "first_line")[0]; !strings.HasSuffix(text(t, loops, "file")[0], "sweep.go") || first < 50 {
		t.Errorf("at %s:%g", text(t, loops, "file")[0], first)
	}
	static, err := Loops(c.Program, LoopOptions{})
	if err != nil || static.Nrow() < 500 || slices.Contains(static.Names(), "entries") {
		t.Errorf("%d loops with columns %v, %v", static.Nrow(), static.Names(), err)
	}
	for _, name := range []string{"main.nothing", "solveLine"} {
		if _, err := Loops(c.Program, LoopOptions{Routine: name}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("routine %s: %v", name, err)
		}
	}
}

func TestRoutinesAndSummary(t *testing.T) {
	routines := Routines(program(t))
	i := slices.Index(text(t, routines, "routine"), "main.solveLine")
	if i < 0 || column(t, routines, "loops")[i] != 1 || column(t, routines, "blocks")[i] < 5 || column(t, routines, "references")[i] < 5 {
		t.Errorf("main.solveLine is row %d", i)
	}
	c := counted(t, 6)
	sum := Summary(c.Program, c)
	value := func(name string) float64 {
		i := slices.Index(text(t, sum, "quantity"), name)
		if i < 0 {
			t.Fatalf("no %s in\n%s", name, frame.String(sum))
		}
		return column(t, sum, "value")[i]
	}
	if got, want := total(t, routines, "references"), value("references")-value("references_outside_graphs"); got > want {
		t.Errorf("%g references in routines, %g in all", got, want)
	}
	if value("executed_instructions") != float64(c.Instructions) || value("counter_increments") >= value("executed_edges") {
		t.Errorf("got\n%s", frame.String(sum))
	}
	if groups := value("reference_groups"); groups >= value("references") || groups < value("reference_sets") {
		t.Errorf("%g groups", groups)
	}
}

func TestEdgeCountsAreSortedAndPruned(t *testing.T) {
	c := counted(t, 6)
	all, err := EdgeCounts(c, EdgeOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := total(t, all, "executions"); got != float64(c.Saved.EdgeIncrements) {
		t.Errorf("%g executions, want %d", got, c.Saved.EdgeIncrements)
	}
	hot, err := EdgeCounts(c, EdgeOptions{ByFrequency: true, Least: 0.01})
	if err != nil {
		t.Fatal(err)
	}
	n := column(t, hot, "executions")
	if !slices.IsSortedFunc(n, func(a, b float64) int { return int(b - a) }) || len(n) == 0 || len(n) > 100 {
		t.Errorf("%d edges, %v", len(n), n)
	}
	for _, s := range column(t, hot, "share") {
		if s < 0.01 {
			t.Errorf("a share of %g was not pruned", s)
		}
	}
	if _, err := EdgeCounts(c, EdgeOptions{Least: 2}); err == nil {
		t.Error("a least share of 2 was accepted")
	}
}

// TestReferencesOfSweep reads the formulas of a loop whose source is known:
// five arrays of doubles, element by element.
func TestReferencesOfSweep(t *testing.T) {
	df, err := References(program(t), ReferenceOptions{Routine: "main.angularSource"})
	if err != nil {
		t.Fatal(err)
	}
	inner, group := 0, make(map[float64]bool)
	for i, strides := range text(t, df, "strides") {
		if column(t, df, "size_bytes")[i] == 8 && strides == "8" {
			inner++
			group[column(t, df, "group")[i]] = true
		}
	}
	if inner != 5 || len(group) != 1 {
		t.Errorf("%d references with stride 8 in %d groups, want 5 in 1:\n%s", inner, len(group), frame.String(df))
	}
	sizes := GroupSizes(program(t))
	of := make(map[string]float64)
	for i, stage := range text(t, sizes, "aggregation") {
		of[stage] += column(t, sizes, "references")[i] * column(t, sizes, "groups")[i]
	}
	if of["none"] == 0 || of["none"] != of["loop"] || of["loop"] != of["source loop"] {
		t.Errorf("references by stage: %v", of)
	}
}

func TestCheckStridesOfSweep(t *testing.T) {
	s, err := CheckStrides(t.Context(), program(t), []string{"-n", "8", "-iterations", "1"}, RunOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if s.AgreeShare() < 0.99 || s.CleanShare() < 0.9 || s.Agree < 1e5 {
		t.Errorf("%.4f of %d agree, %.3f are regular", s.AgreeShare(), s.Agree+s.Disagree, s.CleanShare())
	}
	if df := s.Frame(); df.Nrow() == 0 || total(t, df, "agree") != float64(s.Agree) {
		t.Errorf("%d rows", df.Nrow())
	}
}

func TestDependencesOfSweep(t *testing.T) {
	loops, err := Loops(program(t), LoopOptions{Routine: "main.angularSource"})
	if err != nil {
		t.Fatal(err)
	}
	df, err := Dependences(program(t), text(t, loops, "loop")[0], DependenceOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The index is a recurrence, the loads feed the sum.
	carried := slices.Contains(column(t, df, "distance_iterations"), 1)
	kinds := text(t, df, "kind")
	if !carried || !slices.Contains(kinds, "register") {
		t.Errorf("got\n%s", frame.String(df))
	}
	worse, err := Dependences(program(t), text(t, loops, "loop")[0], DependenceOptions{Pessimistic: true})
	if err != nil || worse.Nrow() <= df.Nrow() {
		t.Errorf("%d dependences, pessimistic %d (%v)", df.Nrow(), worse.Nrow(), err)
	}
	if _, err := Dependences(program(t), "main.nothing", DependenceOptions{}); err == nil {
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
	for _, graph := range []*diagram.Graph{g, all} {
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
	opt := RunOptions{Args: oneIteration, Store: st}
	first, err := Count(t.Context(), program(t), Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // a run would fail
	again, err := Count(ctx, program(t), Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	if first.Saved != again.Saved || first.Instructions != again.Instructions {
		t.Errorf("%+v and %+v", first.Saved, again.Saved)
	}
	if _, err := Count(ctx, program(t), Point{"n": 7}, opt); err == nil {
		t.Error("a cancelled run: no error")
	}
}

// TestModelsByLoop: misses by loop add up to those of the program.
func TestMissesByLoop(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profile(t, st, []float64{6, 8, 10, 12}, 32, 128, 32<<10)
	model, err := FitScaling(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	sums := make(map[Scope]float64)
	for _, by := range []Scope{ByProgram, ByRoutine, ByLoop} {
		df, err := PredictMisses(model, find(t, "origin2000"), Sweep("n", 14), PredictOptions{By: by})
		if err != nil {
			t.Fatal(err)
		}
		sums[by] = total(t, df, "pred_misses")
		if by == ByLoop && !slices.ContainsFunc(text(t, df, "scope"), func(s string) bool { return strings.HasPrefix(s, "main.solveLine/loop@sweep.go") }) {
			t.Errorf("no loop of solveLine in\n%s", frame.String(df))
		}
	}
	if d := math.Abs(sums[ByLoop]/sums[ByProgram] - 1); d > 1e-9 || math.Abs(sums[ByRoutine]/sums[ByProgram]-1) > 1e-9 {
		t.Errorf("sums %v", sums)
	}
}

func TestStackIsLeftOutOfPlans(t *testing.T) {
	s := program(t).Structure()
	data, err := s.Groups.Plan(s.Access, access.PlanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	all, err := program(t).Plan()
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
	opt := RunOptions{Args: oneIteration, Store: store.Open(t.TempDir())}
	counts, err := CountSweep(t.Context(), program(t), Sweep("n", 6, 8, 10, 12, 14), opt)
	if err != nil {
		t.Fatal(err)
	}
	truth, err := Count(t.Context(), program(t), Point{"n": 20}, opt)
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range []Counted{OfEdges, OfBlocks, OfRoutines, OfClasses} {
		m, err := FitFrequency(t.Context(), counts, FrequencyOptions{Of: of})
		if err != nil {
			t.Fatal(err)
		}
		pred, err := m.Predict(Sweep("n", 20))
		if err != nil {
			t.Fatal(err)
		}
		want := make(map[string]float64)
		sum := 0.0
		if err := truth.each(of, func(name string, n uint64) { want[name] += float64(n); sum += float64(n) }); err != nil {
			t.Fatal(err)
		}
		wrong := 0.0
		n := column(t, pred, "pred_executions")
		for i, name := range text(t, pred, "name") {
			wrong += math.Abs(n[i] - want[name])
		}
		// The paths through the fixups of negative fluxes depend on data; all
		// else is a polynomial of the mesh size.
		if wrong/sum > 0.05 {
			t.Errorf("%s: wrong by %.3f of all executions", of, wrong/sum)
		}
		// One line of cells at a time: n² for 6 angles in each of 8 octants.
		if of == OfRoutines {
			i := slices.Index(text(t, pred, "name"), "main.solveLine")
			if lines := 20.0 * 20 * 6 * 8; i < 0 || math.Abs(n[i]-lines) > 1e-6*lines {
				t.Errorf("main.solveLine, row %d of the predictions, is not entered %g times", i, lines)
			}
		}
		if df := m.Frame(); df.Nrow() != pred.Nrow() {
			t.Errorf("%s: %d models, %d predictions", of, df.Nrow(), pred.Nrow())
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
	if _, err := m.Predict(Sweep("k", 20)); err == nil || !strings.Contains(err.Error(), "parameter n") {
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
	prog, err := Build(dir)
	if err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{"x": "exit status 3", "xx": "on purpose", "xxx": "nil pointer"} {
		opt := RunOptions{Args: arg, Store: store.Open(t.TempDir())}
		c, err := Count(t.Context(), prog, nil, opt)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Warnings) == 0 || !strings.Contains(strings.Join(c.Warnings, "\n"), want) {
			t.Errorf("%s: warnings %q, want %q", arg, c.Warnings, want)
		}
		loops, err := Loops(prog, LoopOptions{Routine: "main.main", Counts: c})
		if err != nil || loops.Nrow() != 1 || column(t, loops, "iterations")[0] != 100 {
			t.Errorf("%s: loops %v, %v", arg, loops, err)
		}
		if s, err := CheckStrides(t.Context(), prog, []string{arg}, opt); err != nil || s.Agree == 0 || len(s.Warnings) == 0 {
			t.Errorf("%s: strides %v, %v", arg, s, err)
		}
		if _, err := Profile(t.Context(), prog, []Point{nil}, ProfileOptions{RunOptions: opt}); err == nil || !strings.Contains(err.Error(), "not profiled") {
			t.Errorf("%s: a failed run was profiled (%v)", arg, err)
		}
	}
}

// TestStaleResultsAreNotUsed: what another version of the analysis recorded is
// counted again, or refused, never taken for what this one would record.
func TestStaleResultsAreNotUsed(t *testing.T) {
	st := store.Open(t.TempDir())
	opt := RunOptions{Args: oneIteration, Store: st}
	first, err := Count(t.Context(), program(t), Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	in, err := program(t).inputs(Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	key, err := countKey(program(t), in)
	if err != nil {
		t.Fatal(err)
	}
	var stored storedFlow
	if err := st.Load(key, &stored); err != nil {
		t.Fatal(err)
	}
	stored.Plan = "of another version"
	for i := range stored.Flow.Edges {
		stored.Flow.Edges[i] += 1000
	}
	if err := st.Save(key, &stored); err != nil {
		t.Fatal(err)
	}
	again, err := Count(t.Context(), program(t), Point{"n": 6}, opt)
	if err != nil || again.Saved != first.Saved {
		t.Errorf("%+v, want %+v (%v)", again, first.Saved, err)
	}

	dir := t.TempDir()
	if err := profile(t, st, []float64{6}, 64).Save(dir); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, savedName)
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := program(t).planFor(false)
	if err != nil {
		t.Fatal(err)
	}
	other := strings.ReplaceAll(string(text), plan.Digest(), "0123")
	if other == string(text) {
		t.Fatal("the index does not name the plan")
	}
	if err := os.WriteFile(index, []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := LoadRuns(dir); err == nil || !strings.Contains(err.Error(), "groups references otherwise; profile again") {
		t.Errorf("a profile under another plan: %v", err)
	}
}

// TestCheckStridesIsCancelled half-way, by its own progress.
func TestCheckStridesIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := CheckStrides(ctx, program(t), []string{"-n", "40"}, RunOptions{Progress: func(Progress) { cancel() }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want context.Canceled", err)
	}
}
