package sched

import "presage/perf/cfg"

// scopeCost is the time of a scope of the scope tree: a loop of the
// source, a routine, or the program.
type scopeCost struct {
	Own          float64 // cycles of what is in no scope inside it
	Cycles       float64 // with the scopes inside it, but not what it calls
	Instructions float64 // likewise
	Units        []float64

	// Path is the path that takes most of Own, an index in Result.Paths; -1 if
	// nothing of the scope was executed.
	Path int
}

// byScope adds up the time of the scopes of a tree of the same program, by
// index in ScopeTree.Scopes.
func (r *Result) byScope(t *cfg.ScopeTree) []scopeCost {
	list := make([]scopeCost, len(t.Scopes))
	for i := range list {
		list[i].Units, list[i].Path = make([]float64, len(r.UnitNames)), -1
	}
	for i := range r.Paths {
		p := &r.Paths[i]
		// All blocks of a path belong to the same loop, and so to the same scope.
		c := &list[t.Of(p.Routine, p.Blocks()[0])]
		c.Own += p.Total()
		c.Instructions += p.Frequency * float64(p.Instructions)
		p.occupy(c.Units)
		if c.Path < 0 || p.Total() > r.Paths[c.Path].Total() {
			c.Path = i
		}
	}
	for i := range list {
		list[i].Cycles = list[i].Own
	}
	for i := len(list) - 1; i > 0; i-- { // scopes come after those around them
		around := &list[t.Scopes[i].Parent]
		around.Cycles += list[i].Cycles
		around.Instructions += list[i].Instructions
		for k, n := range list[i].Units {
			around.Units[k] += n
		}
	}
	return list
}
