package replay

import (
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
// polynomial of its counts says; and no branch before it, in the same call of a
// routine, is in doubt. A branch that could go where no run has been is in doubt
// unless that only leaves out a loop.
//
// What remains is the assumption that what never changed over the sizes of the runs
// does not change beyond them.
type Certificate struct {
	Refs []RefCertificate // by trace.RefID
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

// Of returns what is known about the references for which in returns true.
func (c *Certificate) Of(in func(trace.RefID) bool) Standing {
	var s Standing
	var reasons doubt
	for i := range c.Refs {
		if r := &c.Refs[i]; r.Accesses > 0 && in(trace.RefID(i)) {
			s.Accesses += r.Accesses
			s.Doubtful += r.Doubtful
			reasons |= r.reasons
		}
	}
	s.Reasons = reasons.texts()
	return s
}

// Certify returns the certificate of a replay. real is what was taken from the run
// before; nil if nothing was.
func (in *Instance) Certify(real, replayed *Outcome) *Certificate {
	all := in.allDoubts(real, replayed)
	c := &Certificate{Refs: make([]RefCertificate, len(in.code.Plan.Refs))}
	for i := range in.prog.Places {
		p := &in.prog.Places[i]
		for j := range p.Refs {
			r := &c.Refs[in.code.refOf(p, j)]
			if real != nil {
				r.Real += real.Visits[i]
				r.Accesses += real.Visits[i]
			}
			n := replayed.Visits[i]
			r.Accesses += n
			if n > 0 && all[i].any() {
				r.Doubtful += n
				r.reasons |= all[i]
			}
		}
	}
	return c
}

// allDoubts returns the doubts about each place in the light of a replay.
func (in *Instance) allDoubts(real, replayed *Outcome) []doubt {
	all := make([]doubt, len(in.prog.Places))
	for i := range all {
		all[i] = in.doubts[i]
		if replayed.Visits[i] > 0 {
			all[i] |= in.doubtsAt(i, real, replayed)
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
		if s := since[in.prog.Contexts[i].Parent]; s > 0 && (since[i] == 0 || s < since[i]) {
			since[i] = s
		}
	}
	for i := range all {
		if s := since[in.prog.Places[i].Context]; s > 0 && replayed.last[i] > s {
			all[i] |= follows
		}
	}
	return all
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
