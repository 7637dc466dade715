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
// polynomial of its counts says; no branch in doubt decides whether it is executed; no
// memory was allocated before it in the replay, if it is to allocated memory; and
// there were runs at sizes of the same residue class, if the code computes with
// remainders modulo small powers of two, or arrays take turns. A branch that could go where no run has been
// is in doubt unless that only leaves out a loop, or calls a routine of a mathematical
// library for a number that no instruction does, or the size decides about it and the start
// of the run at the size shows where it goes; and nothing is certain that comes
// after it in the same call of a routine. A branch that depends on data, and went
// each way in some run, decides about a region alone: up to where its ways meet.
// Afterwards the iteration vector is the same, and in all runs, in which it went one
// way and the other, the functions of that vector held.
// So does one that floating-point numbers decide and that went one way alone, if the code shows
// that both ways do the same with integers: see aside. What is on the way that no run went
// is in doubt as often as it could have been gone.
//
// What follows from numbers in memory, see indirect, is as doubtful as what loads and what
// stores these, and in doubt after a branch that could go where no run has been in a routine
// that accesses them.
//
// In an executable of its own, compiled for the size, code is certain only if the
// start of the real run was in it and went where it was to go, each index that its
// addresses depend on having changed: it may have been written otherwise. Or if static
// analysis of the executable finds the addresses that are replayed, and the branches up
// to there, in the code. With the addresses alone, accesses are likely.
//
// What remains is the assumption that what never changed over the sizes of the runs
// does not change beyond them.
type Certificate struct {
	Refs []RefCertificate // by trace.RefID

	// Before is the number of doubtful accesses of places that were executed before
	// the last certain access, or were not where the polynomials of counts expect it:
	// only these can have an effect on whether certain accesses miss. Each of them changes at most so many misses as a set has ways,
	// in a cache with LRU replacement (derived here: a block that is not used again
	// takes a place in the set until as many others have pushed it out, and in that
	// time those accesses miss that would have found the block next to leave).
	Before uint64
	// Amid is the number of those that were executed before 0.99 of the certain
	// accesses were done with: Before without what the very end of a program adds, and
	// without those that are likely.
	Amid uint64
	// LeftOut is the number of Amid that were not replayed: nobody knows what they would
	// have hit and missed.
	LeftOut uint64
}

// RefCertificate is the part of a Certificate about one reference.
type RefCertificate struct {
	Accesses uint64 // replayed, taken from the real run, and left out of the replay
	Real     uint64 // taken from the real run
	Doubtful uint64 // of Accesses
	Likely   uint64 // of Doubtful: of the size's own executable, which says that these are the addresses, and not how often
	LeftOut  uint64 // of Doubtful: as in Certificate
	Held     uint64 // of Doubtful: of allocators, of which a model says what they give
	reasons  doubt
}

// Standing is what a Certificate says about a scope.
type Standing struct {
	Accesses, Doubtful uint64
	Likely             uint64   // of Doubtful: see RefCertificate
	Real               uint64   // of Accesses: taken from the real run
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
		s.Likely += r.Likely
		s.Real += r.Real
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
	c := &Certificate{Refs: make([]RefCertificate, len(in.code.Plan.Refs))}
	if start != nil {
		for i, n := range start.refs {
			c.Refs[i].Real, c.Refs[i].Accesses = n, n
		}
	}
	j := in.judge(start, replayed)
	latest, nearly := j.lastCertain()
	for i := range in.prog.Places {
		n := replayed.Visits[i]
		if !j.doubts[i].access().any() {
			for k := range in.prog.Places[i].Refs {
				c.Refs[in.code.refOf(&in.prog.Places[i], k)].Accesses += n
			}
			continue
		}
		lacks := j.leavesOut(i, start)
		c.doubtPlace(j, i, n+lacks, lacks)
		accesses := uint64(len(in.prog.Places[i].Refs))
		if replayed.first[i] < latest {
			c.Before += accesses * (n + lacks)
		}
		if replayed.first[i] < nearly {
			c.LeftOut += accesses * lacks
			for k := range in.prog.Places[i].Refs {
				c.Refs[in.code.refOf(&in.prog.Places[i], k)].LeftOut += lacks
			}
			if j.doubts[i].access() != notCounted { // what is likely does not count, but for what the replay lacks of it
				c.Amid += accesses * n
			}
			c.Amid += accesses * lacks
		}
	}
	c.doubtReachable(j)
	c.doubtElsewhere(in, start)
	for _, n := range j.never {
		r := &c.Refs[n.ref]
		r.Accesses, r.Doubtful = r.Accesses+n.times, r.Doubtful+n.times
		r.reasons |= untested
	}
	return c
}

// doubtPlace adds n executions of a place in doubt, of which the replay lacks some.
func (c *Certificate) doubtPlace(j *judgement, i int, n, lacks uint64) {
	if n == 0 {
		return
	}
	p := &j.prog.Places[i]
	for k := range p.Refs {
		r := &c.Refs[j.code.refOf(p, k)]
		r.Accesses += n
		r.Doubtful += n
		r.reasons |= j.doubts[i]
		if j.doubts[i].access() == notCounted {
			r.Likely += n - lacks
		} else if j.housekeeps(i) {
			r.Held += n
		}
	}
}

