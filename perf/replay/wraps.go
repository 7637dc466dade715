package replay

import "slices"

// wraps looks for addresses that are a sum of a function of each coordinate, linear but
// for a few jumps: what periodic borders make of an affine function. With
//
//	for (i = 0; i < n; i++)
//	  for (j = 0; j < n; j++)
//	    s += a[(i+n-1)%n][(j+1)%n];
//
// they are A - 8n + 8 + 8n·i + 8·j, and 8n² more where i < 1, and 8n less where j ≥ n-1,
// in the corner both. There may be one such sum for each class of a Split, for each value
// of a coordinate that has few, or for each pair of both: of the directions of a lattice,
// of which each looks up its neighbour in a table.
type wraps struct {
	form    Form
	classes []separable
}

// separable is a sum of functions of one coordinate each.
type separable struct {
	seen    bool
	first   int64 // the value at the first point
	along   []profile
	pending [][]int64 // points with several coordinates of which nothing is known, and the value
}

const (
	// maxTable is the number of values of a coordinate that have a function each.
	maxTable = 32
	// maxPending is the number of points that are kept until more is known.
	maxPending = 64
	// maxWrapped is the number of forms of this kind that are kept.
	maxWrapped = 4
)

// wrapForms returns the forms to try at a depth, the simplest first.
func wrapForms(depth int) []Form {
	var list []Form
	for _, s := range splits(depth) {
		if s.Modulus <= 2 {
			list = append(list, Form{Wraps: true, Split: s})
		}
	}
	for k := range int8(depth) {
		list = append(list, Form{Wraps: true, Table: k + 1})
	}
	for k := range int8(depth) { // and two arrays that take turns
		for a := range int8(depth) {
			if a != k {
				list = append(list, Form{Wraps: true, Table: k + 1, Split: Split{Modulus: 2, A: a}})
			}
		}
	}
	return list
}

func newWraps(depth int) []wraps {
	var list []wraps
	for _, f := range wrapForms(depth) {
		list = append(list, wraps{form: f})
	}
	return list
}

// class returns the class of v; ok is false if it is beyond a table.
func (f Form) class(v []int64) (class int, ok bool) {
	class = f.Split.class(v)
	if f.Table > 0 {
		row := v[f.Table-1]
		return class + f.Split.classes()*int(row), row < maxTable
	}
	return class, true
}

// add takes the point (v, y). It returns false if there is no such sum.
func (w *wraps) add(v []int64, y int64) bool {
	c, ok := w.form.class(v)
	if !ok {
		return false
	}
	for len(w.classes) <= c {
		w.classes = append(w.classes, separable{})
	}
	return w.classes[c].add(v, y)
}

func (s *separable) add(v []int64, y int64) bool {
	if !s.seen {
		s.seen, s.first, s.along = true, y, make([]profile, len(v))
		for k, x := range v {
			s.along[k].learn(x, 0)
		}
		return true
	}
	rest, at, unknown := s.explain(v, y)
	switch unknown {
	case 0:
		return rest == 0
	case 1:
		return s.along[at].learn(v[at], rest) && s.resume()
	}
	// What is left out here, the verification of the whole sees.
	if len(s.pending) < maxPending {
		s.pending = append(s.pending, append(slices.Clone(v), y))
	}
	return true
}

// explain returns what known functions leave of a value, how many are not known at v, and
// the last of these.
func (s *separable) explain(v []int64, y int64) (rest int64, at, unknown int) {
	rest = y - s.first
	for k, x := range v {
		if part, ok := s.along[k].at(x); ok {
			rest -= part
		} else {
			at = k
			unknown++
		}
	}
	return rest, at, unknown
}

// resume looks at points again that were kept.
func (s *separable) resume() bool {
	for again := len(s.pending) > 0; again; {
		again = false
		kept := s.pending[:0]
		for _, p := range s.pending {
			v := p[:len(p)-1]
			rest, at, unknown := s.explain(v, p[len(v)])
			switch {
			case unknown > 1:
				kept = append(kept, p)
			case unknown == 1:
				if !s.along[at].learn(v[at], rest) {
					return false
				}
				again = true
			case rest != 0:
				return false
			}
		}
		s.pending = kept
	}
	return true
}

// RunWraps is a form with its coefficients in a run, by class those of the affine
// function up to the first jump and the jumps, by coordinate and where they are.
type RunWraps struct {
	Form    Form
	Classes []RunAffine
	Jumps   [][]RunJump
}

// RunJump is by how much, in eighths, a function changes where a coordinate is From or
// more.
type RunJump struct {
	Coord    int8
	From, By int64
}

// result returns what is kept; nil if slopes change or jumps are too many.
func (w *wraps) result() *RunWraps {
	out := &RunWraps{Form: w.form, Classes: make([]RunAffine, len(w.classes)), Jumps: make([][]RunJump, len(w.classes))}
	for c := range w.classes {
		if !w.classes[c].seen {
			continue
		}
		var ok bool
		if out.Classes[c], out.Jumps[c], ok = w.classes[c].result(); !ok {
			return nil
		}
	}
	return out
}

func (s *separable) result() (a RunAffine, list []RunJump, ok bool) {
	a.Coef = append(a.Coef, s.first*scale)
	for k := range s.along {
		p := &s.along[k]
		constant, slope, jumps, ok := p.line()
		if !ok {
			return RunAffine{}, nil, false
		}
		if len(p.parts) > 1 || p.parts[0].from < p.parts[0].to {
			a.Rank++
		}
		a.Coef[0] += constant * scale
		a.Coef = append(a.Coef, slope*scale)
		for _, j := range jumps {
			list = append(list, RunJump{Coord: int8(k), From: j.from, By: j.by * scale})
		}
	}
	return a, list, true
}

// addWraps takes an address.
func (r *reference) addWraps(v []int64, addr int64) {
	failed := 0
	for i := range r.wraps {
		if r.wraps[i].add(v, addr) {
			if failed > 0 {
				r.wraps[i-failed] = r.wraps[i]
			}
		} else {
			failed++
		}
	}
	r.wraps = r.wraps[:len(r.wraps)-failed]
}

// keepWraps puts the simplest sums into what is kept of a reference.
func (r *reference) keepWraps(out *RunRef) {
	for i := range r.wraps {
		if w := r.wraps[i].result(); w != nil && len(out.Wraps) < maxWrapped {
			out.Wraps = append(out.Wraps, *w)
		}
	}
}

// fits reports whether functions and jumps are of vectors of a length.
func (w *RunWraps) fits(depth int) bool {
	if len(w.Jumps) != len(w.Classes) || int(w.Form.Table) > depth ||
		slices.ContainsFunc(w.Classes, func(a RunAffine) bool { return len(a.Coef) > 0 && len(a.Coef) != depth+1 }) {
		return false
	}
	return !slices.ContainsFunc(w.Jumps, func(list []RunJump) bool {
		return slices.ContainsFunc(list, func(j RunJump) bool { return j.Coord < 0 || int(j.Coord) >= depth })
	})
}
