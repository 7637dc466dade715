package subject

import (
	"presage/perf/access"
	"presage/perf/cfg"
)

// Outline is what static analysis finds out about a program, without its
// instructions: what it takes to record a run, and to say of a reference in which
// routine and loop it is, how it moves, and which others it goes with. It is kept
// in a store, and read back in a hundredth of the time that analysis takes.
type Outline struct {
	Access *access.Analysis // the references; it has no graphs, and answers no queries about routines
	Scopes *cfg.ScopeTree   // program, routines and loops of the source; its Program is nil
	Groups *access.Groups   // references grouped by access pattern

	ofRoutine []int // by index of a routine: index in Scopes.Scopes
}

// outline returns the structure's outline.
func (s *Structure) outline() *Outline {
	return &Outline{Access: s.Access, Scopes: s.Scopes, Groups: s.Groups, ofRoutine: s.OfRoutine}
}

// routineScopes returns, by index of a routine, the index of its scope.
func routineScopes(t *cfg.ScopeTree) []int {
	var of []int
	for i := range t.Scopes {
		if s := &t.Scopes[i]; s.Kind == cfg.RoutineScope {
			for len(of) <= s.Routine {
				of = append(of, 0)
			}
			of[s.Routine] = i
		}
	}
	return of
}

// scopeOf returns the name of the scope that a reference belongs to.
func (o *Outline) scopeOf(by Scope, ref Ref) string {
	r := &o.Access.All[ref]
	switch {
	case by == ByReference:
		return r.String()
	case !r.InGraph:
		return r.Routine
	case by == ByLoop:
		return o.Scopes.Scopes[o.Scopes.Of(r.RoutineIndex, r.Block)].Path
	}
	return o.Scopes.Scopes[o.ofRoutine[r.RoutineIndex]].Path
}
