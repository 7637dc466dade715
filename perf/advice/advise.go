package advice

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/patterns"
	"presage/perf/predict"
	"presage/perf/subject"
)

// Simulate runs prog at each point, simulates the machine on it, with its prefetchers if
// the options say so, and returns advice on each level: rows by point and level, the
// largest gains first, those of less than a twentieth of the level's misses left out. A
// level without advice has a row of the kind Nothing. Results of simulations are kept in
// the store. Of the options it does not regard By and Listing.
func Simulate(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt patterns.SimulateOptions) ([]Row, error) {
	opt.By, opt.Listing = subject.ByLoop, subject.Listing{}
	all, err := patterns.SimulateLevels(ctx, prog, m, points, opt)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for _, levels := range all {
		a, err := newAdviser(m, opt.Prefetching)
		if err != nil {
			return nil, err
		}
		for i := range levels {
			a.simulated(&levels[i])
		}
		rows = append(rows, a.finish()...)
	}
	return rows, nil
}

// Predicted returns advice on predicted patterns, by loop and all of them listed: the
// rows of Simulate but for those that take a simulation, about data and pages. Gains are
// with prefetchers if the patterns were predicted with them.
func Predicted(m *machine.Machine, rows []patterns.Predicted) ([]Row, error) {
	var all []Row
	prefetching := len(rows) > 0 && rows[0].Columns != nil
	a, err := newAdviser(m, prefetching)
	if err != nil {
		return nil, err
	}
	for len(rows) > 0 {
		n := 1
		at := subject.Point(rows[0].Point).String()
		for n < len(rows) && rows[n].Level == rows[0].Level && subject.Point(rows[n].Point).String() == at {
			n++
		}
		if rows[0].Machine != m.Name || !slices.ContainsFunc(predict.Levels(m), func(l predict.Level) bool { return l.Name == rows[0].Level }) {
			return nil, fmt.Errorf("perf: advice for %s on patterns of %s in %s: give the machine that they were predicted for", m.Name, rows[0].Machine, rows[0].Level)
		}
		if len(a.levels) > 0 && subject.Point(a.levels[0].blank.Point).String() != at {
			all = append(all, a.finish()...)
			if a, err = newAdviser(m, prefetching); err != nil {
				return nil, err
			}
		}
		if err := a.predicted(rows[:n]); err != nil {
			return nil, err
		}
		rows = rows[n:]
	}
	return append(all, a.finish()...), nil
}

// adviser collects advice on the levels of one point.
type adviser struct {
	machine   *machine.Machine
	penalties map[string]float64 // by level, in cycles
	walk      map[string]patterns.Prefetched
	levels    []level
}

// level is the advice on one level.
type level struct {
	blank Row
	rows  []Row
	why   string // there may be none
	tile  float64
}

func newAdviser(m *machine.Machine, prefetching bool) (*adviser, error) {
	a := &adviser{machine: m, penalties: make(map[string]float64)}
	list, _ := predict.Penalties(m)
	for _, p := range list {
		a.penalties[p.Level] = p.Latency
	}
	if !prefetching {
		return a, nil
	}
	walk, err := patterns.Walk(m)
	a.walk = make(map[string]patterns.Prefetched)
	for i, w := range walk {
		a.walk[m.Caches[i].Name] = w
	}
	return a, err
}

// ahead returns what prefetchers do for a pattern: nothing if there are none.
func (a *adviser) ahead(misses float64, p patterns.Prefetched) patterns.Prefetched {
	if a.walk == nil {
		return patterns.Prefetched{Left: misses}
	}
	return p
}

// geometry returns a level of the machine.
func (a *adviser) geometry(name string) predict.Level {
	all := predict.Levels(a.machine)
	return all[slices.IndexFunc(all, func(l predict.Level) bool { return l.Name == name })]
}

