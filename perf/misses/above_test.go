package misses

import (
	"math"
	"slices"
	"strings"
	"testing"

	"presage/perf/cache"
	"presage/perf/internal/profiletest"
	"presage/perf/reuse"
	"presage/perf/subject"
)

// falling is a histogram of which as many accesses have each distance up to 199, and the
// rest none.
func falling() reuse.Histogram {
	h := reuse.Histogram{Cold: 200}
	for d := range uint64(200) {
		h.Bins = append(h.Bins, reuse.Bin{Lo: d, Hi: d + 1, Count: 100})
	}
	return h
}

// TestMorePages: a level holds as many more pages as the runs agree on, and none where they do
// not foretell the largest of them or say nothing.
func TestMorePages(t *testing.T) {
	h := falling()
	near := func(more ...int) (run []behind) { // levels of about 100 entries that hold more
		for i, n := range more {
			entries := uint64(80 + 20*i)
			run = append(run, behind{hist: h, entries: entries, misses: float64(h.Misses(uint64(int(entries) + n)))})
		}
		return run
	}
	flat := func() []behind { // all fits, but for three accesses
		return []behind{{hist: h, entries: 300, misses: 197}}
	}
	for _, test := range []struct {
		name string
		runs [][]behind
		want int
	}{
		{"all alike", [][]behind{near(7, 7, 7), near(7, 7, 7), near(7, 7, 7)}, 7},
		{"fewer", [][]behind{near(-5, -5), near(-5, -5)}, -5},
		{"some say nothing", [][]behind{near(12, 12), flat(), near(12, 12)}, 12},
		{"all say nothing", [][]behind{flat(), flat(), flat()}, 0},
		{"the largest has none", [][]behind{near(0, 0, 0), near(20, 20, 20), near(20, 20, 20)}, 0},
		{"one run", [][]behind{near(7, 7, 7)}, 0},
		{"more than there is above", [][]behind{near(60, 60), near(60, 60)}, 32},
	} {
		// Numbers as near as asNear are about one block of 100.
		if got := foretoldPages(test.runs, 32); math.Abs(float64(got-test.want)) > 1 || (got == 0) != (test.want == 0) {
			t.Errorf("%s: %d more pages, want %d", test.name, got, test.want)
		}
	}
}

// TestPagesAbove holds misses of a TLB behind another at 3.5 times the largest training size
// against simulation: pages that are used all the time hit in the first, and leave the second
// to the rest. The same TLB by itself is another prediction.
func TestPagesAbove(t *testing.T) {
	m := profiletest.Machine(t, "itanium2")
	m.Caches = m.Caches[1:2]
	for i := range m.TLBs {
		m.TLBs[i].EntryBytes = 4096
	}
	m.TLBs[0].Entries, m.TLBs[1].Entries = 16, 48
	alone := *m
	alone.TLBs = m.TLBs[1:]
	model, _, prog, run := grown(t, "HOT", m.BlockBytes(), 2000, 2800, 3600, 4800, 6200, 8000)
	at := subject.Sweep("n", 28000)
	truth, err := Simulate(t.Context(), prog, m, at, SimulateOptions{RunOptions: run})
	if err != nil {
		t.Fatal(err)
	}
	last := func(s SimulatedRow) bool { return s.Level == m.TLBs[1].Name }
	want := truth[slices.IndexFunc(truth, last)].Misses
	behind, err := Predict(t.Context(), model, m, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	by, err := Predict(t.Context(), model, &alone, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	row, other := behind[len(behind)-1], by[len(by)-1]
	if off := math.Abs(row.Misses/want - 1); off > 0.15 {
		t.Errorf("%s: %.0f misses, simulated %.0f: off by %.3f", row.Level, row.Misses, want, off)
	}
	if !strings.Contains(row.Warning, "another TLB is before it") || row.Low > row.Misses || row.High < partWay(row.Misses, other.Misses, calibratedPages) {
		t.Errorf("from %.0f to %.0f, alone %.0f: %s", row.Low, row.High, other.Misses, row.Warning)
	}
	if off := math.Abs(other.Misses/want - 1); off < 0.5 {
		t.Errorf("alone: %.0f misses, simulated behind another %.0f: off by %.3f only, so that this shows nothing", other.Misses, want, off)
	}
	random := *m
	random.TLBs = slices.Clone(m.TLBs)
	random.TLBs[1].Replacement = cache.Random
	plain, err := Predict(t.Context(), model, &random, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if r := plain[len(plain)-1]; r.Misses != other.Misses || strings.Contains(r.Warning, "another TLB is before it") {
		t.Errorf("behind a TLB, evicting at random: %.0f misses, alone %.0f: %s", r.Misses, other.Misses, r.Warning)
	}
	groups, err := model.ByGroup(t.Context(), m, row.Level, at[0], PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, n := range groups.Misses {
		sum += n
	}
	if math.Abs(sum/row.Misses-1) > 1e-9 {
		t.Errorf("groups have %.0f misses, the row %.0f", sum, row.Misses)
	}
}
