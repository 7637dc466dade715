package cfg

import "presage/perf/trace"

// Savings compares the counters placed with counting everything. Increments are
// those of a run; the other fields are properties of the program.
type Savings struct {
	// Counters is the number of counted edges, places and arrival places; Jumps
	// the number of further indirect jumps, counted per target. Uncountable is
	// the number of transfers that no counter can count: entries, calls and
	// returns.
	Counters, Jumps, Uncountable int

	Edges  int // of all routines' graphs: counters if each edge had one
	Blocks int // of all routines: counters if each block had one

	// Increments is the number of counter increments, including the transfers by
	// Jumps; EdgeIncrements and BlockIncrements are what it would be if each edge
	// or each block had a counter.
	Increments, EdgeIncrements, BlockIncrements uint64
}

// Savings returns the savings of c in the run with flow f and recovered counts n;
// with both nil, only the properties of the program.
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
