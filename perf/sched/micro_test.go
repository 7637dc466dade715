package sched

import (
	"strings"
	"testing"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/machine"
)

// loopOf is an iteration of instructions of given classes, and edges from, to,
// distance.
func loopOf(classes []isa.Class, edges ...[3]int) *access.Dependences {
	var insts []*isa.Inst
	for i, c := range classes {
		insts = append(insts, &isa.Inst{PC: uint64(0x1000 + 4*i), Class: c, Op: c.String()})
	}
	d := &access.Dependences{Target: rv64.Target(), Nodes: access.Nodes(insts)}
	for _, e := range edges {
		d.Edges = append(d.Edges, access.Dependence{From: e[0], To: e[1], Distance: e[2]})
	}
	return d
}

// again returns the nodes of instructions that have changed.
func again(nodes []access.Node) []access.Node {
	var insts []*isa.Inst
	for _, n := range nodes {
		insts = append(insts, n.Inst)
	}
	return access.Nodes(insts)
}

func repeat(c isa.Class, n int) []isa.Class {
	list := make([]isa.Class, n)
	for i := range list {
		list[i] = c
	}
	return list
}

// microkernels are loops whose time follows from the description of the core
// wide: 4 in, 8 begin, 4 retire a cycle, 64 in the window, 3 alu of 1 cycle, 2
// mem of 4, 2 fp of 4, an fp divide of 15 that occupies one for 10.
var microkernels = []struct {
	name   string
	d      *access.Dependences
	cycles float64 // as compiled and, but for the window, rescheduled
	limit  Limit
	says   string
}{
	{"chained add", loopOf(repeat(isa.ALU, 1), [3]int{0, 0, 1}), 1, Recurrence, "itself, 1 iteration later"},
	{"chained fp add", loopOf([]isa.Class{isa.FPAdd, isa.ALU, isa.Branch}, [3]int{0, 0, 1}, [3]int{1, 1, 1}, [3]int{1, 2, 0}), 4, Recurrence, "0x1000 fp add → itself, 1 iteration later"},
	{"two iterations apart", loopOf([]isa.Class{isa.FPAdd}, [3]int{0, 0, 2}), 2, Recurrence, "4 cycles in 2 iterations"},
	{"chain of two", loopOf([]isa.Class{isa.FPMultiply, isa.FPAdd}, [3]int{0, 1, 0}, [3]int{1, 0, 1}), 8, Recurrence, "0x1000 fp multiply → 0x1004 fp add"},
	{"independent adds", loopOf(repeat(isa.ALU, 9)), 3, UnitBusy, "alu, occupied for 3 cycles"},
	{"independent loads", loopOf(repeat(isa.FPLoad, 6)), 3, UnitBusy, "mem, occupied for 3 cycles"},
	{"nops", loopOf(repeat(isa.Nop, 8)), 2, FetchWidth, "8 instructions"},
	{"independent divides", loopOf(repeat(isa.FPDivide, 2)), 10, UnitBusy, "fp, occupied for 10 cycles"},
	{"chained divides", loopOf(repeat(isa.FPDivide, 1), [3]int{0, 0, 1}), 15, Recurrence, "15 cycles"},
	{"pointer chase", loopOf([]isa.Class{isa.Load}, [3]int{0, 0, 1}), 4, Recurrence, "0x1000 load → itself"},
	{"half a cycle", loopOf([]isa.Class{isa.FPLoad, isa.FPLoad, isa.FPLoad}), 1.5, UnitBusy, "mem, occupied for 1.5 cycles"},
	{"dot", loopOf([]isa.Class{isa.FPLoad, isa.FPLoad, isa.ALU, isa.ALU, isa.FPFused, isa.Branch}, [3]int{0, 4, 0}, [3]int{1, 4, 0}, [3]int{4, 4, 1}, [3]int{2, 0, 1}, [3]int{3, 1, 1}, [3]int{2, 2, 1}, [3]int{3, 3, 1}, [3]int{2, 5, 0}), 4, Recurrence, "0x1010 fp fused → itself"},
}

func TestMicrokernels(t *testing.T) {
	for _, reschedule := range []bool{false, true} {
		s, err := New(wide(), Options{Reschedule: reschedule})
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range microkernels {
			g := s.ScheduleLoop(k.d)
			if g.Cycles != k.cycles || g.Limit != k.limit || !strings.Contains(g.Explain(nil), k.says) {
				t.Errorf("%s, rescheduled %v: %v cycles, limit %v, want %v, %v:\n%s want: %s", k.name, reschedule, g.Cycles, g.Limit, k.cycles, k.limit, g.Explain(nil), k.says)
			}
			if !reschedule {
				if got := s.issuer.run(&g.Graph).cycles; got != k.cycles { // without the bounds' help
					t.Errorf("%s: %v cycles executed", k.name, got)
				}
				// Without loop-carried dependences, units alone count.
				d := *k.d
				if open := s.ScheduleOnce(&d); open.Cycles != max(open.Bounds.Units, open.Bounds.Fetch, open.Bounds.Retire) || open.Bounds.Recurrence != 0 {
					t.Errorf("%s: %v cycles if it is no loop, bounds %+v", k.name, open.Cycles, open.Bounds)
				}
			}
			if reschedule {
				verify(t, wide(), &g.Graph, g.Slots)
			}
		}
	}
}

