package sched

import (
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/machine"
)

func TestCoresRefused(t *testing.T) {
	for name, change := range map[string]func(*machine.Core){
		"not describe":   func(m *machine.Core) { *m = machine.Core{} },
		"does not have":  func(m *machine.Core) { m.Classes[isa.ALU] = on(1, 1, "vpu") },
		"latency":        func(m *machine.Core) { m.Classes[isa.ALU] = on(machine.Cycles(math.NaN()), 1, "alu") },
		"for -1 cycles":  func(m *machine.Core) { m.Classes[isa.ALU] = on(1, -1, "alu") },
		"without a name": func(m *machine.Core) { m.Classes[isa.ALU] = on(1, 1) },
		"0 units alu":    func(m *machine.Core) { m.Units[0].Count = 0 },
		"at most 64":     func(m *machine.Core) { m.Units = append(m.Units, make([]machine.Unit, 64)...) },
		"at once": func(m *machine.Core) {
			m.Classes[isa.ALU] = machine.Timing{Uses: make([]machine.Use, 9)}
		},
	} {
		m := wide()
		change(m)
		_, err := New(m, Options{})
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
		if name == "not describe" && !errors.Is(err, ErrNoCore) {
			t.Errorf("%v is no ErrNoCore", err)
		}
	}
}

// TestUndescribed demands warnings about classes that the core does not describe.
func TestUndescribed(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	s := run(t, "matmul", "-n", "8", "-repeat", "1")
	m := wide() // has no system calls, for one
	sch, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	res, err := sch.Program(t.Context(), s.analysis, Counted(s.counts))
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for _, w := range res.Warnings {
		found = found || errors.Is(w, ErrUndescribed) && strings.Contains(w.Error(), isa.SystemCall.String())
	}
	if !found {
		t.Errorf("warnings %v", res.Warnings)
	}
}

// TestEveryMachine demands, for every core that the project describes, that loops
// take at least their bounds, rescheduled or not, and that their limit is named.
func TestEveryMachine(t *testing.T) {
	k := compile(t, kernelSource)
	names, err := machine.Names(os.DirFS("../../machines"))
	if err != nil {
		t.Fatal(err)
	}
	cores := 0
	for _, name := range names {
		m := described(t, name)
		if len(m.Classes) == 0 {
			continue
		}
		cores++
		for _, kernel := range []string{"daxpy", "dot", "divides"} {
			d := k.loop(t, kernel, access.DependenceOptions{})
			var cycles [2]float64
			for i, opt := range []Options{{}, {Reschedule: true}} {
				s, err := New(m, opt)
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				g := s.ScheduleLoop(d)
				cycles[i] = g.Cycles
				if g.Cycles < g.Bounds.Max()*(1-roundoff) || g.Limit == NoLimit {
					t.Errorf("%s, %s: %v cycles, %v, bounds %+v", name, kernel, g.Cycles, g.Limit, g.Bounds)
				}
				if g.Slots != nil {
					verify(t, m, &g.Graph, g.Slots)
				}
				if i == 0 {
					sum := 0.0
					for _, c := range g.Causes {
						sum += c.Cycles
					}
					if math.Abs(sum-g.Cycles) > 1e-9*sum {
						t.Errorf("%s, %s: causes of %v cycles, %v in all", name, kernel, sum, g.Cycles)
					}
					text, _, _ := strings.Cut(g.Explain(k.analysis.Program), "\n")
					t.Logf("%-16s %-8s %s", name, kernel, text)
				}
			}
			// Each iteration's latency is exposed in order, and overlaps with
			// others' once rescheduled.
			if m.InOrder && cycles[1] > cycles[0]*near {
				t.Errorf("%s, %s: %v cycles, rescheduled %v", name, kernel, cycles[0], cycles[1])
			}
		}
	}
	if cores < 5 {
		t.Errorf("only %d cores are described", cores)
	}
}
