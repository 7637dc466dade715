package advice

import (
	"math"
	"slices"

	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/patterns"
)

// step is what the iterations of a loop over steps access, with the loop directly inside
// it: rows, say, in each of which the steps will take turns.
//
//	for v < steps                     for i < rows
//		for i < rows          →           for v < steps
//			y[v][i] += a[i]·x[v]              y[v][i] += a[i]·x[v]
//
// What each step has for itself, x[v], it then leaves after each row, or after some rows if
// these are done together. It is there again only if that of all steps fits beside the rows.
type step struct {
	steps, rows float64 // iterations of the loop, and in each of the loop inside
	row         float64 // blocks of the common data in a row
	own         float64 // blocks that a step has for itself, in a row
	leaves      float64 // reuses of these from row to row, in all steps, that hit
	pace        float64 // cycles between accesses of such
}

// use is how often an object is accessed in a loop, by blocks.
type use struct {
	fresh float64 // new to the loop
	again float64 // since an iteration of the loop before
	inner float64 // since an iteration of the loop directly inside before
	hits  float64 // of inner
	pace  float64
}

// steps returns what a loop over steps and the loops directly inside it access; one of each
// of the latter.
func (n *nests) steps(loop string) []step {
	isUnder := n.under(loop)
	inside := make(map[string]map[string]*use) // by loop directly inside, and object
	var order []string
	of := func(f *fact) *use {
		at := top(f.Scope, loop)
		if !within(f.Scope, loop) {
			at = top(f.Scope, "")
		}
		if inside[at] == nil {
			inside[at] = make(map[string]*use)
			order = append(order, at)
		}
		if inside[at][f.Object] == nil {
			inside[at][f.Object] = new(use)
		}
		return inside[at][f.Object]
	}
	for i := range n.facts {
		f := &n.facts[i]
		switch {
		case !isUnder(f) || f.Object == locality.StackObject || f.Object == patterns.OtherPatterns:
		case f.Carrier == loop && f.Crosses:
			of(f).again += f.accesses
		case f.Carrier != loop && !inner(f.Carrier, loop):
			of(f).fresh += f.accesses
		case f.Crosses && (f.Carrier == top(f.Scope, loop) || !within(f.Scope, loop) && f.Carrier == top(f.Carrier, "")):
			u := of(f)
			u.inner += f.accesses
			u.hits += f.accesses - f.misses
			u.pace = f.pace
		}
	}
	var all []step
	for _, at := range order {
		if s, ok := stepOf(inside[at]); ok {
			all = append(all, s)
		}
	}
	return all
}

// stepOf returns what a loop directly inside accesses; false if no step has anything for
// itself that it reuses from row to row.
func stepOf(objects map[string]*use) (s step, ok bool) {
	s.steps, s.rows = 1, 1
	for _, u := range objects {
		if u.common() {
			s.steps = math.Max(s.steps, u.again/u.fresh+1)
		}
		if outside := u.fresh + u.again; outside > 0 {
			s.rows = math.Max(s.rows, u.inner/outside+1)
		}
	}
	for _, u := range objects {
		blocks := (u.fresh + u.again + u.inner) / (s.steps * s.rows)
		if u.common() {
			s.row += blocks
			continue
		}
		s.own += blocks
		s.leaves += u.hits
		s.pace = math.Max(s.pace, u.pace)
	}
	return s, s.leaves > 0
}

// common reports whether steps access the same of an object.
func (u *use) common() bool { return u.fresh > 0 && u.again >= u.fresh/2 }

// longer returns how many reuses of a step's own data would miss if so many rows are done
// together, and how many of the gain would be lost; of a set-associative level by the
// probability that their blocks fall into full sets.
func (n *nests) longer(s step, together, gain float64) (own, lost float64) {
	return s.leaves / together * n.cache.MissProbability(s.steps*s.own+together*s.row), gain * n.cache.MissProbability(together*s.row+s.own)
}

// lost is what tiling the steps of a loop makes long.
type lost struct {
	least    float64 // misses, with the best number of rows together
	rows     float64 // that number
	one      float64 // misses, with one row after the other
	own      float64 // of least: of what steps have for themselves
	ownBlock float64 // blocks that a step has for itself in a row
	pace     float64
}

// cost returns what tiling the steps of a loop makes long, of a gain.
func (n *nests) cost(loop string, gain float64) lost {
	var sum lost
	for _, s := range n.steps(loop) {
		own, other := n.longer(s, 1, gain)
		best := lost{least: own + other, rows: 1, one: own + other, own: own, ownBlock: s.own, pace: s.pace}
		for together := 2.0; together < s.rows; together *= 2 {
			if own, other = n.longer(s, together, gain); own+other < best.least {
				best.least, best.rows, best.own = own+other, together, own
			}
		}
		if best.least > sum.least {
			sum.rows, sum.ownBlock, sum.pace = best.rows, best.ownBlock, best.pace
		}
		sum.least += best.least
		sum.one += best.one
		sum.own += best.own
	}
	return sum
}

// stepping takes from the gain of tiling steps what that makes long: what each step has for
// itself, of which prefetchers leave what they leave of walks of that length.
func (a *adviser) stepping(l *level) error {
	for i := range l.rows {
		r := &l.rows[i]
		if r.Advice != TileSteps {
			continue
		}
		c := l.nests.cost(r.Where, r.Gain)
		if c.least == 0 {
			continue
		}
		share := math.Max(0, 1-(c.least-c.own)/r.Gain) // of the reuses that the change is about
		r.Ahead = r.Ahead.Times(share)
		each, err := a.walked(r.Level, c)
		if err != nil {
			return err
		}
		r.Ahead = r.Ahead.Plus(each.Times(-c.own))
		r.Low = math.Min(r.Low-c.least, r.Gain-c.one)
		r.Gain -= c.least
		r.rows = c.rows
	}
	return nil
}

// walked returns what prefetchers do for each miss of what a step has for itself.
func (a *adviser) walked(name string, c lost) (patterns.Prefetched, error) {
	at := slices.IndexFunc(a.machine.Caches, func(c machine.Cache) bool { return c.Name == name })
	if !a.ahead || at < 0 {
		return patterns.Prefetched{Left: 1}, nil
	}
	bytes := uint64(math.Max(1, math.Round(c.ownBlock))) * a.machine.Caches[at].BlockBytes
	return patterns.WalkAgain(a.machine, at, c.pace, bytes)
}