// add adds the advice on the facts of a level.
func (a *adviser) add(blank Row, facts []fact) *level {
	g := a.geometry(blank.Level)
	n := &nests{facts: facts, capacity: g.Blocks() * g.BlockBytes}
	type about struct {
		kind        Kind
		where, with string
	}
	at := make(map[about]int)
	most := make(map[about]float64)
	straight := make(map[about]bool) // scopes and objects
	l := level{blank: blank, tile: n.tile()}
	cold, own := 0.0, 0.0
	for i := range facts {
		f := &facts[i]
		switch {
		case f.Cold():
			cold += f.misses
		case f.Crosses && !inner(f.Scope, f.Carrier):
			own += f.misses
		}
		row, ok := n.advise(f)
		if !ok {
			continue
		}
		key := about{row.Advice, row.Where, row.With}
		k, known := at[key]
		if !known {
			k = len(l.rows)
			at[key] = k
			l.rows = append(l.rows, blank)
			l.rows[k].Advice, l.rows[k].Where, l.rows[k].With = row.Advice, row.Where, row.With
		}
		to := &l.rows[k]
		to.Ahead = to.Ahead.Plus(f.ahead.Times(row.Gain / f.misses))
		if w, ok := a.walk[blank.Level]; ok && row.Advice == Interchange && f.spatial() && !straight[about{row.Advice, f.Scope, f.Object}] {
			straight[about{row.Advice, f.Scope, f.Object}] = true
			to.Ahead = to.Ahead.Plus(n.straightened(f, w))
		}
		to.Gain += row.Gain
		to.Low += row.Low
		to.High += row.High
		if row.Gain > most[key] {
			most[key], to.Object = row.Gain, row.Object
		}
	}
	l.why = fmt.Sprintf("%s of the misses are first accesses, %s are irregular accesses of an innermost loop", num.Percent(num.Ratio(cold, blank.Misses)), num.Percent(num.Ratio(own, blank.Misses)))
	a.levels = append(a.levels, l)
	return &a.levels[len(a.levels)-1]
}

// simulated adds the advice on a simulated level.
func (a *adviser) simulated(s *patterns.Level) {
	if len(s.Patterns) == 0 {
		return
	}
	first := &s.Patterns[0]
	blank := Row{Program: first.Program, Point: first.Point, Machine: first.Machine, Level: s.Name, Warning: first.Warning}
	facts := make([]fact, len(s.Patterns))
	for i := range s.Patterns {
		p := &s.Patterns[i]
		facts[i] = fact{p.Pattern, p.Accesses, p.Misses, p.Misses, p.Misses, p.Used, p.Conflict, a.ahead(p.Misses, p.Prefetched)}
		blank.Misses += p.Misses
		blank.Left += facts[i].ahead.Left
	}
	l := a.add(blank, facts)
	l.split(s, facts)
	l.pad(s, facts, a.walk != nil)
	for _, t := range a.machine.TLBs {
		if t.Name == s.Name {
			l.hugePages(s, t.Entries, t.EntryBytes)
		}
	}
}

// sparse is the share of an object's blocks that a scope touches from which splitting
// it is no advice, and regular the share of them that must be touched alike.
const (
	sparse  = 0.75
	regular = 0.9
)

// split adds advice on objects of whose blocks scopes use a part, always the same.
func (l *level) split(s *patterns.Level, facts []fact) {
	type use struct{ object, scope string }
	part := make(map[use]float64) // that is used
	for _, x := range s.Extents {
		if share := num.Ratio(x.Touched, x.Footprint); x.Object != locality.StackObject && share > 0 && share <= sparse && x.Alike >= regular {
			part[use{x.Object, x.Scope}] = share
		}
	}
	at := make(map[string]int)
	most := make(map[string]float64)
	for i := range s.Patterns {
		p := &s.Patterns[i]
		share, ok := part[use{p.Object, p.Scope}]
		if !ok {
			continue
		}
		n, known := at[p.Object]
		if !known {
			n = len(l.rows)
			at[p.Object] = n
			l.rows = append(l.rows, l.data(Split, p.Object, 0))
		}
		r, gain := &l.rows[n], p.Misses*(1-share)
		r.Gain += gain
		r.Low, r.High = r.Gain, r.Gain
		r.Ahead = r.Ahead.Plus(facts[i].ahead.Times(1 - share))
		if gain > most[p.Object] {
			most[p.Object], r.With = gain, p.Scope
			r.Text = fmt.Sprintf("%s accesses %s of the bytes of the blocks of %s that it comes to: bring these together", p.Scope, num.Percent(share), p.Object)
		}
	}
}

// pad adds advice on objects that collide.
func (l *level) pad(s *patterns.Level, facts []fact, prefetching bool) {
	gain := l.blank.Misses - s.Full
	var who *patterns.Object
	for i := range s.Objects {
		if o := &s.Objects[i]; who == nil || o.CollideMisses > who.CollideMisses {
			who = o
		}
	}
	if gain <= 0 || who == nil || who.With == "" {
		return
	}
	r := l.data(Pad, who.Object, gain)
	if prefetching {
		r.Ahead = s.FullAhead.Times(-1)
		for i := range facts {
			r.Ahead = r.Ahead.Plus(facts[i].ahead)
		}
	}
	r.With = who.With
	r.Text = fmt.Sprintf("%s and %s collide in %d of %d sets: move one by some blocks, or pad rows, so that they come to others", who.Object, who.With, who.CollideSets, who.Sets)
	if who.Object == who.With {
		r.Text = fmt.Sprintf("parts of %s collide in %d of %d sets: pad its rows or planes, so that they come to others", who.Object, who.CollideSets, who.Sets)
	}
	l.rows = append(l.rows, r)
}

