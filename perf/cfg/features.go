package cfg

import (
	"slices"

	"presage/perf/isa"
)

// loopReference is a kind of memory reference, by which loops without lines are
// recognised: what does not depend on how the compiler used a constant.
type loopReference struct {
	kind  isa.MemKind
	size  uint8
	float bool
}

// addReferences sets, for each scope, the kinds of references in it and in those
// inside it, each once.
func (t *ScopeTree) addReferences() {
	t.references = make([][]loopReference, len(t.Scopes))
	for i, r := range t.Program.Routines {
		for b := range r.Blocks {
			at := t.Of(i, b)
			for k := range r.Blocks[b].Insts {
				for _, m := range r.Blocks[b].Insts[k].Mems() {
					t.addReference(at, loopReference{m.Kind, m.Size, m.Float})
				}
			}
		}
	}
	for s := len(t.Scopes) - 1; s > 0; s-- { // scopes come after those around them
		for _, ref := range t.references[s] {
			t.addReference(t.Scopes[s].Parent, ref)
		}
	}
}

func (t *ScopeTree) addReference(scope int, ref loopReference) {
	if t.Scopes[scope].Kind == LoopScope && !slices.Contains(t.references[scope], ref) {
		t.references[scope] = append(t.references[scope], ref)
	}
}

// addNames keeps the routines' names, which Program has in a tree that was not
// decoded.
func (t *ScopeTree) addNames() {
	t.names = make([]string, len(t.Program.Routines))
	for i, r := range t.Program.Routines {
		t.names[i] = r.Name
	}
}
