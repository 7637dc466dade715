package host

import (
	"math"
	"slices"
)

// The criteria of plateaus and steps.
const (
	// flatness is the ratio by which a value may exceed the first of its
	// plateau. Some of the next level shows before a cache is full: lines
	// compete for its sets.
	flatness = 1.15
	// plateauOctaves is the least length of a plateau, in doublings of size.
	// Within a step, latency rises by more than flatness over a third of that.
	plateauOctaves = 0.75
	// stepRatio is the least ratio between plateaus; below it they are one.
	stepRatio = 1.25
)

// plateau is a range of sizes over which a curve is flat.
type plateau struct {
	first, last int     // indices of points
	value       float64 // median of the envelope
}

// envelope returns, for each point, the least value at it or to its right.
// Latency never falls as the working set grows, and disturbance only adds to
// it, so any value to the right is an upper bound.
func envelope(y []float64) []float64 {
	env := slices.Clone(y)
	for i := len(env) - 2; i >= 0; i-- {
		env[i] = min(env[i], env[i+1])
	}
	return env
}

// plateaus finds the ranges over which the envelope of y over x is flat: the
// longest one, then likewise to its left and to its right. x ascends; y is
// positive.
func plateaus(x, y []float64) []plateau {
	env := envelope(y)
	var found []plateau
	var search func(lo, hi int)
	search = func(lo, hi int) {
		first, last, octaves := -1, -1, 0.0
		for i, j := lo, lo; i < hi; i++ {
			for j = max(i, j); j+1 < hi && env[j+1] <= env[i]*flatness; j++ {
			}
			if o := math.Log2(x[j] / x[i]); o > octaves {
				first, last, octaves = i, j, o
			}
		}
		if octaves < plateauOctaves {
			return
		}
		search(lo, first)
		found = append(found, plateau{first, last, sampleOf(env[first : last+1]).Median})
		search(last+1, hi)
	}
	search(0, len(x))
	return joined(found, env)
}

// joined merges neighbours that no step separates.
func joined(all []plateau, env []float64) []plateau {
	var out []plateau
	for _, p := range all {
		if n := len(out); n > 0 && p.value < out[n-1].value*stepRatio {
			last := &out[n-1]
			last.last = p.last
			last.value = sampleOf(env[last.first : p.last+1]).Median
			continue
		}
		out = append(out, p)
	}
	return out
}

// stepShare is the share of the way to the next plateau at which a curve leaves
// the current one: where that share of the loads misses, if the next level
// serves them.
const stepShare = 0.25

// openPoints is the least number of points beyond an open step: a disturbed
// point at the end of a curve has none to its right that would reveal it.
const openPoints = 3

// step is the end of a plateau: the working set lo still fits, hi no longer
// does.
type step struct {
	lo, hi        float64
	before, after float64 // values of the plateaus
	// open means that no plateau follows: the curve rises to its end, and after
	// is the median of the values beyond twice before.
	open bool
}

// steps returns the steps of a curve.
func steps(x, y []float64) []step {
	env := envelope(y)
	all := plateaus(x, y)
	var out []step
	for i, p := range all {
		s := step{before: p.value}
		end, bound := len(env), 0.0
		if i+1 < len(all) {
			s.after = all[i+1].value
			end, bound = all[i+1].first+1, s.before+stepShare*(s.after-s.before)
		} else {
			s.open, bound = true, 2*s.before
		}
		at := p.last + 1
		for at < end && env[at] <= bound {
			at++
		}
		if at == end || s.open && at+openPoints > end {
			continue // the last plateau, and nothing beyond
		}
		if s.open {
			s.after = sampleOf(env[at:]).Median
		}
		s.lo, s.hi = x[at-1], x[at]
		out = append(out, s)
	}
	return out
}

// roundest returns the number from lo up to but not including hi that the
// largest power of two divides: sizes of caches and of TLBs have few digits in
// binary.
func roundest(lo, hi uint64) uint64 {
	for unit := uint64(1) << 62; unit > 1; unit /= 2 {
		if n := (lo + unit - 1) / unit * unit; n >= lo && n < hi {
			return n
		}
	}
	return lo
}

// sizes returns perOctave geometrically spaced multiples of unit for each
// doubling from lo to hi, both included, ascending and each once.
func sizes(lo, hi, unit uint64, perOctave int) []uint64 {
	var out []uint64
	for i := 0; ; i++ {
		x := uint64(float64(lo)*math.Exp2(float64(i)/float64(perOctave))+0.5) / unit * unit
		if x > hi {
			return out
		}
		if len(out) == 0 || x > out[len(out)-1] {
			out = append(out, x)
		}
	}
}
