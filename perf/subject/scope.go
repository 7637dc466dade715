package subject

import "fmt"

// Scope is what a row of a table is about.
type Scope string

// The scopes.
const (
	ByProgram   Scope = "program" // the default
	ByRoutine   Scope = "routine"
	ByLoop      Scope = "loop"
	ByReference Scope = "reference" // a group of references, by its first one
)

// Check returns s, or the default for the empty Scope. It returns an error for
// any other text.
func (s Scope) Check() (Scope, error) {
	switch s {
	case "":
		return ByProgram, nil
	case ByProgram, ByRoutine, ByLoop, ByReference:
		return s, nil
	}
	return "", fmt.Errorf("perf: scope %q is none of program, routine, loop, reference", string(s))
}

// Partition numbers the scopes of a kind that some things belong to.
type Partition struct {
	Names []string // of the scopes, in order of first appearance
	Of    []int    // by thing: index in Names
}

// PartitionOf returns the partition of n things, of which nameOf returns the
// scope.
func PartitionOf(n int, nameOf func(int) string) Partition {
	p := Partition{Of: make([]int, n)}
	index := make(map[string]int)
	for i := range n {
		name := nameOf(i)
		at, ok := index[name]
		if !ok {
			at = len(p.Names)
			index[name] = at
			p.Names = append(p.Names, name)
		}
		p.Of[i] = at
	}
	return p
}

// ScopesOf returns the scopes that references belong to.
func (p *Program) ScopesOf(by Scope, refs []Ref) Partition {
	return PartitionOf(len(refs), func(i int) string { return p.ScopeOf(by, refs[i]) })
}

// ScopeOf returns the name of the scope that a reference belongs to. A reference
// in no loop belongs to its routine, one in no control-flow graph to the routine
// or section that holds its address.
func (p *Program) ScopeOf(by Scope, ref Ref) string {
	if by == ByProgram {
		return p.Name
	}
	return p.Outline().scopeOf(by, ref)
}
