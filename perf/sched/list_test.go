package sched

import (
	"math/rand/v2"
	"testing"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/machine"
)

// narrow returns a core with few units: at most 2 instructions a cycle, one
// adder, two multipliers of which one is shared with a divider that is busy for
// 3 cycles.
func narrow() *machine.Core {
	return &machine.Core{
		FetchWidth: 2, IssueWidth: 2, RetireWidth: 2,
		Units: []machine.Unit{{Name: "add", Count: 1}, {Name: "mul", Count: 1}, {Name: "div", Count: 1}},
		Classes: describe(map[string]machine.Timing{
			"alu": on(1, 1, "add"), "multiply": on(3, 1, "mul", "div"), "divide": on(4, 3, "div"), "nop": {},
			"load": {Latency: 2, Uses: []machine.Use{{AnyOf: []string{"add"}, Cycles: 1}, {AnyOf: []string{"mul", "div"}, Cycles: 2}}},
		}),
	}
}

var narrowClasses = []isa.Class{isa.ALU, isa.ALU, isa.Multiply, isa.Divide, isa.Load, isa.Nop}

// randomGraph returns a dependence graph of a few instructions of narrow's classes.
func randomGraph(rnd *rand.Rand, c *core, n int, closed bool) *Graph {
	d := new(access.Dependences)
	d.Target = rv64.Target()
	var insts []*isa.Inst
	for range n {
		insts = append(insts, &isa.Inst{Class: narrowClasses[rnd.IntN(len(narrowClasses))]})
	}
	d.Nodes = access.Nodes(insts)
	for range rnd.IntN(2*n + 1) {
		from, to := rnd.IntN(n), rnd.IntN(n)
		e := access.Dependence{From: min(from, to), To: max(from, to)}
		if closed && rnd.IntN(3) == 0 {
			e = access.Dependence{From: from, To: to, Distance: 1 + rnd.IntN(3)}
		}
		if e.From != e.To || e.Distance > 0 {
			d.Edges = append(d.Edges, e)
		}
	}
	return graphOf(c, d, closed)
}

// verify checks a schedule from nothing but the graph and the machine: every
// dependence, the width, and, cycle by cycle, every kind of unit. Of one with a
// period it lays many iterations over each other.
func verify(t *testing.T, m *machine.Core, g *Graph, s *Slots) {
	t.Helper()
	c, err := newCore(m)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range g.Edges {
		for k := range s.Iterations { // from copy k-distance, perhaps of an earlier group, to copy k
			from, back := k-e.Distance, 0
			for from < 0 {
				from, back = from+s.Iterations, back+1
			}
			a, b := from*len(g.Nodes)+e.From, k*len(g.Nodes)+e.To
			if s.Begin[b]+back*s.Period < s.Begin[a]+e.Latency {
				t.Fatalf("%v: instruction %d begins at %d, %d periods of %d after %d at %d", e, b, s.Begin[b], back, s.Period, a, s.Begin[a])
			}
		}
	}
	repeats, latest := 1, 0
	for _, at := range s.Begin {
		latest = max(latest, at)
	}
	if s.Period > 0 {
		repeats = 3 + (latest+100)/s.Period
	}
	begun, busy := make(map[int]int), make(map[[2]int]int)
	for r := range repeats {
		for i, at := range s.Begin {
			at += r * s.Period
			begun[at]++
			for u, use := range c.of(g.Nodes[i%len(g.Nodes)].Micro.Class).uses {
				kind := s.Kinds[i][u]
				if use.kinds>>kind&1 == 0 {
					t.Fatalf("instruction %d is on %s", i, m.Units[kind].Name)
				}
				for cycle := at; cycle < at+use.cycles; cycle++ {
					busy[[2]int{cycle, kind}]++
				}
			}
		}
	}
	for cycle, n := range begun {
		if n > m.IssueWidth {
			t.Fatalf("%d instructions begin in cycle %d", n, cycle)
		}
	}
	for at, n := range busy {
		if n > m.Units[at[1]].Count {
			t.Fatalf("%d units %s are occupied in cycle %d", n, m.Units[at[1]].Name, at[0])
		}
	}
}

// best finds the shortest schedule by trying all.
type best struct {
	c     *core
	g     *Graph
	begin []int
	least int
}

func (b *best) search(i int, units map[[2]int]int, begun map[int]int) {
	n := len(b.g.Nodes)
	if i == n {
		last := 0
		for _, at := range b.begin {
			last = max(last, at+1)
		}
		b.least = min(b.least, last)
		return
	}
	early := 0
	for _, e := range b.g.arrive[i] {
		edge := b.g.Edges[e]
		early = max(early, b.begin[edge.From]+edge.Latency)
	}
	for at := early; at+1 < b.least; at++ {
		if begun[at] < b.c.width {
			begun[at]++
			b.begin[i] = at
			b.place(i, 0, at, units, begun)
			begun[at]--
		}
	}
}

// place tries every unit for use u of instruction i.
func (b *best) place(i, u, at int, units map[[2]int]int, begun map[int]int) {
	uses := b.c.of(b.g.Nodes[i].Micro.Class).uses
	if u == len(uses) {
		b.search(i+1, units, begun)
		return
	}
	for kind := range b.c.names {
		if uses[u].kinds>>kind&1 == 0 {
			continue
		}
		fits := true
		for c := at; c < at+uses[u].cycles; c++ {
			units[[2]int{c, kind}]++
			fits = fits && units[[2]int{c, kind}] <= int(b.c.counts[kind])
		}
		if fits {
			b.place(i, u+1, at, units, begun)
		}
		for c := at; c < at+uses[u].cycles; c++ {
			units[[2]int{c, kind}]--
		}
	}
}

