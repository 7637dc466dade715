package host

import (
	"maps"
	"math"
	"slices"
)

// curve returns the least latencies by working set, ascending: the minimum over
// all passes with both page sizes, since neither disturbance nor TLB misses
// make a load faster.
func (p *Profile) curve() (x, y []float64) {
	least := make(map[uint64]float64)
	for _, l := range p.Latencies {
		if v, ok := least[l.Bytes]; !ok || l.Load.Min < v {
			least[l.Bytes] = l.Load.Min
		}
	}
	for _, bytes := range slices.Sorted(maps.Keys(least)) {
		x, y = append(x, float64(bytes)), append(y, least[bytes])
	}
	return x, y
}

// between returns the fastest load of working sets from lo to hi bytes, or, if
// there is none, of the largest one below hi.
func (p *Profile) between(lo, hi uint64) Sample {
	var best, below Sample
	var largest uint64
	for _, l := range p.Latencies {
		switch {
		case l.Bytes > hi:
		case l.Bytes >= lo && (best == Sample{} || l.Load.Min < best.Min):
			best = l.Load
		case l.Bytes > largest || l.Bytes == largest && l.Load.Min < below.Min:
			largest, below = l.Bytes, l.Load
		}
	}
	if best == (Sample{}) {
		return below
	}
	return best
}

// matchFactor is the largest ratio between a step and the capacity that the
// system reports.
const matchFactor = 2

// findLevels combines the caches that the system reports with the steps of the
// curve. If the system reports none, the steps are the levels.
func (c *calibration) findLevels() {
	found := steps(c.curve())
	c.MemoryNs = c.between(c.largest/2, c.largest)
	if c.StreamNs.Min > c.MemoryNs.Min {
		c.warn("loads from memory in ascending order take longer, %.3g ns, than in random order, %.3g ns: nothing seems to be fetched ahead", c.StreamNs.Min, c.MemoryNs.Min)
	}
	before := uint64(0)
	for _, g := range c.Geometry {
		c.Levels = append(c.Levels, Level{Name: levelName(g.Level), Geometry: g, Load: c.hit(before, g.Capacity)})
		before = g.Capacity
	}
	for i := range c.Levels {
		c.locate(i, found)
	}
	for _, s := range found {
		l := Level{Name: levelName(len(c.Levels) + 1), DetectedLo: uint64(s.lo), DetectedHi: uint64(s.hi)}
		if len(c.Geometry) == 0 {
			l.Load = c.hit(before, l.DetectedLo)
			before = l.DetectedLo
			c.Levels = append(c.Levels, l)
		} else if !slices.ContainsFunc(c.Levels, func(o Level) bool { return explains(o, s) }) {
			c.warn("load latency has a step from %.3g to %.3g ns between %s and %s that no cache of the system explains",
				s.before, s.after, sizeText(l.DetectedLo), sizeText(l.DetectedHi))
		}
	}
	if c.largest < 4*before {
		c.warn("the largest working set, %s, is not four times the last cache: latency and bandwidth of memory hold hits in it", sizeText(c.largest))
	}
}

// explains reports whether a step is the end of a level, or skips one without a
// plateau.
func explains(l Level, s step) bool {
	return float64(l.DetectedLo) <= s.hi && s.lo <= float64(l.DetectedHi) ||
		l.DetectedLo > 0 && s.before*stepRatio < l.Load.Min && l.Load.Min*stepRatio < s.after
}

// locate finds the capacity of a level that the system reports: at a step of
// the curve, or, if neighbours turned its plateau into a slope, where the curve
// is stepShare of the way from its latency to the next.
func (c *calibration) locate(i int, found []step) {
	l := &c.Levels[i]
	capacity := l.Geometry.Capacity
	at := nearest(found, capacity)
	if at < 0 {
		found = c.crossing(i)
		at = nearest(found, capacity)
	}
	// Less of the last, shared cache may be available.
	if at < 0 && i == len(c.Levels)-1 && len(found) > 0 && found[0].hi < float64(capacity) {
		at = 0
		c.warn("%s: of the %s that the system says working sets had no more than %s: others use the rest", l.Name, sizeText(capacity), sizeText(uint64(found[0].hi)))
	}
	if at < 0 {
		c.warn("%s: the curve has no step within a factor of %d of the %s that the system says", l.Name, matchFactor, sizeText(capacity))
		return
	}
	l.DetectedLo, l.DetectedHi = uint64(found[at].lo), uint64(found[at].hi)
}

