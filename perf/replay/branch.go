package replay

import (
	"slices"

	"presage/perf/trace"
)

// maxSegments bounds the stretches of one outcome along an index of a loop: a
// loop with a special first and last iteration, peeled once more, has four.
const maxSegments = 6

// segment is a stretch of executions of a branch with one outcome.
type segment struct {
	next        trace.BlockID
	first, last int64 // values of the pivot
}

// branchForm says on what the outcome of a branch depends: on the pivot, a
// coordinate of the iteration vector, or -1 if it is always the same, and on bounds
// of it that are affine in the coordinates before. Coordinates after the pivot
// do not matter, except for the Split.
type branchForm struct {
	Split Split
	Pivot int8
	Bends bool // bounds are the least or greatest of several functions, see bends
}

// branchCandidate is a form that agreed with all executions so far.
type branchCandidate struct {
	form   branchForm
	failed bool
	watch  bool // collects bends, too, in case that bounds turn out to be undetermined

	stamp   uint64
	outer   []int64     // the coordinates before the pivot, of the stretch under way
	lists   [][]segment // of it, by class
	classes []outcomes
}

// outcomes are the outcomes of one class, in the order in which they follow each
// other as the pivot grows, and where each but the last ends.
type outcomes struct {
	shape  []trace.BlockID
	bounds []affine
	bends  []bends // in place of bounds, with branchForm.Bends

	unsure []unsureStretch // of which bounds say nothing where they were, as far as they were known

	first, last int64 // the least and largest pivot
	ordered     bool  // some outcomes did follow each other while the pivot alone grew
}

func newBranchCandidate(f branchForm) *branchCandidate {
	n := f.Split.classes()
	return &branchCandidate{form: f, lists: make([][]segment, n), classes: make([]outcomes, n)}
}

// branchForms returns the forms to try at a depth, the likeliest first.
func branchForms(depth int) []branchForm {
	if depth == 0 {
		return []branchForm{{Pivot: -1}}
	}
	var list []branchForm
	for _, s := range splits(depth) {
		for p := depth - 1; p >= 0; p-- {
			list = append(list, branchForm{Split: s, Pivot: int8(p)})
		}
	}
	return append(list, branchForm{Pivot: int8(depth - 1), Bends: true})
}

// add takes an execution's vector and the block that followed.
func (c *branchCandidate) add(v []int64, stamps []uint64, next trace.BlockID) bool {
	p := c.form.Pivot
	stamp, t := uint64(1), int64(0)
	if p > 0 {
		stamp = stamps[p-1]
	}
	if p >= 0 {
		t = v[p]
	}
	if stamp != c.stamp {
		c.flush()
		c.stamp = stamp
		c.outer = append(c.outer[:0], v[:max(0, p)]...)
	}
	list := &c.lists[c.form.Split.class(v)]
	n := len(*list)
	switch {
	case n > 0 && (*list)[n-1].next == next:
		(*list)[n-1].last = t
	case n > 0 && (*list)[n-1].last == t, n == maxSegments:
		c.failed = true
	default:
		*list = append(*list, segment{next, t, t})
	}
	return !c.failed
}

// flush takes what was seen since the outer coordinates changed.
func (c *branchCandidate) flush() {
	for i := range c.lists {
		if len(c.lists[i]) > 0 && !c.failed {
			c.failed = !c.classes[i].add(c.outer, c.lists[i], c.form.Bends, c.watch)
		}
		c.lists[i] = c.lists[i][:0]
	}
}

// add fits a stretch into the order of outcomes. A bound is known exactly where
// one outcome follows another; that outcomes at the ends are missing only limits
// bounds, which is left to the verification.
//
// Bounds that bend are collected instead, or, to watch, as well.
func (o *outcomes) add(outer []int64, list []segment, bend, watch bool) bool {
	if len(o.shape) == 0 {
		o.first, o.last = list[0].first, list[0].first
	}
	o.first, o.last = min(o.first, list[0].first), max(o.last, list[len(list)-1].last)
	at := o.places(list)
	if at == nil {
		if !o.grow(list) {
			return false
		}
		at = o.places(list)
	}
	if bend || watch {
		o.bend(outer, list, at)
	}
	return bend || o.bound(outer, list, at)
}

