package misses

import (
	"reflect"
	"strings"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/machine/catalog"
	"presage/perf/store"
	"presage/perf/subject"
)

// A draft predicts what the whole model does, knows no intervals, and is not kept.
func TestDraft(t *testing.T) {
	st := store.Open(t.TempDir())
	runs := profileSizes(t, st, perftest.Compile(t, "gcc", "-O0", "sized", "sized.c"), 12, 16, 21, 26, 31)
	drafts := store.Open(t.TempDir())
	draft, err := Fit(t.Context(), runs, FitOptions{Store: drafts, Draft: true})
	if err != nil {
		t.Fatal(err)
	}
	if kinds, err := drafts.Kinds(); err != nil || len(kinds) > 0 {
		t.Errorf("a draft is kept: %v, %v", kinds, err)
	}
	whole, err := Fit(t.Context(), runs, FitOptions{Store: st})
	if err != nil {
		t.Fatal(err)
	}
	point := subject.Point{"n": 62}
	opt := ScopedOptions{By: subject.ByLoop, BlockBytes: 32}
	got, err := draft.ScopedAt([]subject.Point{{"n": 16}, point}, opt)
	if err != nil {
		t.Fatal(err)
	}
	want, err := whole.Scoped(point, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got[1], want) {
		t.Errorf("the draft has %+v, the model %+v", got[1], want)
	}
	m, err := catalog.Find("origin2000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Predict(t.Context(), draft, m, []subject.Point{point}, PredictOptions{}); err == nil || !strings.Contains(err.Error(), "Coverage of -1") {
		t.Errorf("intervals of a draft: %v", err)
	}
}
