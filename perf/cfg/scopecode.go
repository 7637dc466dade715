package cfg

import (
	"strings"

	"presage/perf/internal/wire"
	"presage/perf/isa"
	"presage/perf/objfile"
)

// Encode writes the tree, without its Program.
func (t *ScopeTree) Encode(w *wire.Writer) {
	w.Strings(t.names)
	w.Len(len(t.Scopes))
	for i := range t.Scopes {
		t.encodeScope(w, i)
	}
	for _, of := range t.of {
		w.Len(len(of))
		before := int32(0)
		for _, s := range of {
			w.Int(int64(s - before))
			before = s
		}
	}
}

func (t *ScopeTree) encodeScope(w *wire.Writer, i int) {
	s := &t.Scopes[i]
	w.Byte(byte(s.Kind))
	w.Len(s.Parent + 1)
	w.String(strings.TrimPrefix(s.Path, t.pathPrefix(i)))
	w.Len(s.End)
	w.Len(s.Depth)
	w.Len(s.Routine + 1)
	w.Ints(s.Loops)
	w.String(s.Source.File)
	w.Len(s.Source.First)
	w.Len(s.Source.Last)
	w.Len(len(s.Inlined))
	for _, in := range s.Inlined {
		w.String(in.Routine)
		w.String(in.File)
		w.Int(int64(in.Line))
	}
	w.Strings(s.Inlines)
	w.Strings(s.Files)
	w.Len(len(t.references[i]))
	for _, ref := range t.references[i] {
		w.Byte(byte(ref.kind))
		w.Byte(ref.size)
		w.Flags(ref.float)
	}
}

// pathPrefix returns what the path of a scope begins with.
func (t *ScopeTree) pathPrefix(i int) string {
	if t.Scopes[i].Kind != LoopScope {
		return ""
	}
	return t.Scopes[t.Scopes[i].Parent].Path + "/"
}

// DecodeScopes reads a tree that Encode wrote. Its Program is nil: see For.
func DecodeScopes(r *wire.Reader) *ScopeTree {
	t := &ScopeTree{names: r.Strings()}
	n := r.Len()
	if n == 0 { // not even the program's
		r.Fail()
	}
	t.Scopes, t.references = make([]Scope, n), make([][]loopReference, n)
	for i := range t.Scopes {
		t.decodeScope(r, i)
		if r.Err() != nil {
			return new(ScopeTree)
		}
	}
	t.of = make([][]int32, len(t.names))
	for i := range t.of {
		t.of[i] = make([]int32, r.Len())
		before := int64(0)
		for b := range t.of[i] {
			before += r.Int()
			if before < 0 || before >= int64(n) {
				r.Fail()
				return new(ScopeTree)
			}
			t.of[i][b] = int32(before)
		}
	}
	return t
}

func (t *ScopeTree) decodeScope(r *wire.Reader, i int) {
	s := &t.Scopes[i]
	s.Kind = ScopeKind(r.Index(len(scopeNames)))
	s.Parent = r.Index(i+1) - 1
	if !t.nests(i) {
		r.Fail()
		return
	}
	s.Path = t.pathPrefix(i) + r.String()
	s.End = r.Index(len(t.Scopes) + 1)
	s.Depth = r.Index(i + 1)
	if s.Routine = r.Index(len(t.names)+1) - 1; (s.Routine < 0) != (i == 0) {
		r.Fail()
	}
	s.Loops = r.Ints(maxIndex)
	s.Source = Source{File: r.String(), First: r.Index(maxIndex), Last: r.Index(maxIndex)}
	for range r.Len() {
		s.Inlined = append(s.Inlined, objfile.Inline{Routine: r.String(), File: r.String(), Line: int(r.Int())})
	}
	s.Inlines, s.Files = r.Strings(), r.Strings()
	for range r.Len() {
		t.references[i] = append(t.references[i], loopReference{isa.MemKind(r.Byte()), r.Byte(), r.Flags().Has(0)})
	}
	if s.Parent >= 0 {
		up := &t.Scopes[s.Parent]
		up.Children = append(up.Children, i)
	}
}

// nests reports whether a scope is where its kind can be: routines in the program,
// loops in routines and loops.
func (t *ScopeTree) nests(i int) bool {
	s := &t.Scopes[i]
	switch {
	case i == 0 || s.Kind == ProgramScope:
		return i == 0 && s.Kind == ProgramScope && s.Parent < 0
	case s.Kind == RoutineScope:
		return s.Parent == 0
	}
	return s.Parent > 0
}

// maxIndex bounds numbers that nothing else does.
const maxIndex = 1 << 31

// For returns the tree with the graphs that it is of.
func (t *ScopeTree) For(p *Program) *ScopeTree {
	whole := *t
	whole.Program = p
	return &whole
}
