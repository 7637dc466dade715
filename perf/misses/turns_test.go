package misses

import (
	"math"
	"testing"

	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestTurns: of an unrolled copy, another reference is the first in each line where data
// begin elsewhere in a line. Together they miss at another size as they do in a run there.
func TestTurns(t *testing.T) {
	const n, blocks = 120, 512
	opt := locality.ProfileOptions{RunOptions: subject.RunOptions{Args: "{n}", Store: store.Open(t.TempDir())}, BlockBytes: []uint64{64}}
	model, prog := pagesOf(t, "COPIES", opt, 28, 33, 38, 44, 50, 60)
	truth, err := locality.Profile(t.Context(), prog, subject.Sweep("n", n, n+1), opt)
	if err != nil {
		t.Fatal(err)
	}
	total := truth.Runs[0].Reuse[0].Total()
	e := &estimate{histograms: &histograms{at: map[string]float64{"n": n}}, by: predict.MethodFullyAssociative}
	misses, err := model.missesInBlocks(e, 64, blocks)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for _, m := range misses {
		sum += m
	}
	if want := float64(total.Misses(blocks)); math.Abs(sum/want-1) > 0.01 {
		t.Errorf("%.0f misses, the run has %.0f", sum, want)
	}
}
