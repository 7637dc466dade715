package locality_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestFurther: further block sizes of a run are those that it would have been profiled
// with, come from the store when asked for again, and their classes add up to each
// group's histogram.
func TestFurther(t *testing.T) {
	prog := perftest.Compile(t, "gcc", "-O2 -DSTENCIL", "stencil", "growing.c")
	st := store.Open(t.TempDir())
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: st}, BlockBytes: []uint64{64}}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20, 30), opt)
	if err != nil {
		t.Fatal(err)
	}
	run := &runs.Runs[1]
	got, err := run.Further(t.Context(), []uint64{1000, 256, 1000}, locality.FurtherOptions{Loops: true, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	if got[0].BlockBytes != 1000 || got[1].BlockBytes != 256 || got[2] != got[0] {
		t.Fatalf("asked for 1000, 256 and 1000, got %d, %d and %d", got[0].BlockBytes, got[1].BlockBytes, got[2].BlockBytes)
	}
	opt.BlockBytes = []uint64{256}
	want, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20, 30), opt)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.Runs[1].Reuse[0].Groups, got[1].Groups); diff != "" {
		t.Errorf("-profiled +further:\n%s", diff)
	}
	for _, res := range got {
		classes, err := runs.Classes(1, res)
		if err != nil {
			t.Fatal(err)
		}
		sums := make([]reuse.Histogram, len(res.Groups))
		carried := false
		for c, h := range classes {
			sums[c.Group] = sums[c.Group].Plus(&h)
			carried = carried || c.Loop > 0 && c.Crosses
		}
		for g := range sums {
			if diff := cmp.Diff(res.Groups[g], sums[g]); diff != "" {
				t.Errorf("blocks of %d bytes: -group %d +sum of its classes:\n%s", res.BlockBytes, g, diff)
			}
		}
		if !carried {
			t.Errorf("blocks of %d bytes: no reuse crosses an iteration", res.BlockBytes)
		}
	}
	opt.Carriers = true
	carried, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20, 30), opt)
	if err != nil {
		t.Fatal(err)
	}
	byAll, err := carried.Classes(1, carried.Runs[1].Reuse[0])
	if err != nil {
		t.Fatal(err)
	}
	byLoop, err := runs.Classes(1, got[1])
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(byAll, byLoop); diff != "" {
		t.Errorf("-classes with objects and scopes, summed +of loops alone:\n%s", diff)
	}
	again, err := run.Further(t.Context(), []uint64{1000}, locality.FurtherOptions{Loops: true, Store: st})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(got[0], again[0]); diff != "" {
		t.Errorf("-collected +from the store:\n%s", diff)
	}
}

// TestFurtherRefusesChangedFiles: a run that reads other files now is not the one that
// was profiled.
func TestFurtherRefusesChangedFiles(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("30"), 0o666); err != nil {
		t.Fatal(err)
	}
	prog := perftest.Compile(t, "gcc", "-O2 -DSTENCIL", "stencil", "growing.c")
	st := store.Open(t.TempDir())
	run := subject.RunOptions{Args: "{n}", Store: st, Folders: []subject.Folder{{Guest: "/data", Host: dir}}}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20, 30), locality.ProfileOptions{RunOptions: run, BlockBytes: []uint64{64}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "in"), []byte("31 and more"), 0o666); err != nil {
		t.Fatal(err)
	}
	_, err = runs.Runs[0].Further(t.Context(), []uint64{100}, locality.FurtherOptions{Store: st})
	if err == nil || !strings.Contains(err.Error(), "have changed") {
		t.Errorf("error %v, want one that says that files have changed", err)
	}
}
