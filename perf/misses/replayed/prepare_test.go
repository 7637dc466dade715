package replayed

import (
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestPreparedPoints: corrections of points that were prepared side by side are those of
// each by itself, in another store; nothing is replayed any more, and progress is reported
// from the caller's goroutine alone, which the race detector sees.
func TestPreparedPoints(t *testing.T) {
	if runtime.GOMAXPROCS(0) < 2 {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(2))
	}
	k := learnKept(t)
	points := subject.Sweep("n", 40, 41, 44, 48.5, 51, 64)
	var tasks []string
	prepared, err := Correctors(k.store, Options{Progress: func(r progress.Report) { tasks = append(tasks, r.Task) }})(t.Context(), k.model, k.m)
	if err != nil {
		t.Fatal(err)
	}
	prepared.(misses.Preparer).Prepare(t.Context(), points)
	for _, want := range []string{"learning loops at n=15", "replaying n=40", "replaying n=64"} {
		if !slices.ContainsFunc(tasks, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("%q is not reported: %q", want, slices.Compact(tasks))
		}
	}
	before := len(tasks)
	alone, err := Correctors(store.Open(t.TempDir()), Options{})(t.Context(), k.model, k.m)
	if err != nil {
		t.Fatal(err)
	}
	counted := 0
	for _, p := range points {
		for _, l := range predict.Levels(k.m) {
			of := misses.Uncorrected{Level: l, Point: p}
			got, err := prepared.Correct(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			want, err := alone.Correct(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s at %s: %+v, by itself %+v", l.Name, p, got, want)
			}
			if want != nil && want.Groups[0].Method != "" {
				counted++
			}
		}
	}
	if counted == 0 {
		t.Error("nothing is counted")
	}
	if len(tasks) > before {
		t.Errorf("replayed after all: %q", tasks[before:])
	}
}