// TestWindow: independent iterations, each a chain, overlap as far as the window
// holds them. A chain of 16 adds of 4 cycles each, in order 64 cycles long,
// begins with the others of a window of w; by Little's law no more than w are
// under way on average.
func TestWindow(t *testing.T) {
	const n, latency = 16, 4
	var edges [][3]int
	for i := 1; i < n; i++ {
		edges = append(edges, [3]int{i - 1, i, 0})
	}
	d := loopOf(repeat(isa.FPAdd, n), edges...)
	before := 0.0
	for _, window := range []int{1, 16, 32, 64, 128, 256, 1024} {
		m := wide()
		m.Window = window
		s, err := New(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := s.ScheduleLoop(d)
		if before > 0 && g.Cycles > before {
			t.Errorf("a window of %d: %v cycles, a smaller one %v", window, g.Cycles, before)
		}
		before = g.Cycles
		switch window {
		case 1: // entering, adding, retiring, one after the other
			if g.Cycles != n*(latency+1) {
				t.Errorf("a window of 1: %v cycles, want %d", g.Cycles, n*(latency+1))
			}
		case 1024:
			if g.Cycles != n/2 || g.Limit != UnitBusy {
				t.Errorf("a window of 1024: %v cycles, %v, want those of 2 units: %d", g.Cycles, g.Limit, n/2)
			}
		case 32, 64:
			if g.Limit != WindowFull || g.Cycles < latency*n*n/float64(2*window) || g.Cycles > (latency*n+1)*n/float64(window)*2 {
				t.Errorf("a window of %d: %v cycles, %v", window, g.Cycles, g.Limit)
			}
		}
		t.Logf("window %d: %v cycles, %v", window, g.Cycles, g.Limit)
	}
}

// TestQueues demands that the resource that fills first is the limit. Each
// iteration is a chain of a load, an add, a divide and an add, of which many must
// be in flight at once.
func TestQueues(t *testing.T) {
	d := loopOf([]isa.Class{isa.FPLoad, isa.FPAdd, isa.FPDivide, isa.FPAdd}, [3]int{0, 1, 0}, [3]int{1, 2, 0}, [3]int{2, 3, 0})
	for i, n := range d.Nodes {
		n.AddDef(isa.F0 + isa.Reg(i))
	}
	d.Nodes[0].AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: isa.NoReg, Index: isa.NoReg})
	d.Nodes = again(d.Nodes)
	for name, c := range map[string]struct {
		change func(*machine.Core)
		least  float64
		limit  Limit
	}{
		"all": {func(*machine.Core) {}, 6, UnitBusy}, // 1 + 10 + 1 cycles on 2 units, dealt out as 8
		// A chain takes 27 cycles from its load to the end: 4 results need a
		// register each, of which 2 are free.
		"registers": {func(m *machine.Core) { m.FloatRegisters = 34 }, 20, NoRegister},
		// 1 load at a time, until it retires at least 4 cycles later.
		"load queue": {func(m *machine.Core) { m.LoadQueue = 1 }, 5, QueueFull},
		// The second add waits for 15 cycles at least, the others for 3 each.
		"scheduler": {func(m *machine.Core) {
			m.Queues = []machine.Queue{{Name: "all", Entries: 2, Classes: []isa.Class{isa.FPAdd, isa.FPDivide}}}
		}, (15 + 3 + 3) / 2, QueueFull},
	} {
		m := wide()
		c.change(m)
		s, err := New(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := s.ScheduleLoop(d)
		if g.Cycles < c.least || g.Limit != c.limit || name != "all" && g.Cycles <= 8 {
			t.Errorf("%s: %v cycles, want at least %v, %v:\n%s", name, g.Cycles, c.least, c.limit, g.Explain(nil))
		}
	}
}

// TestSlowStart executes a path whose start looks steady: the 16 iterations that a
// window of 64 holds enter and retire at one a cycle, but the next 16 do so only
// after 200 cycles.
func TestSlowStart(t *testing.T) {
	m := wide()
	m.Classes[isa.FPSqrt] = on(200, 1, "fp")
	s, err := New(m, Options{})
	if err != nil {
		t.Fatal(err)
	}
	g := s.ScheduleLoop(loopOf([]isa.Class{isa.FPSqrt, isa.ALU, isa.ALU, isa.ALU}))
	if g.Cycles < 200.0/16 || g.Cycles > 204.0/16 || g.Limit != WindowFull {
		t.Errorf("%v cycles, %v, want 200 to 204 for 16", g.Cycles, g.Limit)
	}
}
