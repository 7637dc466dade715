package sched

import (
	"math"
	"slices"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/isa"
)

// The iterations of an innermost loop that a recurrence limits leave most of the core
// idle. If the loop is entered again before they have left the window, and the
// recurrence starts anew, an out-of-order core executes iterations of both entries at
// once, which the steady state of the loop alone does not show: a dot product of 20
// elements for each row of a triangle takes half as long as 20 of its iterations. So
// entries are simulated: the iterations as straight-line code, then the code of the
// loop outward, surrounded by independent copies of both.

// overlapEntries lowers the time of paths that close innermost loops by what successive
// entries overlap. list are all paths of a routine. Each entry is taken to have the mean
// number of iterations. Loops between whose entries a routine is called, or another
// loop executed, keep the time of the steady state.
func (s *Scheduler) overlapEntries(r *cfg.Routine, list []PathCost) {
	if s.core.inOrder || s.opt.Reschedule || s.core.window <= 0 {
		return
	}
	for l := range r.Loops {
		around, ok := surroundings(r, list, l)
		if !ok {
			continue
		}
		e := entriesOf(list, l)
		e.around = around
		if e.entries <= 0 || e.closes <= 0 {
			continue
		}
		for _, p := range e.closing {
			if seg := p.Segments[0]; seg.Bounds.Recurrence > seg.throughput() && restarts(r, l, seg) {
				p.Cycles = s.iteration(seg, &e)
			}
		}
	}
}

// around is the code before and after a loop on the path of the next loop outward; nil
// where there is none.
type around [2]*Segment

// usual is the share of a loop's iterations that one path has to make for the others
// not to matter.
const usual = 0.9

// surroundings returns the code around an innermost loop. It reports false if the loop
// is in no other one, or if that does not go from one entry to the next by one path
// without calls and other loops.
func surroundings(r *cfg.Routine, list []PathCost, loop int) (around, bool) {
	parent := r.Loops[loop].Parent
	if parent < 0 {
		return around{}, false
	}
	var main *PathCost
	closes := 0.0
	for i := range list {
		p := &list[i]
		if p.Loop != parent || p.End != Closes {
			continue
		}
		closes += p.Frequency
		if main == nil || p.Frequency > main.Frequency {
			main = p
		}
	}
	if main == nil || main.Frequency < usual*closes || len(main.Segments) > len(around{}) {
		return around{}, false
	}
	entered := false
	for _, n := range main.Nodes {
		switch {
		case n.Block >= 0 && r.Blocks[n.Block].Last().Class == isa.Call, n.Block < 0 && n.Loop != loop:
			return around{}, false
		case n.Block < 0:
			entered = true
		}
	}
	var out around
	copy(out[:], main.Segments)
	return out, entered
}

// entries are how often a loop is entered and goes on, and what the ends of the entries
// take on average.
type entries struct {
	entries, closes float64
	last            float64     // cycles
	closing         []*PathCost // whole iterations
	around          around
}

func entriesOf(list []PathCost, loop int) (e entries) {
	for i := range list {
		p := &list[i]
		switch {
		case p.Loop != loop || p.End == Remains || p.End == Partial:
		case p.End != Closes:
			e.entries += p.Frequency
			e.last += p.Total()
		default:
			e.closes += p.Frequency
			if len(p.Segments) == 1 && p.Segments[0].Closed {
				e.closing = append(e.closing, p)
			}
		}
	}
	if e.entries > 0 {
		e.last /= e.entries
	}
	return e
}

// throughput returns the greatest bound on an iteration other than recurrences.
func (g *Segment) throughput() float64 {
	return max(g.Bounds.Fetch, g.Bounds.Issue, g.Bounds.Retire, g.Bounds.Units)
}

// windowsOfEntry is the length of an entry, in windows, from which on each further
// iteration takes the time of the steady state.
const windowsOfEntry = 4

// iteration returns the time of an iteration that is followed by another one.
func (s *Scheduler) iteration(seg *Segment, e *entries) float64 {
	trips := e.closes/e.entries + 1
	most := max(2, windowsOfEntry*s.core.window/len(seg.Nodes))
	whole := int(math.Min(trips, float64(most)))
	cycles := s.entry(seg, entryKey{whole, e.around})
	if rest := trips - float64(whole); whole == most {
		cycles += rest * seg.Cycles
	} else if rest > 0 {
		cycles += rest * (s.entry(seg, entryKey{whole + 1, e.around}) - cycles)
	}
	for _, other := range e.around {
		if other != nil {
			cycles -= other.Cycles
		}
	}
	return min(max((cycles-e.last)/(trips-1), seg.throughput()), seg.Cycles)
}

// entryKey is what the time of an entry depends on beside the loop.
type entryKey struct {
	iterations int
	around     around
}

// entry returns the time that each of many entries of a loop adds, with the code around
// it. It is kept with the segment.
func (s *Scheduler) entry(seg *Segment, key entryKey) float64 {
	if cycles, ok := seg.entries[key]; ok {
		return cycles
	}
	g := &Graph{Target: seg.Target}
	for k := range key.iterations {
		g.append(&seg.Graph, key.iterations-1-k)
	}
	for _, other := range key.around {
		if other != nil {
			g.append(&other.Graph, 0)
		}
	}
	g.index()
	bounds := s.core.bound(g)
	cycles := max(s.issuer.run(g).cycles, bounds.Max())
	if seg.entries == nil {
		seg.entries = make(map[entryKey]float64)
	}
	seg.entries[key] = cycles
	return cycles
}

// append adds an iteration of a loop, with its dependences up to the given distance,
// which lead to iterations that are yet to be added.
func (g *Graph) append(iteration *Graph, distance int) {
	first, n := len(g.Nodes), len(iteration.Nodes)
	g.Nodes = append(g.Nodes, iteration.Nodes...)
	for _, e := range iteration.Edges {
		if e.Distance <= distance {
			e.From, e.To, e.Distance = first+e.From, first+e.To+e.Distance*n, 0
			g.Edges = append(g.Edges, e)
		}
	}
}

// restarts reports whether the recurrence that limits an innermost loop starts anew at
// each entry: it passes through memory, where the next entry is elsewhere, or through a
// register that the code of the next loop outward sets to something else.
func restarts(r *cfg.Routine, loop int, seg *Segment) bool {
	for _, e := range seg.Bounds.Critical {
		edge := &seg.Edges[e]
		if edge.Distance > 0 && (edge.throughMemory() || setAround(r, loop, &seg.Nodes[edge.From], &seg.Nodes[edge.To])) {
			return true
		}
	}
	return false
}

// setAround reports whether an instruction around a loop sets a register through which
// from passes a value to to, and does not read it.
func setAround(r *cfg.Routine, loop int, from, to *access.Node) bool {
	for _, reg := range from.Defs() {
		if !slices.Contains(to.Uses(), reg) {
			continue
		}
		for _, b := range r.Loops[r.Loops[loop].Parent].Blocks {
			if slices.Contains(r.Loops[loop].Blocks, b) {
				continue
			}
			for i := range r.Blocks[b].Insts {
				in := &r.Blocks[b].Insts[i]
				if slices.Contains(in.Defs(), reg) && !slices.Contains(in.Uses(), reg) {
					return true
				}
			}
		}
	}
	return false
}
