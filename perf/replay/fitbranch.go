package replay

import (
	"slices"

	"presage/perf/trace"
)

// branchKey is what makes two fitted forms of a branch the same.
type branchKey struct {
	split Split
	pivot int8
}

// fitBranch fits the branch at the end of place i, and the frequencies of its
// outcomes in the largest run, by which it is drawn if it is irregular.
func (f *fitter) fitBranch(i int) {
	p := &f.prog.Places[i]
	p.Chances = make([]float64, len(p.Next))
	for _, in := range f.in[i] {
		if in == nil {
			continue
		}
		clear(p.Chances)
		for _, n := range in.Next {
			p.Chances[p.way(n.Block)] = float64(n.Count) / float64(in.Count)
		}
	}
	list := mostCommon(f.in[i], func(in *RunPlace) []branchKey {
		var keys []branchKey
		for k := range in.Branch {
			keys = append(keys, branchKey{in.Branch[k].Split, in.Branch[k].Pivot})
		}
		return keys
	})
	if len(list) == 0 {
		return
	}
	b := &Branch{Split: list[0].split, Pivot: list[0].pivot, Classes: make([]Outcomes, list[0].split.classes())}
	for c := range b.Classes {
		if !f.fitOutcomes(i, list[0], c, &b.Classes[c]) {
			return
		}
	}
	p.Branch = b
}

// fitOutcomes fits a class. It returns false if the runs contradict each other.
func (f *fitter) fitOutcomes(i int, key branchKey, c int, out *Outcomes) bool {
	p := &f.prog.Places[i]
	of := func(run int) *RunOutcomes {
		in := f.in[i][run]
		if in == nil {
			return nil
		}
		k := slices.IndexFunc(in.Branch, func(b RunBranch) bool { return b.Split == key.split && b.Pivot == key.pivot })
		if k < 0 {
			return nil
		}
		return &in.Branch[k].Classes[c]
	}
	var shape []trace.BlockID
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
	if len(shape) > maxSegments {
		return false
	}
	for _, b := range shape {
		out.Shape = append(out.Shape, int32(p.way(b)))
	}
	for k := range max(0, len(shape)-1) {
		out.Bounds = append(out.Bounds, f.affine(func(r int) *RunAffine {
			o := of(r)
			if o == nil || !slices.Equal(o.Shape, shape) || k >= len(o.Bounds) {
				return nil
			}
			return &o.Bounds[k]
		}, func(int) int64 { return 0 }))
	}
	return true
}