// doubtReachable adds the doubts about what a branch in doubt could lead to: it may have
// more executions, or some after all. One at least is in doubt, though what the real run
// had is certain.
func (c *Certificate) doubtReachable(j *judgement) {
	for id := range j.uncertainBlocks() {
		b := &j.code.blocks[id]
		for k := range b.refs {
			r := &c.Refs[int(b.firstRef)+k]
			if r.Accesses == 0 {
				continue
			}
			if r.Accesses == r.Real {
				r.Accesses++
			}
			r.Doubtful, r.Likely = r.Accesses-r.Real, 0
			r.reasons |= follows
		}
	}
}

// doubtElsewhere adds the doubts about references that are executed where nothing is followed,
// too: what they do there is not replayed.
func (c *Certificate) doubtElsewhere(in *Instance, start *Follower) {
	doubt := func(ref trace.RefID) {
		if r := &c.Refs[ref]; r.Doubtful == 0 {
			r.Accesses, r.Doubtful = r.Accesses+1, 1
			r.reasons |= elsewhereToo
		}
	}
	for _, ref := range in.elsewhere {
		doubt(ref)
	}
	if start != nil {
		for ref := range start.other.refs {
			doubt(ref)
		}
	}
}

// leavesOut returns how many executions of a place a replay lacks, as the polynomial of
// their number says or, where that is none, its guess; none if the real run is past them.
func (j *judgement) leavesOut(i int, start *Follower) uint64 {
	if j.housekeeps(i) || j.heap.settled(i, j.Instance, start) {
		return 0
	}
	done := j.replayed.Visits[i]
	if start != nil {
		done += start.Real.Visits[i]
		if j.past(i, start) || j.over(i, start) {
			return 0
		}
	}
	expected := max(0, j.values[j.prog.Places[i].Counts].At)
	return max(done, uint64(expected)) - done
}

// housekeeps reports whether place i is an allocator's work on what it has, and not on the
// memory that it gives: that is another at each size, and little.
func (j *judgement) housekeeps(i int) bool {
	return j.heap.holds(i) && !fillsMemory(j.code.routine(j.prog.Places[i].Block))
}

// past reports whether the real run, of which so much was followed, has done with a place
// of which it is not known how often it is executed: it was there, and twice as far from
// the beginning as the largest run was when it had done with it, in shares of the runs.
func (j *judgement) past(i int, start *Follower) bool {
	if j.ends == nil || j.values[j.prog.Places[i].Counts].Exact() || start.Real.Visits[i] == 0 || j.replayed.Visits[i] > 0 {
		return false
	}
	return j.ends[i] > 0 && 2*j.ends[i]*j.Accesses() <= float64(start.Real.Accesses)
}

// nearlyAll is the share of the certain accesses of which the end is Amid's.
const nearlyAll = 0.99

// lastCertain returns when the last place without doubts about its accesses was executed,
// and when the last of those that make up nearly all certain accesses was.
func (j *judgement) lastCertain() (last, nearly uint64) {
	var ends []uint64
	count := make(map[uint64]float64) // certain accesses, by the end of their place
	total := 0.0
	for i, d := range j.doubts {
		if n := float64(j.replayed.Visits[i]) * float64(len(j.prog.Places[i].Refs)); n > 0 && !d.access().any() {
			ends = append(ends, j.replayed.last[i])
			count[j.replayed.last[i]] += n
			total += n
		}
	}
	slices.Sort(ends)
	sum := 0.0
	for _, at := range ends {
		if last = at; sum < nearlyAll*total {
			nearly = at
		}
		sum += count[at]
	}
	return last, nearly
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

// untested reports whether control could go on from place i to where no run has been. real
// is what the run at the size had; nil: nothing is known of it.
func (in *Instance) untested(i int, real *Outcome) bool {
	if !in.gaps[i].at(in.N, in.trained) {
		return false
	}
	switch in.gaps[i].by() {
	case byGreater:
		return in.N < in.trained[0]
	case bySize:
		return real == nil || real.Visits[i] == 0
	}
	return true
}

// doubtsAt returns the doubts about place i, which was replayed, that Instance.doubts
// does not hold.
func (in *Instance) doubtsAt(i int, real, replayed *Outcome) doubt {
	var d doubt
	p := &in.prog.Places[i]
	if in.untested(i, real) {
		d |= untested | control
	}
	if in.overlaps.at(i, in.places[i].refs, replayed.most) {
		d |= overlap | control
	}
	if in.heap == nil && allocatesMemory(in.code.routine(p.Block)) {
		d |= allocates | control
	}
	for j := range p.Refs {
		if !in.known[p.Refs[j].Base] || in.guesses(&p.Refs[j]) {
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
