package cfg

import (
	"math"
	"reflect"
	"slices"
	"testing"

	"presage/perf/trace"
)

// truth is what the counts of a routine should be, from the walk itself.
func (w *walk) truth(r *Routine) *RoutineCounts {
	c := &RoutineCounts{
		Blocks: make([]uint64, len(r.Blocks)), Edges: make([]uint64, len(r.Edges)), Entries: make([]uint64, len(r.Entries)),
		Left: make([]uint64, len(r.Blocks)), Stopped: make([]uint64, len(r.Blocks)),
	}
	for b := range r.Blocks {
		block := &r.Blocks[b]
		c.Blocks[b] = w.executed[trace.PC(block.PC())]
		c.Stopped[b] = w.breaks[trace.PC(block.Last().PC)].Broke
	}
	edge := func(b int, e trace.Edge) int {
		for _, i := range r.Blocks[b].Succs {
			if r.Edges[i].Kind != CallReturn && r.Blocks[r.Edges[i].To].PC() == uint64(e.To) {
				return i
			}
		}
		return -1
	}
	for _, moves := range []map[trace.Edge]uint64{w.direct, w.indirect} {
		for e, n := range moves {
			along := -1
			from, inst := r.BlockAt(uint64(e.From))
			if from >= 0 && inst == len(r.Blocks[from].Insts)-1 {
				if along = edge(from, e); along >= 0 {
					c.Edges[along] += n
				} else {
					c.Left[from] += n
				}
			}
			to := r.startingAt(uint64(e.To))
			if to < 0 || along >= 0 {
				continue
			}
			returns := slices.IndexFunc(r.Edges, func(e Edge) bool { return e.To == to && e.Kind == CallReturn })
			entry := slices.Index(r.Entries, to)
			_, byJump := w.indirect[e]
			if returns >= 0 && byJump {
				c.Edges[returns] += n
			} else if entry >= 0 {
				c.Entries[entry] += n
			}
		}
	}
	return c
}

// cycles returns the number of counters that a flow system needs besides those of
// escapes: edges - vertices + connected components.
func (s *flowSystem) cycles() int {
	vertices := 1 + 2*len(s.r.Blocks)
	at := make([]int, vertices)
	for v := range at {
		at[v] = v
	}
	edges, components := 0, vertices
	for _, a := range s.arcs {
		if a.escapes {
			continue
		}
		edges++
		if from, to := at[a.from], at[a.to]; from != to {
			components--
			for v := range at {
				if at[v] == from {
					at[v] = to
				}
			}
		}
	}
	return edges - vertices + components
}

// heaviest checks that the spanning forest has maximum weight: no arc with a
// counter is heavier than a tree arc that it could replace.
func heaviest(t *testing.T, s *flowSystem, entries map[uint64]bool) {
	t.Helper()
	b := systemBuilder{flowSystem: &flowSystem{r: s.r}, w: s.r.Weigh(), entries: entries}
	b.build()
	up := make(map[int32]int32) // from a vertex, the arc towards the root
	for _, o := range s.order {
		up[o.vertex] = o.arc
	}
	path := func(v int32) (arcs []int32) {
		for {
			arc, ok := up[v]
			if !ok {
				return arcs
			}
			arcs = append(arcs, arc)
			v = s.arcs[arc].from + s.arcs[arc].to - v
		}
	}
	for i, a := range s.arcs {
		if a.counter == inTree || a.escapes {
			continue
		}
		from, to := path(a.from), path(a.to)
		for len(from) > 0 && len(to) > 0 && from[len(from)-1] == to[len(to)-1] {
			from, to = from[:len(from)-1], to[:len(to)-1]
		}
		for _, k := range append(from, to...) {
			if s.arcs[k].countable() && b.weights[k] < b.weights[i] {
				t.Fatalf("arc %+v with weight %g has a counter, not %+v with weight %g", a, b.weights[i], s.arcs[k], b.weights[k])
			}
		}
	}
}

