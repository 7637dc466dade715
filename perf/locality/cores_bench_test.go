package locality

import (
	"fmt"
	"slices"
	"syscall"
	"testing"
	"time"

	"presage/perf/internal/perftest"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// tape keeps the batches of a run as a collector of distances sees them.
type tape struct {
	runs     bool
	batches  []*trace.Batch
	accesses uint64
}

func (t *tape) TakesRuns() bool { return t.runs }

func (t *tape) Observe(b *trace.Batch) {
	c := &trace.Batch{Start: b.Start, Thread: b.Thread}
	c.Accesses, c.Blocks = slices.Clone(b.Accesses), slices.Clone(b.Blocks)
	c.Runs, c.Strides, c.Bodies = slices.Clone(b.Runs), slices.Clone(b.Strides), slices.Clone(b.Bodies)
	n, _ := b.Expansion()
	t.batches, t.accesses = append(t.batches, c), t.accesses+n
}

// BenchmarkParallel measures the analysis of one run in blocks of 64 bytes by two
// workers, in distances alone and with carriers, over the same recorded batches: x-one
// is the median of how much faster by the clock they are than one worker, in pairs of
// passes that take turns; x-work the median of their processor time over its. 2/x-work
// is what two free processors could give at most.
func BenchmarkParallel(b *testing.B) {
	for i, name := range []string{"matmul", "stencil", "sort", "chase"} {
		for _, carriers := range []bool{false, true} {
			b.Run(fmt.Sprintf("%s/carriers=%t", name, carriers), func(b *testing.B) {
				prog := perftest.Compile(b, "gcc", fmt.Sprintf("-O2 -DKERNEL=%d", i+1), name, "cores.c")
				plan, err := prog.Plan()
				if err != nil {
					b.Fatal(err)
				}
				var opt reuse.Options
				if carriers {
					by, err := classification(prog, plan)
					if err != nil {
						b.Fatal(err)
					}
					plan, opt = by.Plan, by.Options
				}
				in, err := prog.InputsOf(nil, subject.RunOptions{})
				if err != nil {
					b.Fatal(err)
				}
				seen := &tape{runs: !carriers}
				if _, err := prog.Run(b.Context(), subject.Request{Inputs: in, Plan: plan, Collectors: []trace.Collector{seen}}); err != nil {
					b.Fatal(err)
				}
				rounds := uint64(5) // the program again and again, as what is new is dearer
				if carriers {
					rounds = 2
				}
				var took, work [2][]float64
				for b.Loop() {
					for w := range took {
						opt.Workers = w + 1
						c, err := reuse.New(plan, opt)
						if err != nil {
							b.Fatal(err)
						}
						start, spent := time.Now(), used(b, syscall.RUSAGE_SELF)
						for range rounds {
							for _, batch := range seen.batches {
								c.Observe(batch)
							}
						}
						c.Result()
						took[w] = append(took[w], time.Since(start).Seconds())
						work[w] = append(work[w], (used(b, syscall.RUSAGE_SELF) - spent).Seconds())
					}
				}
				b.ReportMetric(median(took[0], took[1]), "x-one")
				b.ReportMetric(median(work[1], work[0]), "x-work")
				b.ReportMetric(1e9*slices.Min(work[0])/float64(rounds*seen.accesses), "cpu-ns/ref")
				b.ReportMetric(float64(rounds*seen.accesses)/1e6, "Mref")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// median returns the median of the ratios of two lists.
func median(x, y []float64) float64 {
	ratios := make([]float64, len(x))
	for i := range x {
		ratios[i] = x[i] / y[i]
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}
