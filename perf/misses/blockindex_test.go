package misses

import (
	"math"
	"testing"

	"presage/perf/internal/perftest"
	"presage/perf/locality"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestSomeBlockSizes demands of a model of one of the runs' block sizes the rows, with
// their intervals, that the model of all of them has for it.
func TestSomeBlockSizes(t *testing.T) {
	st := store.Open(t.TempDir())
	runs, err := locality.Profile(t.Context(), perftest.Compile(t, "gcc", "-O2 -DSTENCIL", "stencil", "growing.c"), subject.Sweep("n", 10, 12, 14, 17, 20, 24), locality.ProfileOptions{
		RunOptions: subject.RunOptions{Args: "{n}", Store: st}, BlockBytes: []uint64{16, 64},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := func(opt FitOptions) CacheRow {
		opt.Store = st
		model, err := Fit(t.Context(), runs, opt)
		if err != nil {
			t.Fatal(err)
		}
		rows, err := OfCaches(t.Context(), model, Query{Points: subject.Sweep("n", 48), Caches: []CacheSize{{Capacity: 4 << 10, BlockBytes: 64}}})
		if err != nil {
			t.Fatal(err)
		}
		return rows[0]
	}
	one, all := ask(FitOptions{BlockBytes: []uint64{64}}), ask(FitOptions{})
	if math.Abs(one.Misses/all.Misses-1) > 1e-9 || math.Abs(one.Low/all.Low-1) > 1e-9 || math.Abs(one.High/all.High-1) > 1e-9 {
		t.Errorf("%g misses (%g to %g) of a model of 64 bytes, %g (%g to %g) of one of 16, too", one.Misses, one.Low, one.High, all.Misses, all.Low, all.High)
	}
}
