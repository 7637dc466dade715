package locality_test

import (
	"bytes"
	"context"
	"encoding/gob"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/anatomy"
	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/progress"
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

func TestProfilesAreFoundAgain(t *testing.T) {
	st := store.Open(t.TempDir())
	first := profiletest.Profile(t, st, []float64{6, 8}, 64)
	var stored []bool
	again, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 6, 8), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st, Progress: func(p progress.Report) {
			if p.Done < p.Total {
				stored = append(stored, p.Stored)
			}
		}},
		BlockBytes: []uint64{64}, DataOnly: true,
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
	_, err := locality.Profile(ctx, perftest.Program(t), subject.Sweep("n", 6, 20), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: "-n {n} -iterations 2", Store: store.Open(dir), Progress: func(p progress.Report) {
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
		runs, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 6, 20), locality.ProfileOptions{
			RunOptions: subject.RunOptions{Args: "-n {n} -iterations 2", Store: store.Open(dir)},
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

func TestFailedRunIsNotProfiled(t *testing.T) {
	st := store.Open(t.TempDir())
	for want, args := range map[string]string{
		"exit status 2":                    "-n {n} -iterations 0",
		"no place for parameter n":         "-iterations 1",
		"no parameter {m}":                 "-n {n} -mk {m}",
		"-n {n} -iterations '1":            "-n {n} -iterations '1",
		"a failed run is not profiled\n\t": "-n -{n}",
	} {
		_, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 6), locality.ProfileOptions{RunOptions: subject.RunOptions{Args: args, Store: st}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", args, err, want)
		}
	}
	_, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 6), locality.ProfileOptions{RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st, MaxInstructions: 1e6}})
	if err == nil || !strings.Contains(err.Error(), "instruction") {
		t.Errorf("instruction limit: %v", err)
	}
}

func TestHistogramTables(t *testing.T) {
	runs := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 8}, 32)
	hot, err := locality.Hottest(runs, locality.HottestOptions{BlockBytes: 32, Limit: 5})
	if err != nil || len(hot) != 5 {
		t.Fatalf("%d rows, %v", len(hot), err)
	}
	accesses := perftest.Column(t, hot, "accesses")
	if !slices.IsSortedFunc(accesses, func(a, b float64) int { return int(b - a) }) {
		t.Errorf("not sorted: %v", accesses)
	}
	all, err := locality.ReuseHistogram(runs, locality.HistogramOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sums, err := frame.Sum(frame.Of(all), []string{"n"}, []string{"accesses"})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i, bins := range perftest.Column(t, sums, "accesses") {
		for n < len(all) && perftest.Column(t, all, "n")[n] != runs.Runs[i].Point["n"] {
			n++
		}
		cold := perftest.Column(t, all, "cold_accesses")[n]
		if got, want := bins+cold, float64(runs.Runs[i].Reuse[0].Accesses); got != want {
			t.Errorf("%s: the histogram holds %g accesses, want %g", runs.Runs[i].Point, got, want)
		}
	}
	refs := perftest.Program(t).References()
	first, err := perftest.Program(t).FirstRefs()
	if err != nil {
		t.Fatal(err)
	}
	coldOnly := slices.IndexFunc(runs.Runs[0].Reuse[0].Groups, func(h reuse.Histogram) bool { return h.Cold > 0 && len(h.Bins) == 0 })
	cold, err := locality.ReuseHistogram(runs, locality.HistogramOptions{PC: uint64(refs[first[coldOnly]].PC)})
	if err != nil || len(cold) < 2 || perftest.Column(t, cold, "cold_accesses")[0] == 0 {
		t.Errorf("a histogram of cold accesses alone: %v, %v", cold, err)
	}
	for _, opt := range []locality.HistogramOptions{{BlockBytes: 48}, {Routine: "main.nothing"}, {PC: 3}} {
		if _, err := locality.ReuseHistogram(runs, opt); err == nil {
			t.Errorf("%+v: no error", opt)
		}
	}
}

// TestCountsAddUp holds the tables against what the engine counted by itself.
func TestCountsAddUp(t *testing.T) {
	c := profiletest.Counted(t, 8)
	for _, w := range c.Warnings {
		if strings.Contains(w, "not recorded") {
			t.Errorf("no reference was to be recorded: %s", w)
		}
	}
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine} {
		mix, err := anatomy.InstructionMix(c.Program, anatomy.MixOptions{By: by, Counts: c})
		if err != nil {
			t.Fatal(err)
		}
		if got := perftest.Total(t, mix, "executed_instructions"); got != float64(c.Instructions) {
			t.Errorf("by %s: %g instructions executed, the engine counted %d", by, got, c.Instructions)
		}
	}
	all, err := locality.Profile(t.Context(), c.Program, []subject.Point{c.Point}, locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64},
	})
	if err != nil {
		t.Fatal(err)
	}
	refs, err := anatomy.References(c.Program, anatomy.ReferenceOptions{Stack: true, Counts: c})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := perftest.Total(t, refs, "accesses"), float64(all.Runs[0].Accesses); got != want {
		t.Errorf("%g accesses counted, %g recorded", got, want)
	}
	data := profiletest.Profile(t, store.Open(t.TempDir()), []float64{8}, 64).Runs[0]
	if data.Stack == 0 || data.Accesses+data.Stack != all.Runs[0].Accesses {
		t.Errorf("%d accesses without %d to the stack, %d in all", data.Accesses, data.Stack, all.Runs[0].Accesses)
	}
}
