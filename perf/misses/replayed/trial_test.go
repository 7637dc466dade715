package replayed

import (
	"math"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestTrials tests that replays are trusted where what is in doubt does not matter: the
// rows of an elimination with pivoting, of which data choose one among many alike, and
// columns of a sparse matrix that are as good as random. They are then near the
// simulation, at powers of two. Columns near the diagonal are not random, which a cache
// that holds all that the runs touch does not show.
func TestTrials(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; TestConflictsOfOneExecutable runs the same goroutines")
	}
	t.Parallel()
	for _, c := range []struct {
		flags   string
		sizes   []float64
		at      float64
		trusted bool
	}{
		{"-DPIVOT -DHEAP", []float64{20, 25, 30, 35, 41, 46, 52}, 128, true},
		{"-DSPARSE -DHEAP", []float64{300, 350, 400, 450, 500}, 1024, true},
		{"-DSPARSE -DNEAR -DHEAP", []float64{300, 350, 400, 450, 500}, 1024, false},
	} {
		t.Run(c.flags, func(t *testing.T) {
			st, m := store.Open(t.TempDir()), find(t, "origin2000")
			prog := build(t, c.flags, "../../replay/testdata/kernels.c")
			opt := subject.RunOptions{Store: st, Args: "{n}"}
			model, p := learnOne(t, prog, m, opt, c.sizes...)
			points := []subject.Point{{"n": c.at}}
			simulated, err := misses.Simulate(t.Context(), prog, m, points, misses.SimulateOptions{RunOptions: opt})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := misses.Predict(t.Context(), model, m, points, misses.PredictOptions{Coverage: -1, Corrector: NewCorrector(p, model, m, Options{})})
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range rows {
				is := simulated[i]
				if is.Level != r.Level {
					t.Fatalf("row %d is of %s, simulated %s", i, r.Level, is.Level)
				}
				if got := strings.Contains(r.Method, MethodTested); got != c.trusted {
					t.Errorf("%s: method %q; %s", r.Level, r.Method, r.Warning)
				}
				if is.Misses < 1000 || !c.trusted {
					continue
				}
				if math.Abs(r.Misses/is.Misses-1) > 0.1 {
					t.Errorf("%s: %.0f misses, %.0f simulated", r.Level, r.Misses, is.Misses)
				}
			}
		})
	}
}

func TestTrusted(t *testing.T) {
	r := &replayedPoint{All: standing{Accesses: 1e6}, Groups: []standing{{1e6, 1e6, 0, 0}, {1e6, 0, 0, 0}}, Doubts: [][]string{{"data"}, nil}}
	for _, c := range []struct {
		level string
		trial *trial
		want  bool
	}{
		{"L1", nil, false},
		{"L1", &trial{}, false}, // no level says anything
		{"L1", &trial{worst: 0.05, levels: map[string]outcome{"L1": {misses: 1000, off: 50, full: 300, net: 50}}}, true},
		{"L1", &trial{worst: 0.05, levels: map[string]outcome{"L1": {misses: 1000, off: 50, full: 10, net: 50}}}, false}, // a fully associative cache is nearer
		{"L1", &trial{worst: 0.015, levels: map[string]outcome{"L1": {misses: 1000, off: 15, full: 0, net: 15}}}, true},  // and hardly is
		{"L2", &trial{worst: 0.05, levels: map[string]outcome{"L1": {misses: 1000, off: 50, full: 10, net: 50}}}, true},  // the run had no misses there
		{"L1", &trial{worst: 0.05, levels: map[string]outcome{"L1": {misses: 1000, off: 50, full: 10, net: -15}}}, true}, // groups have each other's
		{"L2", &trial{worst: 0.2, levels: map[string]outcome{"L1": {misses: 1000, off: 200, full: 900, net: 200}, "L2": {misses: 1000, off: 0, full: 0, net: 0}}}, false},
	} {
		if c.trial != nil {
			c.trial.run = &replayedPoint{Doubts: [][]string{{"data", "few sizes"}, nil}}
		}
		if got := c.trial.trusted(r, c.level); got != c.want {
			t.Errorf("%s of %+v: trusted %v", c.level, c.trial, got)
		}
	}
	good := &trial{
		run:    &replayedPoint{All: standing{Accesses: 1000, Doubtful: 150, Likely: 50}, Doubts: r.Doubts},
		worst:  0.05,
		levels: map[string]outcome{"L1": {misses: 1000, off: 50, full: 300, net: 50}},
	}
	for doubtful, want := range map[uint64]bool{190_000: true, 220_000: false, 900_000: false} {
		more := &replayedPoint{All: standing{Accesses: 1e6, Doubtful: doubtful}, Groups: r.Groups, Doubts: r.Doubts}
		if got := good.trusted(more, "L1"); got != want {
			t.Errorf("%d of a million accesses in doubt, of a tenth in the trial: trusted %v", doubtful, got)
		}
	}
}

// TestUntried tests that a trial says nothing of accesses that are in doubt for other
// reasons than it had, unless they are very few.
func TestUntried(t *testing.T) {
	trial := &trial{run: &replayedPoint{Doubts: [][]string{{"data"}, nil}}}
	for _, c := range []struct {
		groups []standing
		doubts [][]string
		misses uint64
		want   bool
	}{
		{[]standing{{9000, 9000, 0, 0}, {1000, 0, 0, 0}}, [][]string{{"data"}, nil}, 0, false},
		{[]standing{{9000, 9000, 0, 0}, {1000, 0, 0, 0}}, [][]string{{"data", "other code"}, nil}, 0, true},
		{[]standing{{9000, 9000, 0, 0}, {1000, 11, 0, 0}}, [][]string{{"data"}, {"data"}}, 0, true},
		{[]standing{{9000, 9000, 0, 0}, {1000, 9, 0, 0}}, [][]string{{"data"}, {"data"}}, 0, false},
		{[]standing{{9000, 9000, 0, 0}, {1000, 11, 11, 0}}, [][]string{{"data"}, {"other code"}}, 0, false},     // likely
		{[]standing{{9000, 0, 0, 0}, {1000, 0, 0, 0}, {10, 11, 0, 0}}, [][]string{nil, nil, {"data"}}, 0, true}, // of no group of the run
		{[]standing{{9000, 9000, 0, 0}, {1000, 59, 0, 0}}, [][]string{{"data"}, {"data"}}, 3000, false},         // few of the level's misses
		{[]standing{{9000, 9000, 0, 0}, {1000, 61, 0, 0}}, [][]string{{"data"}, {"data"}}, 3000, true},
	} {
		r := &replayedPoint{All: standing{Accesses: 10_000}, Groups: c.groups, Doubts: c.doubts}
		r.Result = &cache.Result{Levels: []cache.LevelResult{{Name: "L1", Total: cache.Counts{Misses: c.misses}}}}
		if got := trial.untried(r, "L1"); got != c.want {
			t.Errorf("%v in doubt for %q: untried %v", c.groups, c.doubts, got)
		}
	}
}

// TestLeftOut tests that a trial says nothing of a replay of which more was left out.
func TestLeftOut(t *testing.T) {
	trial := &trial{run: &replayedPoint{All: standing{Accesses: 1000}, Left: 20}}
	for _, c := range []struct {
		left uint64
		want bool
	}{{0, false}, {200, false}, {209, false}, {211, true}, {5000, true}} {
		r := &replayedPoint{All: standing{Accesses: 10_000}, Left: c.left}
		if got := trial.untried(r, "L1"); got != c.want {
			t.Errorf("%d of 10,000 accesses left out, 20 of 1000 in the trial: untried %v", c.left, got)
		}
	}
}
