package locality

import (
	"fmt"
	"os"
	"path/filepath"
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
	c.Accesses = append(make([]trace.Access, 0, trace.BatchAccesses), b.Accesses...) // as a Pipeline has it
	c.Blocks = slices.Clone(b.Blocks)
	c.Runs, c.Strides, c.Bodies = slices.Clone(b.Runs), slices.Clone(b.Strides), slices.Clone(b.Bodies)
	n, _ := b.Expansion()
	t.batches, t.accesses = append(t.batches, c), t.accesses+n
}

// BenchmarkParallel measures the analysis of one run in blocks of 64 bytes by two
// workers, in distances alone and with carriers, over the same recorded batches: x-one
// is the median of how much faster by the clock they are than one worker, in pairs of
// passes that take turns; x-work the median of their processor time over its. 2/x-work
// is what two free processors could give at most, and x-free what they would give as
// often as one of two had nothing to do: other work on the machine hardly counts in it.
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
				var free []float64
				for b.Loop() {
					for w := range took {
						opt.Workers = w + 1
						c, err := reuse.New(plan, opt)
						if err != nil {
							b.Fatal(err)
						}
						start, spent, ready := time.Now(), used(b, syscall.RUSAGE_SELF), runnable(b)
						for range rounds {
							for _, batch := range seen.batches {
								c.Hold(batch, func() {})
							}
						}
						c.Result()
						took[w] = append(took[w], time.Since(start).Seconds())
						work[w] = append(work[w], (used(b, syscall.RUSAGE_SELF) - spent).Seconds())
						if w > 0 {
							last := len(took[w]) - 1
							busy := min(2, (runnable(b)-ready).Seconds()/took[w][last]) // threads
							free = append(free, busy*work[0][last]/work[w][last])
						}
					}
				}
				b.ReportMetric(median(took[0], took[1]), "x-one")
				b.ReportMetric(median(work[1], work[0]), "x-work")
				slices.Sort(free)
				b.ReportMetric(free[len(free)/2], "x-free")
				b.ReportMetric(1e9*slices.Min(work[0])/float64(rounds*seen.accesses), "cpu-ns/ref")
				b.ReportMetric(float64(rounds*seen.accesses)/1e6, "Mref")
				b.ReportMetric(0, "ns/op")
			})
		}
	}
}

// runnable returns how long the threads of this process have run or waited for a
// processor: /proc/self/task/*/schedstat (Linux, Documentation/scheduler/sched-stats.rst).
func runnable(b *testing.B) time.Duration {
	b.Helper()
	files, err := filepath.Glob("/proc/self/task/*/schedstat")
	if err != nil || len(files) == 0 {
		b.Fatal("no schedstat of the threads of this process: ", err)
	}
	all := int64(0)
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // the thread has ended
		}
		var run, wait int64
		if _, err := fmt.Sscan(string(text), &run, &wait); err != nil {
			b.Fatalf("%s: %v", file, err)
		}
		all += run + wait
	}
	return time.Duration(all)
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