// bend collects the bounds in a stretch, whose outcomes have places in the order.
func (o *outcomes) bend(outer []int64, list []segment, at []int) {
	// A loop that ends at once goes on up to its step -1, and so does what is left out
	// from the start on, where it is known to come first.
	if first := list[0]; at[0] == 1 && first.first == 0 && (o.ordered || len(list) == 1 && first.last == 0) {
		o.bends[0].add(outer, -1)
	}
	o.ordered = o.ordered || len(list) > 1
	for j := range len(list) - 1 {
		o.bends[at[j]].add(outer, list[j].last)
	}
}

// bound fits a stretch into affine bounds. It returns false if it contradicts them.
func (o *outcomes) bound(outer []int64, list []segment, at []int) bool {
	for j := range len(list) - 1 {
		if !o.bounds[at[j]].add(outer, list[j].last) {
			return false
		}
	}
	for j, s := range list {
		if at[j] > 0 && o.bounds[at[j]-1].order(outer, s.first) > 0 || at[j]+1 < len(o.shape) && o.bounds[at[j]].order(outer, s.last) < 0 {
			return false
		}
	}
	if len(list) == 1 && len(o.unsure) < maxUnsure {
		o.unsure = append(o.unsure, unsureStretch{slices.Clone(outer), list[0]})
	}
	return true
}

// unsureStretch is a stretch with one outcome, which says of bounds only that they are not within
// it.
type unsureStretch struct {
	outer []int64
	segment
}

// maxUnsure is the number of these that are kept.
const maxUnsure = 32

// contradicts reports whether bounds, taken not to depend on what no stretch showed, are within
// one that had one outcome.
func (o *outcomes) contradicts() bool {
	for _, s := range o.unsure {
		k := slices.Index(o.shape, s.next)
		before := k > 0 && o.bounds[k-1].points && o.bounds[k-1].at(s.outer) >= s.first*scale
		if before || k >= 0 && k+1 < len(o.shape) && o.bounds[k].points && o.bounds[k].at(s.outer) < s.last*scale {
			return true
		}
	}
	return false
}

// order returns -1 where the function is known to be less than t at v, 1 where it is
// known not to be less, and 0 where the points do not say.
func (a *affine) order(v []int64, t int64) int {
	switch {
	case !a.points || a.coarse || !a.unit || a.leaves(v):
		return 0
	case a.at(v) < t*scale:
		return -1
	}
	return 1
}

// places returns where in the shape the outcomes of list stand, or nil.
func (o *outcomes) places(list []segment) []int {
	var at []int
	k := 0
	for _, s := range list {
		for k < len(o.shape) && o.shape[k] != s.next {
			k++
		}
		if k == len(o.shape) {
			return nil
		}
		at = append(at, k)
		k++
	}
	return at
}

// grow makes the shape a shortest one that has list's outcomes in order, and its own.
func (o *outcomes) grow(list []segment) bool {
	merged, from := supersequence(o.shape, list)
	if len(merged) > maxSegments {
		return false
	}
	bounds, bent := make([]affine, len(merged)), make([]bends, len(merged))
	for k, old := range from {
		if old >= 0 {
			bounds[k], bent[k] = o.bounds[old], o.bends[old]
		}
	}
	o.shape, o.bounds, o.bends = merged, bounds, bent
	return true
}

