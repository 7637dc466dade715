package pipeline_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"presage/perf/cache"
	"presage/perf/isa"
	"presage/perf/pipeline"
)

// TestPrefetchesAreExact demands the hits, misses and prefetches of the exact simulation of
// the same hierarchy with the same prefetchers: what is fetched does not depend on times
// where all levels have MSHRs enough.
func TestPrefetchesAreExact(t *testing.T) {
	used, late := uint64(0), uint64(0)
	for seed := range uint64(80) {
		rng := rand.New(rand.NewPCG(seed, 7))
		var exact cache.Config
		config := ideal()
		blocks, bytes := uint64(8), uint64(16)
		levels := 1 + rng.IntN(3)
		for i := range levels {
			l := pipeline.Level{
				Name: string(rune('A' + i)), Blocks: blocks << rng.IntN(3), BlockBytes: bytes << rng.IntN(2), Ways: 1 << rng.IntN(3), Latency: 4 + 10*i,
				NoWriteAllocate: rng.IntN(4) == 0, BypassFloat: i == 0 && levels > 1 && rng.IntN(4) == 0,
			}
			blocks, bytes = 4*l.Blocks, l.BlockBytes
			config.Memory.Levels = append(config.Memory.Levels, l)
			exact.Levels = append(exact.Levels, cache.Level{
				Name: l.Name, Blocks: l.Blocks, BlockBytes: l.BlockBytes, Ways: l.Ways, NoWriteAllocate: l.NoWriteAllocate, BypassFloat: l.BypassFloat,
			})
		}
		config.Memory.Latency = 100
		for range 1 + rng.IntN(3) {
			at := rng.IntN(levels)
			config.Memory.Prefetchers = append(config.Memory.Prefetchers, cache.Prefetcher{
				Kind: cache.PrefetchKind(rng.IntN(4)), Level: at, Into: at + rng.IntN(levels-at), Degree: rng.IntN(4), Distance: rng.IntN(5),
				Entries: rng.IntN(4), Confidence: rng.IntN(3), PageBytes: 256 << rng.IntN(4),
			})
		}
		exact.Prefetching = &cache.Prefetching{Prefetchers: config.Memory.Prefetchers}
		next := uint64(0x100)
		s := randomScript(t, rng, manyClasses, 3000, func() uint64 {
			if rng.IntN(3) == 0 {
				next = 0x100 + rng.Uint64N(4096)
			} else {
				next += 8
			}
			return next
		})
		got := s.simulate(t, config)
		sim, err := cache.New(s.plan, exact)
		if err != nil {
			t.Fatal(err)
		}
		sim.Observe(&s.batch)
		most, cycles := uint64(0), uint64(0)
		for i, l := range sim.Result().Levels {
			g := got.Levels[i]
			if g.Accesses != l.Total.Accesses || g.Misses != l.Total.Misses || g.Writebacks != l.Total.Writebacks || g.Prefetches != l.Prefetched.Fetched || g.PrefetchHits != l.Prefetched.Used || g.PrefetchDrops != 0 {
				t.Fatalf("seed %d, %+v\nlevel %d: %+v\nexact %+v %+v", seed, config.Memory.Prefetchers, i, g, l.Total, *l.Prefetched)
			}
			used, late, cycles = used+g.PrefetchHits, late+g.Late, cycles+g.LateCycles
			most = max(most, g.Late)
		}
		if cycles > 100*most || (cycles > 0) != (most > 0) {
			t.Errorf("seed %d: blocks of at most %d late prefetches are waited for %d cycles", seed, most, cycles)
		}
	}
	if used < 1000 || late < 100 {
		t.Errorf("%d prefetches used, %d of them late: nothing to compare", used, late)
	}
}

// TestLateCycles: loads that depend on each other walk through blocks, of each of which
// the next is fetched from memory when it is asked for. One block is waited for as long as
// the latency lasts after the loads of the one before, each a hit's 4 cycles; meanwhile the
// next one arrives, so that every other block is late.
func TestLateCycles(t *testing.T) {
	const blocks = 1000
	for _, each := range []int{1, 8} {
		s := place(t, nil, []isa.Inst{in(isa.Load, 5, 5)})
		for i := range blocks * each {
			s.run(0, uint64(0x1000000+64*(i/each)))
		}
		c := ideal()
		c.Memory = testMemory()
		for i := range c.Memory.Levels {
			c.Memory.Levels[i].BlockBytes = 64
		}
		c.Memory.Prefetchers = []cache.Prefetcher{{Kind: cache.NextLine, PageBytes: 1 << 20}}
		r := s.simulate(t, c)
		wait := float64(180 - 4 - 4*each)
		got := r.Levels[0]
		name := fmt.Sprintf("%d loads a block", each)
		near(t, name, float64(r.Levels[2].LateCycles)/float64(got.Late), wait, 0.03)
		if got.Late != blocks/2-1 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
