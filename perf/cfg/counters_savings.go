package cfg

import "presage/perf/trace"

// Savings says how much less there is to count than everything. Increments are
// those of a run, the others are properties of the program.
type Savings struct {
	// Counters is the number of edges, places, and places arrived at that are
	// counted; Jumps the number of indirect jumps beside them that are each
	// counted by where they lead. Uncountable is the number of ways for control
	// to go that no counter can count: entries, calls and returns.
	Counters, Jumps, Uncountable int

	Edges  int // of all routines' graphs: counters if each edge had one
	Blocks int // of all routines: counters if each block had one

	// Increments are those of counters, the transfers by Jumps among them,
	// EdgeIncrements and BlockIncrements what they would be if each edge or
	// each block had a counter.
	Increments, EdgeIncrements, BlockIncrements uint64
}

// Savings returns what is saved by c, in the run of flow f, whose recovered
// counts are n; both nil for what is known without a run.
func (c *Counters) Savings(f *trace.Flow, n *Counts) Savings {
	s := Savings{Counters: len(c.Plan.Edges) + len(c.Plan.Places) + c.watched, Jumps: len(c.Plan.Jumps)}
	for i, r := range c.program.Routines {
		s.Edges += len(r.Edges)
		s.Blocks += len(r.Blocks)
		for k := range c.routines[i].arcs {
			if !c.routines[i].arcs[k].countable() {
				s.Uncountable++
			}
		}
	}
	if f == nil || n == nil {
		return s
	}
	for i := range n.Routines {
		s.EdgeIncrements += sum(n.Routines[i].Edges)
		s.BlockIncrements += sum(n.Routines[i].Blocks)
	}
	s.Increments = sum(f.Edges) + sum(f.Places)
	for _, a := range f.Arrivals {
		s.Increments += a.Count
	}
	for _, j := range f.Jumps {
		s.Increments += j.Count
	}
	return s
}

func sum(list []uint64) (n uint64) {
	for _, x := range list {
		n += x
	}
	return n
}