// TestListAgainstBest demands that list schedules are valid, never shorter than
// the bounds or the optimum, and hardly ever longer than the optimum.
func TestListAgainstBest(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	m := narrow()
	c, err := newCore(m)
	if err != nil {
		t.Fatal(err)
	}
	l := lister{core: c}
	const rounds = 400
	optimal, total, least := 0, 0, 0
	for range rounds {
		g := randomGraph(rnd, c, 2+rnd.IntN(5), false)
		s := l.list(g)
		verify(t, m, g, s)
		b := best{c: c, g: g, begin: make([]int, len(g.Nodes)), least: s.Length() + 1}
		b.search(0, make(map[[2]int]int), make(map[int]int))
		if s.Length() < b.least {
			t.Fatalf("a schedule of %d cycles, the best has %d", s.Length(), b.least)
		}
		bounds := c.bound(g)
		if float64(b.least) < bounds.Issue {
			t.Fatalf("the best has %d cycles, bounds %+v", b.least, bounds)
		}
		if s.Length() == b.least {
			optimal++
		}
		total, least = total+s.Length(), least+b.least
	}
	t.Logf("%d of %d are the best, %.2f%% longer on average", optimal, rounds, 100*(float64(total)/float64(least)-1))
	if optimal < rounds*8/10 {
		t.Errorf("%d of %d list schedules are the best", optimal, rounds)
	}
}

// TestModulo demands that modulo schedules are valid, and that their interval is no
// less than the bounds, and mostly the least that whole cycles allow.
func TestModulo(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 2))
	m := narrow()
	c, err := newCore(m)
	if err != nil {
		t.Fatal(err)
	}
	l := lister{core: c}
	const rounds = 1000
	least := 0
	for range rounds {
		g := randomGraph(rnd, c, 1+rnd.IntN(12), true)
		bounds := c.bound(g)
		s := l.modulo(g, &bounds, 4)
		verify(t, m, g, s)
		bound := bounds.Max()
		if got := float64(s.Period) / float64(s.Iterations); got < bound*(1-roundoff) {
			t.Fatalf("an interval of %g, bounds %+v", got, bounds)
		}
		if s.Period == max(1, wholeCycles(bound*float64(s.Iterations))) {
			least++
		}
	}
	t.Logf("%d of %d have the least interval", least, rounds)
	if least < rounds*9/10 { // Rau 1995, section 4: 96% of loops
		t.Errorf("%d of %d modulo schedules have the least interval", least, rounds)
	}
}

// TestBounds compares the bounds with what trying everything gives: the units'
// with every set of units, the recurrence's with every simple cycle.
func TestBounds(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 3))
	c, err := newCore(narrow())
	if err != nil {
		t.Fatal(err)
	}
	carried := 0
	for range 1000 {
		g := randomGraph(rnd, c, 1+rnd.IntN(7), true)
		b := c.bound(g)
		if want := unitsOfEverySet(c, g); b.Units != want {
			t.Fatalf("units %g, want %g", b.Units, want)
		}
		want := 0.0
		for start := range g.Nodes {
			everyCycle(g, start, start, 0, 0, make([]bool, len(g.Nodes)), &want)
		}
		if b.Recurrence != want {
			t.Fatalf("recurrence %g, want %g: %v", b.Recurrence, want, g.Edges)
		}
		if want > 0 {
			carried++
		}
		latency, distance := 0, 0
		for i, e := range b.Critical {
			edge, next := g.Edges[e], g.Edges[b.Critical[(i+1)%len(b.Critical)]]
			latency, distance = latency+edge.Latency, distance+edge.Distance
			if edge.To != next.From {
				t.Fatalf("edges %v of %v are no cycle", b.Critical, g.Edges)
			}
		}
		if len(b.Critical) > 0 && float64(latency)/float64(distance) != b.Recurrence {
			t.Fatalf("the critical cycle has %d/%d, not %g", latency, distance, b.Recurrence)
		}
	}
	if carried < 300 {
		t.Errorf("only %d graphs have recurrences", carried)
	}
}

func unitsOfEverySet(c *core, g *Graph) float64 {
	most := 0.0
	for set := uint64(1); set < 1<<len(c.names); set++ {
		cycles, units := 0.0, 0.0
		for _, in := range g.Nodes {
			for _, u := range c.of(in.Class).uses {
				if u.kinds&^set == 0 {
					cycles += float64(u.cycles)
				}
			}
		}
		for k := range c.names {
			if set>>k&1 != 0 {
				units += float64(c.counts[k])
			}
		}
		most = max(most, cycles/units)
	}
	return most
}

func everyCycle(g *Graph, start, at, latency, distance int, on []bool, most *float64) {
	for _, e := range g.Edges {
		if e.From != at {
			continue
		}
		l, d := latency+e.Latency, distance+e.Distance
		if e.To == start {
			*most = max(*most, float64(l)/float64(d))
		} else if e.To > start && !on[e.To] {
			on[e.To] = true
			everyCycle(g, start, e.To, l, d, on, most)
			on[e.To] = false
		}
	}
}
