package replay

import (
	"math"
	"slices"
)

// perhaps are the doubts for which a place may not be executed at all, or more often.
const perhaps = follows | otherCount | decided

// spreadAsked adds the doubts about where memory lies once allocators may have been called
// otherwise than in the replay.
func (j *judgement) spreadAsked() {
	since := j.asksPerhaps()
	for i := range j.doubts {
		if j.replayed.last[i] > since && slices.ContainsFunc(j.prog.Places[i].Refs, j.placed) {
			j.doubts[i] |= lostBase
		}
	}
}

// asksPerhaps returns when an allocator is first called, or would have been, of which it is not
// certain that it is; 0 if it is not known when.
func (j *judgement) asksPerhaps() uint64 {
	since := uint64(math.MaxUint64)
	if j.heap == nil {
		return since
	}
	callers := j.callers()
	for i := range j.heap.calls {
		c := &j.heap.calls[i]
		// What an allocator does after its first call comes after doubts of its own, so that
		// the caller says whether it is called.
		d := j.doubts[c.Place] & (perhaps &^ follows)
		if at, ok := callers[c.Place]; ok {
			if d |= j.doubts[at] & perhaps; j.prog.Contexts[j.prog.Places[c.Place].Context].Tail {
				d |= j.doubts[at] & control
			}
		}
		if d.any() && !c.Never {
			since = min(since, j.replayed.first[c.Place])
		}
	}
	return since
}

// callers returns the places from which allocators are called, by the allocators' places.
func (j *judgement) callers() map[int32]int32 {
	at := make(map[placeKey]int32)
	for i := range j.prog.Places {
		p := &j.prog.Places[i]
		at[placeKey{p.Context, p.Block}] = int32(i)
	}
	of := make(map[int32]int32)
	for i := range j.heap.calls {
		place := j.heap.calls[i].Place
		if context := j.prog.Contexts[j.prog.Places[place].Context]; context.Parent >= 0 {
			if caller, ok := at[placeKey{context.Parent, context.Call}]; ok {
				of[place] = caller
			}
		}
	}
	return of
}
