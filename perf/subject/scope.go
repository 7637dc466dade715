package subject

import (
	"fmt"
)

// Scope is what a row of a table is about.
type Scope string

// The scopes.
const (
	ByProgram   Scope = "program" // the default
	ByRoutine   Scope = "routine"
	ByLoop      Scope = "loop"
	ByReference Scope = "reference" // a group of references, by its first one
)

// Check returns s, or the default for the empty Scope.
func (s Scope) Check() (Scope, error) {
	switch s {
	case "":
		return ByProgram, nil
	case ByProgram, ByRoutine, ByLoop, ByReference:
		return s, nil
	}
	return "", fmt.Errorf("perf: scope %q is none of program, routine, loop, reference", string(s))
}

// ScopesOf numbers the scopes of groups, given by the first reference of each,
// in order of first appearance.
func (p *Program) ScopesOf(by Scope, first []int) (names []string, of []int) {
	return Numbered(len(first), func(g int) string { return p.ScopeOf(by, first[g]) })
}

// Numbered numbers the names of n things in order of first appearance.
func Numbered(n int, nameOf func(int) string) (names []string, of []int) {
	index := make(map[string]int)
	of = make([]int, n)
	for g := range n {
		name := nameOf(g)
		i, ok := index[name]
		if !ok {
			i = len(names)
			index[name] = i
			names = append(names, name)
		}
		of[g] = i
	}
	return names, of
}

// ScopeOf names the scope of a reference. A reference in no loop belongs to its
// routine, one that no graph holds to what holds its address.
func (p *Program) ScopeOf(by Scope, ref int) string {
	s := p.Structure()
	r := &s.Access.All[ref]
	switch {
	case by == ByReference:
		return r.String()
	case by == ByProgram:
		return p.Name
	case !r.InGraph:
		return r.Routine
	case by == ByLoop:
		return s.Scopes.Scopes[s.Scopes.Of(r.RoutineIndex, r.Block)].Path
	}
	return s.Scopes.Scopes[s.OfRoutine[r.RoutineIndex]].Path
}
