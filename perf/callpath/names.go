package callpath

import (
	"strings"

	"presage/perf/patterns"
	"presage/perf/subject"
	"presage/perf/trace"
)

// Separator stands between the elements of a path in tables.
const Separator = " > "

// element is a routine of a path, or a loop in it around what comes next.
type element struct {
	label string
	loop  bool
}

// names of what the nodes of a program are made of.
type names struct {
	s       *subject.Structure
	origins bool // those that executables of one source have in common
	of      map[trace.PC][]element
	stubs   map[string]bool
}

func newNames(prog *subject.Program, origins bool) *names {
	n := &names{s: prog.Structure(), origins: origins, of: make(map[trace.PC][]element), stubs: make(map[string]bool)}
	for i, r := range n.s.Graph.Routines {
		if isStub(prog, r) {
			n.stubs[n.routine(int32(i))] = true
		}
	}
	return n
}

// routine names a routine.
func (n *names) routine(i int32) string {
	scope := &n.s.Scopes.Scopes[n.s.OfRoutine[i]]
	if n.origins {
		return scope.Origin
	}
	return scope.Path
}

// site returns the routine and the loops around an instruction; none if no graph holds
// it.
func (n *names) site(pc trace.PC) []element {
	if list, ok := n.of[pc]; ok {
		return list
	}
	var list []element
	if i := n.indexAt(uint64(pc)); i >= 0 {
		if b, _ := n.s.Graph.Routines[i].BlockAt(uint64(pc)); b >= 0 && n.s.Scopes.Holds(i, b) {
			scope := &n.s.Scopes.Scopes[n.s.Scopes.Of(i, b)]
			name := scope.Path
			if n.origins {
				name = scope.Origin
			}
			list = elementsOf(name)
		}
	}
	n.of[pc] = list
	return list
}

// indexAt returns the index of the routine that holds an address; -1: none does.
func (n *names) indexAt(pc uint64) int {
	r := n.s.Graph.RoutineAt(pc)
	if r == nil {
		return -1
	}
	lo, hi := 0, len(n.s.Graph.Routines)
	for hi-lo > 1 {
		if mid := (lo + hi) / 2; n.s.Graph.Routines[mid].Addr <= r.Addr {
			lo = mid
		} else {
			hi = mid
		}
	}
	return lo
}

// elementsOf returns the elements that the name of a scope is made of.
func elementsOf(scope string) []element {
	var list []element
	for i, label := range patterns.Nest(scope) {
		list = append(list, element{label, i > 0})
	}
	return list
}

// paths returns the elements of each node: of the calls that led to its routine, and that
// routine.
func (n *names) paths(nodes []Node) [][]element {
	all := make([][]element, len(nodes))
	for i := 1; i < len(nodes); i++ {
		node := &nodes[i]
		var list []element
		if node.Parent > 0 {
			before := all[node.Parent]
			list = append(list, before[:len(before)-1]...)
			if at := n.site(node.Site); len(at) > 0 && node.Site > 0 && at[0] == before[len(before)-1] {
				list = append(list, at...)
			} else {
				list = append(list, before[len(before)-1]) // a signal, or a stub of another module
			}
		}
		all[i] = append(list, element{n.routine(node.Routine), false})
	}
	return all
}

// keyOf returns a text that is the same for the same elements only.
func keyOf(list []element) string {
	var b strings.Builder
	for _, e := range list {
		if e.loop {
			b.WriteByte(1)
		}
		b.WriteString(e.label)
		b.WriteByte(0)
	}
	return b.String()
}

// byScope returns the elements of a path as tables by a scope have them.
func byScope(list []element, by subject.Scope) []element {
	switch by {
	case subject.ByLoop:
		return list
	case subject.ByProgram:
		return nil
	}
	var kept []element
	for _, e := range list {
		if !e.loop {
			kept = append(kept, e)
		}
	}
	return kept
}

// withScope returns a path to a routine with the loops of it around a reference. What no
// control-flow graph holds comes after the path. Stubs are left out.
func (n *names) withScope(path []element, scope string) []element {
	leaf := elementsOf(scope)
	last := len(path) - 1
	switch {
	case last >= 0 && n.stubs[leaf[0].label]:
		return path
	case last >= 0 && leaf[0] == path[last]:
		path = path[:last]
	}
	return append(path[:len(path):len(path)], leaf...)
}
