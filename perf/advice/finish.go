package advice

import (
	"math"
	"slices"
	"strings"
)

// change is what advice on several levels has in common.
type change struct {
	kind                Kind
	where, with, object string
}

// change returns what a row is about: of loops, whatever object has most misses.
func (r *Row) change() change {
	if r.Where != "" {
		return change{r.Advice, r.Where, r.With, ""}
	}
	return change{r.Advice, "", "", r.Object}
}

// cycles are what a change saves at all levels.
type cycles struct {
	low, high, late float64
	known           bool // some latency is
}

// cycles returns what each change saves at all levels.
func (a *adviser) cycles() map[change]cycles {
	all := make(map[change]cycles)
	overlap := float64(max(1, a.machine.Memory.OutstandingMisses))
	for i := range a.levels {
		for j := range a.levels[i].rows {
			r := &a.levels[i].rows[j]
			latency := a.penalties[r.Level]
			c := all[r.change()]
			c.known = c.known || latency > 0
			straight := r.straight.Left*latency + r.straight.Wait
			c.low += straight / overlap
			c.high += straight
			if r.Gain > 0 {
				reuse := r.Ahead.Plus(r.straight.Times(-1))
				each := (reuse.Left*latency + reuse.Wait) / r.Gain
				c.low += r.Low * each / overlap
				c.high += r.High * each
			}
			c.late += r.Ahead.Wait
			all[r.change()] = c
		}
	}
	return all
}

// finish returns the rows of all levels.
func (a *adviser) finish() ([]Row, error) {
	for i := range a.levels {
		if err := a.stepping(&a.levels[i]); err != nil {
			return nil, err
		}
	}
	if err := a.straightenAll(); err != nil {
		return nil, err
	}
	saved := a.cycles()
	var all []Row
	for i := range a.levels {
		l := &a.levels[i]
		l.rows = slices.DeleteFunc(l.rows, func(r Row) bool { return !r.worthwhile() })
		if len(l.rows) == 0 {
			none := l.blank
			none.Advice, none.Text = Nothing, "nothing to gain: "+l.why
			none.Columns = none.columns(a.ahead)
			all = append(all, none)
			continue
		}
		for j := range l.rows {
			r := &l.rows[j]
			r.Share = r.Gain / r.Misses
			c := saved[r.change()]
			r.CyclesLow, r.CyclesHigh, r.CyclesLate = c.low, c.high, c.late
			if !c.known {
				r.CyclesLow, r.CyclesHigh, r.CyclesLate = math.NaN(), math.NaN(), math.NaN()
			}
			r.Columns = r.columns(a.ahead)
			if r.Text == "" {
				r.Text = r.text(l.tile)
			}
			r.Text = strings.TrimSpace(r.Text) + r.aheadText()
		}
		all = append(all, sorted(l.rows)...)
	}
	return all, nil
}

// worthwhile reports whether a change saves enough of the level's misses, or of those
// that prefetchers leave and then at least a fifth of that of all, and does not add to the
// number that is left.
func (r *Row) worthwhile() bool {
	if r.Ahead.Left < 0 {
		return false
	}
	if r.Gain > 0 && r.Gain >= least*r.Misses {
		return true
	}
	return r.Ahead.Left > 0 && r.Ahead.Left >= least*r.Left && (r.straight.Left > 0 || r.Gain >= least/5*r.Misses)
}
