package training

import (
	"cmp"
	"math"
	"slices"
)

// growth is the ratio of neighbouring sizes with which training begins.
const growth = 1.25

// crowd is the least relative difference of two sizes.
const crowd = 0.08

// ladder says which sizes may be run. It is a function of the options and of the
// sizes tried before alone: the same calls give the same sizes.
type ladder struct {
	given  []float64 // the only sizes, ascending; nil: all whole numbers
	from   float64
	until  float64
	tried  []float64 // by ascending size
	failed float64   // no larger size is tried; +Inf at first
}

func newLadder(opt *Options) *ladder {
	l := &ladder{from: opt.From, until: opt.Until, failed: math.Inf(1)}
	for _, b := range opt.Binaries {
		if v := b.Point[opt.Parameter]; v <= opt.Until {
			l.given = append(l.given, v)
		}
	}
	slices.Sort(l.given)
	return l
}

// try notes that a size has been tried.
func (l *ladder) try(size float64) {
	l.tried = append(l.tried, size)
	slices.Sort(l.tried)
}

// rung returns the i-th size to begin with: From·growth^i; false beyond Until.
func (l *ladder) rung(i int) (float64, bool) {
	if l.given != nil {
		if i >= len(l.given) {
			return 0, false
		}
		return l.given[i], true
	}
	at, last := l.from*math.Pow(growth, float64(i)), 0.0
	if len(l.tried) > 0 {
		last = l.tried[len(l.tried)-1]
	}
	return l.near(math.Max(at, last+1), last)
}

// near returns the size nearest to a target, above a bound, that is of the class
// modulo 8 with the fewest of the sizes tried, and among these of such a class
// modulo 4 and 2, and not close to any of them. Sizes that share a factor of two would teach a model how the
// program runs at these alone: unrolled loops without a remainder, rows that begin
// at the same place of a block, columns that fall into the same sets.
//
// It is false if there is none up to Until.
func (l *ladder) near(target, above float64) (float64, bool) {
	if l.given != nil {
		return l.nearest(target, above)
	}
	target = math.Round(target)
	width := math.Max(1, math.Min(4, math.Round(target/12)))
	type candidate struct {
		size float64
		rank [4]float64
	}
	var all []candidate
	for x := target - width; x <= target+width; x++ {
		if x <= above || x < 1 || x > l.until || x >= l.failed || l.crowded(x) {
			continue
		}
		all = append(all, candidate{x, [4]float64{l.alike(x, 8), l.alike(x, 4), l.alike(x, 2), math.Abs(x - target)}})
	}
	if len(all) == 0 {
		return 0, false
	}
	best := slices.MinFunc(all, func(a, b candidate) int { return slices.Compare(a.rank[:], b.rank[:]) })
	return best.size, true
}

// crowded reports whether a size is too close to one that was tried to say much else.
func (l *ladder) crowded(x float64) bool {
	return slices.ContainsFunc(l.tried, func(y float64) bool { return math.Abs(x-y) < crowd*math.Max(x, y) })
}

// alike returns the number of sizes tried that are of the class of x modulo m.
func (l *ladder) alike(x, m float64) float64 {
	n := 0.0
	for _, y := range l.tried {
		if math.Mod(y, m) == math.Mod(x, m) {
			n++
		}
	}
	return n
}

// nearest is near where the sizes are given.
func (l *ladder) nearest(target, above float64) (float64, bool) {
	best := math.Inf(1)
	for _, x := range l.given {
		if x > above && x < l.failed && !slices.Contains(l.tried, x) && math.Abs(x-target) < math.Abs(best-target) {
			best = x
		}
	}
	return best, !math.IsInf(best, 1)
}

// gap returns the ratio of the sizes tried next to one; +Inf if it has none on one
// side.
func (l *ladder) gap(size float64) float64 {
	i, _ := slices.BinarySearch(l.tried, size)
	if i == 0 || i == len(l.tried) {
		return math.Inf(1)
	}
	return l.tried[i] / l.tried[i-1]
}

// Multiples of the largest size at which another exact run, and a sampled one, are
// considered.
var (
	exactMultiples   = []float64{0.6, 0.7, 0.8, 0.9, 1.12, 1.25, 1.4, 1.6, 1.8, 2}
	sampledMultiples = []float64{2, 1.8, 1.6, 1.4, 1.25}
)

// candidates returns the sizes near multiples of the largest that may be run,
// ascending; those of multiples above 1 are larger than it.
func (l *ladder) candidates(largest float64, multiples []float64) []float64 {
	var out []float64
	for _, m := range multiples {
		above := 0.0
		if m > 1 {
			above = largest
		}
		x, ok := l.near(math.Min(m*largest, l.until), above)
		if ok && !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	slices.SortFunc(out, cmp.Compare[float64])
	return out
}
