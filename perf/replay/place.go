package replay

import (
	"fmt"

	"presage/perf/trace"
)

// maxContexts and maxDepth bound the calling contexts and the loops around a
// place; maxRecursive bounds the contexts in which a routine has been called by way of
// itself. What exceeds them is recursion: each larger size has contexts that no run had.
const (
	maxContexts  = 1 << 14
	maxDepth     = 60
	maxRecursive = 1 << 8
)

// Context is a chain of calls: where the last one stands, and the context
// of that. Element 0 of a list of contexts is the program's start.
type Context struct {
	Parent int32         // -1 for the program's start
	Call   trace.BlockID // ends with the call
	Tail   bool          // by a jump: on return, control leaves the caller, too
	Depth  int           // loops around the call, those of its callers included
}

// placeKey identifies a place.
type placeKey struct {
	context int32
	block   trace.BlockID
}

// step is how the iteration vector changes from one place to the next: the first
// keep coordinates stay, of which the last grows by 1 if more is set, and push
// zeros follow.
type step struct {
	keep, push int8
	more       bool
}

func (s step) apply(v []int64) []int64 {
	v = v[:s.keep]
	if s.more {
		v[s.keep-1]++
	}
	for range s.push {
		v = append(v, 0)
	}
	return v
}

// walker knows contexts, and how control moves between places.
type walker struct {
	code     *Code
	contexts []Context
	known    map[Context]int32

	recursive int // contexts whose call is in a routine that calls itself, directly or not
}

func newWalker(code *Code) *walker {
	return &walker{code: code, contexts: []Context{{Parent: -1, Call: noBlock}}, known: make(map[Context]int32)}
}

// move returns where block to is when control comes to it from a place, and how
// the iteration vector changes. It returns an error if there are too many contexts.
func (w *walker) move(from placeKey, to trace.BlockID) (placeKey, step, error) {
	a, b := &w.code.blocks[from.block], &w.code.blocks[to]
	switch {
	case a.exit == returns:
		return w.back(from, to)
	case a.exit == calls && to != a.site, a.exit != calls && a.routine != b.routine:
		c, err := w.enter(w.bound(from, to), a.exit != calls)
		if err != nil {
			return placeKey{}, step{}, err
		}
		base := w.contexts[c].Depth
		return placeKey{c, to}, step{keep: int8(base), push: int8(len(b.chain))}, nil
	}
	return placeKey{from.context, to}, w.within(from, b), nil
}

// within returns the step from a place to a block of the same activation.
func (w *walker) within(from placeKey, b *block) step {
	a := &w.code.blocks[from.block]
	common := 0
	for common < len(a.chain) && common < len(b.chain) && a.chain[common] == b.chain[common] {
		common++
	}
	s := step{keep: int8(w.contexts[from.context].Depth + common), push: int8(len(b.chain) - common)}
	s.more = b.header && s.push == 0
	return s
}

// back returns where control is once a routine has returned.
func (w *walker) back(from placeKey, to trace.BlockID) (placeKey, step, error) {
	c := from.context
	for w.contexts[c].Tail {
		c = w.contexts[c].Parent
	}
	if c == 0 {
		return w.astray(from, to)
	}
	call := placeKey{w.contexts[c].Parent, w.contexts[c].Call}
	if w.code.blocks[call.block].site != to {
		return w.astray(from, to)
	}
	return placeKey{call.context, to}, w.within(call, &w.code.blocks[to]), nil
}

// astray returns where control is after a return that leads to another place than that
// after the call: in a caller whose routine has the place, as where several are left at
// once by longjmp or an exception; or in code that goes on by itself, as after a jump.
// Such returns are those of dynamic linkers, too, which find a routine when it is first
// called, and return to it.
func (w *walker) astray(from placeKey, to trace.BlockID) (placeKey, step, error) {
	b := &w.code.blocks[to]
	for c := from.context; c > 0; c = w.contexts[c].Parent {
		call := placeKey{w.contexts[c].Parent, w.contexts[c].Call}
		if !w.contexts[c].Tail && w.code.blocks[call.block].routine == b.routine {
			return placeKey{call.context, to}, w.within(call, b), nil
		}
	}
	c, err := w.enter(w.bound(from, to), true)
	if err != nil {
		return placeKey{}, step{}, err
	}
	return placeKey{c, to}, step{keep: int8(w.contexts[c].Depth), push: int8(len(b.chain))}, nil
}

// enter returns the context of a call at the end of a place.
func (w *walker) enter(from placeKey, tail bool) (int32, error) {
	c := Context{Parent: from.context, Call: from.block, Tail: tail, Depth: w.depth(from)}
	if i, ok := w.known[c]; ok {
		return i, nil
	}
	if w.recurs(from) {
		w.recursive++
	}
	if len(w.contexts) >= maxContexts || c.Depth > maxDepth || w.recursive > maxRecursive {
		return 0, fmt.Errorf("more than %d calling contexts, the last in %s: recursion is not followed", len(w.contexts), w.code.routine(from.block))
	}
	i := int32(len(w.contexts))
	w.contexts = append(w.contexts, c)
	w.known[c] = i
	return i, nil
}

// recurs reports whether the routine of a place is among its callers.
func (w *walker) recurs(p placeKey) bool {
	routine := w.code.blocks[p.block].routine
	for c := p.context; c > 0; c = w.contexts[c].Parent {
		if w.code.blocks[w.contexts[c].Call].routine == routine {
			return true
		}
	}
	return false
}

// depth returns the length of the iteration vectors of a place.
func (w *walker) depth(p placeKey) int {
	return w.contexts[p.context].Depth + len(w.code.blocks[p.block].chain)
}
