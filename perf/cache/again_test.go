package cache

import (
	"math/rand/v2"
	"testing"

	"presage/perf/trace"
)

// TestRepeatsThatMiss does what TestRuns does for loops that repeat and miss each time, in
// up to three levels, after stores to the same blocks and others. Some levels take blocks
// from the one above, or take them away there.
func TestRepeatsThatMiss(t *testing.T) {
	plan := mixedPlan()
	rng := rand.New(rand.NewPCG(15, 16))
	access := func() trace.Access {
		ref := trace.RefID(rng.IntN(len(plan.Refs)))
		return trace.Tag(ref, min(plan.Refs[ref].Size, 8)) | trace.Access(1<<20+8*rng.Uint64N(400))
	}
	for range 4000 {
		config := repeatedConfig(rng)
		if config.Check() != nil {
			continue
		}
		b := new(trace.Batch)
		for range 1 + rng.IntN(3) {
			for range rng.IntN(60) {
				b.Accesses = append(b.Accesses, access())
			}
			loop := trace.Loop{Count: 8 + rng.Uint32N(50)}
			for range 1 + rng.IntN(4) {
				loop.Strides = append(loop.Strides, trace.Stride{First: access(), Step: []int64{0, 8, 16, 64, 72, 256}[rng.IntN(6)]})
			}
			tail := make([]trace.Access, rng.IntN(4))
			for i := range tail {
				tail[i] = access()
			}
			for range 2 + rng.IntN(9) {
				b.AddRun(loop)
				b.Accesses = append(b.Accesses, tail...)
			}
		}
		plain := new(trace.Batch)
		b.Expand(plain)
		compare(t, plan, config, []*trace.Batch{plain}, []*trace.Batch{b})
	}
}

// repeatedConfig returns a hierarchy of small levels, which may fail its check.
func repeatedConfig(rng *rand.Rand) (config Config) {
	for i := range 1 + rng.IntN(3) {
		ways := 1 + rng.IntN(4)
		config.Levels = append(config.Levels, Level{
			Name: string(rune('A' + i)), Ways: ways, Blocks: uint64(ways) << (rng.IntN(3) + rng.IntN(4)),
			BlockBytes: 32 << rng.IntN(3), BypassFloat: rng.IntN(6) == 0,
		})
	}
	if last := len(config.Levels) - 1; last > 0 {
		l := &config.Levels[last]
		switch rng.IntN(6) {
		case 0:
			l.Inclusive = true
		case 1:
			l.Filling, l.BlockBytes = Exclusive, config.Levels[last-1].BlockBytes
		case 2:
			l.Filling, l.BlockBytes = Victims, config.Levels[last-1].BlockBytes
		}
	}
	for i := range rng.IntN(3) {
		config.TLBs = append(config.TLBs, TLB{Name: string(rune('a' + i)), Entries: 1 << rng.IntN(6), EntryBytes: 128})
	}
	return config
}
