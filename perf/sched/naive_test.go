package sched

import (
	"math/rand/v2"
	"slices"
	"testing"

	"presage/perf/isa"
	"presage/perf/machine"
)

// naive executes a path repeatedly, examining every instruction in every cycle, and
// records when each begins and retires. It chooses units in the same order of
// preference.
type naive struct {
	c                       *core
	g                       *Graph
	order                   []int
	begun, entered, retired []int // cycles, -1 for not yet
	busy                    map[[2]int]int
	now                     int
}

func newNaive(c *core, g *Graph, executions int) *naive {
	s := &naive{c: c, g: g, order: preference(nil, c, g), busy: make(map[[2]int]int)}
	for range executions * len(g.Nodes) {
		s.begun, s.entered, s.retired = append(s.begun, -1), append(s.entered, -1), append(s.retired, -1)
	}
	return s
}

func (s *naive) inst(i int) *isa.Inst { return s.g.Nodes[i%len(s.g.Nodes)].Inst }

// operands reports whether the operands of an instruction are ready.
func (s *naive) operands(i int) bool {
	n := len(s.g.Nodes)
	for _, e := range s.g.Edges {
		from := i/n*n + e.From - e.Distance*n
		if e.To == i%n && from >= 0 && (s.begun[from] < 0 || s.begun[from]+e.Latency > s.now) {
			return false
		}
	}
	return true
}

// begin has an instruction begin in this cycle if its units are free.
func (s *naive) begin(i int) bool {
	var took [][2]int
	for _, u := range s.c.of(s.inst(i).Class).uses {
		k := slices.IndexFunc(s.order, func(k int) bool {
			return u.kinds>>k&1 != 0 && s.busy[[2]int{s.now, k}] < int(s.c.counts[k])
		})
		if k < 0 {
			for _, at := range took {
				s.busy[at]--
			}
			return false
		}
		for c := range u.cycles {
			at := [2]int{s.now + c, s.order[k]}
			s.busy[at]++
			took = append(took, at)
		}
	}
	s.begun[i] = s.now
	return true
}

func (s *naive) inOrder() {
	for next := 0; next < len(s.begun); s.now++ {
		for n := 0; n < s.c.width && next < len(s.begun) && s.operands(next) && s.begin(next); n++ {
			next++
		}
	}
}

func (s *naive) outOfOrder() {
	in, out := 0, 0
	for ; out < len(s.begun); s.now++ {
		for n := 0; n < s.c.retire && out < in && s.begun[out] >= 0 && s.begun[out]+s.c.of(s.inst(out).Class).latency <= s.now; n++ {
			s.retired[out] = s.now
			out++
		}
		for i, n := out, 0; i < in && n < s.c.issue; i++ {
			if s.begun[i] < 0 && s.entered[i] < s.now && s.operands(i) && s.begin(i) {
				n++
			}
		}
		for n := 0; n < s.c.fetch && in < len(s.begun) && s.room(out, in); n++ {
			s.entered[in] = s.now
			in++
		}
	}
}

// room counts what the window and the queues hold.
func (s *naive) room(out, in int) bool {
	if s.c.window > 0 && in-out >= s.c.window {
		return false
	}
	loads, results, waiting := 0, 0, 0
	q := s.c.queueOf[s.inst(in).Class]
	for i := out; i < in; i++ {
		if s.inst(i).Accesses() {
			loads++
		}
		results += len(s.inst(i).Defs())
		if s.begun[i] < 0 && s.c.queueOf[s.inst(i).Class] == q {
			waiting++
		}
	}
	full := func(have, size int) bool { return size > 0 && have >= size }
	return !(s.inst(in).Accesses() && full(loads, s.c.loads)) &&
		!(len(s.inst(in).Defs()) > 0 && full(results, max(s.c.intRegs-32, 0))) &&
		!(q >= 0 && full(waiting, s.c.queues[q]))
}

// ahead is how many more executions are simulated than compared: younger
// instructions occupy units, too.
const ahead = 120

// TestAgainstNaive demands that, in order and out of order, on cores of all sizes,
// every instruction of random paths begins and retires in the same cycle as in the
// naive simulation.
func TestAgainstNaive(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	rnd := rand.New(rand.NewPCG(8, 9))
	for round := range 1000 {
		m := narrow()
		m.InOrder = round%2 == 0
		m.FetchWidth, m.IssueWidth, m.RetireWidth = 1+rnd.IntN(4), 1+rnd.IntN(4), 1+rnd.IntN(4)
		m.Window, m.LoadQueue = rnd.IntN(20), rnd.IntN(4)
		if rnd.IntN(3) == 0 {
			m.Window = 100
		}
		if rnd.IntN(2) == 0 {
			m.IntRegisters = 33 + rnd.IntN(8)
		}
		if rnd.IntN(2) == 0 {
			m.Queues = []machine.Queue{{Entries: 1 + rnd.IntN(6), Classes: []isa.Class{isa.ALU, isa.Load}}, {Entries: 1 + rnd.IntN(6), Classes: []isa.Class{isa.Divide}}}
		}
		s, err := New(m, Options{})
		if err != nil {
			t.Fatal(err)
		}
		g := randomGraph(rnd, s.core, 1+rnd.IntN(10), true)
		for _, n := range g.Nodes {
			if n.Class == isa.Load {
				n.AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: isa.NoReg, Index: isa.NoReg})
			}
			if n.Class != isa.Nop {
				n.AddDef(5)
			}
		}
		g.Nodes = again(g.Nodes)
		out := s.schedule(g)
		is := &s.issuer
		want := newNaive(s.core, g, is.done/is.n+ahead)
		if m.InOrder {
			want.inOrder()
		} else {
			want.outOfOrder()
		}
		for i := range is.done {
			if int(is.x[i]) != want.begun[i] || !m.InOrder && (int(is.r[i]) != want.retired[i] || int(is.d[i]) != want.entered[i]) {
				t.Fatalf("round %d, %+v: instruction %d of %d begins at %d, naively %d", round, m, i, is.n, is.x[i], want.begun[i])
			}
		}
		settles(t, out, s.core, g, is.done/is.n)
	}
}

// settles demands that a pattern found to repeat goes on repeating.
func settles(t *testing.T, out *Segment, c *core, g *Graph, executions int) {
	t.Helper()
	if out.Period == 0 {
		return
	}
	more := 10 * out.Period
	s := newNaive(c, g, executions+more+ahead)
	if c.inOrder {
		s.inOrder()
	} else {
		s.outOfOrder()
	}
	n := len(g.Nodes)
	last := len(s.begun) - 1 - ahead*n
	if got := float64(s.begun[last]-s.begun[last-more*n]) / float64(more); got != out.Cycles {
		t.Fatalf("%v cycles, later %v", out.Cycles, got)
	}
}
