package locality_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
)

func TestSaveAndLoad(t *testing.T) {
	dir := t.TempDir()
	runs := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 8}, 32, 64)
	if err := runs.Save(dir); err != nil {
		t.Fatal(err)
	}
	got, err := locality.LoadRuns(dir)
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
		if _, err := locality.LoadRuns(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, err := locality.LoadRuns(t.TempDir()); err == nil || !strings.Contains(err.Error(), "presage profile") {
		t.Errorf("an empty folder: %v", err)
	}
}

// TestAnotherProgramIsNotLoaded: profiles are of the program they stand beside.
func TestAnotherProgramIsNotLoaded(t *testing.T) {
	dir := t.TempDir()
	if err := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6}, 64).Save(dir); err != nil {
		t.Fatal(err)
	}
	kept, err := filepath.Glob(filepath.Join(dir, "programs", "*", "sweep3d"))
	if err != nil || len(kept) != 1 {
		t.Fatalf("programs %v, %v", kept, err)
	}
	f, err := os.OpenFile(kept[0], os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := locality.LoadRuns(dir); err == nil || !strings.Contains(err.Error(), "not the program that was profiled") {
		t.Errorf("another program: %v", err)
	}
}

// TestProfilesOfOtherPlansAreNotLoaded: what another version of the analysis
// recorded is refused, never taken for what this one would record.
func TestProfilesOfOtherPlansAreNotLoaded(t *testing.T) {
	dir := t.TempDir()
	if err := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6}, 64).Save(dir); err != nil {
		t.Fatal(err)
	}
	index := filepath.Join(dir, locality.SavedName)
	text, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := perftest.Program(t).DataPlan()
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
	if _, err := locality.LoadRuns(dir); err == nil || !strings.Contains(err.Error(), "groups references otherwise; profile again") {
		t.Errorf("a profile under another plan: %v", err)
	}
}
