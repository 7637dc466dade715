package replay

import "slices"

// profile is a function of one coordinate, 0 where it was first seen, that rises by the
// same in each step but for a few jumps. With
//
//	for (i = 0; i < n; i++)
//	  s += a[(i+n-1) % n];
//
// the address is A+8n-8 at 0, and A-8+8·i from 1 on: two stretches with steps of 8.
type profile struct {
	parts []stretch // by ascending values
}

// stretch are values of a coordinate along which a function rises by step.
type stretch struct {
	from, to int64
	first    int64 // at from
	step     int64 // unless from is to
}

const (
	// maxJumps is the number of jumps of a profile: two at each end of a loop.
	maxJumps = 4
	// maxParts is the number of stretches, of which some may prove to be one later.
	maxParts = maxJumps + 2
)

func (s *stretch) at(x int64) int64 { return s.first + s.step*(x-s.from) }

// continues reports whether a point is on the line of a stretch that has one.
func (s *stretch) continues(x, y int64) bool { return s.from < s.to && s.at(x) == y }

// begins makes a line of a stretch of one point and another, if its step is an integer.
func (s *stretch) begins(x, y int64) bool {
	if s.from != s.to || (y-s.first)%(x-s.from) != 0 {
		return false
	}
	s.step = (y - s.first) / (x - s.from)
	return true
}

// at returns the value at x, if it is known.
func (p *profile) at(x int64) (y int64, ok bool) {
	for i := range p.parts {
		if s := &p.parts[i]; x >= s.from && x <= s.to {
			return s.at(x), true
		}
	}
	return 0, false
}

// learn takes a value that is not known. It returns false if that takes too many
// stretches.
func (p *profile) learn(x, y int64) bool {
	i := 0
	for i < len(p.parts) && p.parts[i].from < x {
		i++
	}
	switch {
	case i > 0 && p.parts[i-1].continues(x, y):
		p.parts[i-1].to = x
	case i < len(p.parts) && p.parts[i].continues(x, y):
		p.parts[i].from, p.parts[i].first = x, y
	case i > 0 && i == len(p.parts) && p.parts[i-1].begins(x, y):
		p.parts[i-1].to = x
		p.attract(i - 1)
	case i == 0 && len(p.parts) > 0 && p.parts[0].begins(x, y):
		p.parts[0].from, p.parts[0].first = x, y
	default:
		p.parts = slices.Insert(p.parts, i, stretch{from: x, to: x, first: y})
	}
	return len(p.parts) <= maxParts
}

// attract moves the second of two points that passed for a line to the stretch after
// them, part i, if it is on its line.
func (p *profile) attract(i int) {
	if i == 0 {
		return
	}
	before, s := &p.parts[i-1], &p.parts[i]
	if before.to != before.from+1 || s.from != before.to+1 || s.at(before.to) != before.at(before.to) {
		return
	}
	s.from, s.first = before.to, before.at(before.to)
	before.to, before.step = before.from, 0
}

// jump is a change of a function by an amount from a value of a coordinate on.
type jump struct {
	from, by int64
}

// line returns a profile as the line of its first stretch and jumps from there; ok is
// false if its slope changes or jumps are too many.
func (p *profile) line() (constant, slope int64, jumps []jump, ok bool) {
	longest := int64(0)
	for _, s := range p.parts {
		if s.to-s.from > longest {
			longest, slope = s.to-s.from, s.step
		}
	}
	level := int64(0)
	visit := func(x, y int64) {
		at := y - slope*x
		switch {
		case x == p.parts[0].from:
			constant = at
		case at != level:
			jumps = append(jumps, jump{x, at - level})
		}
		level = at
	}
	for i := range p.parts {
		s := &p.parts[i]
		visit(s.from, s.first)
		switch {
		case s.from == s.to || s.step == slope:
		case s.to == s.from+1: // two of one point each
			visit(s.to, s.at(s.to))
		default:
			return 0, 0, nil, false
		}
	}
	return constant, slope, jumps, len(jumps) <= maxJumps
}
