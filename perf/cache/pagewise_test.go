package cache

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"presage/perf/trace"
)

// TestPagewise: after each loop TLBs hold the same pages in the same order as after its
// single accesses, with the same counts, where streams stay in a page, go over a border, or
// go on to many pages, up and down, by parts of a page and by several.
func TestPagewise(t *testing.T) {
	const pageBytes = 256
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		config := Config{TLBs: []TLB{
			{Name: "TLB", EntryBytes: pageBytes, Entries: rapid.SampledFrom([]uint64{4, 8, 24, 64}).Draw(t, "entries"), Ways: rapid.SampledFrom([]int{0, 0, 4}).Draw(t, "ways")},
			{Name: "next", EntryBytes: pageBytes << rng.IntN(2), Entries: 128, Ways: 4},
		}[:1+rng.IntN(2)]}
		sims := twoSimulators(t, plan, config)
		run, plain := new(trace.Batch), new(trace.Batch)
		for range rapid.IntRange(1, 12).Draw(t, "loops") {
			drawPagewise(rng, run, pageBytes)
			if rng.IntN(3) > 0 {
				continue // others come first
			}
			run.Expand(plain)
			sims[0].Observe(plain)
			sims[1].Observe(run)
			sameContents(t, sims, run)
			run.Reset()
		}
	})
}

// drawPagewise adds a loop to a batch, once or repeatedly with what it accesses further away
// each time, and single accesses between.
func drawPagewise(rng *rand.Rand, run *trace.Batch, pageBytes uint64) {
	loop := trace.Loop{Count: 1 + rng.Uint32N(200)}
	wide := rng.IntN(3)
	for i := range 1 + rng.IntN(6) {
		size, step := []uint8{4, 4, 8, 64}[rng.IntN(4)], rng.Int64N(8)-4
		if i == wide {
			step = rng.Int64N(int64(pageBytes)*3) - int64(pageBytes)*3/2
		}
		if rng.IntN(16) > 0 {
			step = step / int64(size) * int64(size)
		}
		s := trace.Stride{Step: step}
		s.First = trace.Tag(trace.RefID(rng.IntN(5)), size) | trace.Access((1+rng.Uint64N(3))<<17+rng.Uint64N(20*pageBytes)&^uint64(size-1))
		if rng.IntN(16) == 0 {
			s.First++
		}
		if n := len(loop.Strides); n > 0 && rng.IntN(3) == 0 { // near another
			o := loop.Strides[n-1]
			s.First, s.Step = o.First+trace.Access(rng.Uint64N(130))-65, o.Step
		}
		loop.Strides = append(loop.Strides, s)
		if rng.IntN(4) == 0 {
			s.First = trace.Tag(4, []uint8{size, 64}[rng.IntN(2)]) | trace.Access(s.First.Addr())
			loop.Strides = append(loop.Strides, s) // a load and a store
		}
	}
	for range 1 + rng.IntN(4) {
		run.AddRun(loop)
		by := trace.Access(rng.Uint64N(2) * 8)
		for i := range loop.Strides {
			loop.Strides[i].First += by
		}
		for range rng.IntN(3) {
			run.Accesses = append(run.Accesses, trace.Tag(0, 4)|trace.Access(1<<16+rng.Uint64N(8*pageBytes)))
		}
	}
}
