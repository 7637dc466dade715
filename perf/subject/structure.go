package subject

import (
	"fmt"
	"sync"

	"presage/perf/access"
	"presage/perf/cfg"
)

// Structure is what static analysis finds out about a program: its routines
// and loops, and what is known of its memory references.
type Structure struct {
	Graph  *cfg.Program     // routines as control-flow graphs
	Scopes *cfg.ScopeTree   // program, routines and loops of the source
	Access *access.Analysis // memory references, their formulas
	Groups *access.Groups   // references grouped by access pattern

	OfRoutine []int // by index in Graph.Routines: index in Scopes.Scopes

	counters func() *cfg.Counters
}

// Counters returns where to count to know how often all of the graph is executed. They
// are placed at the first call.
func (s *Structure) Counters() *cfg.Counters { return s.counters() }

// countersOf places the counters of a graph when they are asked for.
func countersOf(g *cfg.Program) func() *cfg.Counters {
	return sync.OnceValue(func() *cfg.Counters { return cfg.PlaceCounters(g) })
}

// NewStructure analyses control-flow graphs: those of cfg.Analyze, or such as a run
// completed.
func NewStructure(g *cfg.Program) *Structure {
	s := &Structure{Graph: g, Scopes: cfg.NewScopeTree(g), Access: access.Analyze(g), counters: countersOf(g)}
	s.Groups = s.Access.Groups(s.sameSource())
	s.OfRoutine = routineScopes(s.Scopes)
	return s
}

// sameSource reports whether two loops of a routine were folded into one loop
// of the source.
func (s *Structure) sameSource() access.SameSource {
	scope := make([][]int, len(s.Graph.Routines))
	for i, r := range s.Graph.Routines {
		scope[i] = make([]int, len(r.Loops))
	}
	for i := range s.Scopes.Scopes {
		for _, l := range s.Scopes.Scopes[i].Loops {
			scope[s.Scopes.Scopes[i].Routine][l] = i
		}
	}
	return func(routine, loop, other int) bool { return scope[routine][loop] == scope[routine][other] }
}

// Warnings returns what static analysis could not make out.
func (s *Structure) Warnings() []string {
	var list []string
	for _, w := range s.Graph.Warnings {
		list = append(list, w.Error())
	}
	for _, w := range s.Access.Warnings {
		list = append(list, w.Error())
	}
	if err := s.Graph.File.InlinesErr(); err != nil {
		list = append(list, fmt.Sprintf("inlined routines are incomplete: %v", err))
	}
	return list
}

// Routine returns the index in Graph.Routines of the routine called name. A name
// that several routines have, or none, is an error that says what there is.
func (s *Structure) Routine(name string) (int, error) {
	found := -1
	for i := range s.Scopes.Scopes {
		scope := &s.Scopes.Scopes[i]
		if scope.Kind != cfg.RoutineScope {
			continue
		}
		if scope.Path == name {
			return scope.Routine, nil
		}
		if s.Graph.Routines[scope.Routine].Name == name {
			if found >= 0 {
				return 0, fmt.Errorf("perf: several routines are called %s, among them %s; name one as the table of routines does", name, scope.Path)
			}
			found = scope.Routine
		}
	}
	if found < 0 {
		return 0, fmt.Errorf("perf: no routine %s; the table of routines has their names", name)
	}
	return found, nil
}
