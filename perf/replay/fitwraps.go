package replay

import "slices"

// Jump is a RunJump at any size: both are indices in Program.Series.
type Jump struct {
	Coord    int8
	From, By int32
}

// wrapRef looks for a sum of functions with jumps, see wraps, for the addresses of
// reference j of place i. All runs must have it, with jumps of the same coordinates in
// the same order, by exact polynomials of the size.
func (f *fitter) wrapRef(i, j int) bool {
	having := f.having(i, j)
	var last *RunPlace
	for _, in := range having {
		if in != nil {
			last = in
		}
	}
	if last == nil {
		return false
	}
	for k := range last.Refs[j].Wraps {
		w := &last.Refs[j].Wraps[k]
		if !f.agreeOn(having, j, w) || !f.polynomialWraps(having, j, w) {
			continue
		}
		ref := &f.prog.Places[i].Refs[j]
		ref.Form, ref.Bend, ref.Classes = w.Form, 0, make([]Affine, len(w.Classes))
		return true
	}
	return false
}

// wrapsIn returns what a run has of a form; nil if it has not.
func wrapsIn(in *RunPlace, j int, form Form) *RunWraps {
	if in == nil {
		return nil
	}
	list := in.Refs[j].Wraps
	k := slices.IndexFunc(list, func(w RunWraps) bool { return w.Form == form })
	if k < 0 {
		return nil
	}
	return &list[k]
}

// agreeOn reports whether all runs have a form with as many classes and jumps of the same
// coordinates.
func (f *fitter) agreeOn(having []*RunPlace, j int, like *RunWraps) bool {
	same := func(a, b []RunJump) bool {
		return slices.EqualFunc(a, b, func(x, y RunJump) bool { return x.Coord == y.Coord })
	}
	runs := 0
	for _, in := range having {
		if in == nil {
			continue
		}
		w := wrapsIn(in, j, like.Form)
		if w == nil || len(w.Classes) != len(like.Classes) || !slices.EqualFunc(w.Jumps, like.Jumps, same) {
			return false
		}
		runs++
	}
	return runs >= minSizes-1
}

// polynomialWraps reports whether jumps and slopes are polynomials of all sizes, with one to
// spare at least: what is certain is told by Instance.
func (f *fitter) polynomialWraps(having []*RunPlace, j int, like *RunWraps) bool {
	polynomial := func(value func(*RunWraps) int64) bool {
		var s Series
		for r, in := range having {
			if w := wrapsIn(in, j, like.Form); w != nil {
				s.Sizes, s.Values = append(s.Sizes, f.prog.Sizes[r]), append(s.Values, value(w))
			}
		}
		return !slices.ContainsFunc(s.Sizes, func(n int64) bool { return s.At(n).Spare == 0 })
	}
	for c := range like.Jumps {
		for k := range like.Jumps[c] {
			if !polynomial(func(w *RunWraps) int64 { return w.Jumps[c][k].From }) || !polynomial(func(w *RunWraps) int64 { return w.Jumps[c][k].By }) {
				return false
			}
		}
		for k := 1; k < len(like.Classes[c].Coef); k++ {
			if !polynomial(func(w *RunWraps) int64 {
				if coef := w.Classes[c].Coef; k < len(coef) {
					return coef[k]
				}
				return 0
			}) {
				return false
			}
		}
	}
	return true
}

// fitWraps fits the functions and jumps of reference j of place i.
func (f *fitter) fitWraps(i, j int, having []*RunPlace) {
	ref := &f.prog.Places[i].Refs[j]
	ref.Jumps = make([][]Jump, len(ref.Classes))
	in := func(r int) *RunWraps { return wrapsIn(having[r], j, ref.Form) }
	var like *RunWraps
	for r := range f.runs {
		if w := in(r); w != nil {
			like = w
		}
	}
	for c := range ref.Classes {
		ref.Classes[c] = f.affine(func(r int) *RunAffine {
			if w := in(r); w != nil {
				return &w.Classes[c]
			}
			return nil
		}, func(r int) int64 { return f.baseAt(i, j, r) })
		for k, jump := range like.Jumps[c] {
			at := func(value func(RunJump) int64) int32 {
				return f.series(func(r int) (int64, bool) {
					w := in(r)
					if w == nil {
						return 0, false
					}
					return value(w.Jumps[c][k]), true
				})
			}
			ref.Jumps[c] = append(ref.Jumps[c], Jump{
				Coord: jump.Coord, From: at(func(j RunJump) int64 { return j.From }), By: at(func(j RunJump) int64 { return j.By }),
			})
		}
	}
}

// liveJump is a Jump at a size.
type liveJump struct {
	coord    int
	from, by int64
}

// jumps returns the jumps of a reference at the size, by class.
func (in *Instance) jumps(ref *Ref, l *livePlace) [][]liveJump {
	value := func(k int32) int64 {
		v := in.values[k]
		l.exact = l.exact && v.Exact()
		l.classes = l.classes || v.Modulus > 1
		return v.At
	}
	out := make([][]liveJump, len(ref.Jumps))
	for c := range ref.Jumps {
		for _, j := range ref.Jumps[c] {
			out[c] = append(out[c], liveJump{int(j.Coord), value(j.From), value(j.By)})
		}
	}
	return out
}

// wrapped returns an affine function of the vector's class with its jumps.
func (ref *liveRef) wrapped(v []int64) uint64 {
	c, _ := ref.form.class(v)
	c = min(c, len(ref.classes)-1) // beyond it only after a branch that is in doubt
	sum := valueOf(ref.classes[c], v)
	for _, j := range ref.jumps[c] {
		if v[j.coord] >= j.from {
			sum += j.by
		}
	}
	return uint64(sum) / scale
}
