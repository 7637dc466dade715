package replay

import "slices"

// Indirect says that the addresses of a reference follow from numbers that another loads:
// each of Ref.Classes is a function of the vector at which one of Writers stored the number
// and, after the first Shared, the coordinates of the reference's own. See indirect.
type Indirect struct {
	Load    PlaceRef
	Shared  int
	Writers []int32 // of Program.Writers
	Counts  []bool  // by writer: the function is of how often places had been executed, in place of the vector
}

// PlaceRef is a reference of a place of a Program, and which of the words that it stores.
type PlaceRef struct {
	Place int32
	Ref   int
	Word  int
}

// indirectRef looks for a load from whose numbers the addresses of reference j of place i
// follow in all runs, by functions with polynomials of the size for coefficients.
func (f *fitter) indirectRef(i, j int) bool {
	having := f.having(i, j)
	last := -1
	for r, in := range having {
		if in != nil {
			last = r
		}
	}
	if last < 0 {
		return false
	}
	for k := range having[last].Refs[j].Indirects {
		x := &having[last].Refs[j].Indirects[k]
		load, ok := f.refIn(last, x.Load)
		if !ok {
			continue
		}
		runs := make([]*RunIndirect, len(having))
		all := true
		for r, in := range having {
			if in != nil {
				runs[r] = f.indirectIn(r, in, j, load)
				all = all && runs[r] != nil && runs[r].Shared == x.Shared
			}
		}
		if !all {
			continue
		}
		writers := f.writersOf(runs)
		if slices.ContainsFunc(writers, func(w PlaceRef) bool { return !f.polynomialWriter(runs, w) }) {
			continue
		}
		ref := &f.prog.Places[i].Refs[j]
		ref.Form, ref.Indirect = Form{}, &Indirect{Load: load, Shared: x.Shared}
		for _, w := range writers {
			ref.Indirect.Writers = append(ref.Indirect.Writers, f.writer(w))
			ref.Indirect.Counts = append(ref.Indirect.Counts, f.countsIn(runs, w))
		}
		return true
	}
	return false
}

// refIn returns the reference of the program that one of a run is.
func (f *fitter) refIn(run int, at RunAt) (PlaceRef, bool) {
	if at.Place < 0 || at.Place >= len(f.places[run]) {
		return PlaceRef{}, false
	}
	place := f.places[run][at.Place]
	return PlaceRef{place, at.Ref, at.Word}, at.Ref >= 0 && at.Ref < len(f.prog.Places[place].Refs) && at.Word&^1 == 0
}

// indirectIn returns what a run has of numbers that a reference loads; nil if it has nothing.
func (f *fitter) indirectIn(run int, in *RunPlace, j int, load PlaceRef) *RunIndirect {
	for k := range in.Refs[j].Indirects {
		x := &in.Refs[j].Indirects[k]
		if at, ok := f.refIn(run, x.Load); ok && at == load {
			return x
		}
	}
	return nil
}

// writersOf returns the references that stored numbers in any of some runs.
func (f *fitter) writersOf(runs []*RunIndirect) (list []PlaceRef) {
	for r, x := range runs {
		if x == nil {
			continue
		}
		for k := range x.Writers {
			if at, ok := f.refIn(r, x.Writers[k].By); ok && !slices.Contains(list, at) {
				list = append(list, at)
			}
		}
	}
	return list
}

// writer returns the number of a writer in the program.
func (f *fitter) writer(at PlaceRef) int32 {
	k := slices.Index(f.prog.Writers, at)
	if k < 0 {
		k = len(f.prog.Writers)
		f.prog.Writers = append(f.prog.Writers, at)
	}
	return int32(k)
}

// writtenIn returns what a run has of the numbers of a writer, nil for nothing.
func (f *fitter) writtenIn(run int, x *RunIndirect, by PlaceRef) *RunWritten {
	if x == nil {
		return nil
	}
	for k := range x.Writers {
		if at, ok := f.refIn(run, x.Writers[k].By); ok && at == by {
			return &x.Writers[k]
		}
	}
	return nil
}

