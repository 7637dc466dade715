package timing

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/subject"
)

// places are the scopes that times are of: those of a program or, if there are
// several executables of it, those that they have in common. The program comes
// first, every scope after the one around it.
type places struct {
	paths   []string
	parent  []int // of the program -1
	routine []bool
}

// placesOf returns the scopes of a structure.
func placesOf(s *subject.Structure) *places {
	p := new(places)
	for i := range s.Scopes.Scopes {
		scope := &s.Scopes.Scopes[i]
		p.add(scope.Path, scope.Parent, slices.Contains(s.OfRoutine, i))
	}
	return p
}

// placesIn returns the scopes of an alignment, named as the last executable that
// has each of them names it.
func placesIn(a *cfg.Alignment) *places {
	p := new(places)
	for i := range a.Scopes {
		s := &a.Scopes[i]
		path := ""
		for t := len(a.Trees) - 1; t >= 0 && path == ""; t-- {
			if s.Has(t) {
				path = a.Trees[t].Scopes[s.In[t][0]].Origin
			}
		}
		p.add(path, s.Parent, s.Kind == cfg.RoutineScope)
	}
	return p
}

func (p *places) add(path string, parent int, routine bool) {
	p.paths, p.parent, p.routine = append(p.paths, path), append(p.parent, parent), append(p.routine, routine)
}

// index returns the scopes by path.
func (p *places) index() map[string]int {
	at := make(map[string]int, len(p.paths))
	for i, path := range p.paths {
		at[path] = i
	}
	return at
}

// part is which scopes have rows, and whose time is part of whose.
type part struct {
	by        subject.Scope
	exclusive bool
}

// wanted reports whether a scope has a row.
func (p part) wanted(at *places, scope int) bool {
	switch {
	case p.by == subject.ByProgram:
		return scope == 0
	case scope == 0:
		return p.exclusive
	case p.by == subject.ByRoutine:
		return at.routine[scope]
	}
	return p.exclusive || !at.routine[scope]
}

// joins reports whether the time of a scope is part of that of the scope around it.
func (p part) joins(at *places, scope int) bool {
	switch {
	case !p.exclusive || p.by == subject.ByProgram:
		return true
	case p.by == subject.ByRoutine:
		return !at.routine[scope]
	}
	return false
}

// nested reports whether the time of one row may be part of that of another.
func (p part) nested() bool { return p.by == subject.ByLoop && !p.exclusive }
