package locality

import (
	"fmt"

	"presage/perf/access"
	"presage/perf/cfg"
	"presage/perf/subject"
)

// Place is a routine or loop of the executables that made some runs, 0 the program:
// an index into the scopes of the one executable or into those that the scopes of
// several were aligned to. A place has a larger index than those that hold it.
type Place int

// Places returns the number of places.
func (c *SharedGroups) Places() int {
	if c.Program != nil {
		return len(c.Program.Outline().Scopes.Scopes)
	}
	return len(c.match.Alignment.Scopes)
}

// Outer returns the place that directly holds another; -1 for the program.
func (c *SharedGroups) Outer(p Place) Place {
	if c.Program != nil {
		return Place(c.Program.Outline().Scopes.Scopes[p].Parent)
	}
	return Place(c.match.Alignment.Scopes[p].Parent)
}

// KindOf returns what a place is.
func (c *SharedGroups) KindOf(p Place) cfg.ScopeKind {
	if c.Program != nil {
		return c.Program.Outline().Scopes.Scopes[p].Kind
	}
	return c.match.Alignment.Scopes[p].Kind
}

// PlaceOf returns the innermost place that holds all references of a group: the
// program if no control-flow graph holds them.
func (c *SharedGroups) PlaceOf(g Group) Place {
	if c.Program == nil {
		return Place(c.match.Sets[g].Scope)
	}
	r := c.First(g)
	if !r.InGraph {
		return 0
	}
	return Place(c.Program.Outline().Scopes.Of(r.RoutineIndex, r.Block))
}

// NameAt names a place, or the routine or program that it is in.
func (c *SharedGroups) NameAt(by subject.Scope, p Place) string {
	if by == subject.ByProgram {
		if c.Program != nil {
			return c.Program.Name
		}
		return c.name
	}
	for by == subject.ByRoutine && c.KindOf(p) == cfg.LoopScope {
		p = c.Outer(p)
	}
	if c.Program != nil {
		return c.Program.Outline().Scopes.Scopes[p].Path
	}
	at := &c.match.Alignment.Scopes[p]
	for t := len(c.programs) - 1; t >= 0; t-- {
		if at.Has(t) {
			return c.match.Alignment.Trees[t].Scopes[at.In[t][0]].Origin
		}
	}
	return ""
}

// ScopeOf names the scope of a group. For runs of several executables, routines
// and loops have the names that the executables have in common, see
// cfg.Scope.Origin.
func (c *SharedGroups) ScopeOf(by subject.Scope, g Group) string {
	if c.Program != nil {
		return c.Program.ScopeOf(by, subject.Ref(c.Members[g][0]))
	}
	if by == subject.ByProgram {
		return c.name
	}
	prog, set := c.programs[c.namedBy[g]], &c.match.Sets[g]
	if by == subject.ByReference {
		name := prog.ScopeOf(by, c.first[g])
		switch {
		case set.Kind != access.Paired:
			if set.Scope != 0 {
				name = c.NameAt(subject.ByLoop, Place(set.Scope))
			}
			name += fmt.Sprintf(" (%d references, %s, from %#x)", len(c.Members[g]), set.Kind, uint64(c.First(g).PC))
		case c.namedBy[g] != len(c.programs)-1:
			name += " in " + prog.Name
		}
		return name
	}
	if set.Scope == 0 { // no graph holds its references
		return cfg.SourceName(prog.ScopeOf(by, c.first[g]))
	}
	return c.NameAt(by, Place(set.Scope))
}
