package replay

import (
	"slices"
)

// bentPieces are the pieces of addresses in a run.
type bentPieces struct {
	sign   int64
	pieces [][]int64 // of each: the constant, then all coordinates
}

// find returns the pieces of which the least or greatest are the addresses; nil if there
// are none.
func (r *RunBends) find() *bentPieces {
	if r.pieces != nil {
		return r.pieces
	}
	r.pieces = new(bentPieces)
	var vars []int
	for k, bent := range r.Bent {
		if bent {
			vars = append(vars, k)
		}
	}
	points, ok := r.samples(vars)
	if !ok {
		return r.pieces
	}
	found, sign := piecesOf(points, 1)
	for _, p := range found {
		coef := append([]int64{p.constant}, r.Rise...)
		for i, k := range vars {
			coef[k+1] = p.coef[i]
		}
		r.pieces.pieces = append(r.pieces.pieces, coef)
	}
	r.pieces.sign = sign
	return r.pieces
}

// samples returns the points in some variables alone; the rest of the function is
// subtracted. ok is false if there are several values at one point, so that it does
// not depend on these variables alone.
func (r *RunBends) samples(vars []int) (list []sample, ok bool) {
	at := make(map[[maxBent]int64]int64)
	for _, p := range r.Points {
		y := p[len(p)-1]
		for k, rise := range r.Rise {
			if !slices.Contains(vars, k) {
				y -= rise * p[k]
			}
		}
		var key [maxBent]int64
		if len(vars) > maxBent {
			return nil, false
		}
		x := make([]int64, len(vars))
		for i, k := range vars {
			x[i], key[i] = p[k], p[k]
		}
		was, known := at[key]
		switch {
		case known && was != y:
			return nil, false
		case !known:
			at[key] = y
			list = append(list, sample{x, y})
		}
	}
	return list, true
}

// bendRef looks for a reference's addresses among the least or greatest of several
// affine functions. It reports whether runs agree on that, enough of them and more than
// have one affine function. Residue classes may be nothing but tiles that are few.
func (f *fitter) bendRef(i, j int, forms []Form) bool {
	var sign int64
	count, agree := 0, 0
	for _, in := range f.having(i, j) {
		if in == nil {
			continue
		}
		if len(forms) > 0 && forms[0].plain() && slices.ContainsFunc(in.Refs[j].Forms, func(x RunForm) bool { return x.Form == forms[0] }) {
			agree--
			continue
		}
		if !in.Refs[j].Bends.bent() {
			continue
		}
		switch b := in.Refs[j].Bends.find(); {
		case len(b.pieces) < 2:
			return false
		case count == 0 || b.sign == sign && len(b.pieces) == count:
			agree++
			sign, count = b.sign, len(b.pieces)
		}
	}
	if agree < minSizes-1 {
		return false
	}
	ref := &f.prog.Places[i].Refs[j]
	ref.Form, ref.Bend, ref.Classes = Form{}, int8(sign), make([]Affine, count)
	return true
}

// fitBentRef fits the pieces of a reference.
func (f *fitter) fitBentRef(i, j int) {
	ref := &f.prog.Places[i].Refs[j]
	for c := range ref.Classes {
		ref.Classes[c] = f.affine(func(r int) *RunAffine {
			if f.in[i][r] == nil || !f.in[i][r].Refs[j].Bends.bent() {
				return nil
			}
			b := f.in[i][r].Refs[j].Bends.find()
			if b.sign != int64(ref.Bend) || len(b.pieces) != len(ref.Classes) {
				return nil
			}
			a := &RunAffine{}
			for _, x := range b.pieces[c] {
				a.Coef = append(a.Coef, x*scale)
			}
			return a
		}, func(r int) int64 { return f.baseAt(i, j, r) })
	}
}

// bendBound finds the pieces of a bound, with the size as one more variable, from the
// points of all runs: of returns those of a run, or nil. One run alone would not do,
// since the last tile of each has a size of its own. It returns false if there are none.
func (f *fitter) bendBound(of func(run int) *RunBends, depth int) (Bound, bool) {
	rise, even, bent := make([]int64, depth), make([]bool, depth), make([]bool, depth)
	hope := false
	for r := range f.runs {
		b := of(r)
		if b == nil {
			continue
		}
		hope = hope || !b.hopeless
		for k := range depth {
			bent[k] = bent[k] || b.Bent[k]
			if b.Even[k] {
				bent[k] = bent[k] || even[k] && rise[k] != b.Rise[k]
				rise[k], even[k] = b.Rise[k], true
			}
		}
	}
	var vars []int
	for k := range depth {
		if bent[k] || !even[k] {
			vars = append(vars, k)
			rise[k] = 0
		}
	}
	if !hope || len(vars)+1 > maxBent {
		return Bound{}, false
	}
	var points []sample
	for r, n := range f.prog.Sizes {
		b := of(r)
		if b == nil {
			continue
		}
		own, ok := (&RunBends{Rise: rise, Points: b.Points}).samples(vars)
		if !ok {
			return Bound{}, false
		}
		for _, s := range own {
			points = append(points, sample{append(s.x, n), s.y})
		}
	}
	found, sign := piecesOf(points, spareSizes-1)
	if found == nil {
		for r := range f.runs {
			if b := of(r); b != nil {
				b.hopeless = true
			}
		}
		return Bound{}, false
	}
	out := Bound{Greatest: sign > 0}
	for _, p := range found {
		out.Pieces = append(out.Pieces, f.boundPiece(p, vars, rise, points))
	}
	return out, true
}

// boundPiece returns a piece of a bound, whose coefficients are known at the sizes at
// which some point was on it: at one alone, so that they count as guesses, unless points
// are enough to be sure.
func (f *fitter) boundPiece(p piece, vars []int, rise []int64, points []sample) Affine {
	_, sure := p.on(points, spareSizes)
	last := len(vars) // the size's variable
	active := make(map[int64]bool)
	for _, s := range points {
		if p.at(s.x) == s.y && (sure || len(active) == 0) {
			active[s.x[last]] = true
		}
	}
	known := func(value func(n int64) int64) int32 {
		return f.series(func(r int) (int64, bool) {
			n := f.prog.Sizes[r]
			return scale * value(n), active[n]
		})
	}
	out := Affine{known(func(n int64) int64 { return p.constant + p.coef[last]*n })}
	for k := range rise {
		c := rise[k]
		if i := slices.Index(vars, k); i >= 0 {
			c = p.coef[i]
		}
		out = append(out, known(func(int64) int64 { return c }))
	}
	return out
}
