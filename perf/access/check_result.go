package access

import (
	"cmp"
	"slices"
)

// StrideCheck is the result of a Checker. Counts are of executed accesses.
type StrideCheck struct {
	Accesses uint64 // of references in the control-flow graphs
	Stack    uint64 // of these, traffic of the stack (Reference.Stack)
	InLoops  uint64 // of the others, those in loops
	Clean    uint64 // of these, those whose strides are regular for all loops

	// Comparisons of consecutive iterations, one for each loop level, where the
	// stride is neither irregular nor indirect; traffic of the stack is left out.
	Agree, Disagree uint64

	// Unaligned accesses could not be assigned to an executed block.
	Unaligned uint64

	// References are the executed references, by descending disagreement, then
	// by descending number of executions.
	References []ReferenceCheck
}

// ReferenceCheck is the result for one reference.
type ReferenceCheck struct {
	Index           int // in Analysis.All
	Executions      uint64
	Clean           bool     // regular for all loops
	Agree, Disagree []uint64 // like Reference.Strides
	disagree        uint64
}

// AgreeShare is the share of comparisons that agree; 1 if there are none.
func (s *StrideCheck) AgreeShare() float64 { return share(s.Agree, s.Agree+s.Disagree) }

// CleanShare is the share of accesses in loops whose strides are regular for
// all loops; 1 if there are none.
func (s *StrideCheck) CleanShare() float64 { return share(s.Clean, s.InLoops) }

func share(part, all uint64) float64 {
	if all == 0 {
		return 1
	}
	return float64(part) / float64(all)
}

// Result returns the result so far.
func (c *Checker) Result() *StrideCheck {
	out := &StrideCheck{Unaligned: c.unaligned}
	for i := range c.refs {
		if c.refs[i].executions > 0 {
			out.add(&c.refs[i], &c.analysis.All[c.refs[i].index])
		}
	}
	slices.SortStableFunc(out.References, func(a, b ReferenceCheck) int {
		return cmp.Or(cmp.Compare(b.disagree, a.disagree), cmp.Compare(b.Executions, a.Executions))
	})
	return out
}

func (s *StrideCheck) add(c *checkedRef, ref *Reference) {
	s.Accesses += c.executions
	if ref.Stack != NotStack {
		s.Stack += c.executions
		return
	}
	r := ReferenceCheck{Index: c.index, Executions: c.executions, Clean: true}
	for i := range c.levels {
		l := &c.levels[i]
		r.Clean = r.Clean && l.check
		r.Agree, r.Disagree = append(r.Agree, l.agree), append(r.Disagree, l.disagree)
		r.disagree += l.disagree
		s.Agree += l.agree
		s.Disagree += l.disagree
	}
	if len(c.levels) > 0 {
		s.InLoops += c.executions
		if r.Clean {
			s.Clean += c.executions
		}
	}
	s.References = append(s.References, r)
}
