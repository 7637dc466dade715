package sched

import (
	"encoding/binary"
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
	"presage/perf/machine"
)

// Options say how code is scheduled. With the zero value the core executes the
// instructions in program order, as its hardware executes the binary at hand.
type Options struct {
	// Reschedule puts the instructions of each path in the best order found for
	// the core, as a compiler for it could have: list scheduling of straight
	// paths, modulo scheduling of innermost loops. It is what the paper does to
	// predict machines other than the compiler's target. It ignores the limits
	// of windows, queues and registers.
	Reschedule bool

	// Pessimistic assumes that memory references with unknown addresses are
	// dependent; the default is to assume that they are independent.
	Pessimistic bool

	// OrderedWrites has an in-order core delay instructions so that results are
	// written in program order, as llvm-mca does. The default lets a short
	// instruction's result overtake a long one's.
	OrderedWrites bool

	// MaxUnroll is the maximum number of iterations that modulo scheduling may
	// unroll to approach a fractional interval; 0 means 4.
	MaxUnroll int

	Paths PathOptions
}

const defaultMaxUnroll = 4

// Scheduler schedules paths for a core. It is not safe for concurrent use.
type Scheduler struct {
	core   *core
	opt    Options
	issuer issuer
	lister lister
	known  *known
}

// known caches the scheduled segments of a program: the time of a segment does not
// depend on how often it is executed, so other frequencies of the same program need
// few further segments.
type known struct {
	of       *access.Analysis
	segments []map[string]*Segment // by routine
}

// New returns a scheduler for a core.
func New(m *machine.Core, opt Options) (*Scheduler, error) {
	c, err := newCore(m)
	if err != nil {
		return nil, err
	}
	if opt.MaxUnroll <= 0 {
		opt.MaxUnroll = defaultMaxUnroll
	}
	s := Scheduler{core: c, opt: opt, known: new(known)}
	return s.clone(), nil
}

// clone returns a scheduler for the same core with memory of its own.
func (s *Scheduler) clone() *Scheduler {
	return &Scheduler{core: s.core, opt: s.opt, issuer: issuer{core: s.core, opt: s.opt}, lister: lister{core: s.core}, known: s.known}
}

// Units names the kinds of units of the core.
func (s *Scheduler) Units() []string { return s.core.names }

// Segment is a part of a path that is scheduled as a unit: up to a call or an
// inner loop.
type Segment struct {
	Graph

	// Cycles is the time that each of many executions adds: they overlap, and
	// the iterations of a loop depend on each other. A segment that is not an
	// iteration is taken to be surrounded by independent work of its own kind.
	Cycles float64

	// Alone is the time of one execution from its first instruction's beginning
	// to its last result.
	Alone int

	Bounds Bounds

	// Limit is what keeps Cycles from being less. Causes, unless the segment was
	// rescheduled, is the breakdown of the waits: see Cause.
	Limit  Limit
	Causes []Cause

	// Units is the time that one execution occupies units, by kind.
	Units []float64

	// Slots is the schedule, if the segment was rescheduled.
	Slots *Slots

	// Period is the number of executions after which everything repeats, unless
	// rescheduled; 0 if none was found, in which case Cycles is an average.
	Period int

	// Pairs counts the pairs of memory references with at least one store, and
	// Unknown those whose dependence is not known.
	Pairs, Unknown int

	entries map[entryKey]float64 // cycles; see Scheduler.entry
}

// ScheduleLoop schedules the dependence graph of a loop, whose iterations follow
// each other, with the latencies of the core. It panics if the graph is empty.
func (s *Scheduler) ScheduleLoop(d *access.Dependences) *Segment { return s.segment(d, true) }

// ScheduleOnce is ScheduleLoop for code whose executions do not follow each other.
func (s *Scheduler) ScheduleOnce(d *access.Dependences) *Segment { return s.segment(d, false) }

func (s *Scheduler) segment(d *access.Dependences, closed bool) *Segment {
	out := s.schedule(graphOf(s.core, d, closed))
	out.Pairs, out.Unknown = d.Independent+d.Dependent+d.Unknown, d.Unknown
	return out
}

func (s *Scheduler) schedule(g *Graph) *Segment {
	if len(g.Nodes) == 0 {
		panic("sched: schedule of no instructions")
	}
	out := &Segment{Graph: *g, Bounds: s.core.bound(g), Units: make([]float64, len(s.core.names))}
	if s.opt.Reschedule {
		s.reschedule(out)
	} else {
		s.asCompiled(out)
	}
	return out
}

