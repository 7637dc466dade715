package perf_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"flag"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"presage/perf"
	"presage/perf/anatomy"
	"presage/perf/callpath"
	"presage/perf/iperf"
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/patterns"
	"presage/perf/phase"
	"presage/perf/predict"
	"presage/perf/roofline"
	"presage/perf/sharing"
	"presage/perf/store"
	"presage/perf/study/kernels"
	"presage/perf/timing"
)

var update = flag.Bool("update", false, "write what is stored to testdata/stored/results.json")

// measured are fields of stored values that hold wall times.
var measured = []string{"Cost"}

// TestVersionsOfStoredResults holds what is stored for one executable against what
// was stored when the file was written: another value under the same key means that
// somebody's store would give stale results. Then the version that is part of the
// key must be raised: of the engine if a run has other accesses, of the kind
// otherwise. After that, or where keys have changed on purpose,
//
//	go test ./perf -run VersionsOfStoredResults -update
//
// The executable is kept, too, so that nothing depends on compilers. Kinds that are
// computed from programs built here (infer, survey, spmv) or measured (overhead,
// training-run, spmv-dense) are not held, nor what only programs have of which a loop is
// called after several paths (call path histograms and models).
func TestVersionsOfStoredResults(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	if runtime.GOARCH != "amd64" {
		t.Skip("sums are rounded otherwise where products are fused into them")
	}
	const file = "testdata/stored/results.json"
	got := storedResults(t)
	if *update {
		text, err := json.MarshalIndent(got, "", "\t")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var want map[string]string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for _, key := range slices.Sorted(maps.Keys(got)) {
		kind, _, _ := strings.Cut(key, "/")
		switch was, known := want[key]; {
		case !known:
			t.Errorf("%s: a key that is not recorded: if the inputs, the layout of keys or a version changed on purpose, record it with -update", key)
		case was != got[key]:
			t.Errorf("%s: another value than before under the same key: raise the version of %q, or of what it is computed from, then record it with -update", key, kind)
		}
	}
	for key := range want {
		if _, ok := got[key]; !ok {
			t.Errorf("%s is recorded and was not stored", key)
		}
	}
	kinds := make(map[string]bool)
	for key := range got {
		kind, _, _ := strings.Cut(key, "/")
		kinds[kind] = true
	}
	if all := slices.Sorted(maps.Keys(kinds)); !slices.Equal(all, []string{"cache", "call path counts", "call paths", "fewer sets", "flow", "graphs", "joined", "kernel-times", "length", "loops", "metasim", "model", "nests", "observed strides", "outline", "patterns", "phases", "predictions", "replay", "reuse", "sampled time", "sharing", "time"}) {
		t.Errorf("kinds of stored results: %v", all)
	}
}

// storedResults returns digests of what the steps of a prediction store, by key.
func storedResults(t *testing.T) map[string]string {
	t.Helper()
	var mutex sync.Mutex
	digests := make(map[string]string)
	st := store.Open(t.TempDir())
	st.Watch(func(k store.Key, v any) {
		if k.Kind == "overhead" {
			return
		}
		d := digest(t, v)
		mutex.Lock()
		defer mutex.Unlock()
		digests[k.Kind+"/"+k.Hash] = d
	})
	ctx := t.Context()
	prog := perf.Must(perf.Open("testdata/stored/program"))
	prog.KeepAnalysis(st)
	m := perf.Must(perf.FindMachine("origin2000"))
	points := perf.Sweep("n", 12, 16, 20, 25, 30)
	run := perf.RunOptions{Args: "{n} 2", Store: st}
	runs := perf.Must(perf.Profile(ctx, prog, points, perf.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()}))
	perf.Must(perf.Profile(ctx, prog, points[:1], perf.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64}, Carriers: true}))
	perf.Must(perf.Profile(ctx, prog, points[:1], perf.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64}, SampleOneIn: 4, DataOnly: true}))
	model := perf.Must(perf.FitScaling(ctx, runs, perf.FitOptions{Store: st}))
	corrector := perf.Must(replayed.Correctors(st, replayed.Options{})(ctx, model, m))
	perf.Must(corrector.Correct(ctx, misses.Uncorrected{Level: predict.Levels(m)[0], Point: perf.Point{"n": 36}}))
	perf.Must(perf.PredictMisses(ctx, model, m, perf.Sweep("n", 36), perf.PredictOptions{}))
	perf.Must(callpath.Simulate(ctx, prog, m, points[:1], callpath.SimulateOptions{RunOptions: run}))
	perf.Must(callpath.Predict(ctx, model, m, perf.Sweep("n", 30), callpath.PredictOptions{Store: st, Corrector: misses.NoCorrection{}, Coverage: -1}))
	perf.Must(phase.RunLength(ctx, prog, points[0], run))
	perf.Must(perf.SimulateMisses(ctx, prog, m, points[:2], perf.SimulateOptions{RunOptions: run}))
	counts := perf.Must(perf.CountSweep(ctx, prog, points, run))
	perf.Must(anatomy.ObserveStrides(ctx, counts[0], run))
	perf.Must(perf.SimulateTime(ctx, prog, m, points[:1], perf.SimulateTimeOptions{RunOptions: run}))
	perf.Must(perf.SimulateTime(ctx, prog, m, points[4:], perf.SimulateTimeOptions{RunOptions: run, Sampled: &timing.Sampling{Intervals: 5, Length: 1000, Lead: 100, History: 5000}}))
	phases := perf.Must(perf.BlockVectors(ctx, prog, points[4], perf.PhaseOptions{RunOptions: run, Interval: 20_000}))
	perf.Must(perf.SampleCaches(ctx, phases, m, []perf.Sampling{{}}))
	perf.Must(patterns.Simulate(ctx, prog, m, points[:1], patterns.SimulateOptions{RunOptions: run}))
	perf.Must(sharing.Simulate(ctx, prog, points[:1], sharing.Options{RunOptions: run}))
	timed := kernels.Variant{Level: "O2", Args: run.Args, Routines: "multiply*", Placements: []iperf.Placement{iperf.Coloured}, Runs: 1}
	perf.Must(kernels.SimulationOptions{Store: st}.Run(ctx, prog, []kernels.Variant{timed}, []string{"ultrasparc-1"}, points[:1]))
	storeBeyond(t, prog, points, run)
	storeNative(t, st)
	return digests
}

