package sched

import (
	"math"
	"testing"

	"presage/perf/access"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/machine"
)

// TestEntriesOverlap holds the time of an entry against what follows from a window
// alone: with nothing else that limits, a chain of T iterations of c cycles begins when
// its first instruction comes into the window, that is, when the instruction a window
// before retires. A window of w = qT + r iterations, r < T, holds that of the entry q+1
// before; it retires with its iteration, or with the end of the entry before it. So
// entries are T·c·max((1 - r/T)/(q+1), 1/(q+2)) cycles apart (derived here), up to a
// few cycles in which instructions come in, begin and retire.
func TestEntriesOverlap(t *testing.T) {
	const window, nodes, latency = 64, 4, 10
	core := &machine.Core{
		Window:  window,
		Units:   []machine.Unit{{Name: "any", Count: 64}},
		Classes: describe(map[string]machine.Timing{"alu": on(1, 1, "any"), "multiply": on(latency, 1, "any")}),
	}
	s, err := New(core, Options{})
	if err != nil {
		t.Fatal(err)
	}
	insts := []*isa.Inst{{Class: isa.Multiply}}
	for range nodes - 1 {
		insts = append(insts, &isa.Inst{Class: isa.ALU})
	}
	d := &access.Dependences{Target: rv64.Target(), Nodes: access.Nodes(insts)}
	d.Edges = []access.Dependence{{From: 0, To: 0, Distance: 1}}
	seg := s.ScheduleLoop(d)
	if seg.Cycles != latency {
		t.Fatalf("an iteration takes %g cycles, want %d", seg.Cycles, latency)
	}
	const w = window / nodes
	for trips := 2; trips <= 3*w; trips++ {
		q, r := float64(w/trips), float64(w%trips)
		whole := float64(trips) * latency
		want := whole * max((1-r/float64(trips))/(q+1), 1/(q+2))
		if got := s.entry(seg, entryKey{iterations: trips}); math.Abs(got-want) > 4+0.1*want || got > whole+4 {
			t.Errorf("%d iterations: entries %g cycles apart, want about %g", trips, got, want)
		}
	}
	// Of a long loop little overlaps: a window's worth of iterations.
	e := &entries{entries: 10, closes: 10 * (40*w - 1), last: 1}
	if got := s.iteration(seg, e); got > latency || got < 0.95*latency {
		t.Errorf("an iteration of a long loop takes %g cycles", got)
	}
}
