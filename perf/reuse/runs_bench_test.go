package reuse

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"presage/perf/trace"
	"presage/perf/trace/tracetest"
)

// BenchmarkRuns measures exact distances of loop nests whose innermost loops are
// recorded as runs. x-plain is the speed over that of the same accesses recorded
// one by one, which take turns in the same run.
func BenchmarkRuns(b *testing.B) {
	for _, n := range tracetest.Nests() {
		for _, size := range []uint64{64, 4096} {
			b.Run(fmt.Sprintf("nest=%s/block=%d", n.Name, size), func(b *testing.B) {
				runtime.LockOSThread() // its processor time is measured
				defer runtime.UnlockOSThread()
				var took [2]time.Duration
				passes := 0
				for b.Loop() {
					for i, batches := range [][]*trace.Batch{n.Plain, n.Batches} {
						c, err := New(n.Plan, Options{BlockBytes: size})
						if err != nil {
							b.Fatal(err)
						}
						start := now()
						for _, batch := range batches {
							c.Observe(batch)
						}
						took[i] += now() - start
					}
					passes++
				}
				seen := float64(passes) * float64(n.Accesses)
				b.ReportMetric(seen/took[1].Seconds()/1e6, "Mref/s")
				b.ReportMetric(took[0].Seconds()/took[1].Seconds(), "x-plain")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}
