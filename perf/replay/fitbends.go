package replay

import (
	"slices"
)

// bentPieces are the pieces of addresses in a run.
type bentPieces struct {
	sign   int64
	pieces [][]int64 // of each: the constant, then all coordinates, in eighths
}

// bendings is what the fits of one Model have found out about points. The runs that have
// these may be shared by several Models, and do not change.
type bendings struct {
	pieces   map[*RunBends]*bentPieces // of addresses that were looked for
	hopeless map[*RunBends]int64       // bounds of which nothing was found with sizes of one residue by this modulus
}

func newBendings() *bendings {
	return &bendings{pieces: make(map[*RunBends]*bentPieces), hopeless: make(map[*RunBends]int64)}
}

// of returns the pieces of addresses, which are looked for once.
func (b *bendings) of(r *RunBends) *bentPieces {
	if b.pieces[r] == nil {
		b.pieces[r] = r.find()
	}
	return b.pieces[r]
}

// find returns the pieces of which the least or greatest are the addresses, without any
// if there are none.
func (r *RunBends) find() *bentPieces {
	out := new(bentPieces)
	var vars []int
	for k, bent := range r.Bent {
		if bent {
			vars = append(vars, k)
		}
	}
	points, ok := r.samples(vars)
	if !ok {
		return out
	}
	found, sign := piecesOf(points, 1)
	for _, p := range found {
		coef := make([]int64, 1+len(r.Rise))
		coef[0] = p.constant
		for k, rise := range r.Rise {
			coef[k+1] = rise * scale
		}
		for i, k := range vars {
			coef[k+1] = p.coef[i]
		}
		out.pieces = append(out.pieces, coef)
	}
	out.sign = sign
	return out
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
			list = append(list, sample{x, y * scale})
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
		switch b := f.bends.of(in.Refs[j].Bends); {
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
			if t := f.together[ref]; t != nil {
				return t.pieceIn(c, r, f.prog.Sizes[r])
			}
			if f.in[i][r] == nil || !f.in[i][r].Refs[j].Bends.bent() {
				return nil
			}
			b := f.bends.of(f.in[i][r].Refs[j].Bends)
			if b.sign != int64(ref.Bend) || len(b.pieces) != len(ref.Classes) {
				return nil
			}
			return &RunAffine{Coef: b.pieces[c]}
		}, func(r int) int64 { return f.baseAt(i, j, r) })
	}
}

// bendBound finds the pieces of a bound, with the size as one more variable, from the
// points of all runs: of returns those of a run, or nil. One run alone would not do,
// since the last tile of each has a size of its own. It returns false if there are none.
func (f *fitter) bendBound(of func(run int) *RunBends, depth int) (Bound, bool) {
	rise, vars := f.evenRise(of, depth)
	if !f.hopeful(of) || len(vars)+1 > maxBent {
		return Bound{}, false
	}
	points, ok := f.pointsOf(of, vars, rise)
	if !ok && depth < maxBent {
		// It is even along a coordinate in part of the points alone.
		vars = vars[:0]
		for k := range depth {
			vars, rise[k] = append(vars, k), 0
		}
		points, ok = f.pointsOf(of, vars, rise)
	}
	if !ok {
		return Bound{}, false
	}
	found, sign := piecesOf(points, spareSizes-1)
	if found == nil {
		f.giveUp(of)
		return Bound{}, false
	}
	out := Bound{Greatest: sign > 0}
	for _, p := range found {
		f.unpinned = f.unpinned || !p.pinned(points)
		out.Pieces = append(out.Pieces, f.boundPiece(p, vars, rise, points))
	}
	return out, true
}

// evenRise returns by how much a bound rises with each coordinate, in all runs alike, and
// the coordinates with which it does not, for which that is 0.
func (f *fitter) evenRise(of func(run int) *RunBends, depth int) (rise []int64, vars []int) {
	rise = make([]int64, depth)
	even, bent := make([]bool, depth), make([]bool, depth)
	for r := range f.runs {
		b := of(r)
		if b == nil {
			continue
		}
		for k := range depth {
			bent[k] = bent[k] || b.Bent[k]
			if b.Even[k] {
				bent[k] = bent[k] || even[k] && rise[k] != b.Rise[k]
				rise[k], even[k] = b.Rise[k], true
			}
		}
	}
	for k := range depth {
		if bent[k] || !even[k] {
			vars = append(vars, k)
			rise[k] = 0
		}
	}
	return rise, vars
}

// hopeful reports whether pieces of a bound may be found: sizes of one class may have some
// where all did not.
func (f *fitter) hopeful(of func(run int) *RunBends) bool {
	for r := range f.runs {
		if b := of(r); b != nil && f.bends.hopeless[b] < f.modulus {
			return true
		}
	}
	return false
}

// giveUp notes that a bound has no pieces over the sizes of this fit.
func (f *fitter) giveUp(of func(run int) *RunBends) {
	for r := range f.runs {
		if b := of(r); b != nil {
			f.bends.hopeless[b] = f.modulus
		}
	}
}

// pointsOf returns the points of all runs in some variables and the size; see samples.
func (f *fitter) pointsOf(of func(run int) *RunBends, vars []int, rise []int64) (points []sample, ok bool) {
	for r, n := range f.prog.Sizes {
		b := of(r)
		if b == nil {
			continue
		}
		own, ok := (&RunBends{Rise: rise, Points: b.Points}).samples(vars)
		if !ok {
			return nil, false
		}
		for _, s := range own {
			points = append(points, sample{append(s.x, n), s.y})
		}
	}
	return points, true
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
			return value(n), active[n]
		})
	}
	out := Affine{known(func(n int64) int64 { return p.constant + p.coef[last]*n })}
	for k := range rise {
		c := rise[k] * scale
		if i := slices.Index(vars, k); i >= 0 {
			c = p.coef[i]
		}
		out = append(out, known(func(int64) int64 { return c }))
	}
	return out
}
