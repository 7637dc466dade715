package reuse

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"presage/perf/trace"
)

// The streams of BenchmarkDistance, over 64-byte blocks. All but matmul touch
// 2^20 blocks.
var streams = []struct {
	pattern string
	make    func() []trace.Access
}{
	{"triad", triad},
	{"zipf", func() []trace.Access { return zipf(0.9) }},
	{"uniform", uniform},
	{"matmul", matmul},
	{"sweep", sweep},
}

const benchBlocks = 1 << 20

// triad is a[i] = b[i] + s*c[i] over 8-byte elements, once.
func triad() []trace.Access {
	n := uint64(benchBlocks * 8 / 3)
	out := make([]trace.Access, 0, 3*n)
	for i := range n {
		out = append(out, access(0, 8*(n+i), 8), access(0, 8*(2*n+i), 8), access(0, 8*i, 8))
	}
	return out
}

// zipf draws blocks with a frequency of rank^-s, ranks scattered over memory.
func zipf(s float64) []trace.Access {
	rng := rand.New(rand.NewPCG(1, 2))
	cumulative := make([]float64, benchBlocks)
	sum := 0.0
	for i := range cumulative {
		sum += math.Pow(float64(i+1), -s)
		cumulative[i] = sum
	}
	place := rng.Perm(benchBlocks)
	out := make([]trace.Access, 4<<20)
	for i := range out {
		u := rng.Float64() * sum
		lo, hi := 0, benchBlocks-1
		for lo < hi {
			if mid := (lo + hi) / 2; cumulative[mid] < u {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		out[i] = access(0, uint64(place[lo])*64, 8)
	}
	return out
}

func uniform() []trace.Access {
	rng := rand.New(rand.NewPCG(3, 4))
	out := make([]trace.Access, 4<<20)
	for i := range out {
		out[i] = access(0, rng.Uint64N(benchBlocks)*64, 8)
	}
	return out
}

// matmul is C += A·B over 512 x 512 doubles in tiles of 32: the first 4 Mi of
// its accesses to A[i,k], B[k,j] and C[i,j] in the order i, j, k.
func matmul() []trace.Access {
	const n, tile, most = 512, 32, 4 << 20
	out := make([]trace.Access, 0, most+3*tile)
	at := func(matrix, i, j int) trace.Access {
		return access(matrix, uint64(8*(matrix*n*n+i*n+j)), 8)
	}
	for ii := 0; ii < n; ii += tile {
		for jj := 0; jj < n; jj += tile {
			for kk := 0; kk < n; kk += tile {
				for i := ii; i < ii+tile; i++ {
					for j := jj; j < jj+tile; j++ {
						for k := kk; k < kk+tile; k++ {
							out = append(out, at(0, i, k), at(1, k, j), at(2, i, j))
						}
						if len(out) >= most {
							return out
						}
					}
				}
			}
		}
	}
	return out
}

// sweep touches each block once, in order: the triad without its spatial reuse.
func sweep() []trace.Access {
	out := make([]trace.Access, benchBlocks)
	for i := range out {
		out[i] = access(0, uint64(i)*64, 8)
	}
	return out
}

// fenwick is the baseline: a hash from block to time of last access and a
// Fenwick tree of the times that are last ones, compacted when it is full.
type fenwick struct {
	shift  uint
	keys   []uint64 // block+1; 0: free
	times  []uint32
	used   int
	tree   []uint32
	owner  []uint32 // time → place in keys
	now    uint32
	live   uint32
	counts counts
}

func newFenwick(blocks int) *fenwick {
	size := 1 << bits.Len(uint(2*blocks))
	window := 4 * blocks
	return &fenwick{
		shift: 6, keys: make([]uint64, size), times: make([]uint32, size),
		tree: make([]uint32, window+1), owner: make([]uint32, window+1), counts: newCounts(3),
	}
}

func (f *fenwick) find(block uint64) int {
	mask := len(f.keys) - 1
	i := int(block * 0x9e3779b97f4a7c15 >> (64 - uint(bits.Len(uint(mask)))))
	for f.keys[i] != block+1 {
		if f.keys[i] == 0 {
			f.keys[i] = block + 1
			f.used++
			break
		}
		i = (i + 1) & mask
	}
	return i
}

func (f *fenwick) add(t uint32, by uint32) {
	for ; t < uint32(len(f.tree)); t += t & -t {
		f.tree[t] += by
	}
}

func (f *fenwick) compact() {
	to := uint32(0)
	for t := uint32(1); t <= f.now; t++ {
		if i := f.owner[t]; f.times[i] == t {
			to++
			f.owner[to], f.times[i] = i, to
		}
	}
	clear(f.tree)
	for t := uint32(1); t < uint32(len(f.tree)); t++ {
		if t <= to {
			f.tree[t]++
		}
		if up := t + t&-t; up < uint32(len(f.tree)) {
			f.tree[up] += f.tree[t]
		}
	}
	f.now = to
}

func (f *fenwick) Observe(b *trace.Batch) {
	for _, a := range b.Accesses {
		if f.now == uint32(len(f.tree)-1) {
			f.compact()
		}
		i := f.find(a.Addr() >> f.shift)
		f.now++
		if t := f.times[i]; t != 0 {
			rank := uint32(0)
			for k := t; k > 0; k &= k - 1 {
				rank += f.tree[k]
			}
			f.counts.add(uint32(a.Ref()), f.live-rank)
			f.add(t, ^uint32(0))
		} else {
			f.counts.cold[a.Ref()]++
			f.live++
		}
		f.add(f.now, 1)
		f.times[i], f.owner[f.now] = f.now, uint32(i)
	}
}

// TestBaseline: the baseline computes the same histograms, so that the ratio
// compares equal work.
func TestBaseline(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, s := range streams {
		accesses := s.make()
		accesses = accesses[:min(len(accesses), 300_000)]
		f := newFenwick(100_000)
		if s.pattern == "uniform" || s.pattern == "zipf" || s.pattern == "sweep" {
			f = newFenwick(300_000)
		}
		c, err := New(planOf(0, 1, 2), Options{})
		if err != nil {
			t.Fatal(err)
		}
		observe(f, accesses, trace.BatchAccesses)
		observe(c, accesses, trace.BatchAccesses)
		for g, h := range c.Result().Groups {
			want := f.counts.histogram(g)
			if len(want.Bins) != len(h.Bins) || want.Cold != h.Cold {
				t.Fatalf("%s: group %d: %d bins and %d cold, baseline %d and %d", s.pattern, g, len(h.Bins), h.Cold, len(want.Bins), want.Cold)
			}
			for i := range h.Bins {
				if h.Bins[i] != want.Bins[i] {
					t.Fatalf("%s: group %d: bin %v, baseline %v", s.pattern, g, h.Bins[i], want.Bins[i])
				}
			}
		}
	}
}

// pace observes the stream from position at, wrapping around, and returns the
// processor time.
func pace(c trace.Collector, accesses []trace.Access, at *int, batches int) time.Duration {
	b := new(trace.Batch)
	start := now()
	for range batches {
		n := min(trace.BatchAccesses, len(accesses)-*at)
		b.Accesses = accesses[*at : *at+n]
		c.Observe(b)
		if *at += n; *at == len(accesses) {
			*at = 0
		}
	}
	return now() - start
}

// BenchmarkDistance measures exact distances in the steady state, the stream
// seen once before. x-fenwick is the speed over that of the baseline, which
// takes turns with the collector in the same run.
func BenchmarkDistance(b *testing.B) {
	for _, s := range streams {
		b.Run("pattern="+s.pattern, func(b *testing.B) {
			runtime.LockOSThread() // its processor time is measured
			defer runtime.UnlockOSThread()
			accesses := s.make()
			c, err := New(planOf(0, 1, 2), Options{})
			if err != nil {
				b.Fatal(err)
			}
			f := newFenwick(benchBlocks)
			observe(c, accesses, trace.BatchAccesses)
			observe(f, accesses, trace.BatchAccesses)
			// Both see the same accesses, in runs long enough that each has
			// the caches to itself.
			const turn = 64
			var ours, theirs time.Duration
			at, same := 0, 0
			batches := 0
			for b.Loop() {
				ours += pace(c, accesses, &at, turn)
				theirs += pace(f, accesses, &same, turn)
				batches += turn
			}
			seen := float64(batches) * trace.BatchAccesses
			b.ReportMetric(seen/ours.Seconds()/1e6, "Mref/s")
			b.ReportMetric(theirs.Seconds()/ours.Seconds(), "x-fenwick")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkWorkers measures how much faster, by the clock, two workers get
// through a stream seen before than one does in the same run: x-one. Other work
// on the machine takes from the second processor first; x-work, the processor
// time of two over that of one, hardly suffers. 2/x-work is what two processors
// that are free could give.
func BenchmarkWorkers(b *testing.B) {
	for _, s := range streams {
		b.Run("pattern="+s.pattern, func(b *testing.B) {
			accesses := s.make()
			var cs [2]*Collector
			for i := range cs {
				c, err := New(planOf(0, 1, 2), Options{Workers: i + 1})
				if err != nil {
					b.Fatal(err)
				}
				cs[i] = c
			}
			const rounds = 4 // long enough for chunks to fill
			var took, work [2]time.Duration
			pass := func(i int) {
				start, used := time.Now(), spent()
				for range rounds {
					observe(cs[i], accesses, trace.BatchAccesses)
				}
				cs[i].Result() // nothing is left to do
				took[i] += time.Since(start)
				work[i] += spent() - used
			}
			pass(0)
			pass(1)
			clear(took[:])
			clear(work[:])
			passes := 0
			for b.Loop() {
				pass(0)
				pass(1)
				passes++
			}
			seen := float64(passes * rounds * len(accesses))
			b.ReportMetric(seen/took[1].Seconds()/1e6, "Mref/s")
			b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "x-one")
			b.ReportMetric(work[1].Seconds()/work[0].Seconds(), "x-work")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkSampled measures a sample of one block in 64. x-exact is its speed
// over that of exact distances in the same run.
func BenchmarkSampled(b *testing.B) {
	for _, s := range streams {
		b.Run("pattern="+s.pattern, func(b *testing.B) {
			runtime.LockOSThread() // its processor time is measured
			defer runtime.UnlockOSThread()
			accesses := s.make()
			var cs [2]*Collector
			for i, oneIn := range []uint64{1, 64} {
				c, err := New(planOf(0, 1, 2), Options{SampleOneIn: oneIn})
				if err != nil {
					b.Fatal(err)
				}
				observe(c, accesses, trace.BatchAccesses)
				cs[i] = c
			}
			const turn = 64
			var took [2]time.Duration
			var at [2]int
			batches := 0
			for b.Loop() {
				for i, c := range cs {
					took[i] += pace(c, accesses, &at[i], turn)
				}
				batches += turn
			}
			seen := float64(batches) * trace.BatchAccesses
			b.ReportMetric(seen/took[1].Seconds()/1e6, "Mref/s")
			b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "x-exact")
			b.ReportMetric(0, "ns/op")
		})
	}
}
