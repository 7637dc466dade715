package replay

import "slices"

// together are the pieces of a reference's addresses as the points of all runs show them
// together.
type together struct {
	vars   []int
	pieces []piece     // in vars and the size, of the number of units
	points []sample    // that they were found from
	runs   []*runUnits // by run; nil: its points say too little
}

// runUnits is how many units the addresses of a run lie from the first one. With
//
//	for (k = ...; k < min(kk+14, n); k += 2) ...
//	for (; k < min(kk+14, n); k++)    address: A + 8n·i + 8·k
//
// the second loop begins at the lesser of 14·K+12 and n-2, in units of 8 bytes. Of each run
// one tile alone shows the latter, so that it takes several runs to see that it depends
// on the size; but the unit may depend on it, too, as rows of n elements do.
type runUnits struct {
	first  int64 // address, less what even coordinates add
	unit   int64
	rise   []int64 // of even coordinates
	points []sample
}

// bendTogether looks for the pieces of reference j of place i in all runs together. In some
// of these one function may do, as all tiles are full.
func (f *fitter) bendTogether(i, j int) bool {
	t := &together{runs: make([]*runUnits, len(f.runs))}
	bent := make([]bool, f.prog.Places[i].Depth)
	for r, in := range f.having(i, j) {
		if in == nil || in.Refs[j].Bends == nil {
			continue
		}
		t.runs[r] = new(runUnits)
		for k, b := range in.Refs[j].Bends.Bent {
			bent[k] = bent[k] || b
		}
	}
	for k, b := range bent {
		if b {
			t.vars = append(t.vars, k)
		}
	}
	if len(t.vars) == 0 || len(t.vars)+1 > maxBent || !f.findUnits(i, j, t) {
		return false
	}
	known := 0
	for r, u := range t.runs {
		if u == nil {
			continue
		}
		known++
		for _, s := range u.points {
			t.points = append(t.points, sample{append(s.x, f.prog.Sizes[r]), s.y / u.unit})
		}
	}
	if known < minSizes-1 {
		return false
	}
	var sign int64
	if t.pieces, sign = piecesOf(t.points, spareSizes-1); len(t.pieces) < 2 {
		return false
	}
	ref := &f.prog.Places[i].Refs[j]
	ref.Form, ref.Bend, ref.Classes = Form{}, int8(sign), make([]Affine, len(t.pieces))
	ref.Unsure = t.unsure()
	if f.together == nil {
		f.together = make(map[*Ref]*together)
	}
	f.together[ref] = t
	return true
}

// findUnits finds the unit of each run that has three steps along the last coordinate that
// bends, as the first of them is a whole tile then: this distance by the same number in
// all runs, the least that makes all other distances multiples of the unit. Other runs
// are left out. It returns false if there is no such number.
func (f *fitter) findUnits(i, j int, t *together) bool {
	number := int64(1)
	tiles := make([]int64, len(t.runs))
	var origin []int64
	for r := range t.runs {
		if t.runs[r] == nil {
			continue
		}
		u, tile := unitsIn(f.in[i][r].Refs[j].Bends, t.vars)
		if t.runs[r] = u; u == nil {
			continue
		}
		if origin == nil {
			origin = u.points[0].x
		}
		if !slices.Equal(origin, u.points[0].x) {
			return false
		}
		common := tile
		for _, s := range u.points {
			common = gcd(common, abs(s.y/scale))
		}
		tiles[r] = tile
		if number *= tile / common / gcd(number, tile/common); number > maxStep {
			return false
		}
	}
	for r, u := range t.runs {
		if u == nil {
			continue
		}
		if tiles[r]%number != 0 {
			return false
		}
		u.unit = tiles[r] / number
	}
	return true
}

// unitsIn returns the points of a run, as distances from the first, and the distance that
// the first step along the last of some coordinates makes; nil if it has less than two
// more such steps, or coordinates along which it is not known whether addresses are
// even.
func unitsIn(b *RunBends, vars []int) (*runUnits, int64) {
	u := &runUnits{rise: slices.Clone(b.Rise)}
	for k := range u.rise {
		if slices.Contains(vars, k) {
			u.rise[k] = 0
		} else if !b.Even[k] {
			return nil, 0
		}
	}
	points, ok := (&RunBends{Rise: u.rise, Points: b.Points}).samples(vars)
	if !ok || len(points) == 0 {
		return nil, 0
	}
	u.first = points[0].y / scale
	last := len(vars) - 1
	var steps [3]int64
	var seen [3]bool
	for _, s := range points {
		s.y -= points[0].y
		u.points = append(u.points, s)
		at := s.x[last] - points[0].x[last]
		if at >= 0 && at < 3 && slices.Equal(s.x[:last], points[0].x[:last]) {
			steps[at], seen[at] = s.y/scale, true
		}
	}
	if !seen[1] || !seen[2] || steps[1] == 0 {
		return nil, 0
	}
	return u, abs(steps[1])
}

// unsure reports whether so few points are on some piece that it is a guess.
func (t *together) unsure() bool {
	return slices.ContainsFunc(t.pieces, func(p piece) bool {
		_, sure := p.on(t.points, spareSizes)
		return !sure
	})
}

// pieceIn returns piece c in a run; nil if no point of the run is on it, so that it is not
// known there.
func (t *together) pieceIn(c, run int, size int64) *RunAffine {
	u, p := t.runs[run], &t.pieces[c]
	if u == nil {
		return nil
	}
	last := len(t.vars)
	if !slices.ContainsFunc(t.points, func(s sample) bool { return s.x[last] == size && p.at(s.x) == s.y }) {
		return nil
	}
	a := &RunAffine{Coef: []int64{scale*u.first + u.unit*(p.constant+p.coef[last]*size)}}
	for k, rise := range u.rise {
		if at := slices.Index(t.vars, k); at >= 0 {
			a.Coef = append(a.Coef, u.unit*p.coef[at])
		} else {
			a.Coef = append(a.Coef, scale*rise)
		}
	}
	return a
}
