package access

import (
	"fmt"
	"strconv"
	"strings"

	"presage/perf/trace"
)

// Groups partitions the references of a program by similar access patterns (2005
// paper, sections 2.1 and 2.2).
//
// Two references of the same loop are similar if their strides are equal with
// respect to every loop that contains them. A run collects one histogram for each
// group: how reuses divide between A[i,k] and A[i,k+1] depends on the alignment
// of the data, and changes with the problem size; their sum does not.
//
// Two references of different object-code loops that come from one loop of the
// source (an unrolled body and its remainder, a prologue, an epilogue) are
// similar if their strides are equal with respect to the loops that hold both,
// and have an integer ratio, m/n with m = 1 or n = 1, with respect to the
// others, level by level. Histograms of such groups are added up after the
// run: they form a Set.
//
// Not in the papers (derived here): if strides are irregular or indirect, or there
// is no loop, references are similar if the known parts of their strides agree
// and their addresses always differ by a constant: fields of one record, which
// move together. All other references, including those without formulas, are
// groups of their own. Traffic of the calling convention and of register
// allocation (Reference.Stack) forms one group for each loop or, outside of
// loops, each routine.
type Groups struct {
	Of   []trace.GroupID // by reference
	Refs [][]int         // by group: its references, ascending; groups by their first
	Set  []int           // by group: the set that it belongs to after the run
	Sets [][]int         // by set: its groups, ascending; sets by their first
}

// A SameSource function reports whether two loops of a routine come from one
// loop of the source.
type SameSource func(routine, loop, other int) bool

// Groups puts the references into groups and sets. same may be nil: each
// group is then a set of its own.
func (a *Analysis) Groups(same SameSource) *Groups {
	g := &Groups{Of: make([]trace.GroupID, len(a.All))}
	known := make(map[string]trace.GroupID)
	for i := range a.All {
		key := a.All[i].pattern(i)
		id, ok := known[key]
		if !ok {
			id = trace.GroupID(len(g.Refs))
			known[key] = id
			g.Refs = append(g.Refs, nil)
		}
		g.Of[i] = id
		g.Refs[id] = append(g.Refs[id], i)
	}
	g.join(a, same)
	return g
}

// pattern returns a key that is equal for similar references of one loop.
func (r *Reference) pattern(index int) string {
	if !r.InGraph {
		return "alone " + strconv.Itoa(index)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d %d ", r.RoutineIndex, r.Loop)
	if r.Stack != NotStack {
		return b.String() + "stack"
	}
	regular := len(r.Strides) > 0
	for _, s := range r.Strides {
		regular = regular && s.Regular()
		fmt.Fprintf(&b, "%s %t %t;", s.Formula.Key(), s.Irregular, s.Indirect)
	}
	if !regular {
		fmt.Fprintf(&b, " %d", r.Base)
	}
	return b.String()
}

// join puts groups of different loops into sets, comparing the first reference of
// each: later groups join the set of the first similar group.
func (g *Groups) join(a *Analysis, same SameSource) {
	g.Set = make([]int, len(g.Refs))
	open := make(map[int][]int) // by routine: sets that can still grow
	for id, refs := range g.Refs {
		r := &a.All[refs[0]]
		set := -1
		if same != nil && r.groupable() {
			for _, s := range open[r.RoutineIndex] {
				other := &a.All[g.Refs[g.Sets[s][0]][0]]
				if a.similarAcross(r, other, same) {
					set = s
					break
				}
			}
		}
		if set < 0 {
			set = len(g.Sets)
			g.Sets = append(g.Sets, nil)
			if same != nil && r.groupable() {
				open[r.RoutineIndex] = append(open[r.RoutineIndex], set)
			}
		}
		g.Set[id] = set
		g.Sets[set] = append(g.Sets[set], id)
	}
}

// groupable reports whether a reference can be similar to one in another loop.
func (r *Reference) groupable() bool {
	if !r.InGraph || r.Loop < 0 || r.Stack != NotStack {
		return false
	}
	for _, s := range r.Strides {
		if !s.Regular() {
			return false
		}
	}
	return true
}

// similarAcross reports whether references of different loops of a routine
// are similar (2005 paper, section 2.2).
func (a *Analysis) similarAcross(r, other *Reference, same SameSource) bool {
	if r.RoutineIndex != other.RoutineIndex || r.Loop == other.Loop || len(r.Strides) != len(other.Strides) {
		return false
	}
	for i := range r.Strides {
		s, t := r.Strides[i], other.Strides[i]
		switch {
		case s.Loop == t.Loop:
			if !s.Formula.Equal(t.Formula) {
				return false
			}
		case !same(r.RoutineIndex, s.Loop, t.Loop) || !integerRatio(s.Formula, t.Formula):
			return false
		}
	}
	return true
}

// integerRatio reports whether f = m/n g with integers m and n one of which is
// 1 or -1. Two formulas that are 0 have every ratio.
func integerRatio(f, g Formula) bool {
	if len(f.terms) != len(g.terms) {
		return false
	}
	var all ratio
	for i := range f.terms {
		s, t := f.terms[i], g.terms[i]
		if s.Symbol != t.Symbol {
			return false
		}
		num, ok1 := mul(s.Num, t.Den)
		den, ok2 := mul(s.Den, t.Num)
		if !ok1 || !ok2 {
			return false
		}
		r := newRatio(num, den)
		if i > 0 && r != all {
			return false
		}
		all = r
	}
	return len(f.terms) == 0 || all.den == 1 || all.num == 1 || all.num == -1
}

// Plan returns the plan that records the references, with one histogram per group.
func (g *Groups) Plan(a *Analysis, opt PlanOptions) (*trace.Plan, error) {
	n := 0
	for i := range a.All {
		if opt.records(&a.All[i]) {
			n++
		}
	}
	if err := checkCount(n); err != nil {
		return nil, err
	}
	p := &trace.Plan{Refs: make([]trace.Ref, 0, n)}
	for i := range a.All {
		if r := &a.All[i]; opt.records(r) {
			p.Refs = append(p.Refs, r.planned(g.Of[i]))
		}
	}
	return p, nil
}
