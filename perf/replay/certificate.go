package replay

import (
	"slices"

	"presage/perf/trace"
)

// Certificate says, for each reference of the plan, how many of its accesses in a
// replay are certain to be those of the program, and why others are not.
//
// An access is certain if it was taken from the real run, or if, in its place,
// the functions of all addresses and of the branch are exact polynomials of the size
// with two sizes to spare; the replay of each size that was run equals the run; the
// replay of the largest size, from a fit without it, does so, too; the data lie
// where the real run at the new size showed; the place was executed as often as the
// polynomial of its counts says; no branch before it, in the same call of a
// routine, is in doubt; no memory was allocated before it in the replay, if it is to
// allocated memory; and there were runs at sizes of the same residue class, if the code
// computes with remainders modulo small powers of two. A branch that could go where no run has been is in doubt
// unless that only leaves out a loop.
//
// What remains is the assumption that what never changed over the sizes of the runs
// does not change beyond them.
type Certificate struct {
	Refs []RefCertificate // by trace.RefID

	// Before is the number of doubtful accesses of places that were executed before
	// the last certain access: only these can have an effect on whether certain
	// accesses miss. Each of them changes at most so many misses as a set has ways,
	// in a cache with LRU replacement (derived here: a block that is not used again
	// takes a place in the set until as many others have pushed it out, and in that
	// time those accesses miss that would have found the block next to leave).
	Before uint64
}

// RefCertificate is the part of a Certificate about one reference.
type RefCertificate struct {
	Accesses uint64 // replayed, and taken from the real run
	Real     uint64 // taken from the real run
	Doubtful uint64 // of Accesses
	reasons  doubt
}

// Standing is what a Certificate says about a scope.
type Standing struct {
	Accesses, Doubtful uint64
	Reasons            []string // for the doubtful ones
}

// Certified reports whether the scope has accesses, all of them certain.
func (s Standing) Certified() bool { return s.Accesses > 0 && s.Doubtful == 0 }

// Of returns what is known about a set of references.
func (c *Certificate) Of(refs ...trace.RefID) Standing {
	var s Standing
	var reasons doubt
	for _, i := range refs {
		r := &c.Refs[i]
		s.Accesses += r.Accesses
		s.Doubtful += r.Doubtful
		reasons |= r.reasons
	}
	s.Reasons = reasons.texts()
	return s
}

// All returns what is known about all references.
func (c *Certificate) All() Standing {
	refs := make([]trace.RefID, len(c.Refs))
	for i := range refs {
		refs[i] = trace.RefID(i)
	}
	return c.Of(refs...)
}

// Certify returns the certificate of a replay. start is what followed the run
// before; nil if nothing did.
func (in *Instance) Certify(start *Follower, replayed *Outcome) *Certificate {
	var real *Outcome
	c := &Certificate{Refs: make([]RefCertificate, len(in.code.Plan.Refs))}
	if start != nil {
		real = &start.Real
		for i, n := range start.refs {
			c.Refs[i].Real, c.Refs[i].Accesses = n, n
		}
	}
	all := in.allDoubts(real, replayed)
	latest := uint64(0) // execution of a place without doubts
	for i, d := range all {
		if !d.any() && len(in.prog.Places[i].Refs) > 0 {
			latest = max(latest, replayed.last[i])
		}
	}
	for i := range in.prog.Places {
		p := &in.prog.Places[i]
		n := replayed.Visits[i]
		for j := range p.Refs {
			r := &c.Refs[in.code.refOf(p, j)]
			r.Accesses += n
			if n > 0 && all[i].any() {
				r.Doubtful += n
				r.reasons |= all[i]
				if replayed.first[i] < latest {
					c.Before += n
				}
			}
		}
	}
	// What a branch in doubt could lead to may have more executions, or some after
	// all.
	for id := range in.reachable(all, replayed) {
		b := &in.code.blocks[id]
		for j := range b.refs {
			r := &c.Refs[int(b.firstRef)+j]
			r.Doubtful = max(r.Doubtful, r.Accesses)
			r.reasons |= follows
		}
	}
	return c
}

