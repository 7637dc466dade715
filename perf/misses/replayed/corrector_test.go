package replayed

import (
	"cmp"
	"math"
	"testing"

	"presage/perf/cache"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/trace"
)

// TestDisturbed tests which replays are of use though accesses before the certified ones
// are in doubt: those in which these can change few misses, by their number or by that of
// their own misses.
func TestDisturbed(t *testing.T) {
	for _, c := range []struct {
		sure, doubtful, amid, sets, ways uint64
		few                              uint64 // accesses in doubt among those of the second group; 0: all
		want                             bool
	}{
		{1000, 0, 1 << 20, 1, 64, 0, false},
		{1000, 90, 1 << 20, 1, 64, 0, false},
		{1000, 110, 1 << 20, 1, 64, 0, true},
		{1000, 900, 1 << 20, 64, 8, 0, false}, // what else is predicted knows nothing of conflicts
		{1000, 1100, 1 << 20, 64, 8, 0, true},
		{1000, 5000, 10, 1, 8, 0, false},      // few before certified ones, and many after
		{1000, 5000, 10, 1, 64, 0, true},      // each may change 64
		{14000, 24000, 245e3, 1, 64, 0, true}, // a TLB that rows that data choose go through
		{0, 1, 1, 1, 1, 0, true},
		{0, 5000, 1 << 20, 1, 64, 400, false}, // of a group with 400 accesses in doubt, 4600 misses are sure
		{0, 5000, 1 << 20, 1, 64, 600, true},
	} {
		r := &replayedPoint{Groups: []standing{{Accesses: 1 << 30}, {Accesses: 1 << 30, Doubtful: cmp.Or(c.few, 1<<30)}, {}}, Amid: c.amid}
		counts := cache.LevelResult{Groups: []cache.Counts{{Misses: c.sure}, {Misses: c.doubtful}, {}}}
		if got := r.disturbed(counts, predict.Level{Sets: c.sets, Ways: c.ways}, float64(c.ways), float64(r.Left)); got != c.want {
			t.Errorf("%+v: disturbed %v", c, got)
		}
	}
}

// TestUnsure tests when a trial is wanted though hardly an access is in doubt: where these are
// in groups with a share of a level's misses, each of which one of them might be.
func TestUnsure(t *testing.T) {
	x := &Corrector{groups: [][]trace.GroupID{{0}, {1, 2}}}
	for _, c := range []struct {
		doubtful uint64 // accesses in the second group
		misses   [3]uint64
		want     bool
	}{
		{0, [3]uint64{1000, 1000, 1000}, false},
		{100, [3]uint64{0, 40_000, 0}, false}, // 0.25% of the misses
		{400, [3]uint64{0, 30_000, 10_000}, true},
		{400, [3]uint64{1_000_000, 10, 10}, false}, // few misses are of the group
	} {
		r := &replayedPoint{Groups: []standing{{Accesses: 1 << 30}, {Accesses: 1 << 20, Doubtful: c.doubtful}, {Accesses: 1 << 20}}}
		counts := cache.LevelResult{Groups: []cache.Counts{{Misses: c.misses[0]}, {Misses: c.misses[1]}, {Misses: c.misses[2]}}}
		counts.Total.Misses = c.misses[0] + c.misses[1] + c.misses[2]
		if got := x.unsure(r, counts, true, misses.Uncorrected{}); got != c.want {
			t.Errorf("%+v: unsure %v", c, got)
		}
	}
}

// TestWaysOf: an access in doubt changes no more misses than a set has ways, unless blocks
// are replaced at random here or above, or taken away from below.
func TestWaysOf(t *testing.T) {
	levels := func(first, second cache.Replacement, inclusive bool) cache.Config {
		return cache.Config{
			Levels: []cache.Level{{Name: "L1", Blocks: 64, Ways: 2, BlockBytes: 64, Replacement: first}, {Name: "L2", Blocks: 1024, Ways: 8, BlockBytes: 64, Replacement: second, Inclusive: inclusive}},
			TLBs:   []cache.TLB{{Name: "TLB", Entries: 16, Replacement: second}},
		}
	}
	for _, c := range []struct {
		config      cache.Config
		l1, l2, tlb bool // bounded
	}{
		{levels(cache.LRU, cache.LRU, false), true, true, true},
		{levels(cache.LRU, cache.Random, false), true, false, false},
		{levels(cache.NMRU, cache.LRU, false), false, false, true},
		{levels(cache.LRU, cache.LRU, true), false, false, true},
	} {
		x := &Corrector{config: c.config}
		for name, bounded := range map[string]bool{"L1": c.l1, "L2": c.l2, "TLB": c.tlb} {
			want := math.Inf(1)
			if bounded {
				want = 5
			}
			if got := x.waysOf(predict.Level{Name: name, Ways: 5}); got != want {
				t.Errorf("%s of %+v: %g, want %g", name, c.config, got, want)
			}
		}
	}
	if reached(0, math.Inf(1)) != 0 || reached(3, 5) != 15 {
		t.Error("no access in doubt changes nothing, three of five ways 15 misses")
	}
}

// TestMayMiss tests that of what was left out, several times as many accesses may miss as
// models say, and all of a group of which they know nothing.
func TestMayMiss(t *testing.T) {
	c := &Corrector{groups: [][]trace.GroupID{{0}, {1, 2}, {3}}}
	r := &replayedPoint{Left: 1000, LeftOf: []uint64{200, 300, 100, 150}}
	modelled := []predict.Misses{{Accesses: 1000, Reuse: 10}, {Accesses: 1000, Cold: 500}, {}}
	// 4% of 200, all of 400 as half miss, all of 150, and of the 250 that are of no group.
	if got, want := c.mayMiss(r, modelled), 8.0+400+150+250; got != want {
		t.Errorf("%g accesses may miss, want %g", got, want)
	}
}
