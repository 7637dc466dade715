package training

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/subject"
)

// Train chooses sizes, runs the program at them, and fits a model, until the errors
// at the largest size, held out, are within those requested or the budget is spent.
// The package's comment says how.
//
// The sizes depend on the program's runs and on the options. Times decide only what
// fits into the budget, and are kept in the store with the runs, so that a repeated
// call makes the same choices, fast. Profiles that the store holds from elsewhere are
// used, and cost what reading them takes.
//
// Sizes at which the program fails are left out and named. It is an error if fewer
// than four are left, or if the size makes no difference to the runs
// (locality.ErrConstant).
func Train(ctx context.Context, prog *subject.Program, opt Options) (*Trained, error) {
	opt, err := opt.check(prog)
	if err != nil {
		return nil, err
	}
	r, err := newRunner(prog, opt)
	if err != nil {
		return nil, err
	}
	t := &trainer{runner: r, ladder: newLadder(&opt)}
	if err := t.begin(ctx); err != nil {
		return nil, err
	}
	if err := t.goOn(ctx); err != nil {
		return nil, err
	}
	opt.Progress.Finish(len(t.steps))
	return t.result()
}

// trainer is the state of training.
type trainer struct {
	*runner
	ladder   *ladder
	members  []*member // that models are fitted to, by ascending size
	check    *member   // a sampled run larger than they; usually nil
	checked  bool      // a sampled run has been made: one is enough
	steps    []Step
	failures int
	verdict
}

// verdict is what the models of all runs say of themselves.
type verdict struct {
	full   *misses.Model
	others []*misses.Model // of all runs but the largest, and but the largest two
	held   []deviation     // at the largest run, which may be a sampled one
	change []deviation     // at Until: the first of the others against the full model
	stop   Stop            // empty: training goes on
}

// begin runs the first sizes.
func (t *trainer) begin(ctx context.Context) error {
	for i := 0; len(t.members) < firstSizes && t.failures < maxFailures; i++ {
		size, ok := t.ladder.rung(i)
		if !ok {
			break
		}
		one, err := t.step(ctx, choice{size: size, reason: "to begin"})
		if err != nil {
			return err
		}
		if one.outcome == Unfinished {
			break
		}
		if err := t.differentRuns(); err != nil {
			return err
		}
	}
	if len(t.members) < leastSizes {
		return t.tooFew()
	}
	return nil
}

// differentRuns returns an error if the first two sizes did the same work.
func (t *trainer) differentRuns() error {
	if len(t.members) != 2 {
		return nil
	}
	a, b := t.members[0].run(), t.members[1].run()
	if a.Instructions != b.Instructions || a.Accesses != b.Accesses || a.Reuse[0].Blocks != b.Reuse[0].Blocks {
		return nil
	}
	return fmt.Errorf("perf: train: %w: %d instructions and %d accesses at %s as at %s; the size does not reach the program: name it in the arguments, such as --args \"-%s {%s}\"",
		locality.ErrConstant, a.Instructions, a.Accesses, a.Point, b.Point, t.opt.Parameter, t.opt.Parameter)
}

// tooFew says why there are too few runs for a model.
func (t *trainer) tooFew() error {
	var notes []string
	for _, s := range t.steps {
		if s.Outcome != Fitted {
			notes = append(notes, fmt.Sprintf("%s: %s: %s", subject.Point(s.Point), s.Outcome, s.Note))
		}
	}
	return fmt.Errorf("perf: train: %d runs succeeded within %s, and a model with one held out takes %d; give a larger budget, or another smallest size than %s = %g\n\t%s",
		len(t.members), t.opt.Budget, leastSizes, t.opt.Parameter, t.opt.From, strings.Join(notes, "\n\t"))
}

// goOn runs further sizes until there is a reason to stop.
func (t *trainer) goOn(ctx context.Context) error {
	if err := t.assess(ctx); err != nil {
		return err
	}
	for t.stop == "" {
		next, err := t.choose()
		if err != nil || t.stop != "" {
			return err
		}
		one, err := t.step(ctx, next)
		if err != nil {
			return err
		}
		switch {
		case one.outcome == Unfinished:
			t.stop = StopBudget
		case t.failures >= maxFailures:
			t.stop = StopFailures
		}
		if one.outcome == Failed || one.outcome == Unfinished || one.outcome == Vague {
			continue
		}
		why := t.stop
		if err := t.assess(ctx); err != nil {
			return err
		}
		t.stop = cmp.Or(t.stop, why)
	}
	return nil
}

// step makes one run and adds it to those that models are fitted to, unless the
// program fails, or blocks are sampled. Sampled runs are not fitted: the errors of
// their counts are small beside their sum, and large beside what is left of it once
// functions are fitted to each part and extrapolated.
func (t *trainer) step(ctx context.Context, c choice) (tried, error) {
	one, err := t.try(ctx, c.size, c.oneIn)
	if err != nil {
		return one, err
	}
	t.ladder.try(c.size)
	s := Step{
		Point: t.opt.point(c.size), Run: kindOf(c.oneIn), Reason: c.reason, Outcome: one.outcome, Seconds: one.Seconds,
		Err: math.NaN(), Before: sum(t.held).P90, After: math.NaN(), Change: math.NaN(), Note: one.note,
	}
	switch one.outcome {
	case Failed:
		t.fails(c.size)
	case Fitted:
		s.Program, s.Accesses = one.runs.Label(), one.run().Accesses
		if t.full != nil {
			off, err := judge(t.full, one.run())
			if err != nil {
				return one, err
			}
			s.Err = sum(off).P90
			if c.oneIn > 1 {
				t.checked = true
				s.Outcome, one.outcome = Checked, Checked
				if len(off) == 0 {
					s.Outcome, one.outcome = Vague, Vague
				}
			}
		}
	}
	switch one.outcome {
	case Checked:
		t.check = one.member
	case Fitted:
		t.members = append(t.members, one.member)
		slices.SortFunc(t.members, func(a, b *member) int { return cmp.Compare(a.size, b.size) })
		if t.check != nil && one.size >= t.check.size {
			t.check = nil
		}
	}
	s.Spent = t.spent
	t.steps = append(t.steps, s)
	return one, nil
}

