package replay

import "slices"

// Triangle is a coordinate of an iteration vector, or the sum or difference of two, whose
// triangular number is one more coordinate: rows of a triangle, one longer than the other,
// begin at such numbers where they are stored one after the other. The zero Triangle is none.
type Triangle struct {
	Of   int8 `json:",omitempty"` // 1 + the coordinate; 0: none
	Sign int8 `json:",omitempty"` // -1, 0 or 1; 0: it alone
	With int8 `json:",omitempty"` // the other coordinate
}

// of returns the number whose triangular number is asked for.
func (t Triangle) of(v []int64) int64 {
	x := v[t.Of-1]
	if t.Sign != 0 {
		x += int64(t.Sign) * v[t.With]
	}
	return x
}

// at returns the triangular number at v.
func (t Triangle) at(v []int64) int64 {
	x := t.of(v)
	return x * (x - 1) / 2
}

// goesWith reports whether it depends on a coordinate.
func (t Triangle) goesWith(coord int) bool {
	return t.coords()>>coord&1 != 0
}

// coords returns the coordinates that it depends on, as bits.
func (t Triangle) coords() uint64 {
	set := uint64(1) << (t.Of - 1)
	if t.Sign != 0 {
		set |= 1 << t.With
	}
	return set
}

// triangles returns the forms with triangular numbers to try at a depth.
func triangles(depth int) []Form {
	var list []Form
	for a := int8(depth) - 1; a >= 0; a-- {
		list = append(list, Form{Triangle: Triangle{Of: a + 1}})
	}
	for a := int8(depth) - 1; a >= 0; a-- {
		for b := a - 1; b >= 0; b-- {
			list = append(list, Form{Triangle: Triangle{Of: a + 1, Sign: 1, With: b}}, Form{Triangle: Triangle{Of: a + 1, Sign: -1, With: b}})
		}
	}
	return list
}

// addTriangles begins to look for triangular numbers, as v is the first point with which no
// affine function agrees. What came before is held against the form when the run is replayed.
func (r *reference) addTriangles(v []int64, addr int64) {
	for _, f := range triangles(len(v)) {
		c := newCandidate(f)
		c.add(v, nil, addr)
		r.candidates = append(r.candidates, c)
	}
}

// extended returns the vector with the triangular number, and keeps how far that goes.
func (c *candidate) extended(v []int64) []int64 {
	x := c.form.Triangle.of(v)
	if c.vector == nil {
		c.least, c.greatest = x, x
	}
	c.least, c.greatest = min(c.least, x), max(c.greatest, x)
	c.vector = append(append(c.vector[:0], v...), x*(x-1)/2)
	return c.vector
}

// settleTriangles drops the forms with triangular numbers that are not shown: without another
// form, the reference is irregular.
func (r *reference) settleTriangles() {
	r.candidates = slices.DeleteFunc(r.candidates, func(c candidate) bool { return c.form.Triangle.Of > 0 && !c.triangular() })
}

// triangular reports whether a form with triangular numbers is shown: by more rows than
// determine a parabola, and it is one.
func (c *candidate) triangular() bool {
	const rows = 6
	f := &c.classes[0]
	return c.form.Triangle.Of > 0 && c.greatest-c.least >= rows-1 && len(f.rows) == len(f.origin) && f.coef[len(f.coef)-1] != 0
}
