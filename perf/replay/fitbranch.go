package replay

import (
	"slices"

	"presage/perf/trace"
)

// branchKey is what makes two fitted forms of a branch the same.
type branchKey struct {
	split Split
	pivot int8
	bends bool
}

// fitBranch fits the branch at the end of place i, and the frequencies of its
// outcomes in the largest run, by which it is drawn if it is irregular.
func (f *fitter) fitBranch(i int) {
	p := &f.prog.Places[i]
	f.fitChances(i)
	everywhere := false
	if list := f.branchKeys(i, func(*RunBranch) bool { return true }); len(list) > 0 {
		p.Branch, everywhere = f.fitForm(i, list[0]), f.allBranch(i, list[0])
	}
	// What is affine in each run may not be so in all: the last of some tiles alone
	// tells. And residue classes may be nothing but tiles that are few.
	settled := p.Branch != nil && f.settled(p.Branch)
	classes := settled && everywhere && p.Branch.Split.Modulus > 1
	open := p.Branch == nil || p.Branch.Split.Modulus > 1 || !settled
	if list := f.branchKeys(i, func(b *RunBranch) bool { return b.Bends }); len(list) > 0 && (open || f.undetermined(i)) {
		b, pinned := f.fitPinned(i, list[0])
		if b != nil && (open || f.settled(b)) && (pinned || !classes) {
			p.Branch = b
		}
	}
	if p.Branch == nil || f.against(i) {
		if b := f.fitSum(i); b != nil {
			p.Branch = b
		}
	}
	if p.Branch == nil || !f.settled(p.Branch) {
		p.Numbers = f.fitNumbers(i)
	}
}

// allBranch reports whether the branch at the end of place i has a form in all runs.
func (f *fitter) allBranch(i int, key branchKey) bool {
	return !slices.ContainsFunc(f.in[i], func(in *RunPlace) bool {
		return in != nil && !slices.ContainsFunc(in.Branch, func(b RunBranch) bool { return branchKey{b.Split, b.Pivot, b.Bends} == key })
	})
}

// fitPinned is fitForm for bounds that are least or greatest of functions; it says whether
// those are pinned, too: see piece.pinned. Levels of which each has half the elements of the
// one before have bounds n, n/2, n/4, and for sizes from 64 to 128 the greatest of three
// functions of the level and the size that is right at all of them, and nowhere else.
func (f *fitter) fitPinned(i int, key branchKey) (b *Branch, pinned bool) {
	f.unpinned = false
	b = f.fitForm(i, key)
	return b, !f.unpinned
}

// fitChances takes the frequencies of the ways on from place i from the largest run.
func (f *fitter) fitChances(i int) {
	p := &f.prog.Places[i]
	p.Chances, p.Stays = make([]float64, len(p.Next)), make([]float64, len(p.Next))
	for _, in := range f.in[i] {
		if in == nil {
			continue
		}
		clear(p.Chances)
		clear(p.Stays)
		for _, n := range in.Next {
			k := p.way(n.Block)
			p.Chances[k] = float64(n.Count) / float64(in.Count)
			p.Stays[k] = float64(n.Again) / float64(n.Count)
		}
	}
}

// branchKeys returns the forms of the branch at the end of place i that are taken, those
// that most runs have first.
func (f *fitter) branchKeys(i int, take func(*RunBranch) bool) []branchKey {
	return mostCommon(f.in[i], func(in *RunPlace) (keys []branchKey) {
		for k := range in.Branch {
			if take(&in.Branch[k]) {
				keys = append(keys, branchKey{in.Branch[k].Split, in.Branch[k].Pivot, in.Branch[k].Bends})
			}
		}
		return keys
	})
}

// against reports whether the bounds of the simplest form of the branch at the end of place i
// contradict some run.
func (f *fitter) against(i int) bool {
	return slices.ContainsFunc(f.in[i], func(in *RunPlace) bool { return in != nil && len(in.Branch) > 0 && in.Branch[0].Against })
}

// undetermined reports whether no run shows how the bounds of the branch at the end of
// place i depend on all indices: such as which tile, where the first alone is not full. Loops
// that no run ever repeated have no index to depend on.
func (f *fitter) undetermined(i int) bool {
	if f.loops == nil {
		f.loops = f.prog.repeats(f.code)
	}
	loops := f.loops.around(i)
	for _, in := range f.in[i] {
		if in == nil {
			continue
		}
		for k := range in.Branch {
			for _, c := range in.Branch[k].Classes {
				if slices.ContainsFunc(c.Bounds, func(a RunAffine) bool { return len(a.Coef) > 0 && a.Rank == countRepeated(loops, len(a.Coef)-1) }) {
					return false
				}
			}
		}
	}
	return true
}

