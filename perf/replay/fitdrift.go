package replay

import "slices"

// Drift is how irregular addresses are drawn: of each step of the loops that the first
// coordinates of the vector count, Level of them, from a first address on.
type Drift struct {
	Level    int8
	Start    Affine // the first address; none: drawn from Ref.Lo to Ref.Hi
	Steps    Affine // from there on, without a constant; none: drawn from Lo to Hi
	Lo, Hi   int32  // in Series
	Stays    float64
	Twin     bool // the address is that of an earlier reference of the place
	Of       int  // which one
	Distance int32
}

// drifting is an irregular reference while what is regular about it is fitted.
type drifting struct {
	*fitter
	i, j   int
	having []*RunPlace // by run: the place, nil where the run does not know the reference as irregular
}

// fitDrift finds what is regular about reference j of place i, which is irregular, in all
// runs; nil for nothing.
func (f *fitter) fitDrift(i, j int, having []*RunPlace) *Drift {
	if d := f.fitTwin(i, j, having); d != nil {
		return d
	}
	levels := f.prog.Places[i].Depth - 1
	if levels < 1 {
		return nil
	}
	d := drifting{f, i, j, slices.Clone(having)}
	var last *RunRef
	for r, in := range having {
		if in == nil || len(in.Refs[j].Drifts) != levels { // a small run may be regular
			d.having[r] = nil
			continue
		}
		last = &in.Refs[j]
	}
	if last == nil {
		return nil
	}
	for k := range levels {
		if d.all(k, func(d *RunDrift) bool { return len(d.Steps.Coef) > 0 }) {
			return d.steps(k)
		}
	}
	best := -1
	for k := range levels {
		starts := d.all(k, func(d *RunDrift) bool { return len(d.Start.Coef) > 0 })
		if of := &last.Drifts[k]; starts && (best < 0 || of.Hi-of.Lo <= last.Drifts[best].Hi-last.Drifts[best].Lo) {
			best = k
		}
	}
	if best < 0 {
		return nil
	}
	return d.starts(best)
}

// all reports whether all runs have something at a level, the k-th.
func (d *drifting) all(k int, has func(*RunDrift) bool) bool {
	return !slices.ContainsFunc(d.having, func(in *RunPlace) bool { return in != nil && !has(&in.Refs[d.j].Drifts[k]) })
}

// series returns that of a value at a level.
func (d *drifting) series(k int, value func(*RunDrift) int64, shift func(run int) int64) int32 {
	return d.fitter.series(func(r int) (int64, bool) {
		in := d.having[r]
		return relative(in, func() int64 { return value(&in.Refs[d.j].Drifts[k]) - shift(r) })
	})
}

// affine returns the coefficients of a function at a level.
func (d *drifting) affine(k int, of func(*RunDrift) *RunAffine, shift func(run int) int64) Affine {
	return d.fitter.affine(func(r int) *RunAffine {
		if d.having[r] == nil {
			return nil
		}
		return of(&d.having[r].Refs[d.j].Drifts[k])
	}, shift)
}

func (d *drifting) base(run int) int64 { return d.baseAt(d.i, d.j, run) }

func unshifted(int) int64 { return 0 }

// steps returns the fit of a level at which steps are known.
func (d *drifting) steps(k int) *Drift {
	ref := &d.prog.Places[d.i].Refs[d.j]
	ref.Lo = d.series(k, func(d *RunDrift) int64 { return d.Least }, d.base)
	ref.Hi = d.series(k, func(d *RunDrift) int64 { return d.Most }, d.base)
	return &Drift{Level: int8(k + 1), Steps: d.affine(k, func(d *RunDrift) *RunAffine { return &d.Steps }, unshifted)}
}

// starts returns the fit of a level at which first addresses are known.
func (d *drifting) starts(k int) *Drift {
	out := &Drift{
		Level: int8(k + 1), Start: d.affine(k, func(d *RunDrift) *RunAffine { return &d.Start }, d.base),
		Lo: d.series(k, func(d *RunDrift) int64 { return d.Lo }, unshifted), Hi: d.series(k, func(d *RunDrift) int64 { return d.Hi }, unshifted),
	}
	for _, in := range d.having {
		if in != nil && in.Count > 0 {
			out.Stays = float64(in.Refs[d.j].Repeats) / float64(in.Count)
		}
	}
	return out
}

// fitTwin finds an earlier reference of the place from which reference j is as far in
// each run.
func (f *fitter) fitTwin(i, j int, having []*RunPlace) *Drift {
	of, found := 0, false
	for _, in := range having {
		if in == nil {
			continue
		}
		t := in.Refs[j].Twin
		if t == nil || t.Ref >= j || found && t.Ref != of {
			return nil
		}
		of, found = t.Ref, true
	}
	if !found {
		return nil
	}
	return &Drift{Twin: true, Of: of, Distance: f.series(func(r int) (int64, bool) {
		in := having[r]
		return relative(in, func() int64 { return in.Refs[j].Twin.Away })
	})}
}
