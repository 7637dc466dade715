package perf

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/anatomy"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
)

// TestCountsAddUp holds the tables against what the engine counted by itself.
func TestCountsAddUp(t *testing.T) {
	c := profiletest.Counted(t, 8)
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
		if got := perftest.Total(t, mix, "executed_instructions"); got != float64(c.Instructions) {
			t.Errorf("by %s: %g instructions executed, the engine counted %d", by, got, c.Instructions)
		}
	}
	all, err := Profile(t.Context(), c.Program, []Point{c.Point}, ProfileOptions{
		RunOptions: RunOptions{Args: perftest.OneIteration, Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64}, Stack: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	refs, err := References(c.Program, ReferenceOptions{Stack: true, Counts: c})
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

// TestStaleResultsAreNotUsed: what another version of the analysis recorded is
// counted again, or refused, never taken for what this one would record.
func TestStaleResultsAreNotUsed(t *testing.T) {
	st := store.Open(t.TempDir())
	opt := RunOptions{Args: perftest.OneIteration, Store: st}
	first, err := Count(t.Context(), perftest.Program(t), Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	in, err := perftest.Program(t).Inputs(Point{"n": 6}, opt)
	if err != nil {
		t.Fatal(err)
	}
	key, err := anatomy.CountKey(perftest.Program(t), in)
	if err != nil {
		t.Fatal(err)
	}
	var stored anatomy.StoredFlow
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
	again, err := Count(t.Context(), perftest.Program(t), Point{"n": 6}, opt)
	if err != nil || again.Saved != first.Saved {
		t.Errorf("%+v, want %+v (%v)", again, first.Saved, err)
	}

	dir := t.TempDir()
	if err := profiletest.Profile(t, st, []float64{6}, 64).Save(dir); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, locality.SavedName)
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := perftest.Program(t).PlanFor(false)
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
