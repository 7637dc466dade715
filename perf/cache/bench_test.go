package cache

import (
	"math"
	"math/rand/v2"
	"runtime"
	"sort"
	"testing"

	"presage/perf/trace"
)

const (
	benchBlocks   = 1 << 20 // of 64 bytes, in all patterns but matmul
	benchAccesses = 4 << 20
)

// stream returns about benchAccesses accesses of 8 bytes by references 0 to 2
// of a pattern: a triad over 8-byte elements; blocks drawn with frequency
// rank^-0.9, ranks scattered; blocks drawn evenly; C += A·B over 512 x 512
// doubles in tiles of 32, in the order i, j, k.
func stream(pattern string) []trace.Access {
	var out []trace.Access
	rng := rand.New(rand.NewPCG(1, 2))
	add := func(ref int, addr uint64) { out = append(out, accessOf(ref, addr, 8)) }
	switch pattern {
	case "triad":
		n := uint64(benchBlocks * 8 / 3)
		for i := range n {
			add(0, 8*(n+i))
			add(1, 8*(2*n+i))
			add(2, 8*i)
		}
	case "zipf":
		cumulative := make([]float64, benchBlocks)
		sum := 0.0
		for i := range cumulative {
			sum += math.Pow(float64(i+1), -0.9)
			cumulative[i] = sum
		}
		place := rng.Perm(benchBlocks)
		for range benchAccesses {
			add(0, 64*uint64(place[sort.SearchFloat64s(cumulative, rng.Float64()*sum)]))
		}
	case "uniform":
		for range benchAccesses {
			add(0, 64*rng.Uint64N(benchBlocks))
		}
	case "matmul":
		const n, tile = 512, 32
		for t := 0; len(out) < benchAccesses; t++ {
			ii, jj, kk := t/256%16*tile, t/16%16*tile, t%16*tile
			for i := ii; i < ii+tile; i++ {
				for j := jj; j < jj+tile; j++ {
					for k := kk; k < kk+tile; k++ {
						add(0, uint64(8*(i*n+k)))
						add(1, uint64(8*(n*n+k*n+j)))
						add(2, uint64(8*(2*n*n+i*n+j)))
					}
				}
			}
		}
	}
	return out
}

// BenchmarkSimulate runs the patterns through the caches of the R12000 (2005
// paper, Table 1), and through them and the TLB.
func BenchmarkSimulate(b *testing.B) {
	caches := []Level{
		{Name: "L1", Blocks: 1024, BlockBytes: 32, Ways: 2},
		{Name: "L2", Blocks: 65536, BlockBytes: 128, Ways: 2},
	}
	tlb := []TLB{{Name: "TLB", Entries: 64, EntryBytes: 32 << 10}}
	plan := &trace.Plan{Refs: []trace.Ref{
		{PC: 0x10, Size: 8, Group: 0},
		{PC: 0x14, Size: 8, Group: 1},
		{PC: 0x18, Size: 8, Kind: trace.Store, Group: 2},
	}}
	for _, pattern := range []string{"triad", "zipf", "uniform", "matmul"} {
		accesses := stream(pattern)
		for _, h := range []struct {
			name   string
			config Config
		}{
			{"caches", Config{Levels: caches}},
			{"tlb", Config{TLBs: tlb}},
			{"caches+tlb", Config{Levels: caches, TLBs: tlb}},
		} {
			b.Run("pattern="+pattern+"/hierarchy="+h.name, func(b *testing.B) {
				s, err := New(plan, h.config)
				if err != nil {
					b.Fatal(err)
				}
				batch := new(trace.Batch)
				seen := 0
				runtime.LockOSThread() // its processor time is measured
				defer runtime.UnlockOSThread()
				start := now()
				for b.Loop() {
					for rest := accesses; len(rest) > 0; {
						n := min(trace.BatchAccesses, len(rest))
						batch.Accesses = rest[:n]
						s.Observe(batch)
						rest = rest[n:]
					}
					seen += len(accesses)
				}
				b.ReportMetric(float64(seen)/(now()-start).Seconds()/1e6, "Mref/s")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
