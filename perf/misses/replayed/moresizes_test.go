package replayed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// learnTiled returns a model of a product in tiles, which the sizes of its profiles do not
// determine.
func learnTiled(t *testing.T, flags string) (*kept, *subject.Program) {
	t.Helper()
	k := &kept{store: store.Open(t.TempDir()), m: find(t, "zen4")}
	prog := build(t, flags+" -DBARE -nostdlib -ffreestanding", "../../replay/testdata/kernels.c")
	opt := subject.RunOptions{Store: k.store, Args: "{n}"}
	runs, err := locality.Profile(t.Context(), prog, subject.Sweep("n", 30, 38, 47, 56, 65, 76), locality.ProfileOptions{RunOptions: opt, BlockBytes: []uint64{64}})
	if err != nil {
		t.Fatal(err)
	}
	if k.model, err = misses.Fit(t.Context(), runs, misses.FitOptions{Store: k.store}); err != nil {
		t.Fatal(err)
	}
	return k, prog
}

// nests returns the number of stored results of learning.
func (k *kept) nests(t *testing.T) (n int) {
	t.Helper()
	err := filepath.WalkDir(filepath.Join(k.store.Dir(), "nests"), func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return n
}

// TestTilesAreLearnedAtMoreSizes tests that a product in tiles is replayed, once it has
// been run at sizes that are chosen: that its misses are those of a simulation, that rows
// say so, that nothing is run twice, and that an option leaves it as it was.
func TestTilesAreLearnedAtMoreSizes(t *testing.T) {
	k, prog := learnTiled(t, "-DUNEVEN")
	const n = 114
	simulated, err := misses.Simulate(t.Context(), prog, k.m, []subject.Point{{"n": n}}, misses.SimulateOptions{RunOptions: subject.RunOptions{Store: k.store, Args: "{n}"}})
	if err != nil {
		t.Fatal(err)
	}
	without, tasks := k.mustCorrect(t, n, Options{TrainedSizesOnly: true})
	if all := strings.Join(tasks, "\n"); strings.Contains(all, "more sizes") {
		t.Errorf("with the option, reported %q", tasks)
	}
	if text := strings.Join(without[0].Warnings, "; "); !strings.Contains(text, "not replayed") || strings.Contains(text, "more sizes") {
		t.Fatalf("the sizes of the profiles do: %q", text)
	}
	with, tasks := k.mustCorrect(t, n, Options{})
	if all := strings.Join(tasks, "\n"); !strings.Contains(all, "learning loops at n=34, one of") {
		t.Errorf("reported %q", tasks)
	}
	for i, l := range predict.Levels(k.m) {
		sum := 0.0
		for _, g := range with[i].Groups {
			sum += g.Misses.Total()
		}
		for _, s := range simulated {
			if s.Level == l.Name && math.Abs(sum-s.Misses) > 2 { // of the program's start and end
				t.Errorf("%s: %g misses are counted, %g simulated: %q", l.Name, sum, s.Misses, with[i].Warnings)
			}
		}
		if text := strings.Join(with[i].Warnings, "; "); !strings.Contains(text, "more sizes: n = ") || strings.Contains(text, "not replayed") {
			t.Errorf("%s: warnings %q", l.Name, text)
		}
	}
	if got := k.nests(t); got != 2 {
		t.Errorf("%d results of learning are stored, want those of the profiles' sizes and of others", got)
	}
	if again, tasks := k.mustCorrect(t, n, Options{}); len(tasks) > 0 || strings.Join(again[0].Warnings, "") != strings.Join(with[0].Warnings, "") {
		t.Errorf("the second time: reported %q, warnings %q", tasks, again[0].Warnings)
	}
	// Another machine learns nothing anew.
	k.m = find(t, "itanium2")
	if _, tasks := k.mustCorrect(t, n, Options{}); strings.Contains(strings.Join(tasks, "\n"), "learning") {
		t.Errorf("another machine: reported %q", tasks)
	}
}

// TestSizesAtWhichAProgramFailsAreLeftOut tests that a program may refuse some of the
// sizes that are chosen.
func TestSizesAtWhichAProgramFailsAreLeftOut(t *testing.T) {
	k, _ := learnTiled(t, "-DUNEVEN -DFAILS")
	got, _ := k.mustCorrect(t, 106, Options{})
	text := strings.Join(got[0].Warnings, "; ")
	if !strings.Contains(text, " 42, ") || !strings.Contains(text, " 58") || strings.Contains(text, " 34") || strings.Contains(text, " 50") {
		t.Errorf("warnings %q", text)
	}
	if got := k.nests(t); got != 2 {
		t.Errorf("%d results of learning are stored, want those of the profiles' sizes and of others", got)
	}
	if len(got[0].Warnings) > 2 {
		t.Errorf("warnings %q", got[0].Warnings)
	}
}

// TestMoreSizesCanBeCancelled tests that learning at more sizes ends with its context,
// and that nothing is kept of it.
func TestMoreSizesCanBeCancelled(t *testing.T) {
	k, _ := learnTiled(t, "-DUNEVEN")
	ctx, cancel := context.WithCancel(t.Context())
	_, _, err := k.correct(ctx, 114, Options{Progress: func(r progress.Report) {
		if strings.Contains(r.Task, "more sizes") {
			cancel()
		}
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got error %v", err)
	}
	if got := k.nests(t); got != 1 {
		t.Errorf("%d results of learning are stored, want that of the profiles' sizes", got)
	}
	if _, err := os.Stat(filepath.Join(k.store.Dir(), replayKind)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a replay was kept: %v", err)
	}
}

// TestRegularProgramsAreRunAtNoMoreSizes tests that what the profiles' sizes determine is
// learned from these.
func TestRegularProgramsAreRunAtNoMoreSizes(t *testing.T) {
	k := learnKept(t)
	got, tasks := k.mustCorrect(t, 64, Options{})
	if all := strings.Join(tasks, "\n") + strings.Join(got[0].Warnings, "\n"); strings.Contains(all, "more sizes") {
		t.Errorf("reported %q, warnings %q", tasks, got[0].Warnings)
	}
}

// TestChosenSizes tests what is promised of sizes: none above the largest, none twice, so
// many at most, no more work than the profiles took, and the remainders that matter.
func TestChosenSizes(t *testing.T) {
	for _, trained := range [][]int64{{30, 38, 47, 56, 65, 76}, {40, 48, 60, 72, 84, 96}, {8, 9, 10, 12}, {1000, 2000, 3000, 1 << 30}, {1, 2, 3, 4}} {
		for _, n := range []int64{64, 113, 114, 150, 384, 5000} {
			c := &choice{trained: trained}
			total := 0.0
			for _, s := range trained {
				c.instructions = append(c.instructions, 1000+math.Pow(float64(s), 3))
				total += c.instructions[len(c.instructions)-1]
			}
			got := c.sizes(n, []int64{2, 14, 20})
			what := fmt.Sprintf("%v, n=%d: %v", trained, n, got)
			if !slices.IsSorted(got) || len(slices.Compact(slices.Clone(got))) < len(got) || len(got) > maxMoreSizes {
				t.Error(what)
			}
			sum, same := 0.0, 0
			for _, s := range got {
				sum += c.cost(s)
				if s < 1 || s > trained[len(trained)-1] || slices.Contains(trained, s) {
					t.Errorf("%s: %d", what, s)
				}
				if (n-s)%8 == 0 {
					same++
				}
			}
			if sum > total {
				t.Errorf("%s: %g instructions, profiles took %g", what, sum, total)
			}
			if trained[0] >= 30 && same < 4 {
				t.Errorf("%s: %d leave n's remainder modulo 8", what, same)
			}
		}
	}
	if got := (&choice{trained: []int64{-3, 4, 8, 12}, instructions: []float64{1, 1, 1, 1}}).sizes(20, nil); got != nil {
		t.Errorf("sizes that may be negative: %v", got)
	}
}

// TestCostOfSizes tests that work between two sizes is interpolated, and bounded from
// above below the smallest.
func TestCostOfSizes(t *testing.T) {
	c := &choice{trained: []int64{10, 20, 40}, instructions: []float64{1000, 8000, 64000}}
	for s, want := range map[int64]float64{5: 1000, 10: 1000, 15: 3375, 20: 8000, 30: 27000, 40: 64000} {
		if got := c.cost(s); math.Abs(got-want) > 1e-6*want {
			t.Errorf("size %d: %g, want %g", s, got, want)
		}
	}
}
