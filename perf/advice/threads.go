package advice

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/patterns"
	"presage/perf/sharing"
	"presage/perf/subject"
)

// apart adds advice on objects of which each thread uses a part, in lines that others
// write. Misses are then those of threads on a core each. Of several executables, and of
// caches that sharing does not simulate, nothing is said; of the latter a warning does.
func (a *adviser) apart(ctx context.Context, prog *subject.Program, levels []patterns.Level, opt subject.RunOptions) error {
	if prog == nil || len(a.levels) == 0 || levels[0].Threads < 2 {
		return nil
	}
	rows, err := sharing.SimulateApart(ctx, prog, a.machine, []subject.Point{a.levels[0].blank.Point}, sharing.CacheOptions{RunOptions: opt})
	if errors.Is(err, sharing.ErrCaches) {
		for i := range a.levels {
			a.levels[i].warn("false sharing is not looked for: " + err.Error())
		}
		return nil
	}
	if err != nil {
		return err
	}
	for i := range rows {
		x := &rows[i]
		if x.Library {
			continue
		}
		at := slices.IndexFunc(a.levels, func(l level) bool { return l.blank.Level == x.Level })
		if at < 0 { // nothing missed there with all threads on one core
			continue
		}
		l := &a.levels[at]
		r := l.data(Privatise, x.Object, x.Gain)
		r.Low = x.Low
		r.Misses, r.Left = x.All, x.All
		r.With = x.Scope
		r.Text = fmt.Sprintf("threads on a core each take lines of %s from each other, of which each uses bytes of its own (%s after %s): bring these together and pad them to lines, or keep them in variables of the thread", x.Object, x.Scope, x.Writer)
		l.rows = append(l.rows, r)
	}
	return nil
}

// warn adds a warning to all rows of a level.
func (l *level) warn(text string) {
	add := func(r *Row) {
		if r.Warning != "" {
			r.Warning += "; "
		}
		r.Warning += text
	}
	add(&l.blank)
	for i := range l.rows {
		add(&l.rows[i])
	}
}