// hugePages adds advice on a TLB that maps all of what is accessed, in huge pages.
func (l *level) hugePages(s *patterns.Level, entries, entryBytes uint64) {
	cold := 0.0
	for i := range s.Patterns {
		if s.Patterns[i].Cold() {
			cold += s.Patterns[i].Misses
		}
	}
	if s.HugePages > entries || entryBytes >= 2<<20 || cold > l.blank.Misses/2 { // the system makes a page at its first access
		return
	}
	r := l.data(HugePages, "", l.blank.Misses-float64(s.HugePages))
	r.Text = fmt.Sprintf("%d huge pages of 2 MiB hold what is accessed, and %s maps %d", s.HugePages, s.Name, entries)
	l.rows = append(l.rows, r)
}

// data returns advice on data with a gain.
func (l *level) data(kind Kind, object string, gain float64) Row {
	r := l.blank
	r.Advice, r.Object, r.Gain, r.Low, r.High, r.Ahead = kind, object, gain, gain, gain, patterns.Prefetched{Left: gain}
	return r
}

// predicted adds the advice on a predicted level.
func (a *adviser) predicted(rows []patterns.Predicted) error {
	first := &rows[0]
	blank := Row{Program: first.Program, Point: first.Point, Machine: first.Machine, Level: first.Level, Warning: first.Warning}
	var facts []fact
	for i := range rows {
		p := &rows[i]
		if p.Scope == subject.OtherScopes && p.Object == patterns.OtherPatterns {
			return fmt.Errorf("perf: advice on %s: patterns are summed up as %q: predict them without a Listing", p.Level, subject.OtherScopes)
		}
		if math.IsNaN(p.Misses) {
			return nil // not predicted, which Warning says
		}
		f := fact{p.Pattern, p.Accesses, p.Misses, p.Low, p.High, p.Used, 0, a.ahead(p.Misses, p.Prefetched)}
		if p.Columns == nil {
			f.used = math.NaN()
		}
		if math.IsNaN(f.low) {
			f.low, f.high = f.misses, f.misses
		}
		facts = append(facts, f)
		blank.Misses += p.Misses
		blank.Left += f.ahead.Left
	}
	a.add(blank, facts)
	return nil
}

// finish returns the rows of all levels.
func (a *adviser) finish() []Row {
	type change struct {
		kind                Kind
		where, with, object string
	}
	of := func(r *Row) change { // of loops, whatever object has most misses
		if r.Where != "" {
			return change{r.Advice, r.Where, r.With, ""}
		}
		return change{r.Advice, "", "", r.Object}
	}
	low, high, known := make(map[change]float64), make(map[change]float64), make(map[change]bool)
	for i := range a.levels {
		for j := range a.levels[i].rows {
			r := &a.levels[i].rows[j]
			latency := a.penalties[r.Level]
			known[of(r)] = known[of(r)] || latency > 0
			if r.Gain <= 0 {
				continue
			}
			each := (r.Ahead.Left*latency + r.Ahead.Wait) / r.Gain
			low[of(r)] += r.Low * each / float64(max(1, a.machine.Memory.OutstandingMisses))
			high[of(r)] += r.High * each
		}
	}
	var all []Row
	for i := range a.levels {
		l := &a.levels[i]
		l.rows = slices.DeleteFunc(l.rows, func(r Row) bool {
			return r.Gain <= 0 || r.Gain < worthwhile*r.Misses && !(r.Ahead.Left > 0 && r.Ahead.Left >= worthwhile*r.Left)
		})
		if len(l.rows) == 0 {
			none := l.blank
			none.Advice, none.Text = Nothing, "nothing to gain: "+l.why
			none.Columns = none.columns(a.walk != nil)
			all = append(all, none)
			continue
		}
		for j := range l.rows {
			r := &l.rows[j]
			r.Share = r.Gain / r.Misses
			r.CyclesLow, r.CyclesHigh = low[of(r)], high[of(r)]
			r.Columns = r.columns(a.walk != nil)
			if !known[of(r)] {
				r.CyclesLow, r.CyclesHigh = math.NaN(), math.NaN()
			}
			if r.Text == "" {
				r.Text = r.text(l.tile)
			}
			r.Text = strings.TrimSpace(r.Text) + r.coveredText()
		}
		all = append(all, sorted(l.rows)...)
	}
	return all
}