// fails notes that the program failed at a size. One failure beyond all runs may be
// of that size alone; with the second, sizes are tried half the way down.
func (t *trainer) fails(size float64) {
	t.failures++
	if len(t.members) == 0 {
		return
	}
	largest := t.members[len(t.members)-1].size
	for i := range t.steps {
		before := t.steps[i].Point[t.opt.Parameter]
		if t.steps[i].Outcome == Failed && math.Min(before, size) > largest {
			t.ladder.failed = math.Min(t.ladder.failed, math.Sqrt(largest*math.Min(before, size)))
		}
	}
}

// largest returns the largest run that models are judged at.
func (t *trainer) largest() *member {
	if t.check != nil {
		return t.check
	}
	return t.members[len(t.members)-1]
}

// assess fits models to the runs and judges them.
func (t *trainer) assess(ctx context.Context) error {
	v := verdict{}
	var err error
	if v.full, err = t.fit(ctx, t.members); err != nil {
		return err
	}
	for k := 1; k <= 2 && len(t.members)-k >= leastSizes-1; k++ {
		other, err := t.fit(ctx, t.members[:len(t.members)-k])
		if err != nil {
			return err
		}
		v.others = append(v.others, other)
	}
	if v.held, err = judge(v.others[0], t.members[len(t.members)-1].run()); err != nil {
		return err
	}
	good := sum(v.held).within(t.opt.Error)
	if t.check != nil {
		if v.held, err = judge(v.full, t.check.run()); err != nil {
			return err
		}
		good = good && sum(v.held).within(t.opt.Error)
	}
	if v.change, err = differ(v.full, v.others[0], t.opt.point(t.opt.Until), v.full.BlockBytes()); err != nil {
		return err
	}
	if good && (sum(v.change).within(t.opt.Error) || t.reached()) {
		v.stop = StopError
	}
	t.verdict = v
	s := &t.steps[len(t.steps)-1]
	s.After, s.Change, s.Spent = sum(v.held).P90, sum(v.change).P90, t.spent
	return nil
}

// reached reports whether the largest run is about as large as what is asked for, so
// that the error there is that of the prediction.
func (t *trainer) reached() bool { return t.largest().size*growth >= t.opt.Until && t.check != nil }

// result returns what was found.
func (t *trainer) result() (*Trained, error) {
	runs, err := join(t.members)
	if err != nil {
		return nil, err
	}
	at := t.largest()
	out := &Trained{
		Runs: runs, Model: t.full, Steps: t.steps, Stopped: t.stop, Spent: t.spent,
		HeldOut:  byBlock(t.held, HeldOut{Program: runs.Label(), Point: at.run().Point, Run: kindOf(at.oneIn)}, runs.BlockBytes()),
		Warnings: slices.Clone(t.warnings),
	}
	for i := range out.Steps {
		s := &out.Steps[i]
		s.Program = runs.Label()
		if s.Outcome == Failed || s.Outcome == Unfinished {
			out.Warnings = append(out.Warnings, fmt.Sprintf("%s: %s: %s", subject.Point(s.Point), s.Outcome, s.Note))
		}
	}
	out.Warnings = slices.Concat(out.Warnings, t.doubts(), unjudged(out.HeldOut[1:], t.opt.Error))
	return out, nil
}

// doubts returns what the reader should know of the errors.
func (t *trainer) doubts() []string {
	held, change := sum(t.held), sum(t.change)
	at := t.largest()
	switch {
	case held.Capacities == 0:
		return []string{fmt.Sprintf("at %s no cache has the %d misses that it takes to judge the models: train until a larger size, or with a larger budget", at.run().Point, leastMisses)}
	case !held.within(t.opt.Error):
		return []string{fmt.Sprintf("at %s, held out, nine in ten predictions of misses are within %.1f%%, where %.1f%% was requested", at.run().Point, 100*held.P90, 100*t.opt.Error)}
	case !change.within(t.opt.Error) && t.stop != StopError:
		return []string{fmt.Sprintf("the largest run changed predictions at %s by up to %.1f%% (nine in ten), where %.1f%% was requested: the next would again", t.opt.point(t.opt.Until), 100*change.P90, 100*t.opt.Error)}
	}
	return nil
}

// unjudged names the block sizes for which the errors held out say nothing, or are
// much larger than those of all together.
func unjudged(rows []HeldOut, requested float64) []string {
	const much = 5 // times the error requested
	var out []string
	for _, r := range rows {
		at := fmt.Sprintf("blocks of %d bytes at %s, held out", r.Block, subject.Point(r.Point))
		switch {
		case r.Capacities == 0:
			out = append(out, fmt.Sprintf("%s: no cache has the %d misses that it takes to judge predictions", at, leastMisses))
		case r.P90 > much*requested:
			out = append(out, fmt.Sprintf("%s: nine in ten predictions of misses are within %.0f%% only", at, 100*r.P90))
		}
	}
	return out
}
