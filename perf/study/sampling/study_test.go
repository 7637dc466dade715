package sampling

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
	"presage/perf/internal/perftest"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
	"presage/perf/store"
	"presage/perf/subject"

	"github.com/go-gota/gota/dataframe"
	"github.com/go-gota/gota/series"
	"github.com/google/go-cmp/cmp"
)

func power3(t *testing.T) *machine.Machine {
	t.Helper()
	m, err := catalog.Find("../../../datasets/metasim/power3.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A study's tables fit together, and a second one is read from the store.
func TestMetaSimStudy(t *testing.T) {
	st := store.Open(t.TempDir())
	var steps []string
	s := Study{
		RunOptions: subject.RunOptions{Args: perftest.OneIteration, Store: st}, Machine: power3(t),
		Intervals: []uint64{500_000, 1_000_000}, Ks: []int{1, 3}, Repeats: 1, Seeds: 2, Step: func(what string) { steps = append(steps, what) },
	}
	found, err := Investigate(t.Context(), perftest.Program(t), subject.Point{"n": 12}, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(steps) < 10 {
		t.Errorf("steps: %q", steps)
	}
	names := found.Hits.Col("sampling").Records()
	count := make(map[string]int)
	for _, n := range names {
		count[n]++
	}
	// Two levels each; warm-ups: four of SimPoint's, two of periodic samples.
	for name, want := range map[string]int{"full": 2, "simpoint": 8, "simpoint 8": 2, "periodic 10%": 4, "periodic 1%": 4, "simpoint k=1": 2, "simpoint k=3": 2, "simpoint k=8": 2, "simpoint by score": 4} {
		if count[name] != want {
			t.Errorf("%d rows of %s, want %d", count[name], name, want)
		}
	}
	// The default sample is simulated by itself and as a part of more.
	diff, err := frame.Floats(found.Hits, "hit_ratio_diff")
	if err != nil {
		t.Fatal(err)
	}
	var alone, part float64
	interval, err := frame.Floats(found.Hits, "interval_instructions")
	if err != nil {
		t.Fatal(err)
	}
	for i := len(names) - 2; i >= 0; i -= 2 { // L1; the first of each is what is left
		switch {
		case names[i] == "simpoint":
			alone = diff[i]
		case names[i] == "simpoint by score" && interval[i] == 1e6:
			part = diff[i]
		}
	}
	if math.Abs(alone-part) > 2e-3 || alone == 0 {
		t.Errorf("the default is off by %g by itself, by %g as a part", alone, part)
	}
	first := found.Runs.Records()
	if first[1][3+1] == "" || found.Runs.Nrow() != 13 {
		t.Errorf("%d runs: %v", found.Runs.Nrow(), first)
	}
	named := func(df dataframe.DataFrame) dataframe.DataFrame {
		return df.Mutate(series.New(slices.Repeat([]string{"s"}, df.Nrow()), series.String, "study"))
	}
	table, err := Table(named(found.Hits), named(found.Runs), "L1")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := frame.Floats(table, "diff_points"); err != nil || len(got) != 1 || got[0] != 100*alone {
		t.Errorf("table: %v, %v; want %g", got, err, 100*alone)
	}
	if got, err := MeanAbs(table, "diff_points_periodic_1"); err != nil || !(got > 0) {
		t.Errorf("mean of one: %g, %v", got, err)
	}
	if _, err := Table(named(found.Hits), named(found.Runs), "L7"); err == nil {
		t.Error("no such level: no error")
	}
	again, err := Investigate(t.Context(), perftest.Program(t), subject.Point{"n": 12}, s)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(frame.Rows(found.Hits), frame.Rows(again.Hits), cmp.Comparer(func(a, b float64) bool { return a == b || a != a && b != b })); d != "" {
		t.Errorf("a second time (-first +second):\n%s", d)
	}
	s.Intervals = []uint64{300_000, 1_000_000}
	if _, err := Investigate(t.Context(), perftest.Program(t), subject.Point{"n": 12}, s); err == nil || !strings.Contains(err.Error(), "multiple") {
		t.Errorf("intervals that do not fit: %v", err)
	}
	s.Intervals = []uint64{300_000}
	if _, err := Investigate(t.Context(), perftest.Program(t), subject.Point{"n": 12}, s); err == nil || !strings.Contains(err.Error(), "default") {
		t.Errorf("no default interval: %v", err)
	}
}

func TestMeanAbs(t *testing.T) {
	df := dataframe.New(series.New([]float64{-3, 1, math.NaN()}, series.Float, "x"))
	if got, err := MeanAbs(df, "x"); err != nil || got != 2 {
		t.Errorf("%g, %v", got, err)
	}
	if _, err := MeanAbs(df, "y"); err == nil {
		t.Error("no such column: no error")
	}
}