func (s *Scheduler) asCompiled(out *Segment) {
	is := &s.issuer
	end := is.run(&out.Graph)
	out.Cycles, out.Period, out.Alone = max(end.cycles, out.Bounds.Max()), end.period, end.alone
	out.Causes = is.critical(out.Cycles)
	out.Limit = out.limit(is.stopped())
	out.Units = is.occupied()
}

func (s *Scheduler) reschedule(out *Segment) {
	l := &s.lister
	if out.Closed {
		out.Slots = l.modulo(&out.Graph, &out.Bounds, s.opt.MaxUnroll)
		out.Cycles = float64(out.Slots.Period) / float64(out.Slots.Iterations)
	} else {
		out.Slots = l.list(&out.Graph)
		out.Cycles = float64(out.Slots.Length())
	}
	n := len(out.Nodes)
	for k, begin := range out.Slots.Begin {
		tm := s.core.of(out.Nodes[k%n].Micro.Class)
		if k < n {
			out.Alone = max(out.Alone, begin+tm.latency, begin+1)
		}
		for u, kind := range out.Slots.Kinds[k] {
			out.Units[kind] += tm.uses[u].exact / float64(out.Slots.Iterations)
		}
	}
	out.Limit = out.limit(NoLimit)
}

// near is the ratio to a bound up to which a time counts as limited by it.
const near = 1.02

// limit returns what limits a segment: the greatest of the bounds, if the time is
// near it, or else what kept instructions from entering the window, or else the
// longest wait.
func (g *Segment) limit(stopped Limit) Limit {
	b := &g.Bounds
	for _, c := range []struct {
		bound float64
		limit Limit
	}{{b.Recurrence, Recurrence}, {b.Units, UnitBusy}, {b.Issue, IssueWidth}, {b.Fetch, FetchWidth}, {b.Retire, RetireWidth}} {
		if c.bound > 0 && c.bound >= b.Max() && g.Cycles <= c.bound*near {
			return c.limit
		}
	}
	switch {
	case stopped != NoLimit:
		return stopped
	case len(g.Causes) > 0:
		return g.Causes[0].Limit
	case g.Slots != nil && g.Slots.Period == 0 && g.Alone <= int(float64(b.Chain)*near):
		return Latency
	}
	return ProgramOrder
}

// segments schedules the parts of a path between calls and inner loops one by one,
// since nothing overlaps with these. A path that closes a loop and has only one
// part is an iteration that is followed by itself. Parts scheduled before are taken
// from known, which belongs to the same routine.
func (s *Scheduler) segments(a *access.Analysis, p *Path, known map[string]*Segment) []*Segment {
	parts, whole := p.parts(a.Program.Routines[p.Routine])
	var list []*Segment
	for _, blocks := range parts {
		loop := -1
		if whole && p.End == Closes {
			loop = p.Loop
		}
		key := keyOf(loop, p.First, blocks)
		seg := known[key]
		if seg == nil {
			d := a.Dependences(p.Routine, loop, blocks, access.DependenceOptions{Pessimistic: s.opt.Pessimistic})
			cut(d, p.First)
			seg = s.segment(d, loop >= 0)
			known[key] = seg
		}
		list = append(list, seg)
	}
	return list
}

// parts cuts a path after calls and at inner loops. whole says that nothing was cut.
func (p *Path) parts(r *cfg.Routine) (parts [][]int, whole bool) {
	whole = true
	var part []int
	end := func() {
		if len(part) > 0 {
			parts = append(parts, part)
			part = nil
		}
	}
	for _, n := range p.Nodes {
		if n.Block < 0 {
			whole = false
			end()
			continue
		}
		part = append(part, n.Block)
		if r.Blocks[n.Block].Last().Class == isa.Call {
			whole = false
			end()
		}
	}
	end()
	return parts, whole
}

func keyOf(loop, first int, blocks []int) string {
	key := binary.AppendVarint(nil, int64(loop))
	key = binary.AppendVarint(key, int64(first))
	for _, b := range blocks {
		key = binary.AppendVarint(key, int64(b))
	}
	return string(key)
}

// cut removes the first instructions from a dependence graph.
func cut(d *access.Dependences, first int) {
	if first == 0 {
		return
	}
	first = slices.IndexFunc(d.Nodes, func(n access.Node) bool { return n.At >= first })
	d.Nodes = d.Nodes[first:]
	kept := d.Edges[:0]
	for _, e := range d.Edges {
		if e.From >= first && e.To >= first {
			e.From, e.To = e.From-first, e.To-first
			kept = append(kept, e)
		}
	}
	d.Edges = kept
}
