package replayed

import (
	"testing"

	"presage/perf/cache"
	"presage/perf/predict"
)

// TestDisturbed tests which replays are of use though accesses before the certified ones
// are in doubt: those in which these can change few misses, by their number or by that of
// their own misses.
func TestDisturbed(t *testing.T) {
	for _, c := range []struct {
		sure, doubtful, amid, sets, ways uint64
		want                             bool
	}{
		{1000, 0, 1 << 20, 1, 64, false},
		{1000, 90, 1 << 20, 1, 64, false},
		{1000, 110, 1 << 20, 1, 64, true},
		{1000, 900, 1 << 20, 64, 8, false}, // what else is predicted knows nothing of conflicts
		{1000, 1100, 1 << 20, 64, 8, true},
		{1000, 5000, 10, 1, 8, false},      // few before certified ones, and many after
		{1000, 5000, 10, 1, 64, true},      // each may change 64
		{14000, 24000, 245e3, 1, 64, true}, // a TLB that rows that data choose go through
		{0, 1, 1, 1, 1, true},
	} {
		r := &replayedPoint{Groups: []standing{{Accesses: 1 << 30}, {Accesses: 1 << 10, Doubtful: 1}, {}}, Amid: c.amid}
		counts := cache.LevelResult{Groups: []cache.Counts{{Misses: c.sure}, {Misses: c.doubtful}, {}}}
		if got := r.disturbed(counts, predict.Level{Sets: c.sets, Ways: c.ways}); got != c.want {
			t.Errorf("%+v: disturbed %v", c, got)
		}
	}
}