// writtenBy returns what each run has of the numbers of a writer: the same jumps, and as many
// coefficients, as the last of them that has some; nil for others.
func (f *fitter) writtenBy(runs []*RunIndirect, by PlaceRef) []*RunWritten {
	out := make([]*RunWritten, len(runs))
	var like *RunWritten
	for r, x := range runs {
		if out[r] = f.writtenIn(r, x, by); out[r] != nil {
			like = out[r]
		}
	}
	same := func(x, y RunJump) bool { return x.Coord == y.Coord }
	for r, w := range out {
		if w != nil && (w.Counts != like.Counts || !slices.EqualFunc(w.Jumps, like.Jumps, same) || len(w.Function.Coef) != len(like.Function.Coef) || w.Function.Rank < like.Function.Rank) {
			out[r] = nil
		}
	}
	return out
}

// countsIn reports whether the last run that knows a writer has a function of counts.
func (f *fitter) countsIn(runs []*RunIndirect, by PlaceRef) (counts bool) {
	for _, w := range f.writtenBy(runs, by) {
		counts = w != nil && w.Counts || w == nil && counts
	}
	return counts
}

// polynomialWriter reports whether slopes and jumps of a writer's function are polynomials of
// the size, with one to spare at least.
func (f *fitter) polynomialWriter(runs []*RunIndirect, by PlaceRef) bool {
	list := f.writtenBy(runs, by)
	polynomial := func(value func(*RunWritten) int64) bool {
		var s Series
		for r, w := range list {
			if w != nil {
				s.Sizes, s.Values = append(s.Sizes, f.prog.Sizes[r]), append(s.Values, value(w))
			}
		}
		return !slices.ContainsFunc(s.Sizes, func(n int64) bool { return s.At(n).Spare == 0 })
	}
	k := slices.IndexFunc(list, func(w *RunWritten) bool { return w != nil })
	if k < 0 {
		return false
	}
	for c := 1; c < len(list[k].Function.Coef); c++ {
		if !polynomial(func(w *RunWritten) int64 { return w.Function.Coef[c] }) {
			return false
		}
	}
	for c := range list[k].Jumps {
		if !polynomial(func(w *RunWritten) int64 { return w.Jumps[c].From }) || !polynomial(func(w *RunWritten) int64 { return w.Jumps[c].By }) {
			return false
		}
	}
	return true
}

// fitIndirect fits the functions of reference j of place i, by writer.
func (f *fitter) fitIndirect(i, j int, having []*RunPlace) {
	ref := &f.prog.Places[i].Refs[j]
	runs := make([]*RunIndirect, len(having))
	for r, in := range having {
		if in != nil {
			runs[r] = f.indirectIn(r, in, j, ref.Indirect.Load)
		}
	}
	for _, w := range ref.Indirect.Writers {
		list := f.writtenBy(runs, f.prog.Writers[w])
		ref.Classes = append(ref.Classes, f.affine(func(r int) *RunAffine {
			if list[r] == nil {
				return nil
			}
			return &list[r].Function
		}, func(r int) int64 { return f.baseAt(i, j, r) }))
		ref.Jumps = append(ref.Jumps, f.jumpsOf(list))
	}
}

// jumpsOf fits the jumps of a writer's function.
func (f *fitter) jumpsOf(list []*RunWritten) (jumps []Jump) {
	var like *RunWritten
	for _, w := range list {
		if w != nil {
			like = w
		}
	}
	for k, jump := range like.Jumps {
		at := func(value func(RunJump) int64) int32 {
			return f.series(func(r int) (int64, bool) {
				if list[r] == nil {
					return 0, false
				}
				return value(list[r].Jumps[k]), true
			})
		}
		jumps = append(jumps, Jump{
			Coord: jump.Coord, From: at(func(j RunJump) int64 { return j.From }), By: at(func(j RunJump) int64 { return j.By }),
		})
	}
	return jumps
}
