package replayed

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// kept is a model whose predictions are corrected.
type kept struct {
	store *store.Store
	model *misses.Model
	m     *machine.Machine
}

func learnKept(t *testing.T) *kept { return learnBlocks(t, 64) }

func learnBlocks(t *testing.T, blockBytes ...uint64) *kept {
	t.Helper()
	k := &kept{store: store.Open(t.TempDir()), m: find(t, "zen4")}
	prog := build(t, "-DMATMUL -DBARE -nostdlib -ffreestanding", "../../replay/testdata/kernels.c")
	opt := subject.RunOptions{Store: k.store, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 15, 18, 21, 24, 28, 31), locality.ProfileOptions{RunOptions: opt, BlockBytes: blockBytes})
	if err != nil {
		t.Fatal(err)
	}
	if k.model, err = misses.Fit(t.Context(), runs, misses.FitOptions{Store: k.store}); err != nil {
		t.Fatal(err)
	}
	return k
}

// correct corrects all levels at a size, as a process does that knows nothing but what is
// stored. It returns the tasks that were reported.
func (k *kept) correct(ctx context.Context, n float64, opt Options) (list []*misses.Correction, tasks []string, err error) {
	report := opt.Progress
	opt.Progress = func(r progress.Report) {
		tasks = append(tasks, r.Task)
		report.Report(r)
	}
	c, err := Correctors(k.store, opt)(ctx, k.model, k.m)
	if err != nil {
		return nil, nil, err
	}
	for _, l := range predict.Levels(k.m) {
		got, err := c.Correct(ctx, misses.Uncorrected{Level: l, Point: subject.Point{"n": n}})
		if err != nil {
			return nil, tasks, err
		}
		list = append(list, got)
	}
	return list, tasks, nil
}

func (k *kept) mustCorrect(t *testing.T, n float64, opt Options) ([]*misses.Correction, []string) {
	t.Helper()
	list, tasks, err := k.correct(t.Context(), n, opt)
	if err != nil {
		t.Fatal(err)
	}
	return list, tasks
}

// entries returns the files of stored replays.
func (k *kept) entries(t *testing.T) (files []string) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(k.store.Dir(), replayKind), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestReplaysAreKept tests that nothing is learned or replayed twice, and that what
// depends on something else, or is damaged, is.
func TestReplaysAreKept(t *testing.T) {
	k := learnKept(t)
	first, tasks := k.mustCorrect(t, 64, Options{})
	if all := strings.Join(tasks, "\n"); !strings.Contains(all, "learning loops at n=15") || !strings.Contains(all, "replaying n=64") {
		t.Errorf("reported %q", tasks)
	}
	if first[0].Groups[0].Method == "" {
		t.Fatalf("nothing is certified: %q", first[0].Warnings)
	}
	again, tasks := k.mustCorrect(t, 64, Options{})
	if len(tasks) > 0 {
		t.Errorf("reported %q where all is stored", tasks)
	}
	if !reflect.DeepEqual(again, first) {
		t.Errorf("stored corrections differ: %+v, want %+v", again[0], first[0])
	}
	files := k.entries(t)
	if len(files) != 1 {
		t.Fatalf("%d replays are stored, want 1", len(files))
	}

	// Another size and another limit are other replays; loops are learned already.
	for _, c := range []struct {
		n    float64
		opt  Options
		want string
	}{{65, Options{}, ""}, {64, Options{MaxAccesses: 1000}, "more than the limit"}} {
		got, tasks := k.mustCorrect(t, c.n, c.opt)
		if all := strings.Join(tasks, "\n"); !strings.Contains(all, "replaying") || strings.Contains(all, "learning") {
			t.Errorf("n=%g: reported %q", c.n, tasks)
		}
		if !strings.Contains(strings.Join(got[0].Warnings, "; "), c.want) {
			t.Errorf("n=%g: warnings %q, want %q", c.n, got[0].Warnings, c.want)
		}
	}

	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)-9] ^= 4
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
	mended, tasks := k.mustCorrect(t, 64, Options{})
	if len(tasks) == 0 || !strings.Contains(strings.Join(mended[0].Warnings, "; "), "computed again") {
		t.Errorf("a damaged entry: reported %q, warnings %q", tasks, mended[0].Warnings)
	}
	if !reflect.DeepEqual(mended[0].Groups, first[0].Groups) {
		t.Error("a damaged entry changes the result")
	}
	if again, tasks := k.mustCorrect(t, 64, Options{}); len(tasks) > 0 || !reflect.DeepEqual(again, first) {
		t.Errorf("the damaged entry was not replaced: reported %q", tasks)
	}
}

// TestReplaysCanBeCancelled tests that a replay of what would take minutes ends with
// its context, and that nothing is kept of it.
func TestReplaysCanBeCancelled(t *testing.T) {
	k := learnKept(t)
	ctx, cancel := context.WithCancel(t.Context())
	after := 0 // batches
	stop := Options{MaxAccesses: 1 << 34, Progress: func(r progress.Report) {
		if ctx.Err() != nil {
			after++
		}
		if r.Share > 0 {
			cancel()
		}
	}}
	_, _, err := k.correct(ctx, 1000, stop)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v", err)
	}
	if after > 1 {
		t.Errorf("%d batches were replayed after that", after)
	}
	if _, err := os.Stat(filepath.Join(k.store.Dir(), replayKind)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("something was kept: %v", err)
	}
}

// TestProgramsThatCannotBeFollowedAreRunOnce tests that why a program's loops cannot be
// learned is known from the store.
func TestProgramsThatCannotBeFollowedAreRunOnce(t *testing.T) {
	k := &kept{store: store.Open(t.TempDir()), m: find(t, "zen4")}
	prog := build(t, "-DRECURSION -DBARE -nostdlib -ffreestanding", "../../replay/testdata/kernels.c")
	opt := subject.RunOptions{Store: k.store, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 20_000, 22_000, 25_000, 28_000), locality.ProfileOptions{RunOptions: opt, BlockBytes: []uint64{64}})
	if err != nil {
		t.Fatal(err)
	}
	if k.model, err = misses.Fit(t.Context(), runs, misses.FitOptions{Store: k.store}); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		got, tasks := k.mustCorrect(t, 30_000, Options{})
		if learning := strings.Contains(strings.Join(tasks, "\n"), "learning"); learning != (i == 0) {
			t.Errorf("time %d: reported %q", i, tasks)
		}
		if !strings.Contains(strings.Join(got[0].Warnings, "; "), "recursion") {
			t.Errorf("time %d: warnings %q", i, got[0].Warnings)
		}
	}
}