// crossing returns the step from a level to the next, at most one.
func (c *calibration) crossing(i int) []step {
	s := step{before: c.Levels[i].Load.Min, after: c.MemoryNs.Min}
	if i+1 < len(c.Levels) {
		s.after = c.Levels[i+1].Load.Min
	}
	x, y := c.curve()
	env := envelope(y)
	at := slices.IndexFunc(env, func(v float64) bool { return v > s.before+stepShare*(s.after-s.before) })
	if at < 1 || s.after < s.before*stepRatio || i > 0 && x[at-1] <= float64(c.Levels[i-1].Geometry.Capacity) {
		return nil
	}
	s.lo, s.hi = x[at-1], x[at]
	return []step{s}
}

// nearest returns the index of the step nearest to a capacity, -1 if none is
// within matchFactor.
func nearest(found []step, capacity uint64) int {
	at, least := -1, math.Log2(matchFactor)
	for i, s := range found {
		if d := math.Abs(math.Log2(math.Sqrt(s.lo*s.hi) / float64(capacity))); d <= least {
			at, least = i, d
		}
	}
	return at
}

// hit returns the latency of a cache of a capacity behind one with the capacity
// before: the fastest load of working sets that fit and that hardly hit the one
// before, from twice its capacity on.
func (p *Profile) hit(before, capacity uint64) Sample {
	return p.between(min(2*before, (before+capacity)/2), capacity)
}

func levelName(n int) string {
	if n == 1 {
		return "L1D"
	}
	return "L" + string(rune('0'+n))
}

// pagesCurve returns the least latencies of all passes by number of pages.
func (p *Profile) pagesCurve() (x, sparse, dense []float64) {
	least := make(map[int][2]float64)
	for _, q := range p.Pages {
		v, ok := least[q.Pages]
		if !ok {
			v = [2]float64{q.Sparse.Min, q.Dense.Min}
		}
		least[q.Pages] = [2]float64{min(v[0], q.Sparse.Min), min(v[1], q.Dense.Min)}
	}
	for _, pages := range slices.Sorted(maps.Keys(least)) {
		x, sparse, dense = append(x, float64(pages)), append(sparse, least[pages][0]), append(dense, least[pages][1])
	}
	return x, sparse, dense
}

// minPenalty is the least penalty of a TLB miss, in cycles.
const minPenalty = 2

// findReaches finds the steps in the cost of using one page for each line. The
// latency of the first level is added so that differences from 0 do not count
// as steps.
func (c *calibration) findReaches() {
	x, sparse, dense := c.pagesCurve()
	dense = envelope(dense) // a disturbed point would hide a step; steps sees to one of the difference
	y := make([]float64, len(x))
	floor := c.between(0, firstBytes).Min
	for i := range y {
		y[i] = floor + max(0, sparse[i]-dense[i])
	}
	for _, s := range steps(x, y) {
		if c.Cycles(s.after-s.before) >= minPenalty {
			c.TLBs = append(c.TLBs, Reach{int(s.lo), int(s.hi), s.after - s.before, s.open})
		}
	}
	if len(c.TLBs) == 0 {
		c.warn("no TLB shows in %d pages of %s", maxPages, sizeText(c.PageBytes))
	}
}

// overlapShare is the ratio of the time of two loads from memory to that of one,
// or of an overlapping pair, above which the two do not overlap.
const overlapShare = 1.5

// findWindow finds the shortest filler with which two loads from memory take
// the time of two, without the time of the filler itself.
func (c *calibration) findWindow() {
	c.InOrder = c.Windows[0].Pair.Min > overlapShare*c.Parallel[0].Load.Min
	if c.InOrder {
		return
	}
	pairs := make([]float64, len(c.Windows))
	for i, w := range c.Windows {
		pairs[i] = w.Pair.Min - (w.Filler.Min - c.Windows[0].Filler.Min)
	}
	pairs = envelope(pairs)
	for i, pair := range pairs {
		if pair > overlapShare*pairs[0] {
			c.WindowHi = c.Windows[i].Instructions
			return
		}
		c.WindowLo = c.Windows[i].Instructions
	}
}
