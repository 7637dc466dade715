package replayed

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"presage/perf/frame"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// stored counts what is stored from now on, by kind.
func stored(st *store.Store) map[string]int {
	var mu sync.Mutex
	by := make(map[string]int)
	st.Watch(func(k store.Key, _ any) {
		mu.Lock()
		defer mu.Unlock()
		by[k.Kind]++
	})
	return by
}

// TestPredictionsAreKept: what was predicted before is not computed again, and gives the
// same rows; of a longer curve the points that are new are predicted alone; whatever rows
// depend on gives others.
func TestPredictionsAreKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	k := learnBlocks(t, 64, 4096)
	predicted := func(opt misses.PredictOptions, sizes ...float64) []misses.Row {
		t.Helper()
		rows, err := Predict(t.Context(), k.model, k.m, subject.Sweep("n", sizes...), opt)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	direct := func(opt misses.PredictOptions, sizes ...float64) []misses.Row {
		t.Helper()
		var err error
		if opt.Corrector, err = Correctors(nil, Options{})(t.Context(), k.model, k.m); err != nil {
			t.Fatal(err)
		}
		rows, err := misses.Predict(t.Context(), k.model, k.m, subject.Sweep("n", sizes...), opt)
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	same := func(what string, got, want []misses.Row) {
		t.Helper()
		if g, w := printed(got), printed(want); g != w {
			t.Errorf("%s:\n%s\nwant\n%s", what, g, w)
		}
	}

	var opt misses.PredictOptions
	want := direct(opt, 40, 64, 40)
	kept := stored(k.store)
	same("predicted", predicted(opt, 40, 64, 40), want)
	if kept[rowsKind] != 2 {
		t.Errorf("stored of two sizes: %v", kept)
	}
	clear(kept)
	same("predicted again", predicted(opt, 40, 64, 40), want)
	if len(kept) > 0 {
		t.Errorf("stored by predicting again: %v", kept)
	}
	same("with another size", predicted(opt, 40, 52, 64), direct(opt, 40, 52, 64))
	if kept[rowsKind] != 1 {
		t.Errorf("stored of another size: %v", kept)
	}

	others := map[string]misses.PredictOptions{
		"scope":       {By: subject.ByLoop},
		"method":      {Method: predict.MethodBinomial},
		"coverage":    {Method: predict.MethodBinomial, Coverage: 0.5},
		"uncorrected": {Corrector: misses.NoCorrection{}},
		"listing":     {By: subject.ByLoop, Listing: subject.Listing{Limit: 1}},
	}
	first := printed(predicted(opt, 40))
	seen := map[string]string{first: "default"}
	for name, other := range others {
		text := printed(predicted(other, 40))
		if before := seen[text]; before != "" {
			t.Errorf("%s: the rows of %s", name, before)
		}
		seen[text] = name
	}
	smaller := *k.m
	smaller.Caches = append(smaller.Caches[:0:0], smaller.Caches...)
	smaller.Caches[0].Blocks, k.m = smaller.Caches[0].Blocks/2, &smaller
	if printed(predicted(opt, 40)) == first {
		t.Error("half a cache: the rows of a whole one")
	}
}

// TestPointsThatCannotBe: points are refused for what they are, not as parts of a key.
func TestPointsThatCannotBe(t *testing.T) {
	k := learnBlocks(t, 64, 4096)
	for _, point := range []subject.Point{{"n": math.NaN()}, {"n": math.Inf(1)}, {"m": 40}} {
		_, err := Predict(t.Context(), k.model, k.m, []subject.Point{point}, misses.PredictOptions{})
		if err == nil || !strings.HasPrefix(err.Error(), "perf: p") || strings.Contains(err.Error(), "store") {
			t.Errorf("%v: %v", point, err)
		}
	}
}

func printed(rows []misses.Row) string { return fmt.Sprint(frame.Of(rows).Records()) }

// TestDamagedPredictions: a damaged entry is predicted again, with a warning.
func TestDamagedPredictions(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	k := learnBlocks(t, 64, 4096)
	predicted := func() []misses.Row {
		t.Helper()
		rows, err := Predict(t.Context(), k.model, k.m, subject.Sweep("n", 40), misses.PredictOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	want := predicted()
	files, err := filepath.Glob(filepath.Join(k.store.Dir(), rowsKind, "*", "*.gob"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("presage"), 0o666); err != nil {
		t.Fatal(err)
	}
	got := predicted()
	if !strings.Contains(got[0].Warning, "predicted again") || got[0].Misses != want[0].Misses {
		t.Errorf("of a damaged entry: %+v, want %+v and a warning", got[0], want[0])
	}
	if again := predicted(); !reflect.DeepEqual(again[0].Warning, want[0].Warning) {
		t.Errorf("after that: %q", again[0].Warning)
	}
}

// TestPredictionsWithoutARunAreNotKept: rows for which a run was lacking are not kept.
func TestPredictionsWithoutARunAreNotKept(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	k := &kept{store: store.Open(t.TempDir()), m: find(t, "zen4")}
	folder := t.TempDir()
	opt := subject.RunOptions{Store: k.store, Args: "{n}", Folders: []subject.Folder{{Guest: "/data", Host: folder}}}
	prog := build(t, "-nostdlib -ffreestanding", "testdata/needs.c")
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 15, 18, 21, 24, 28, 31), locality.ProfileOptions{RunOptions: opt, BlockBytes: k.m.BlockBytes()})
	if err != nil {
		t.Fatal(err)
	}
	stop := filepath.Join(folder, "stop")
	if err := os.Mkdir(stop, 0o777); err != nil {
		t.Fatal(err)
	}
	kept := stored(k.store)
	predicted := func() []misses.Row {
		t.Helper()
		model, err := misses.Fit(t.Context(), runs, misses.FitOptions{Store: k.store}) // a model remembers what failed
		if err != nil {
			t.Fatal(err)
		}
		rows, err := Predict(t.Context(), model, k.m, subject.Sweep("n", 64), misses.PredictOptions{Coverage: -1})
		if err != nil {
			t.Fatal(err)
		}
		return rows
	}
	if rows := predicted(); !strings.Contains(rows[0].Warning, "exit status 3") || kept[rowsKind] > 0 {
		t.Errorf("without a run: stored %v, %q", kept, rows[0].Warning)
	}
	if err := os.Remove(stop); err != nil {
		t.Fatal(err)
	}
	if rows := predicted(); strings.Contains(rows[0].Warning, "exit status 3") {
		t.Errorf("with the run: %q", rows[0].Warning)
	}
}