// reachable returns the blocks that control may come to from branches in doubt.
func (in *Instance) reachable(all []doubt, replayed *Outcome) map[trace.BlockID]bool {
	seen := make(map[trace.BlockID]bool)
	var todo []trace.BlockID
	visit := func(pc uint64) {
		if id := in.code.blockAt(pc); id != noBlock && !seen[id] && !(in.code.blocks[id].index == 0 && in.code.routine(id) == "main") {
			seen[id] = true
			todo = append(todo, id)
		}
	}
	after := func(id trace.BlockID) {
		b := &in.code.blocks[id]
		r := in.code.graph.Routines[b.routine]
		for _, e := range r.Blocks[b.index].Succs {
			visit(r.Blocks[r.Edges[e].To].PC())
		}
		if last := r.Blocks[b.index].Last(); last.HasTarget {
			visit(last.Target)
		}
	}
	for i := range all {
		if all[i]&control != 0 && replayed.Visits[i] > 0 {
			after(in.prog.Places[i].Block)
		}
	}
	for len(todo) > 0 {
		id := todo[0]
		todo = todo[1:]
		after(id)
	}
	return seen
}

// allDoubts returns the doubts about each place in the light of a replay.
func (in *Instance) allDoubts(real, replayed *Outcome) []doubt {
	all := make([]doubt, len(in.prog.Places))
	main := uint64(0) // when main is called, in a replay from the start on
	if real == nil {
		main = in.mainAt(replayed)
	}
	for i := range all {
		all[i] = in.doubts[i]
		if replayed.Visits[i] > 0 {
			all[i] |= in.doubtsAt(i, real, replayed)
			if replayed.last[i] < main {
				all[i] &^= untested | allocates
				if all[i] == control {
					all[i] = 0
				}
			}
		}
	}
	// The first branch in doubt of each context.
	since := make([]uint64, len(in.prog.Contexts))
	for i := range all {
		if c := in.prog.Places[i].Context; all[i]&control != 0 && replayed.Visits[i] > 0 && (since[c] == 0 || replayed.first[i] < since[c]) {
			since[c] = replayed.first[i]
		}
	}
	for i := 1; i < len(since); i++ { // what a routine calls follows, too
		if in.mains[int32(i)] { // the library's start is the same at all sizes, as far as runs were
			continue
		}
		if s := since[in.prog.Contexts[i].Parent]; s > 0 && (since[i] == 0 || s < since[i]) {
			since[i] = s
		}
	}
	allocated := in.firstAllocation(replayed, main)
	for i := range all {
		p := &in.prog.Places[i]
		if s := since[p.Context]; s > 0 && replayed.last[i] > s {
			all[i] |= follows
		}
		if allocated > 0 && replayed.last[i] > allocated && slices.ContainsFunc(p.Refs, func(r Ref) bool { return in.prog.Bases[r.Base].Kind == Data }) {
			all[i] |= allocates
		}
	}
	return all
}

// mainAt returns when main is first executed in a replay; 0 for never. What the
// library does before is taken to be the same at all sizes if it was in all runs:
// it knows nothing of sizes that are compiled in.
func (in *Instance) mainAt(replayed *Outcome) uint64 {
	at := uint64(0)
	for i, p := range in.prog.Places {
		if first := replayed.first[i]; in.mains[p.Context] && first > 0 && (at == 0 || first < at) {
			at = first
		}
	}
	return at
}

// firstAllocation returns when memory was first allocated in a replay after some
// execution; 0 for never.
func (in *Instance) firstAllocation(replayed *Outcome, after uint64) uint64 {
	first := uint64(0)
	for i := range in.prog.Places {
		if at := replayed.first[i]; at > after && (first == 0 || at < first) && allocatesMemory(in.code.routine(in.prog.Places[i].Block)) {
			first = at
		}
	}
	return first
}

// doubtsAt returns the doubts about place i, which was replayed, that Instance.doubts
// does not hold.
func (in *Instance) doubtsAt(i int, real, replayed *Outcome) doubt {
	var d doubt
	p := &in.prog.Places[i]
	if in.gaps[i].at(in.N, in.trained) {
		d |= untested | control
	}
	if allocatesMemory(in.code.routine(p.Block)) {
		d |= allocates | control
	}
	for j := range p.Refs {
		if !in.known[p.Refs[j].Base] {
			d |= lostBase
		}
	}
	count := replayed.Visits[i]
	if real != nil {
		count += real.Visits[i]
	}
	if v := in.values[p.Counts]; v.Exact() && v.At != int64(count) {
		d |= otherCount | control
	}
	return d
}
