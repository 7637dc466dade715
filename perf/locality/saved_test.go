package locality_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
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
	good, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}
	changed := func(old, by string) string {
		if !bytes.Contains(good, []byte(old)) {
			t.Fatalf("no %q in %s", old, good)
		}
		return strings.Replace(string(good), old, by, 1)
	}
	for _, c := range []struct{ want, text string }{
		{"format 9", `{"Format": 9}`},
		{"profile again", `{"Format": 3}`},
		{"no program", locality.Seal(t, `{"Format": 4}`)},
		{"not below", locality.Seal(t, `{"Format": 4, "Programs": [{"Path": "../../etc/passwd"}], "Runs": [{"Recorded": {"Inputs": {"Engine": 2}}}], "BlockBytes": [32]}`)},
		{"invalid char", `{]`},
		// Whatever is changed is found, also where it leads to no other histogram.
		{"checksum", changed(`"n": 6`, `"n": 7`)},
		{"checksum", changed(`"-n",`, `"-m",`)},
		{"checksum", changed(`"Plan": "`, `"Plan": "0`)},
		{"unknown field", changed(`"Runs":`, `"Extra": 1, "Runs":`)},
		{"after top-level value", string(good) + "{}"},
		// With a checksum that is right, arguments lead to another histogram or none.
		{"it is missing", locality.Seal(t, changed(`"-n",`, `"-m",`))},
	} {
		want, text := c.want, c.text
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
	other = locality.Seal(t, other)
	if err := os.WriteFile(index, []byte(other), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := locality.LoadRuns(dir); err == nil || !strings.Contains(err.Error(), "groups references otherwise; profile again") {
		t.Errorf("a profile under another plan: %v", err)
	}
}

// TestHistogramsOfOtherRunsAreNotLoaded exchanges the histograms of two runs, each of
// them whole.
func TestHistogramsOfOtherRunsAreNotLoaded(t *testing.T) {
	dir := t.TempDir()
	if err := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 8}, 64).Save(dir); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "reuse", "*", "*.gob"))
	if err != nil || len(files) != 2 {
		t.Fatalf("histograms %v, %v", files, err)
	}
	for _, move := range [][2]string{{files[0], "third"}, {files[1], files[0]}, {"third", files[1]}} {
		from, to := move[0], move[1]
		if !filepath.IsAbs(from) {
			from = filepath.Join(dir, from)
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(dir, to)
		}
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := locality.LoadRuns(dir); err == nil || !strings.Contains(err.Error(), "checksum does not match") {
		t.Errorf("exchanged histograms: %v", err)
	}
}

// TestSaveWhatIsThere: a finished sweep in a folder that cannot be written to is
// saved again without an error.
func TestSaveWhatIsThere(t *testing.T) {
	dir := t.TempDir()
	runs := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 8}, 64)
	if err := runs.Save(dir); err != nil {
		t.Fatal(err)
	}
	// A file in the place of the folder of unfinished files: nothing can be written.
	unfinished := filepath.Join(dir, ".unfinished")
	if err := os.RemoveAll(unfinished); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(unfinished, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := runs.Save(dir); err != nil {
		t.Errorf("saved again: %v", err)
	}
	if _, err := locality.LoadRuns(dir); err != nil {
		t.Error(err)
	}
	more := profiletest.Profile(t, store.Open(t.TempDir()), []float64{6, 10}, 64)
	if err := more.Save(dir); err == nil {
		t.Error("runs that are not there: no error")
	}
}

// TestProfilesThatMustBeKept: a sweep ends before its first run if the store cannot
// keep it, and goes on with a warning unless it must.
func TestProfilesThatMustBeKept(t *testing.T) {
	dir := t.TempDir()
	// A file in the place of the folder of unfinished files: nothing can be kept.
	if err := os.WriteFile(filepath.Join(dir, ".unfinished"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	opt := locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: "-n {n} -iterations 0", Store: store.Open(dir)}, // which fails
		BlockBytes: []uint64{64}, MustKeep: true,
	}
	_, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 6, 8), opt)
	if err == nil || !strings.Contains(err.Error(), "the profile of n=6 cannot be kept") {
		t.Errorf("must be kept: %v", err)
	}
	opt.MustKeep, opt.Args = false, perftest.OneIteration
	runs, err := locality.Profile(t.Context(), perftest.Program(t), subject.Sweep("n", 6, 8), opt)
	if err != nil || !strings.Contains(strings.Join(runs.Warnings, "\n"), "was not kept") {
		t.Errorf("need not be kept: %v", err)
	}
}
