package cfg

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/objfile"
)

// header returns the line of the jumps back to the headers of loops that are
// folded into one, and the routine that it belongs to: the first line in the file
// that most of the jumps come from.
func (src *routineSource) header(loops []int) (objfile.Line, string) {
	of := make(map[objfile.Line]string)
	weight := make(map[objfile.Line]int)
	for _, l := range loops {
		for _, e := range src.r.Loops[l].Back {
			p := src.placeAt(src.r.Blocks[src.r.Edges[e].From].Last().PC)
			if p.line.Line > 0 {
				weight[p.line]++
				of[p.line] = src.routineOf(p.context)
			}
		}
	}
	file := mainFile(weight)
	var first objfile.Line
	for line := range weight {
		if line.File == file && (first.Line == 0 || line.Line < first.Line) {
			first = line
		}
	}
	return first, of[first]
}

// nameOrigins sets the Origin of all scopes.
func (t *ScopeTree) nameOrigins() {
	taken := make(map[string]bool)
	t.Scopes[0].Origin = t.Scopes[0].Path
	t.routineOrigins(taken)
	for i := range t.Scopes { // parents come first
		if t.Scopes[i].Kind != ProgramScope {
			t.loopOrigins(i, taken)
		}
	}
}

// routineOrigins names the routines: a clone as what it was made from, unless the
// program has that, too, or another clone of it.
func (t *ScopeTree) routineOrigins(taken map[string]bool) {
	routines := t.Scopes[0].Children
	clones := make(map[string]int)
	for _, s := range routines {
		clones[SourceName(t.Scopes[s].Path)]++
	}
	for _, s := range routines {
		path := t.Scopes[s].Path
		if name := SourceName(path); clones[name] == 1 {
			path = name
		}
		t.Scopes[s].Origin = path
		taken[path] = true
	}
}

// loopOrigins names the loops directly in a scope, by ascending line and then in
// the order of their headers.
func (t *ScopeTree) loopOrigins(scope int, taken map[string]bool) {
	kids := slices.Clone(t.Scopes[scope].Children)
	slices.SortStableFunc(kids, func(a, b int) int {
		return cmp.Compare(t.Scopes[a].Header.Line, t.Scopes[b].Header.Line)
	})
	for _, k := range kids {
		s := &t.Scopes[k]
		wanted := t.Scopes[scope].Origin + "/" + s.label(t.Program.Routines[s.Routine].Name)
		s.Origin = wanted
		for n := 2; taken[s.Origin]; n++ {
			s.Origin = fmt.Sprintf("%s#%d", wanted, n)
		}
		taken[s.Origin] = true
	}
}

// label names a loop of a routine by its header.
func (s *Scope) label(routine string) string {
	if s.Header.Line == 0 {
		return "loop"
	}
	name := "loop"
	if of := SourceName(s.Of); of != SourceName(routine) {
		name += "(" + of + ")"
	}
	return fmt.Sprintf("%s@%s:%d", name, baseName(s.Header.File), s.Header.Line)
}
