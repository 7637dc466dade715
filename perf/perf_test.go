package perf

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/cache"
	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/objfile"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestRunsRepeatToTheByte holds histograms of two runs of the same program
// against each other, byte for byte, each with a store of its own.
func TestRunsRepeatToTheByte(t *testing.T) {
	var encoded [2][]byte
	for i := range encoded {
		runs := profiletest.Profile(t, store.Open(t.TempDir()), []float64{7}, 32, 4096)
		if !strings.Contains(runs.Runs[0].Stdout, "verification: successful") {
			t.Fatalf("the program printed %q", runs.Runs[0].Stdout)
		}
		var b bytes.Buffer
		if err := gob.NewEncoder(&b).Encode(runs.Runs[0].Reuse); err != nil {
			t.Fatal(err)
		}
		encoded[i] = b.Bytes()
	}
	if !bytes.Equal(encoded[0], encoded[1]) {
		t.Error("the same run gave different histograms")
	}
}

// TestSimulationAgreesWithReuseDistances: on a real program, a fully
// associative cache and a TLB must miss, reference by reference, exactly where
// the reuse distance says so. Two methods that share no code.
func TestSimulationAgreesWithReuseDistances(t *testing.T) {
	st := store.Open(t.TempDir())
	runs, err := Profile(t.Context(), perftest.Program(t), Sweep("n", 9), ProfileOptions{
		RunOptions: RunOptions{Args: perftest.OneIteration, Store: st},
		BlockBytes: []uint64{32, 32 << 10}, Stack: true, // all that the simulation sees
	})
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "origin2000")
	m.Caches = m.Caches[:1] // a second level sees only what misses in the first
	sim, err := SimulateMisses(t.Context(), perftest.Program(t), m, Sweep("n", 9), SimulateOptions{
		RunOptions: RunOptions{Args: perftest.OneIteration, Store: st}, By: subject.ByReference, FullyAssociative: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]uint64)
	first, err := perftest.Program(t).FirstRefs()
	if err != nil {
		t.Fatal(err)
	}
	for i, level := range []struct {
		name   string
		blocks uint64
	}{{"L1", 1024}, {"TLB", 64}} {
		for g := range runs.Runs[0].Reuse[i].Groups {
			if h := &runs.Runs[0].Reuse[i].Groups[g]; h.Accesses() > 0 {
				want[level.name+" "+perftest.Program(t).ScopeOf(subject.ByReference, first[g])] = h.Misses(level.blocks)
			}
		}
	}
	got := make(map[string]uint64)
	levels, err := frame.Strings(sim, "level")
	if err != nil {
		t.Fatal(err)
	}
	scopes, err := frame.Strings(sim, "scope")
	if err != nil {
		t.Fatal(err)
	}
	for i, misses := range perftest.Column(t, sim, "sim_misses_fully_assoc") {
		got[levels[i]+" "+scopes[i]] = uint64(misses)
	}
	if len(want) < 200 {
		t.Fatalf("only %d references were executed", len(want))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProfilesAreFoundAgain(t *testing.T) {
	st := store.Open(t.TempDir())
	first := profiletest.Profile(t, st, []float64{6, 8}, 64)
	var stored []bool
	again, err := Profile(t.Context(), perftest.Program(t), Sweep("n", 6, 8), ProfileOptions{
		RunOptions: RunOptions{Args: perftest.OneIteration, Store: st, Progress: func(p Progress) {
			if p.Done < p.Total {
				stored = append(stored, p.Stored)
			}
		}},
		BlockBytes: []uint64{64},
	})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(stored, []bool{true, true}) {
		t.Errorf("stored: %v, want both", stored)
	}
	for i := range first.Runs {
		if diff := cmp.Diff(first.Runs[i].Reuse, again.Runs[i].Reuse); diff != "" {
			t.Error(diff)
		}
	}
}

// TestInterruptedSweepGoesOn cancels a sweep in its second run: the first is
// kept, no file is broken, and the sweep gives the same as one that was not
// interrupted.
func TestInterruptedSweepGoesOn(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := Profile(ctx, perftest.Program(t), Sweep("n", 6, 20), ProfileOptions{
		RunOptions: RunOptions{Args: "-n {n} -iterations 2", Store: store.Open(dir), Progress: func(p Progress) {
			if p.Done == 1 && p.Instructions > 0 {
				cancel()
			}
		}},
		BlockBytes: []uint64{64},
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, want context.Canceled", err)
	}
	var files []string
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path, "/reuse/") {
			files = append(files, path)
		}
		return err
	})
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0], ".gob") {
		t.Fatalf("the store holds %v (%v), want the first run alone", files, err)
	}
	for _, dir := range []string{dir, t.TempDir()} {
		runs, err := Profile(t.Context(), perftest.Program(t), Sweep("n", 6, 20), ProfileOptions{
			RunOptions: RunOptions{Args: "-n {n} -iterations 2", Store: store.Open(dir)},
			BlockBytes: []uint64{64},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got, want := runs.Runs[1].Accesses, uint64(15_000_000); got < want {
			t.Errorf("%d accesses, want more than %d", got, want)
		}
	}
}

// TestPredictsBeyondTraining trains on sizes up to 16 and predicts 22, which no
// part of the fit has seen. The bound is what the models are good for, not what
// they reach: the median error here was 2% when it was written.
func TestPredictsBeyondTraining(t *testing.T) {
	const bound = 0.15
	st := store.Open(t.TempDir())
	runs := profiletest.Profile(t, st, []float64{8, 10, 12, 14, 16}, 32, 128, 32<<10)
	model, err := FitScaling(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	if model.Range("n") != [2]float64{8, 16} {
		t.Errorf("training range %v", model.Range("n"))
	}
	m := profiletest.Machine(t, "origin2000")
	pred, err := PredictMisses(model, m, Sweep("n", 22), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sim, err := SimulateMisses(t.Context(), perftest.Program(t), m, Sweep("n", 22), SimulateOptions{RunOptions: RunOptions{Args: perftest.OneIteration, Store: st}})
	if err != nil {
		t.Fatal(err)
	}
	both, err := Compare(pred, sim)
	if err != nil {
		t.Fatal(err)
	}
	if both.Nrow() != 3 {
		t.Fatalf("%d rows, want L1, L2 and TLB", both.Nrow())
	}
	med, err := Median(both, "rel_err")
	if err != nil || med > bound {
		t.Errorf("median error %.3f, want at most %g (%v)\n%v", med, bound, err, both)
	}
	// Every level of the same run sees the same accesses, and some of what is
	// predicted is always in doubt, never all.
	counts, err := Count(t.Context(), perftest.Program(t), Point{"n": 22}, RunOptions{Args: perftest.OneIteration, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	accesses := perftest.Column(t, both, "pred_accesses")
	for i, a := range accesses {
		// The simulation sees the traffic of the stack, too.
		if sim := perftest.Column(t, both, "sim_accesses")[i] - float64(counts.Stack()); math.Abs(a-sim)/sim > 0.05 || a != accesses[0] {
			t.Errorf("row %d: %g accesses predicted, %g simulated", i, a, sim)
		}
		if doubtful := perftest.Column(t, both, "pred_doubtful_share")[i]; !(doubtful >= 0 && doubtful <= 1) {
			t.Errorf("row %d: %g of the misses are doubtful", i, doubtful)
		}
	}
	byRoutine, err := PredictMisses(model, m, Sweep("n", 22), PredictOptions{By: ByRoutine})
	if err != nil {
		t.Fatal(err)
	}
	total, err := frame.Sum(byRoutine, []string{"level"}, []string{"pred_misses"})
	if err != nil {
		t.Fatal(err)
	}
	for i, sum := range perftest.Column(t, total, "pred_misses") {
		if whole := perftest.Column(t, pred, "pred_misses")[i]; math.Abs(sum-whole) > 1e-6*whole {
			t.Errorf("level %d: routines sum to %g, the program to %g", i, sum, whole)
		}
	}
}

// TestUnmodelledMachinesAreMarked: what predictions leave out stands in the row.
func TestUnmodelledMachinesAreMarked(t *testing.T) {
	st := store.Open(t.TempDir())
	model, err := FitScaling(t.Context(), profiletest.Profile(t, st, []float64{6, 7, 8}, 64, 128, 16<<10), FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	m := profiletest.Machine(t, "itanium2")
	m.Caches[1].Replacement, m.Caches[2].Inclusive = cache.Random, true
	pred, err := PredictMisses(model, m, Sweep("n", 100), PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	warnings, err := frame.Strings(pred, "pred_warning")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"bypass", "random replacement", "inclusion", "bypass", "trained on 6 to 8"} {
		if !strings.Contains(warnings[i], want) {
			t.Errorf("row %d: %q, want %q", i, warnings[i], want)
		}
	}
	if misses := perftest.Column(t, pred, "pred_misses"); !math.IsNaN(misses[0]) || !(misses[1] > 0) {
		t.Errorf("misses %v, want none for L1D", misses)
	}
}

func TestPredictNeedsTheBlockSizes(t *testing.T) {
	st := store.Open(t.TempDir())
	model, err := FitScaling(t.Context(), profiletest.Profile(t, st, []float64{6, 7, 8}, 32), FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	_, err = PredictMisses(model, profiletest.Machine(t, "origin2000"), Sweep("n", 20), PredictOptions{})
	if err == nil || !strings.Contains(err.Error(), "profile with block sizes [32 128 32768]") {
		t.Errorf("missing block size: %v", err)
	}
	_, err = PredictMisses(model, profiletest.Machine(t, "origin2000"), Sweep("m", 20), PredictOptions{})
	if err == nil || !strings.Contains(err.Error(), "no parameter m") {
		t.Errorf("missing parameter: %v", err)
	}
	if _, err := PredictMisses(model, profiletest.Machine(t, "origin2000"), nil, PredictOptions{By: "cell"}); err == nil {
		t.Error("unknown scope: no error")
	}
	if _, err := FitScaling(t.Context(), &Runs{}, FitOptions{Store: st}); err == nil {
		t.Error("no runs: no error")
	}
	if _, err := FitScaling(t.Context(), profiletest.Profile(t, st, []float64{6, 7, 8}, 32), FitOptions{Store: st, Basis: "1, k"}); err == nil {
		t.Error("a basis over another parameter: no error")
	}
}

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	runs := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 8}, 32, 64)
	if err := runs.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := LoadRuns(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(runs.BlockBytes(), got.BlockBytes()); diff != "" {
		t.Error(diff)
	}
	for i := range runs.Runs {
		if diff := cmp.Diff(runs.Runs[i].Reuse, got.Runs[i].Reuse); diff != "" {
			t.Error(diff)
		}
	}
	index := filepath.Join(dir, locality.SavedName)
	for want, text := range map[string]string{
		"format 9":     `{"Format": 9}`,
		"no program":   `{"Format": 3}`,
		"not below":    `{"Format": 3, "Programs": [{"Path": "../../etc/passwd"}], "Runs": [{}], "BlockBytes": [32]}`,
		"invalid char": `{]`,
	} {
		if err := os.WriteFile(index, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := LoadRuns(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := LoadRuns(t.TempDir()); err == nil || !strings.Contains(err.Error(), "presage profile") {
		t.Errorf("an empty folder: %v", err)
	}
}

func TestFailedRunIsNotProfiled(t *testing.T) {
	st := store.Open(t.TempDir())
	for want, args := range map[string]string{
		"exit status 2":                    "-n {n} -iterations 0",
		"no place for parameter n":         "-iterations 1",
		"no parameter {m}":                 "-n {n} -mk {m}",
		"-n {n} -iterations '1":            "-n {n} -iterations '1",
		"a failed run is not profiled\n\t": "-n -{n}",
	} {
		_, err := Profile(t.Context(), perftest.Program(t), Sweep("n", 6), ProfileOptions{RunOptions: RunOptions{Args: args, Store: st}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	_, err := Profile(t.Context(), perftest.Program(t), Sweep("n", 6), ProfileOptions{RunOptions: RunOptions{Args: perftest.OneIteration, Store: st, MaxInstructions: 1e6}})
	if err == nil || !strings.Contains(err.Error(), "instruction") {
		t.Errorf("instruction limit: %v", err)
	}
}

func TestOpenAndBuildErrors(t *testing.T) {
	if _, err := Open("/bin/sh"); !errors.Is(err, objfile.ErrArchitecture) && !errors.Is(err, objfile.ErrDynamic) {
		t.Errorf("/bin/sh: %v", err)
	}
	if _, err := Build("perf_test.go"); err == nil || !strings.Contains(err.Error(), "is a file") {
		t.Errorf("a file: %v", err)
	}
	if _, err := Build("nowhere"); err == nil {
		t.Error("no folder: no error")
	}
	if _, err := Build("store"); err == nil || !strings.Contains(err.Error(), "main package") {
		t.Errorf("a library: %v", err)
	}
	broken := t.TempDir()
	for name, text := range map[string]string{"go.mod": "module broken\n", "main.go": "package main\nfunc main() { x }\n"} {
		if err := os.WriteFile(filepath.Join(broken, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Build(broken); err == nil || !strings.Contains(err.Error(), "undefined: x") {
		t.Errorf("a program that does not compile: %v", err)
	}
}

func TestTables(t *testing.T) {
	runs := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 8}, 32)
	hot, err := Hottest(runs, 32, 5)
	if err != nil || hot.Nrow() != 5 {
		t.Fatalf("%d rows, %v", hot.Nrow(), err)
	}
	accesses := perftest.Column(t, hot, "accesses")
	if !slices.IsSortedFunc(accesses, func(a, b float64) int { return int(b - a) }) {
		t.Errorf("not sorted: %v", accesses)
	}
	all, err := ReuseHistogram(runs, HistogramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := frame.Sum(all, []string{"n"}, []string{"accesses"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, bins := range perftest.Column(t, sums, "accesses") {
		for n < all.Nrow() && perftest.Column(t, all, "n")[n] != runs.Runs[i].Point["n"] {
			n++
		}
		cold := perftest.Column(t, all, "cold_accesses")[n]
		if got, want := bins+cold, float64(runs.Runs[i].Reuse[0].Accesses); got != want {
			t.Errorf("%s: the histogram holds %g accesses, want %g", runs.Runs[i].Point, got, want)
		}
	}
	refs, err := perftest.Program(t).References()
	if err != nil {
		t.Fatal(err)
	}
	first, err := perftest.Program(t).FirstRefs()
	if err != nil {
		t.Fatal(err)
	}
	coldOnly := slices.IndexFunc(runs.Runs[0].Reuse[0].Groups, func(h reuse.Histogram) bool { return h.Cold > 0 && len(h.Bins) == 0 })
	cold, err := ReuseHistogram(runs, HistogramOptions{PC: uint64(refs[first[coldOnly]].PC)})
	if err != nil || cold.Nrow() < 2 || perftest.Column(t, cold, "cold_accesses")[0] == 0 {
		t.Errorf("a histogram of cold accesses alone: %v, %v", cold, err)
	}
	for _, opt := range []HistogramOptions{{BlockBytes: 48}, {Routine: "main.nothing"}, {PC: 3}} {
		if _, err := ReuseHistogram(runs, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

func TestMachineTables(t *testing.T) {
	df := MachineTable(profiletest.Machine(t, "origin2000"), profiletest.Machine(t, "itanium2"))
	if diff := cmp.Diff([]float64{32 << 10, 8 << 20, 2 << 20}, perftest.Column(t, df, "capacity_bytes")[:3]); diff != "" {
		t.Error(diff)
	}
	if names := perftest.Text(t, df, "machine"); names[2] != "origin2000" || names[3] != "itanium2" {
		t.Errorf("machines %q", names)
	}
	dir := t.TempDir()
	t.Setenv("PRESAGE_MACHINES", dir)
	if _, err := FindMachine(filepath.Join(dir, "none.yaml")); err == nil {
		t.Error("no such file: no error")
	}
	if _, err := FindMachine("cray1"); err == nil || !strings.Contains(err.Error(), "origin2000") {
		t.Errorf("unknown machine: %v", err)
	}
}