// countRepeated returns how many of the first n loops were repeated.
func countRepeated(loops []loopAround, n int) int {
	count := 0
	for _, l := range loops[:min(n, len(loops))] {
		if l.repeated {
			count++
		}
	}
	return count
}

// settled reports whether all coefficients of a branch are.
func (f *fitter) settled(b *Branch) bool {
	for _, c := range b.Classes {
		for _, bound := range c.Bounds {
			for _, p := range bound.Pieces {
				if len(p) == 0 || slices.ContainsFunc(p, func(k int32) bool { return !f.prog.Series[k].settled() }) {
					return false
				}
			}
		}
	}
	return true
}

// fitForm fits a form of the branch at the end of place i; nil if the runs contradict
// each other.
func (f *fitter) fitForm(i int, key branchKey) *Branch {
	b := &Branch{Split: key.split, Pivot: key.pivot, Classes: make([]Outcomes, key.split.classes())}
	for c := range b.Classes {
		if !f.fitOutcomes(i, key, c, &b.Classes[c]) {
			return nil
		}
	}
	return b
}

// fitOutcomes fits a class. It returns false if the runs contradict each other.
func (f *fitter) fitOutcomes(i int, key branchKey, c int, out *Outcomes) bool {
	of := func(run int) *RunOutcomes {
		in := f.in[i][run]
		if in == nil {
			return nil
		}
		k := slices.IndexFunc(in.Branch, func(b RunBranch) bool { return b.Split == key.split && b.Pivot == key.pivot && b.Bends == key.bends })
		if k < 0 {
			return nil
		}
		return &in.Branch[k].Classes[c]
	}
	shape := f.shapeOf(of)
	if len(shape) > maxSegments {
		return false
	}
	for _, b := range shape {
		out.Shape = append(out.Shape, int32(f.prog.Places[i].way(b)))
	}
	whole := func(r int) *RunOutcomes { // those of a run that has all outcomes
		if o := of(r); o != nil && slices.Equal(o.Shape, shape) {
			return o
		}
		return nil
	}
	for k := range max(0, len(shape)-1) {
		if !key.bends {
			out.Bounds = append(out.Bounds, Bound{Pieces: []Affine{f.affineOf(func(r int) *RunAffine {
				if o := whole(r); o != nil && k < len(o.Bounds) {
					return &o.Bounds[k]
				}
				return nil
			}, func(int) int64 { return 0 }, f.steps, f.limits(of, shape))}})
			continue
		}
		b, ok := f.bendBound(func(r int) *RunBends {
			if o := whole(r); o != nil && k < len(o.Bends) && len(o.Bends[k].Points) > 0 {
				return &o.Bends[k]
			}
			return nil
		}, int(key.pivot))
		if !ok {
			return false
		}
		out.Bounds = append(out.Bounds, b)
	}
	return true
}

// shapeOf returns the outcomes of a branch in their order, as the runs together show it.
func (f *fitter) shapeOf(of func(run int) *RunOutcomes) (shape []trace.BlockID) {
	for r := range f.runs {
		o := of(r)
		if o == nil {
			continue
		}
		list := make([]segment, len(o.Shape))
		for k, b := range o.Shape {
			list[k].next = b
		}
		shape, _ = supersequence(shape, list)
	}
	return shape
}

// limits returns what runs in which control went on in one of two ways alone say about the
// bound between these, if it is a constant: with full tiles alone, no index is beyond it.
func (f *fitter) limits(of func(run int) *RunOutcomes, shape []trace.BlockID) (list []Limit) {
	if len(shape) != 2 {
		return nil
	}
	for r, n := range f.prog.Sizes {
		o := of(r)
		if o == nil || len(o.Shape) != 1 {
			continue
		}
		if o.Shape[0] == shape[0] {
			list = append(list, Limit{Size: n, Value: scale * o.Last})
		} else {
			list = append(list, Limit{Size: n, Value: scale * (o.First - 1), Greatest: true})
		}
	}
	return list
}