// supersequence returns a shortest sequence that contains both a and the outcomes
// of b, and for each of its elements the index in a, or -1.
func supersequence(a []trace.BlockID, b []segment) (merged []trace.BlockID, from []int) {
	// length[i][j] is that for a[i:] and b[j:].
	length := make([][]int, len(a)+1)
	for i := len(a); i >= 0; i-- {
		length[i] = make([]int, len(b)+1)
		for j := len(b); j >= 0; j-- {
			switch {
			case i == len(a):
				length[i][j] = len(b) - j
			case j == len(b):
				length[i][j] = len(a) - i
			case a[i] == b[j].next:
				length[i][j] = 1 + length[i+1][j+1]
			default:
				length[i][j] = 1 + min(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j].next:
			merged, from = append(merged, a[i]), append(from, i)
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] <= length[i][j+1]:
			merged, from = append(merged, a[i]), append(from, i)
			i++
		default:
			merged, from = append(merged, b[j].next), append(from, -1)
			j++
		}
	}
	return merged, from
}

// branch is the state of the branch at the end of a place.
type branch struct {
	candidates []*branchCandidate // those that did not fail
	sums       []sum              // the same
}

func newBranch(depth int, all bool) *branch {
	list := branchForms(depth)
	if !all {
		list = list[:1]
	}
	b := new(branch)
	for _, f := range list {
		b.candidates = append(b.candidates, newBranchCandidate(f))
	}
	b.candidates[0].watch = !all && depth > 0
	b.sums = newSums(depth)
	return b
}

// add takes an execution; it reports whether a form is left.
func (b *branch) add(v []int64, stamps []uint64, next trace.BlockID) bool {
	failed := false
	if len(b.sums) > 0 {
		b.addSums(v, next)
	}
	for _, c := range b.candidates {
		failed = !c.add(v, stamps, next) || failed
	}
	if failed {
		b.candidates = slices.DeleteFunc(b.candidates, func(c *branchCandidate) bool { return c.failed })
	}
	return len(b.candidates) > 0
}

// narrow keeps the simplest candidates after a number of executions, and those without classes: the
// last step of an outer loop, which decides, may be yet to come.
func (b *branch) narrow(executions uint64) {
	if len(b.candidates) > 0 && b.candidates[0].determined() {
		b.sums = nil
	}
	if n, ok := narrowing[executions]; ok && n < len(b.candidates) {
		b.simplestFirst()
		rest := b.candidates[n:]
		b.candidates = b.candidates[:n]
		for _, c := range rest {
			if c.form.Bends || c.form.Split.Modulus <= 1 {
				b.candidates = append(b.candidates, c)
			}
		}
	}
}

// simplestFirst moves candidates with one outcome for each class before the others: these may
// be classes of something else, with bounds that no stretch has shown yet.
func (b *branch) simplestFirst() {
	rank := func(c *branchCandidate) int {
		if slices.ContainsFunc(c.classes, func(o outcomes) bool { return len(o.shape) != 1 }) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(b.candidates, func(x, y *branchCandidate) int { return rank(x) - rank(y) })
}

// end takes the last stretch into account.
func (b *branch) end() {
	for _, c := range b.candidates {
		c.flush()
	}
	b.candidates = slices.DeleteFunc(b.candidates, func(c *branchCandidate) bool { return c.failed || c.undetermined() })
}

// lacks reports whether bounds are not known in some direction.
func (c *branchCandidate) lacks() bool {
	for i := range c.classes {
		for k := range c.classes[i].bounds[:max(0, len(c.classes[i].shape)-1)] {
			if b := &c.classes[i].bounds[k]; b.points && len(b.rows) < len(b.origin) {
				return true
			}
		}
	}
	return false
}

// determined reports whether all bounds are known, of outcomes of which there are several.
func (c *branchCandidate) determined() bool {
	several := slices.ContainsFunc(c.classes, func(o outcomes) bool { return len(o.shape) > 1 })
	return several && !c.lacks() && !c.undetermined()
}

// undetermined reports whether nothing is known of a bound: the outcomes
// depend on something else.
func (c *branchCandidate) undetermined() bool {
	for i := range c.classes {
		for k := range c.classes[i].bounds[:max(0, len(c.classes[i].shape)-1)] {
			if c.form.Bends {
				if !c.classes[i].bends[k].seen {
					return true
				}
				continue // Fit looks at all runs together
			}
			if b := &c.classes[i].bounds[k]; !b.points || b.coarse {
				return true
			}
		}
	}
	return false
}
