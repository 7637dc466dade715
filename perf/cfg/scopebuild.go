package cfg

import (
	"cmp"
	"fmt"
	"slices"
)

// programPath is the path of the program's scope; no routine has this name.
const programPath = "(program)"

// NewScopeTree returns the scope tree of a program.
func NewScopeTree(p *Program) *ScopeTree {
	b := &treeBuilder{tree: &ScopeTree{Program: p}, paths: make(map[string]bool)}
	root := b.add(Scope{Kind: ProgramScope, Path: programPath, Parent: -1, Routine: -1})
	sources := make([]*routineSource, len(p.Routines))
	for i, r := range p.Routines {
		sources[i] = newRoutineSource(p.File, r)
	}
	names := routineNames(p, sources)
	for i, r := range p.Routines {
		b.routine(root, i, r, sources[i], names[i])
	}
	b.tree.Scopes[root].End = len(b.tree.Scopes)
	b.tree.addNames()
	b.tree.addReferences()
	return b.tree
}

// routineNames returns the names of the routines, with the file appended to
// names that several have.
func routineNames(p *Program, sources []*routineSource) []string {
	count := make(map[string]int)
	for _, r := range p.Routines {
		count[r.Name]++
	}
	names := make([]string, len(p.Routines))
	for i, r := range p.Routines {
		names[i] = r.Name
		if whole := sources[i].whole; count[r.Name] > 1 && whole.Known() {
			names[i] += "@" + whole.base()
		}
	}
	return names
}

type treeBuilder struct {
	tree  *ScopeTree
	paths map[string]bool // that are taken
}

// add adds a scope, whose path it makes unique.
func (b *treeBuilder) add(s Scope) int {
	wanted := s.Path
	for n := 2; b.paths[s.Path]; n++ {
		s.Path = fmt.Sprintf("%s#%d", wanted, n)
	}
	b.paths[s.Path] = true
	index := len(b.tree.Scopes)
	b.tree.Scopes = append(b.tree.Scopes, s)
	if s.Parent >= 0 {
		up := &b.tree.Scopes[s.Parent]
		up.Children = append(up.Children, index)
	}
	return index
}

func (b *treeBuilder) routine(root, index int, r *Routine, src *routineSource, name string) {
	s := src.routineScope()
	s.Kind, s.Path, s.Parent, s.Routine = RoutineScope, name, root, index
	at := b.add(s)
	scopes := make([]int, len(r.Loops)) // by loop
	b.loops(at, r, src, src.outer, scopes)
	of := make([]int32, len(r.Blocks))
	for i := range r.Blocks {
		of[i] = int32(at)
		if l := r.Blocks[i].Loop; l >= 0 {
			of[i] = int32(scopes[l])
		}
	}
	b.tree.of = append(b.tree.of, of)
	b.tree.Scopes[at].End = len(b.tree.Scopes)
}

// loops adds the scopes of loops with the same parent, and of their inner loops.
func (b *treeBuilder) loops(parent int, r *Routine, src *routineSource, loops, scopes []int) {
	for _, group := range src.fold(loops) {
		s := src.scope(group)
		up := &b.tree.Scopes[parent]
		s.Kind, s.Parent, s.Routine, s.Depth = LoopScope, parent, up.Routine, up.Depth+1
		s.Path = up.Path + "/" + loopLabel(r, &s)
		at := b.add(s)
		var inner []int
		for _, l := range group {
			scopes[l] = at
			inner = append(inner, src.loops[l].inner...)
		}
		b.loops(at, r, src, inner, scopes)
		b.tree.Scopes[at].End = len(b.tree.Scopes)
	}
}

// loopLabel names a loop among those with the same parent.
func loopLabel(r *Routine, s *Scope) string {
	name := "loop"
	if n := len(s.Inlined); n > 0 {
		name += "(" + s.Inlined[n-1].Routine + ")"
	}
	if s.Source.Known() {
		return name + "@" + s.Source.String()
	}
	low := r.Blocks[r.Loops[s.Loops[0]].Header].PC()
	for _, l := range s.Loops {
		low = min(low, r.Blocks[r.Loops[l].Header].PC())
	}
	return fmt.Sprintf("%s+%#x", name, low-r.Addr)
}

// fold groups, transitively, the loops that come from one source loop. The groups
// and the loops in them are sorted by header.
func (src *routineSource) fold(loops []int) [][]int {
	byLine := slices.Clone(loops)
	slices.SortStableFunc(byLine, func(a, b int) int {
		return cmp.Compare(src.loops[a].source.First, src.loops[b].source.First)
	})
	var groups [][]int
	var reach []loopSource // by group: everything it covers, starting from its first loop
	for _, l := range byLine {
		at := -1
		s := src.loops[l]
		for g := range groups {
			if reach[g].source.overlaps(s.source) && reach[g].context == s.context {
				at = g
			}
		}
		if at < 0 {
			groups, reach = append(groups, nil), append(reach, s)
			at = len(groups) - 1
		}
		groups[at] = append(groups[at], l)
		reach[at].source.Last = max(reach[at].source.Last, s.source.Last)
	}
	for _, g := range groups {
		slices.SortFunc(g, src.byHeader)
	}
	slices.SortFunc(groups, func(a, b []int) int { return src.byHeader(a[0], b[0]) })
	for _, g := range groups {
		slices.Sort(g)
	}
	return groups
}

// byHeader orders loops by the addresses of their headers.
func (src *routineSource) byHeader(a, b int) int {
	return cmp.Or(cmp.Compare(src.r.Loops[a].Header, src.r.Loops[b].Header), cmp.Compare(a, b))
}
