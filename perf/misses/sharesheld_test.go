package misses

import (
	"math"
	"testing"

	"presage/perf/fit"
	"presage/perf/internal/profiletest"
	"presage/perf/reuse"
	"presage/perf/subject"
)

// TestReuseMisses: between two capacities misses lie on a line, and first accesses are none.
func TestReuseMisses(t *testing.T) {
	h := &reuse.Histogram{Cold: 2, Bins: []reuse.Bin{{Lo: 0, Hi: 1, Count: 5}, {Lo: 10, Hi: 11, Count: 4}}}
	for blocks, want := range map[float64]float64{0: 9, 0.5: 6.5, 1: 4, 10: 4, 10.25: 3, 11: 0, 100: 0} {
		if got := reuseMisses(h, blocks); math.Abs(got-want) > 1e-9 {
			t.Errorf("%g blocks: %g misses, want %g", blocks, got, want)
		}
	}
}

// partWay returns how far an interval goes that is told of another prediction.
func partWay(misses, other, share float64) float64 {
	return misses * math.Pow((other+1)/(misses+1), share)
}

// TestIntervalsHoldShares: an interval of pages goes part of the way to what is missed if
// as large a share of the accesses misses as in the largest run, in a level that holds as
// large a part.
func TestIntervalsHoldShares(t *testing.T) {
	m := profiletest.Machine(t, "zen4")
	m.Caches, m.TLBs = nil, m.TLBs[:1]
	m.TLBs[0].Entries = 40
	model, runs, _, _ := grown(t, "PRODUCT", m.BlockBytes(), 51, 60, 69, 78, 87)
	at := subject.Sweep("n", 150)
	rows, err := Predict(t.Context(), model, m, at, PredictOptions{})
	if err != nil {
		t.Fatal(err)
	}
	r, last := rows[0], &runs.Runs[4]
	total := last.Reuse[0].Total()
	page := m.TLBs[0].EntryBytes
	touched := model.footprint.Range(page, fit.Point(at[0]))
	held := float64(m.TLBs[0].Entries) * float64(total.Cold) / ((touched.Lo + touched.Hi) / 2)
	want := r.Cold + r.Accesses*reuseMisses(&total, held)/float64(total.Accesses())
	t.Logf("%.0f from %.0f to %.0f; by the share of the largest run %.0f", r.Misses, r.Low, r.High, want)
	if !(r.Low <= partWay(r.Misses, want, calibratedPages) && want < r.Misses) {
		t.Errorf("from %.0f to %.0f misses, by the share of the largest run %.0f", r.Low, r.High, want)
	}
}
