package reuse

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presage/perf/trace"
)

// TestLikeSegments: segments that repeat, in places where other arrays lie elsewhere, and
// single accesses after them elsewhere, too, have the distances of their accesses one by
// one. Some share blocks between clusters, or with single accesses, in some places.
func TestLikeSegments(t *testing.T) {
	plan := planOf(0, 1, 1, 3, 4, 5)
	for i := range plan.Refs {
		plan.Refs[i].Size = 8
	}
	rng := rand.New(rand.NewPCG(5, 6))
	learned, repeated := 0, 0
	var with, without *Collector
	for program := range 1000 {
		if program%200 == 0 {
			for _, c := range []**Collector{&with, &without} {
				var err error
				if *c, err = New(plan, Options{BlockBytes: 64}); err != nil {
					t.Fatal(err)
				}
			}
		}
		loop := trace.Loop{Count: 12 + rng.Uint32N(50)}
		place := func() uint64 { return uint64(1+rng.IntN(3))<<16 + 64*rng.Uint64N(300) }
		for range 1 + rng.IntN(3) {
			step := []int64{8, -8, 64, 2400, -2432, 4096}[rng.IntN(6)]
			loop.Strides = append(loop.Strides, trace.Stride{First: access(rng.IntN(len(plan.Refs)), 1<<20+place(), 8), Step: step})
		}
		tail := make([]trace.Access, rng.IntN(againTail+2))
		b := new(trace.Batch)
		for range 12 {
			for i := range tail {
				tail[i] = access(rng.IntN(3), 1<<21+64*rng.Uint64N(4)+8*rng.Uint64N(3), 8)
				if rng.IntN(10) == 0 {
					tail[i] = access(rng.IntN(3), 1<<20+place(), 8)
				}
				if rng.IntN(30) == 0 {
					tail[i] += 60
				}
			}
			again := rng.IntN(4)
			for range 1 + again {
				for i := range loop.Strides { // within the greatest power of two that divides the step
					s := &loop.Strides[i]
					g := min(uint64(s.Step&-s.Step), 64)
					s.First = s.First&^trace.Access(g-1) + trace.Access(8*rng.Uint64N(g/8))
				}
				b.AddRun(loop)
				b.Accesses = append(b.Accesses, tail...)
			}
			if again > 0 {
				repeated++
			}
			by := 8 * rng.Uint64N(8) * rng.Uint64N(2)
			for i := range loop.Strides {
				loop.Strides[i].First += trace.Access(64*rng.Uint64N(5) + by)
			}
		}
		plain := new(trace.Batch)
		b.Expand(plain)
		without.Observe(plain)
		with.Observe(b)
		learned = max(learned, len(with.method.(*stack).again.known))
		if program%200 != 199 {
			continue // a result counts what shapes have
		}
		if diff := cmp.Diff(without.Result(), with.Result()); diff != "" {
			t.Fatalf("-without runs +with:\n%s", diff)
		}
	}
	if learned == 0 {
		t.Errorf("%d segments repeat, of none the distances are remembered", repeated)
	}
}
