package tracetest

import (
	"math/rand/v2"

	"presage/perf/trace"
)

// Rows returns batches with runs of one random loop along the rows of a few
// arrays, as stencils have, and the same events without runs. References come
// from plan, which lists no blocks. Arrays are placed so that some share sets of
// a cache; all accesses are aligned to 8 bytes.
func Rows(rng *rand.Rand, plan *trace.Plan) (batches, plain []*trace.Batch) {
	step := []int64{8, 8, 8, -8, 16, 24, 32, 64, -64, 128}[rng.IntN(10)]
	count, row := 8+rng.Uint32N(60), uint64(8*(1+rng.IntN(200)))
	var bases []uint64
	for i := range 1 + rng.IntN(5) {
		bases = append(bases, uint64(i+1)<<20+8*rng.Uint64N([]uint64{20, 600}[rng.IntN(2)]))
	}
	l := trace.Loop{Count: count}
	for range 1 + rng.IntN(12) {
		ref := rng.IntN(len(plan.Refs))
		a := bases[rng.IntN(len(bases))] + 8*rng.Uint64N(3) + row*rng.Uint64N(3) + 4096*rng.Uint64N(2)
		if n := len(l.Strides); n > 0 && rng.IntN(2) == 0 {
			a = l.Strides[n-1].First.Addr() - 8 + 8*rng.Uint64N(3)
		}
		l.Strides = append(l.Strides, trace.Stride{First: trace.Tag(trace.RefID(ref), plan.Refs[ref].Size) + trace.Access(a), Step: step})
	}
	if rng.IntN(3) == 0 { // an invariant, or a column
		s := &l.Strides[rng.IntN(len(l.Strides))]
		s.Step = int64(row) * int64(rng.IntN(2))
		s.First += 9 << 20
	}
	for range 1 + rng.IntN(3) {
		b := new(trace.Batch)
		for range 10 + rng.IntN(20) {
			b.AddRun(l)
			for i := range l.Strides {
				l.Strides[i].First += trace.Access(row)
			}
			for range rng.IntN(3) {
				b.Accesses = append(b.Accesses, l.Strides[rng.IntN(len(l.Strides))].First)
			}
		}
		p := new(trace.Batch)
		b.Expand(p)
		batches, plain = append(batches, b), append(plain, p)
	}
	return batches, plain
}
