package reuse

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// observe hands accesses to a collector in batches of up to size accesses.
func observe(c trace.Collector, accesses []trace.Access, size int) {
	for len(accesses) > 0 {
		n := min(size, len(accesses))
		c.Observe(&trace.Batch{Accesses: accesses[:n]})
		accesses = accesses[n:]
	}
}

// hand is observe of batches that are overwritten as soon as they are no longer held.
func hand(c *Collector, accesses []trace.Access, size int) {
	for len(accesses) > 0 {
		n := min(size, len(accesses))
		b := &trace.Batch{Accesses: append(make([]trace.Access, 0, size), accesses[:n]...)}
		c.Hold(b, func() {
			for i := range b.Accesses {
				b.Accesses[i] = access(0, 1<<30, 1)
			}
		})
		accesses = accesses[n:]
	}
}

func collect(t testing.TB, plan *trace.Plan, blockBytes uint64, window int, accesses []trace.Access) *Result {
	t.Helper()
	c, err := newCollector(plan, Options{BlockBytes: blockBytes}, tuning{window: window})
	if err != nil {
		t.Fatal(err)
	}
	observe(c, accesses, 1000)
	return c.Result()
}

// drawAccesses draws a stream over a few regions of the address space, small
// enough that blocks are reused at all distances.
func drawAccesses(t *rapid.T, refs int, blockBytes uint64, most int) []trace.Access {
	bases := []uint64{0, 0x12345678, 0xc0_0000_0000, trace.AddrLimit - 64*blockBytes}
	span := rapid.Uint64Range(1, 300).Draw(t, "span blocks") * blockBytes
	seed := rapid.Uint64().Draw(t, "seed")
	stride := rapid.Uint64Range(1, 4*blockBytes).Draw(t, "stride")
	rng := rand.New(rand.NewPCG(seed, 1))
	n := rapid.IntRange(0, most).Draw(t, "accesses")
	accesses := make([]trace.Access, 0, n)
	walk := uint64(0)
	for len(accesses) < n {
		base := bases[rng.IntN(len(bases))]
		for range rng.IntN(40) { // a phase: a walk, or random, or hot
			walk += stride
			off := walk
			switch rng.IntN(4) {
			case 0:
				off = rng.Uint64()
			case 1:
				off = rng.Uint64N(5 * blockBytes)
			}
			addr := min(base+off%span, trace.AddrLimit-1)
			accesses = append(accesses, access(rng.IntN(refs), addr, 1<<rng.IntN(8)))
		}
	}
	return accesses
}

// check compares a result with the oracle's: every count, and every bin.
func check(t interface{ Fatalf(string, ...any) }, r *Result, n *naive) {
	if r.Accesses != n.accesses {
		t.Fatalf("accesses = %d, want %d", r.Accesses, n.accesses)
	}
	if r.Blocks != uint64(len(n.stack)) {
		t.Fatalf("blocks = %d, want %d", r.Blocks, len(n.stack))
	}
	for g := range n.cold {
		want := map[uint64]uint64{}
		for _, d := range n.distances[g] {
			lo, _ := binEdges(binOf(uint32(d)))
			want[lo]++
		}
		got := map[uint64]uint64{}
		for _, b := range r.Groups[g].Bins {
			got[b.Lo] = b.Count
		}
		if diff := cmp.Diff(want, got); diff != "" || r.Groups[g].Cold != n.cold[g] {
			t.Fatalf("group %d: cold %d, want %d; bins -want +got:\n%s", g, r.Groups[g].Cold, n.cold[g], diff)
		}
	}
}

// TestStays: most accesses are to the block of the one before, of all sizes up to more than
// a block, and at its ends; some to others.
func TestStays(t *testing.T) {
	plan := planOf(0, 1, 1, 3)
	for _, log := range []int{0, 2, 4, 6, 12} {
		size := uint64(1) << log
		rng := rand.New(rand.NewPCG(uint64(log), 7))
		accesses := make([]trace.Access, 3*adaptPeriod)
		at := uint64(0)
		for i := range accesses {
			if rng.IntN(16) == 0 {
				at = rng.Uint64N(30)
			}
			if rng.IntN(5000) == 0 {
				at = (trace.AddrLimit - 1) / size
			}
			most := min(log, 7)
			width := rng.IntN(most + 1)
			addr := at*size + (size - 1<<width) // up to the end
			switch rng.IntN(600) {
			case 0:
				width = rng.IntN(8) // may go beyond it
			case 1:
				addr = at * size
			}
			accesses[i] = access(rng.IntN(len(plan.Refs)), addr, 1<<width)
		}
		c, err := New(plan, Options{BlockBytes: size})
		if err != nil {
			t.Fatal(err)
		}
		observe(c, accesses, 1000)
		if k := c.method.(*stack); !k.front.stays {
			t.Errorf("blocks of %d bytes: most accesses are to the block before, but it is not looked for", size)
		}
		n := newNaive(plan, size)
		n.observe(accesses)
		check(t, c.Result(), n)
		check(t, c.Result(), n) // a result changes nothing
	}
}

