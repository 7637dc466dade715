package timing

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/cfg"
	"presage/perf/fit"
	"presage/perf/scaling"
	"presage/perf/sched"
	"presage/perf/subject"
)

// binaries are runs of several executables of one program, each of which has its
// size compiled in. Their blocks are not the same, but the loops and routines of
// the source are: each executable is scheduled as it ran, and what its scopes take
// is modelled over the size.
type binaries struct {
	counts    []*anatomy.Counts // by run
	alignment *cfg.Alignment    // of the runs' scopes
	sizes     []fit.Point
}

// newBinaries aligns the scopes of several executables.
func newBinaries(counts []*anatomy.Counts) *binaries {
	b := &binaries{counts: counts}
	var trees []*cfg.ScopeTree
	for _, c := range counts {
		trees = append(trees, c.Structure().Scopes)
		b.sizes = append(b.sizes, fit.Point(c.Point))
	}
	b.alignment = cfg.Align(trees...)
	return b
}

// What is modelled of a scope, without the scopes inside it.
const (
	ofInstructions = iota
	ofSchedule
	ofWalked
	ofBranch
	ofLoads
	ofReach
	modelled // how many
)

// aligned is what scopes take in runs of several executables, as functions of the
// size.
type aligned struct {
	model  *scaling.CountModel // by scope, modelled functions of each
	latest []scopeTime         // by scope, in the last run of it
}

// align schedules each run for the timer's machine, and models what its scopes
// take.
func (t *timer) align(ctx context.Context, b *binaries) (*aligned, error) {
	out := &aligned{latest: make([]scopeTime, len(b.alignment.Scopes))}
	series := make([]scaling.Series, modelled*len(out.latest))
	for i := range series {
		series[i] = scaling.Series{Name: fmt.Sprintf("scope %d", i/modelled), Counts: make([]float64, len(b.counts))}
	}
	for run, c := range b.counts {
		times, err := t.counted(ctx, c)
		if err != nil {
			return nil, err
		}
		for s := range times {
			at := b.alignment.Of[run][s]
			own := series[modelled*at : modelled*(at+1)]
			for k, v := range [modelled]float64{times[s].instructions, times[s].schedule, times[s].walked, times[s].branch, times[s].loads, times[s].work.Reach} {
				own[k].Counts[run] += v
			}
			if to := &out.latest[at]; times[s].longest > 0 {
				to.limit, to.longest, to.work.Chained = times[s].limit, times[s].longest, times[s].work.Chained
			}
		}
	}
	var err error
	if out.model, err = scaling.FitCounts(ctx, b.sizes, series, scaling.Options{Chance: len(b.sizes) >= scaling.RecommendedSizes}); err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	return out, nil
}

// counted returns what the scopes of a run take, each without those inside it.
func (t *timer) counted(ctx context.Context, c *anatomy.Counts) ([]scopeTime, error) {
	s, f := c.Structure(), sched.Counted(c.Recovered)
	result, err := t.scheduler.Program(ctx, s.Access, f)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", c.Program.Name, err)
	}
	times := t.own(s, result)
	switch {
	case t.bare:
	case t.opt.FixedExposure || t.pipeline == nil:
		t.mispredict(s, f, times)
	default:
		if err := t.disturb(ctx, s, f, result, nil, times); err != nil {
			return nil, err
		}
	}
	for _, w := range result.Warnings {
		if text := w.Error(); !slices.Contains(t.warnings, text) {
			t.warnings = append(t.warnings, text)
		}
	}
	return times, nil
}

// at returns what the scopes take at a point.
func (a *aligned) at(t *timer, point fit.Point) []scopeTime {
	times := make([]scopeTime, len(a.latest))
	for s := range times {
		value := func(k int) float64 { return max(0, a.model.Funcs[modelled*s+k].Eval(point)) }
		times[s] = scopeTime{
			instructions: value(ofInstructions), schedule: value(ofSchedule), walked: value(ofWalked), branch: value(ofBranch), loads: value(ofLoads),
			waits: make([]float64, len(t.penalties)), limit: a.latest[s].limit, longest: a.latest[s].longest,
		}
		times[s].work.Reach, times[s].work.Chained = value(ofReach), a.latest[s].work.Chained
	}
	return times
}

// doubts are those about the models of what scopes take, at a point.
func (a *aligned) doubts(point fit.Point) []string {
	doubts := fit.WarningTexts(fit.CheckReach(a.model.Domain, point))
	for _, w := range a.model.Warnings {
		doubts = append(doubts, fmt.Sprintf("times of loops: %v", w))
	}
	return doubts
}

// checkPoint returns an error if a point has no value for a parameter of the
// model.
func checkPoint(m *scaling.CountModel, point subject.Point) error {
	if err := point.Check(); err != nil {
		return err
	}
	for _, name := range m.Params {
		if _, ok := point[name]; !ok {
			return fmt.Errorf("perf: the point %q has no parameter %s, which the model depends on", point, name)
		}
	}
	return nil
}
