package cache

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// TestPagesInRandomPlaces: with pages of one block, blocks fall into sets at
// random, and a sweep round half as many blocks as the cache has misses as the
// binomial model says (2005 paper, section 5.2): with probability
// 1 - Σ_{i<k} C(n,i) (1/s)^i (1-1/s)^(n-i), n the other blocks, k the ways.
func TestPagesInRandomPlaces(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	const blocks, sets, rounds = 1 << 14, 1 << 13, 3
	plan := mixedPlan()
	sweep := func(n uint64) []trace.Access {
		var accesses []trace.Access
		for range rounds {
			for b := range n {
				accesses = append(accesses, accessOf(0, b*64, 8))
			}
		}
		return accesses
	}
	for _, n := range []uint64{blocks / 4, blocks / 2, blocks} {
		level := Level{Name: "L", Blocks: blocks, BlockBytes: 64, Ways: blocks / sets}
		misses := func() float64 {
			r := simulate(t, plan, Config{Levels: []Level{level}, Seed: 3}, sweep(n)).Levels[0].Total
			return float64(r.Misses-r.Cold) / float64((rounds-1)*n)
		}
		if n <= blocks {
			if got := misses(); got != 0 {
				t.Errorf("%d of %d blocks side by side: %g of the accesses miss", n, blocks, got)
			}
		}
		level.PageBytes = 64
		p := 1.0 / sets
		hit := math.Pow(1-p, float64(n-1)) * (1 + float64(n-1)*p/(1-p))
		if got, want := misses(), 1-hit; math.Abs(got-want) > 0.02 {
			t.Errorf("%d of %d blocks in random places: %.3f of the accesses miss, binomial %.3f", n, blocks, got, want)
		}
	}
}

// TestPagesAsLargeAsAWay demands that blocks of a page as large as a way keep
// their sets, wherever the page is placed.
func TestPagesAsLargeAsAWay(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		accesses := drawAccesses(t, len(plan.Refs), 2000)
		l := Level{Name: "L", Blocks: 64, BlockBytes: 16, Ways: 4}
		want := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels
		l.PageBytes = 16 * 16
		got := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-by the program's addresses +by pages of a way:\n%s", diff)
		}
	})
}

func TestPageErrors(t *testing.T) {
	for _, bytes := range []uint64{3, 32, 48} {
		c := Config{Levels: []Level{{Name: "L", Blocks: 16, BlockBytes: 64, PageBytes: bytes}}}
		if err := c.Check(); err == nil {
			t.Errorf("pages of %d bytes and blocks of 64: no error", bytes)
		}
	}
}