// TestStaysAfterClear: a chunk that takes over a worker's stack finds no block on it, not
// even one at the first addresses, which ghosts would have if they had any.
func TestStaysAfterClear(t *testing.T) {
	k := newStack(newLayout(planOf(0), 64), firstWindow)
	k.front.stays = true
	k.clear()
	k.plain([]trace.Access{access(0, 0, 8)})
	if k.counts.cold[0] != 1 {
		t.Errorf("%d accesses to a block that is new", k.counts.cold[0])
	}
}

func TestAgainstStack(t *testing.T) {
	plan := planOf(0, 1, 1, 3)
	rapid.Check(t, func(t *rapid.T) {
		blockBytes := uint64(1) << rapid.IntRange(0, 15).Draw(t, "log2 block")
		window := rapid.SampledFrom([]int{1, 1000, firstWindow}).Draw(t, "window")
		batch := rapid.IntRange(1, 700).Draw(t, "batch")
		width := rapid.SampledFrom([]int{1, 4, 8}).Draw(t, "width")
		accesses := drawAccesses(t, len(plan.Refs), blockBytes, 3000)
		c, err := newCollector(plan, Options{BlockBytes: blockBytes}, tuning{window: window})
		if err != nil {
			t.Fatal(err)
		}
		n := newNaive(plan, blockBytes)
		for len(accesses) > 0 {
			k := min(batch, len(accesses))
			c.method.(*stack).resize(width) // at any time, to any width: the stack stays
			observe(c, accesses[:k], k)
			n.observe(accesses[:k])
			accesses = accesses[k:]
			width = []int{1, 4, 8}[rapid.IntRange(0, 2).Draw(t, "next width")]
		}
		check(t, c.Result(), n)
	})
}

