package advice

import (
	"context"
	"fmt"
	"math"
	"slices"

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
		a := newAdviser(m, opt.Prefetching)
		for i := range levels {
			a.simulated(&levels[i])
		}
		if err := a.apart(ctx, prog, levels, opt.RunOptions); err != nil {
			return nil, err
		}
		own, err := a.finish()
		if err != nil {
			return nil, err
		}
		rows = append(rows, own...)
	}
	return rows, nil
}

// Predicted returns advice on predicted patterns, by loop and all of them listed: the
// rows of Simulate but for those that take a simulation, about data and pages. Gains are
// with prefetchers if the patterns were predicted with them.
func Predicted(m *machine.Machine, rows []patterns.Predicted) ([]Row, error) {
	var all []Row
	prefetching := len(rows) > 0 && rows[0].Columns != nil
	a := newAdviser(m, prefetching)
	finish := func() error {
		own, err := a.finish()
		all = append(all, own...)
		return err
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
			if err := finish(); err != nil {
				return nil, err
			}
			a = newAdviser(m, prefetching)
		}
		if err := a.predicted(rows[:n]); err != nil {
			return nil, err
		}
		rows = rows[n:]
	}
	return all, finish()
}

// adviser collects advice on the levels of one point.
type adviser struct {
	machine   *machine.Machine
	penalties map[string]float64   // by level, in cycles
	ahead     bool                 // prefetchers are simulated
	straight  []straight           // what interchanges make a walk
	paces     map[straight]float64 // cycles between its accesses
	levels    []level
}

// level is the advice on one level.
type level struct {
	blank Row
	rows  []Row
	why   string // there may be none
	tile  float64
	nests *nests
}

func newAdviser(m *machine.Machine, prefetching bool) *adviser {
	a := &adviser{machine: m, penalties: make(map[string]float64), ahead: prefetching, paces: make(map[straight]float64)}
	list, _ := predict.Penalties(m)
	for _, p := range list {
		a.penalties[p.Level] = p.Latency
	}
	return a
}

// geometry returns a level of the machine.
func (a *adviser) geometry(name string) predict.Level {
	all := predict.Levels(a.machine)
	return all[slices.IndexFunc(all, func(l predict.Level) bool { return l.Name == name })]
}

// add adds the advice on the facts of a level.
func (a *adviser) add(blank Row, facts []fact, libraries map[string]bool) *level {
	g := a.geometry(blank.Level)
	n := &nests{facts: facts, capacity: g.Blocks() * g.BlockBytes, cache: g.Cache(), libraries: libraries}
	type about struct {
		kind        Kind
		where, with string
	}
	at := make(map[about]int)
	most := make(map[about]float64)
	l := level{blank: blank, tile: n.tile(), nests: n}
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
		if row.Advice == Interchange && f.spatial() {
			a.straighten(straight{f.Scope, f.Carrier, f.Object}, f.pace)
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
		facts[i] = fact{p.Pattern, p.Accesses, p.Misses, p.Misses, p.Misses, p.Used, p.Conflict, a.left(p.Misses, p.Prefetched), p.Pace}
		blank.Misses += p.Misses
		blank.Left += facts[i].ahead.Left
	}
	l := a.add(blank, facts, s.Libraries)
	l.split(s, facts)
	l.pad(s, facts, a.ahead)
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
		if share := num.Ratio(x.Touched, x.Footprint); x.Object != locality.StackObject && !s.Libraries[x.Scope] && share > 0 && share <= sparse && x.Alike >= regular {
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
		f := fact{p.Pattern, p.Accesses, p.Misses, p.Low, p.High, p.Used, 0, a.left(p.Misses, p.Prefetched), p.Pace}
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
	a.add(blank, facts, first.Libraries)
	return nil
}
