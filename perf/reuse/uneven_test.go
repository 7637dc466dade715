package reuse

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// TestUnevenBlocks holds blocks of sizes that are no powers of two against the naive
// stack, straddling accesses and the ends of the address space included.
func TestUnevenBlocks(t *testing.T) {
	plan := planOf(0, 1, 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		blockBytes := rapid.OneOf(rapid.Uint64Range(1, 300), rapid.Uint64Range(300, 40_000), rapid.Uint64Range(1<<24-3, 1<<24+3)).Draw(t, "block")
		accesses := drawAccesses(t, len(plan.Refs), blockBytes, 3000)
		c, err := New(plan, Options{BlockBytes: blockBytes})
		if err != nil {
			t.Fatal(err)
		}
		if even := blockBytes&(blockBytes-1) == 0; c.TakesRuns() != even {
			t.Fatalf("blocks of %d bytes take runs: %t", blockBytes, !even)
		}
		n := newNaive(plan, blockBytes)
		observe(c, accesses, 500)
		n.observe(accesses)
		r := c.Result()
		if r.BlockBytes != blockBytes {
			t.Fatalf("a result in blocks of %d bytes, not %d", r.BlockBytes, blockBytes)
		}
		check(t, r, n)
	})
}

// TestUnevenCarriers: a program whose blocks of 64 bytes are moved apart to blocks of
// 96 bytes has the same carriers there.
func TestUnevenCarriers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNested(rapid.Uint64().Draw(t, "seed"))
		even, err := New(n.plan, Options{Nest: n.nest})
		if err != nil {
			t.Fatal(err)
		}
		uneven, err := New(n.plan, Options{Nest: n.nest, BlockBytes: 96})
		if err != nil {
			t.Fatal(err)
		}
		for n.time < 1500 {
			n.run(n.routines[0].body[1:])
			even.Observe(&n.batch)
			apart := trace.Batch{Blocks: n.batch.Blocks}
			for _, a := range n.batch.Accesses {
				addr := a.Addr()
				apart.Accesses = append(apart.Accesses, access(int(a.Ref()), addr/64*96+32+addr%64, uint8(a.Size())))
			}
			uneven.Observe(&apart)
			n.batch.Reset()
		}
		want, got := even.Result(), uneven.Result()
		got.BlockBytes = want.BlockBytes
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("-blocks of 64 bytes +moved to 96:\n%s", diff)
		}
	})
}
