package replay

import "slices"

// turnsFirst returns the candidates' indices, those that take turns before other residue
// classes, and those with triangular numbers: with three arrays and few steps of a loop, or few
// rows of a triangle, there is a function through the points of each class of four as well.
func (r *reference) turnsFirst() []int {
	order := make([]int, len(r.candidates))
	for i := range order {
		order[i] = i
	}
	rank := func(i int) int {
		switch c := &r.candidates[i]; {
		case c.form.plain():
			return 0
		case c.takesTurns():
			return 1
		case c.form.Triangle.Of > 0:
			return 2
		}
		return 3
	}
	slices.SortStableFunc(order, func(i, k int) int { return rank(i) - rank(k) })
	return order
}

// takesTurns reports whether no function of residue classes of a coordinate depends on
// it, and accesses have shown that.
func (c *candidate) takesTurns() bool {
	s := c.form.Split
	if s.Modulus <= 1 || s.Sign != 0 || c.form.Counter {
		return false
	}
	shown := false
	for k := range c.classes {
		f := &c.classes[k]
		if f.points && f.coef[s.A+1] != 0 {
			return false
		}
		shown = shown || f.pivots(int(s.A))
	}
	return shown
}

// turns reports whether the most common form of reference j in runs is one of arrays that
// take turns: residue classes of a coordinate on which none of their functions depends, as
// some class shows that has points in all directions. A sum with jumps may go through the points as well, but
// arrays may lie elsewhere from each other at another size.
func turns(having []*RunPlace, j int, list []Form) bool {
	if len(list) == 0 || list[0].Split.Modulus <= 1 || list[0].Split.Sign != 0 || list[0].Counter {
		return false
	}
	coord := int(list[0].Split.A)
	for _, in := range having {
		if in == nil {
			continue
		}
		k := slices.IndexFunc(in.Refs[j].Forms, func(f RunForm) bool { return f.Form == list[0] })
		if k < 0 || !in.Refs[j].Forms[k].constantAlong(coord) {
			return false
		}
	}
	return true
}

// constantAlong reports whether no class depends on a coordinate, as one at least shows.
func (f *RunForm) constantAlong(coord int) bool {
	shown := false
	for _, c := range f.Classes {
		if len(c.Coef) == 0 {
			continue
		}
		if c.Coef[coord+1] != 0 {
			return false
		}
		shown = shown || c.Rank == len(c.Coef)-1
	}
	return shown
}
