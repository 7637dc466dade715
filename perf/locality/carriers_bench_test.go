package locality

import (
	"fmt"
	"runtime"
	"syscall"
	"testing"
	"time"

	"presage/perf/internal/perftest"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// kept keeps the batches of a run.
type kept struct {
	batches  []*trace.Batch
	accesses int
}

func (k *kept) Observe(b *trace.Batch) {
	c := &trace.Batch{Start: b.Start, Thread: b.Thread}
	c.Accesses = append(c.Accesses, b.Accesses...)
	c.Blocks = append(c.Blocks, b.Blocks...)
	k.batches, k.accesses = append(k.batches, c), k.accesses+len(b.Accesses)
}

// BenchmarkCarriers measures what carriers and objects cost, for the four kernels
// of perftest's kernels.c: x-plain is the processor time of the collector
// without sources, and x-plain-sources with them, over that of distances alone, the least of several passes that take turns over the same
// recorded accesses. Recording blocks, which the engine does, is not in it: see
// BenchmarkCarriersOfRuns.
func BenchmarkCarriers(b *testing.B) {
	for i, name := range []string{"matmul", "stencil", "multigrid", "spmv"} {
		var prog *subject.Program
		for _, size := range []uint64{64, 4096} {
			b.Run(fmt.Sprintf("%s/block=%d", name, size), func(b *testing.B) {
				if prog == nil {
					prog = perftest.Compile(b, "gcc", fmt.Sprintf("-O2 -DKERNEL=%d", i+1), name, "kernels.c")
				}
				plan, err := prog.Plan()
				if err != nil {
					b.Fatal(err)
				}
				by, err := classification(prog, plan)
				if err != nil {
					b.Fatal(err)
				}
				withBlocks, full := by.Plan, by.Options
				full.BlockBytes = size
				loops := full
				loops.Sources = nil
				seen := new(kept)
				in, err := prog.InputsOf(nil, subject.RunOptions{})
				if err != nil {
					b.Fatal(err)
				}
				if _, err := prog.Run(b.Context(), subject.Request{Inputs: in, Plan: withBlocks, Collectors: []trace.Collector{seen}}); err != nil {
					b.Fatal(err)
				}
				var least [3]time.Duration
				runtime.LockOSThread() // its processor time is measured
				defer runtime.UnlockOSThread()
				for b.Loop() {
					for j, opt := range []reuse.Options{{BlockBytes: size}, loops, full} {
						c, err := reuse.New(withBlocks, opt)
						if err != nil {
							b.Fatal(err)
						}
						start := used(b, syscall.RUSAGE_THREAD)
						for _, batch := range seen.batches {
							c.Observe(batch)
						}
						if took := used(b, syscall.RUSAGE_THREAD) - start; least[j] == 0 || took < least[j] {
							least[j] = took
						}
					}
				}
				b.ReportMetric(least[1].Seconds()/least[0].Seconds(), "x-plain")
				b.ReportMetric(least[2].Seconds()/least[0].Seconds(), "x-plain-sources")
				b.ReportMetric(float64(seen.accesses)/least[0].Seconds()/1e6, "Mref/s-plain")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// BenchmarkCarriersOfRuns measures whole runs with the default block sizes: x-plain
// is their time with carriers over that without.
func BenchmarkCarriersOfRuns(b *testing.B) {
	for i, name := range []string{"matmul", "stencil", "multigrid", "spmv"} {
		b.Run(name, func(b *testing.B) {
			prog := perftest.Compile(b, "gcc", fmt.Sprintf("-O2 -DKERNEL=%d", i+1), name, "kernels.c")
			plan, err := prog.Plan()
			if err != nil {
				b.Fatal(err)
			}
			in, err := prog.InputsOf(nil, subject.RunOptions{})
			if err != nil {
				b.Fatal(err)
			}
			var least [2]time.Duration
			for b.Loop() {
				for j := range least {
					p := profiler{prog: prog, rec: Recorded{Inputs: in, Plan: plan.Digest(), Stack: true, Carriers: j * carriersVersion}, report: func(uint64, bool) {}}
					start := used(b, syscall.RUSAGE_SELF)
					if _, err := p.collect(b.Context(), DefaultBlockBytes); err != nil {
						b.Fatal(err)
					}
					if took := used(b, syscall.RUSAGE_SELF) - start; least[j] == 0 || took < least[j] {
						least[j] = took
					}
				}
			}
			b.ReportMetric(least[1].Seconds()/least[0].Seconds(), "x-plain")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// used returns the processor time that the process, or the thread, has used.
func used(b *testing.B, who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
