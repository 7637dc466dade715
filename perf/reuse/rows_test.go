package reuse

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// sweeps returns batches of loops of vectors along the rows of a few arrays, which begin
// anywhere, so that accesses span two blocks in all iterations of some loops. As in a
// matrix product, rows take turns, keep company with others, and are longer than what
// shares a line of the time line; many are visited again a few bytes further on.
func sweeps(rng *rand.Rand, plan *trace.Plan, count int) (list []*trace.Batch) {
	vectors := 10 + rng.Uint32N(150)
	step := []int64{64, 128, 128, 256, -128, 8, 2400, -19_200}[rng.IntN(8)]
	row := uint64(8 * rng.IntN(2600))
	var l trace.Loop
	for range count {
		b := new(trace.Batch)
		for range 1 + rng.IntN(24) {
			switch rng.IntN(8) {
			case 0, 1: // other rows
				l = trace.Loop{Count: max(2, vectors-rng.Uint32N(2)*rng.Uint32N(9))}
				for array := range 1 + rng.Uint64N(3) {
					at := (array+1)<<22 + 8*rng.Uint64N(3) + row*rng.Uint64N(6)
					for n := range 1 + rng.Uint64N(3) {
						ref := rng.IntN(len(plan.Refs))
						l.Strides = append(l.Strides, trace.Stride{First: access(ref, at+64*n, plan.Refs[ref].Size), Step: step})
					}
				}
			case 2, 3, 4: // further on, all of them
				by := []uint64{8, 16, 32, 64, 128, row}[rng.IntN(6)]
				for i := range l.Strides {
					l.Strides[i].First += trace.Access(by)
				}
			case 5: // or one
				if n := len(l.Strides); n > 0 {
					l.Strides[rng.IntN(n)].First += trace.Access([]uint64{8, 40, 64, row}[rng.IntN(4)])
				}
			}
			if len(l.Strides) > 0 {
				b.AddRun(l)
			}
			for range rng.IntN(8) - 5 {
				ref := rng.IntN(len(plan.Refs))
				b.Accesses = append(b.Accesses, access(ref, (1+rng.Uint64N(4))<<22+8*rng.Uint64N(900), plan.Refs[ref].Size))
			}
		}
		list = append(list, b)
	}
	return list
}

// TestSweeps: loops of vectors along rows have the distances of their accesses one by one.
func TestSweeps(t *testing.T) {
	plan := planOf(0, 1, 1, 2, 3)
	for i, size := range []uint8{64, 64, 32, 16, 8} {
		plan.Refs[i].Size = size
	}
	rapid.Check(t, func(t *rapid.T) {
		opt := Options{BlockBytes: 1 << rapid.SampledFrom([]int{6, 6, 6, 5, 3, 7}).Draw(t, "log2 block"), Workers: rapid.IntRange(1, 2).Draw(t, "workers")}
		tune := tuning{window: rapid.SampledFrom([]int{1, 3000, firstWindow}).Draw(t, "window"), cut: 8 * rapid.IntRange(0, 3).Draw(t, "cut") * 500}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		var results [2]*Result
		batches := sweeps(rng, plan, rapid.IntRange(1, 12).Draw(t, "batches"))
		for i := range results {
			c, err := newCollector(plan, opt, tune)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches {
				if i == 0 {
					plain := new(trace.Batch)
					b.Expand(plain)
					b = plain
				}
				c.Observe(b)
			}
			results[i] = c.Result()
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" {
			t.Fatalf("%+v: -without runs +with:\n%s", opt, diff)
		}
	})
}