// storeBeyond stores what is predicted with prefetchers, and under the roofs, of a size
// beyond those of the runs.
func storeBeyond(t *testing.T, prog *perf.Program, points []perf.Point, run perf.RunOptions) {
	t.Helper()
	ctx := t.Context()
	m := perf.Must(perf.FindMachine("zen4"))
	at := perf.Sweep("n", 60)
	runs := perf.Must(perf.Profile(ctx, prog, points, perf.ProfileOptions{RunOptions: run, BlockBytes: m.BlockBytes()}))
	model := perf.Must(perf.FitScaling(ctx, runs, perf.FitOptions{Store: run.Store}))
	perf.Must(misses.SimulatePrefetching(ctx, prog, m, at, misses.PrefetchOptions{SimulateOptions: perf.SimulateOptions{RunOptions: run}}))
	perf.Must(misses.PredictPrefetching(ctx, model, m, at, misses.PredictPrefetchOptions{Store: run.Store}))
	perf.Must(misses.Predict(ctx, model, m, at, misses.PredictOptions{}))
	execution := perf.Must(perf.FitExecution(ctx, perf.Must(perf.CountSweep(ctx, prog, points, run))))
	perf.Must(roofline.Predict(ctx, model, execution, m, at, roofline.Options{})) // keeps nothing of its own
}

// storeNative stores what rests on the allocation sites of a native program.
func storeNative(t *testing.T, st *store.Store) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("native programs are run on Linux")
	}
	ctx := t.Context()
	prog := perf.Must(perf.Open("testdata/stored/native"))
	prog.KeepAnalysis(st)
	run := perf.RunOptions{Args: "{n}", Store: st}
	m := perf.Must(perf.FindMachine("zen4"))
	at := perf.Sweep("n", 24)
	perf.Must(perf.Profile(ctx, prog, at, perf.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64}, Carriers: true}))
	perf.Must(patterns.Simulate(ctx, prog, m, at, patterns.SimulateOptions{RunOptions: run}))
	perf.Must(sharing.Simulate(ctx, prog, at, sharing.Options{RunOptions: run}))
}

// digest returns a hash of a stored value without what is measured.
func digest(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) == nil {
		for _, name := range measured {
			delete(fields, name)
		}
		if text, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