// balanced checks the equations in the comment of RoutineCounts.
func balanced(t *testing.T, r *Routine, c *RoutineCounts) {
	t.Helper()
	for b := range r.Blocks {
		in, out := uint64(c.Came[b]), c.Left[b]+c.Stopped[b]
		for _, e := range r.Blocks[b].Preds {
			in += c.Edges[e]
		}
		for _, e := range r.Blocks[b].Succs {
			if r.Edges[e].Kind != CallReturn {
				out += c.Edges[e]
			}
		}
		if i := slices.Index(r.Entries, b); i >= 0 {
			in += c.Entries[i]
		}
		n := c.Blocks[b]
		if in != n {
			t.Errorf("block %d: executed %d times, %d came", b, n, in)
		}
		for _, s := range c.Steps {
			if s.Block == b {
				n += uint64(s.Delta)
			}
		}
		if out != n {
			t.Errorf("block %d: %d at its end, %d went", b, n, out)
		}
	}
}

// TestCountersOfRandomPrograms recovers the counts of walks through random
// programs, reducible or not, and compares them with the walks themselves.
func TestCountersOfRandomPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	var executions, counters, edges, steps, irreducible, roots, escapes, tables, jumps int
	for seed := range uint64(3000) {
		j := newJungle(seed)
		p := j.program()
		w := j.wander(100 + j.IntN(1500))
		for _, c := range []*Counters{PlaceCounters(p), countEverything(p)} {
			plan := &trace.Plan{Flow: c.Plan}
			if err := plan.Check(); err != nil {
				t.Fatalf("program %d: %v", seed, err)
			}
			f := w.flow(c.Plan)
			n, err := c.Recover(f)
			if err != nil {
				t.Fatalf("program %d: %v", seed, err)
			}
			for i, r := range p.Routines {
				got, want := &n.Routines[i], w.truth(r)
				balanced(t, r, got)
				for b := range r.Blocks {
					for k, n := range got.Insts(nil, r, b) {
						if want := w.executed[trace.PC(r.Blocks[b].Insts[k].PC)]; n != want {
							t.Errorf("pc %#x was executed %d times, want %d", r.Blocks[b].Insts[k].PC, n, want)
						}
					}
				}
				steps += len(got.Steps)
				want.Came, want.Steps = got.Came, got.Steps // by the equations
				if !reflect.DeepEqual(got, want) {
					t.Errorf("got %+v\nwant %+v", got, want)
				}
				for _, l := range r.Loops {
					irreducible += boolInt(l.Irreducible)
				}
			}
			if t.Failed() {
				t.Fatalf("program %d", seed)
			}
			escapes += len(c.escapes)
			jumps += len(c.Plan.Jumps)
		}
		if all := countEverything(p).Plan; len(all.Quiet) > 0 || len(all.Jumps) != j.indirectJumps() {
			t.Fatalf("program %d: everything is %+v", seed, all)
		}
		c := PlaceCounters(p)
		if again := PlaceCounters(p); !reflect.DeepEqual(again.Plan, c.Plan) {
			t.Fatalf("program %d: plan %+v, then %+v", seed, c.Plan, again.Plan)
		}
		for _, r := range p.Routines {
			w := r.Weigh()
			for _, x := range slices.Concat(w.Blocks, w.Edges, w.Leaves) {
				if !(x >= 0 && x < math.Inf(1)) {
					t.Fatalf("program %d: weights %+v", seed, w)
				}
			}
		}
		s := c.Savings(nil, nil)
		want := len(c.escapes)
		for i := range c.routines {
			sys := &c.routines[i]
			want += sys.cycles()
			heaviest(t, sys, j.entries)
			roots += len(sys.roots)
			for _, a := range sys.arcs {
				tables += boolInt(a.kind == tableArc)
			}
		}
		if s.Counters != want {
			t.Fatalf("program %d: %d counters, edges - vertices + components = %d", seed, s.Counters, want)
		}
		counters, edges = counters+s.Counters, edges+s.Edges
		executions += len(w.executed)
	}
	t.Logf("%d places executed, %d counters for %d edges, %d partial executions, %d irreducible loops, %d equations to spare, %d escapes, %d edges of tables, %d jumps",
		executions, counters, edges, steps, irreducible, roots, escapes, tables, jumps)
	for _, n := range []int{executions, counters, steps, irreducible, roots, escapes, tables, jumps} {
		if n < 1000 {
			t.Error("the programs do too little")
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
