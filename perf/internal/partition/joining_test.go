package partition_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"presage/perf/internal/partition"
	"presage/perf/reuse"
)

// at returns a histogram of n reuses at a distance.
func at(distance, n uint64) *reuse.Histogram {
	return &reuse.Histogram{Bins: []reuse.Bin{{Lo: distance, Hi: distance + 1, Count: n}}}
}

func TestMayMiss(t *testing.T) {
	h := reuse.Histogram{Cold: 3, Bins: []reuse.Bin{{Lo: 7, Hi: 8, Count: 100}, {Lo: 8, Hi: 9, Count: 20}}}
	if n := partition.MayMiss(&h); n != 23 {
		t.Errorf("%g accesses may miss, want the 3 cold ones and the 20 from distance 8 on", n)
	}
}

// TestParts holds the joined parts against sums by hand: c is negligible in both runs, b
// in the first alone.
func TestParts(t *testing.T) {
	first, second := partition.NewRun[string](), partition.NewRun[string]()
	first.Add("a", at(10, 500))
	first.Add("a", at(10, 400))
	first.Add("b", at(10, 9))
	first.Add("c", at(10, 4))
	first.Add("d", at(12, 5))
	second.Add("c", at(10, 9))
	second.Add("b", at(10, 11))
	first.MayMiss, second.MayMiss = 1000, 1000
	before := *first.Parts["c"]
	j := partition.Joining[string]{Negligible: 0.01, Rest: func(string) string { return "rest" }, Compare: cmp.Compare[string]}
	keys, hists := j.Of([]partition.Run[string]{first, second})
	if want := []string{"a", "b", "rest"}; !slices.Equal(keys, want) {
		t.Fatalf("parts %q, want %q", keys, want)
	}
	rest := reuse.Histogram{Bins: []reuse.Bin{{Lo: 10, Hi: 11, Count: 4}, {Lo: 12, Hi: 13, Count: 5}}}
	want := [][]reuse.Histogram{{*at(10, 900), {}}, {*at(10, 9), *at(10, 11)}, {rest, *at(10, 9)}}
	if !reflect.DeepEqual(hists, want) {
		t.Errorf("histograms\n%v, want\n%v", hists, want)
	}
	if !reflect.DeepEqual(*first.Parts["c"], before) {
		t.Error("joining modifies a histogram of the run")
	}
}
