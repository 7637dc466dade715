package advice

import (
	"slices"

	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/patterns"
)

// left returns what prefetchers do for a pattern: nothing if there are none.
func (a *adviser) left(misses float64, p patterns.Prefetched) patterns.Prefetched {
	if !a.ahead {
		return patterns.Prefetched{Left: misses}
	}
	return p
}

// straight is a scope whose accesses to an object go through memory in order once a loop
// is its innermost.
type straight struct{ scope, loop, object string }

// straighten notes one, and how many cycles lie between its accesses.
func (a *adviser) straighten(s straight, pace float64) {
	if _, ok := a.paces[s]; !ok && a.ahead {
		a.straight, a.paces[s] = append(a.straight, s), pace
	}
}

// straightenAll adds to advice on interchanging loops what prefetchers then do better, at
// all caches, also those of which it saves no miss.
func (a *adviser) straightenAll() error {
	for _, s := range a.straight {
		walk, err := patterns.Walk(a.machine, a.paces[s])
		if err != nil {
			return err
		}
		for i := range a.levels {
			l := &a.levels[i]
			at := slices.IndexFunc(a.machine.Caches, func(c machine.Cache) bool { return c.Name == l.blank.Level })
			if at < 0 { // a TLB
				continue
			}
			if better := l.nests.straightened(s, walk[at]); better.Left > 0 {
				l.straighten(s, better)
			}
		}
	}
	return nil
}

// straighten adds what prefetchers do better to the row of a change, which it adds if
// there is none.
func (l *level) straighten(s straight, better patterns.Prefetched) {
	k := slices.IndexFunc(l.rows, func(r Row) bool { return r.Advice == Interchange && r.Where == s.loop && r.With == s.scope })
	if k < 0 {
		k = len(l.rows)
		l.rows = append(l.rows, l.blank)
		l.rows[k].Advice, l.rows[k].Where, l.rows[k].With, l.rows[k].Object = Interchange, s.loop, s.scope, s.object
	}
	l.rows[k].Ahead = l.rows[k].Ahead.Plus(better)
	l.rows[k].straight = l.rows[k].straight.Plus(better)
}

// straightened returns what prefetchers would do better, of each miss that stays of a
// scope's accesses to an object, once the reuses that a loop carries are short and the
// accesses go through memory in order.
func (n *nests) straightened(s straight, each patterns.Prefetched) patterns.Prefetched {
	var now patterns.Prefetched
	stay := 0.0
	for i := range n.facts {
		o := &n.facts[i]
		if o.Scope == s.scope && o.Object == s.object && !(o.Carrier == s.loop && o.Crosses) {
			now = now.Plus(o.ahead)
			stay += o.misses
		}
	}
	return now.Plus(each.Times(-stay))
}

// columns returns what prefetchers leave, for tables; nil if they are not simulated.
func (r *Row) columns(prefetching bool) map[string]float64 {
	if !prefetching {
		return nil
	}
	return map[string]float64{
		"demand_misses": r.Left, "pred_gain_demand_misses": r.Ahead.Left, "pred_gain_late_misses": r.Ahead.Late, "pred_gain_late_cycles": r.CyclesLate,
	}
}

// covered is the share of a gain from which it is said that prefetchers have it.
const covered = 0.5

// aheadText says that prefetchers fetch most of what a change would save, or would do so
// then.
func (r *Row) aheadText() string {
	switch {
	case r.Columns == nil:
		return ""
	case r.straight.Left > 0 && r.straight.Left >= least*r.Left:
		return "; prefetchers then fetch what misses for the first time"
	}
	reuse := r.Ahead.Plus(r.straight.Times(-1))
	all := reuse.Left + reuse.Late + reuse.Covered
	if r.Gain <= 0 || reuse.Covered+reuse.Late < covered*all {
		return ""
	}
	text := "; prefetchers cover " + num.Percent(reuse.Covered/all) + " of these misses"
	if reuse.Late > 0 {
		text += " and are late on " + num.Percent(reuse.Late/all)
	}
	return text
}