// TestFarReuse takes the time line through several levels of its tree, wide
// ones included, and the front through all its widths, and compares distances
// with those known by construction: sweeps over n blocks.
func TestFarReuse(t *testing.T) {
	if testing.Short() {
		t.Skip("a time line of 10 million slots")
	}
	const n, m = 700_000, 300_000
	plan := planOf(0)
	c, err := New(plan, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var accesses []trace.Access
	sweep := func(from, to, step int) {
		for i := from; i != to; i += step {
			accesses = append(accesses, access(0, uint64(i)*64, 8))
		}
	}
	sweep(0, n, 1) // all cold
	for range 4 {
		sweep(0, n, 1) // all at distance n-1
	}
	sweep(0, m, 1)     // the same
	sweep(0, m, 1)     // at m-1
	sweep(n-1, -1, -1) // n-1 to m at m, m+1, …, n-1; m-1 to 0 at n-m, …, n-1
	for range 4 {
		sweep(0, 1000, 1) // first 0, 1, … 999, then at 999
	}
	sweep(n-1, 999, -1) // at n-1, the oldest first
	for range 50 {
		sweep(0, 100, 1) // first at n-1, then within a line of the time line
	}
	sweep(100, 1000, 1) // at n-1
	observe(c, accesses, trace.BatchAccesses)
	r := c.Result()
	if line := &c.method.(*stack).line; len(line.wideN) == 0 {
		t.Fatalf("a time line of %d lines has no wide level: the test does not reach it", len(line.lines))
	}
	h := r.Groups[0]
	want := map[uint32]uint64{}
	want[n-1] += 4*n + m
	want[m-1] += m
	for d := uint32(m); d < n; d++ {
		want[d]++
	}
	for d := uint32(n - m); d < n; d++ {
		want[d]++
	}
	for d := uint32(0); d < 1000; d++ {
		want[d]++
	}
	want[999] += 3 * 1000
	want[n-1] += n - 1000
	want[n-1] += 100
	want[99] += 49 * 100
	want[n-1] += 900
	bins := map[uint64]uint64{}
	for d, k := range want {
		lo, _ := binEdges(binOf(d))
		bins[lo] += k
	}
	got := map[uint64]uint64{}
	for _, b := range h.Bins {
		got[b.Lo] = b.Count
	}
	if diff := cmp.Diff(bins, got); diff != "" || h.Cold != n {
		t.Errorf("cold %d, want %d; bins -want +got:\n%s", h.Cold, n, diff)
	}
}

func TestStraddling(t *testing.T) {
	plan := planOf(0)
	tests := []struct {
		name       string
		blockBytes uint64
		accesses   []trace.Access
		cold       uint64
		bins       []Bin
	}{
		{"inside", 64, []trace.Access{access(0, 0x78, 8), access(0, 0x40, 1)}, 1, []Bin{{0, 1, 1}}},
		{"two blocks", 64, []trace.Access{access(0, 0x3c, 8), access(0, 0x00, 8), access(0, 0x40, 8)}, 2, []Bin{{1, 2, 2}}},
		{"ascending", 64, []trace.Access{access(0, 0x3c, 8), access(0, 0x40, 8)}, 2, []Bin{{0, 1, 1}}},
		{"bytes", 1, []trace.Access{access(0, 16, 4), access(0, 16, 4)}, 4, []Bin{{3, 4, 4}}},
		{"end of the address space", 64, []trace.Access{access(0, trace.AddrLimit-4, 8), access(0, trace.AddrLimit-4, 2)}, 2, []Bin{{1, 2, 1}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := collect(t, plan, tt.blockBytes, 1, tt.accesses)
			if diff := cmp.Diff(Histogram{tt.cold, tt.bins}, r.Groups[0]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestCoarserBlocks checks what halves of a block imply for the whole: a
// coarser block is never touched more often for the first time, and an access
// that hits in a cache of C fine blocks hits in one of C blocks twice the size,
// as the blocks accessed since are at most as many.
func TestCoarserBlocks(t *testing.T) {
	plan := planOf(0, 1)
	rapid.Check(t, func(t *rapid.T) {
		var accesses []trace.Access
		for _, a := range drawAccesses(t, 2, 16, 2000) {
			accesses = append(accesses, access(int(a.Ref()), a.Addr(), 1))
		}
		var fine *Result
		for log := 4; log < 16; log++ {
			c, err := newCollector(plan, Options{BlockBytes: 1 << log}, tuning{window: 1})
			if err != nil {
				t.Fatal(err)
			}
			observe(c, accesses, 512)
			r := c.Result()
			if r.Accesses != uint64(len(accesses)) {
				t.Fatalf("%d accesses of one byte made %d block accesses", len(accesses), r.Accesses)
			}
			if fine != nil {
				if r.Blocks > fine.Blocks {
					t.Fatalf("%d blocks of %d bytes, but %d of half the size", r.Blocks, r.BlockBytes, fine.Blocks)
				}
				for g := range r.Groups {
					for capacity := uint64(1); capacity < 1<<11; capacity++ {
						if a, b := r.Groups[g].Misses(capacity), fine.Groups[g].Misses(capacity); a > b {
							t.Fatalf("%d blocks: %d misses at %d bytes, %d at half", capacity, a, r.BlockBytes, b)
						}
					}
				}
			}
			fine = r
		}
	})
}

func TestNewRefuses(t *testing.T) {
	bad := planOf(0, 0)
	bad.Refs[1].PC = bad.Refs[0].PC
	for _, tt := range []struct {
		plan *trace.Plan
		opt  Options
		want string
	}{
		{planOf(0), Options{BlockBytes: 48, Objects: []Object{{Hi: 1}}}, "BlockBytes is 48"},
		{planOf(0), Options{BlockBytes: 1 << 31}, "BlockBytes is 2147483648"},
		{planOf(0), Options{Workers: -1}, "Workers is -1"},
		{planOf(0), Options{SampleOneIn: 3}, "SampleOneIn is 3"},
		{planOf(0), Options{SampleOneIn: 1 << 21}, "SampleOneIn is 2097152"},
		{planOf(0), Options{SampleOneIn: 2, Workers: 2}, "sampling takes one worker"},
		{nil, Options{}, "no plan"},
		{bad, Options{}, "does not follow"},
	} {
		if _, err := New(tt.plan, tt.opt); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New error = %v, want one with %q", err, tt.want)
		}
	}
}

// TestManyGroups: a group that is never executed costs no bins.
func TestManyGroups(t *testing.T) {
	var ids []trace.GroupID
	for g := range 5000 {
		ids = append(ids, trace.GroupID(g))
	}
	c, err := New(planOf(ids...), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var accesses []trace.Access
	for i := range 3 * 20_000 {
		accesses = append(accesses, access(i%5000, uint64(i%20_000)*64, 8))
	}
	observe(c, accesses, trace.BatchAccesses)
	if got, most := len(c.method.(*stack).counts.bins), 5001*pageBins; got > most {
		t.Errorf("%d counters for groups with one long distance each, want at most %d", got, most)
	}
	for g, h := range c.Result().Groups {
		want := Histogram{Cold: 4, Bins: []Bin{{Count: 8}}}
		want.Bins[0].Lo, want.Bins[0].Hi = binEdges(binOf(19_999))
		if diff := cmp.Diff(want, h); diff != "" {
			t.Fatalf("group %d -want +got:\n%s", g, diff)
		}
	}
}

func ExampleCollector() {
	plan := &trace.Plan{Refs: []trace.Ref{{PC: 0x1000, Size: 8}}}
	c, err := New(plan, Options{BlockBytes: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	b := new(trace.Batch)
	for _, addr := range []uint64{0x00, 0x40, 0x80, 0x48, 0x00, 0x00} {
		b.Accesses = append(b.Accesses, trace.Tag(0, 8)+trace.Access(addr))
	}
	c.Observe(b)
	h := c.Result().Groups[0]
	fmt.Println("cold", h.Cold, "bins", h.Bins)
	for capacity := uint64(1); capacity <= 4; capacity++ {
		fmt.Println(capacity, "blocks:", h.Misses(capacity), "misses")
	}
	// Output:
	// cold 3 bins [{0 1 1} {1 2 1} {2 3 1}]
	// 1 blocks: 5 misses
	// 2 blocks: 4 misses
	// 3 blocks: 3 misses
	// 4 blocks: 3 misses
}
