//go:build linux && amd64

package targets_test

import (
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/pipeline"
	"presage/perf/sched"
)

// TestNativeSchedules schedules every innermost loop of native programs, and
// demands that no bound is violated.
func TestNativeSchedules(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for _, flags := range []string{"-O1", "-O3 -march=x86-64-v4"} {
		t.Run(flags, func(t *testing.T) {
			exe := native(t, kernelSources+"kernels.c", strings.Fields(flags)...)
			a := analysis(t, exe)
			s, err := sched.New(wide(), sched.Options{})
			if err != nil {
				t.Fatal(err)
			}
			loops := 0
			for n, r := range a.Program.Routines {
				var code [][]isa.Inst
				for b := range r.Blocks {
					code = append(code, r.Blocks[b].Insts)
				}
				if _, err := pipeline.Plan(code); err != nil {
					t.Errorf("%s: %v", r.Name, err)
				}
				for _, l := range r.Loops {
					if len(l.Blocks) != 1 {
						continue
					}
					d := a.Dependences(n, r.Blocks[l.Header].Loop, []int{l.Header}, access.DependenceOptions{})
					seg := s.ScheduleLoop(d)
					loops++
					least := max(seg.Bounds.Fetch, seg.Bounds.Units, float64(seg.Bounds.Recurrence))
					if float64(seg.Cycles) < least || len(d.Nodes) < len(r.Blocks[l.Header].Insts) {
						t.Errorf("%s at %#x: %v cycles for %d micro-operations, bounds %+v", r.Name, r.Blocks[l.Header].PC(), seg.Cycles, len(d.Nodes), seg.Bounds)
					}
				}
			}
			if loops < 20 {
				t.Errorf("%d loops", loops)
			}
			t.Logf("%d loops", loops)
		})
	}
}
