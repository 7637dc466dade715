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
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/phase"
	"presage/perf/predict"
	"presage/perf/store"
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
// training-run, spmv-dense) are not held.
func TestVersionsOfStoredResults(t *testing.T) {
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
	if all := slices.Sorted(maps.Keys(kinds)); !slices.Equal(all, []string{"cache", "flow", "graphs", "joined", "length", "metasim", "model", "nests", "outline", "phases", "replay", "reuse", "time"}) {
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
	perf.Must(phase.RunLength(ctx, prog, points[0], run))
	perf.Must(perf.SimulateMisses(ctx, prog, m, points[:2], perf.SimulateOptions{RunOptions: run}))
	perf.Must(perf.CountSweep(ctx, prog, points, run))
	perf.Must(perf.SimulateTime(ctx, prog, m, points[:1], perf.SimulateTimeOptions{RunOptions: run}))
	phases := perf.Must(perf.BlockVectors(ctx, prog, points[4], perf.PhaseOptions{RunOptions: run, Interval: 20_000}))
	perf.Must(perf.SampleCaches(ctx, phases, m, []perf.Sampling{{}}))
	return digests
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
