package training

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// spendingVersion is part of the key of the times that work took.
const spendingVersion = 1

// spending is the time that work took when it was done, in the store: the choices of
// a repeated call must not depend on what the store saves it.
type spending struct {
	Seconds    float64
	Unfinished bool // the run was ended, as nothing was left
	Loaded     bool // the profile was there already: the time says nothing of a run's
}

// member is a run that has been made.
type member struct {
	size     float64
	oneIn    uint64
	runs     *locality.Runs // one
	recorded locality.Recorded
	spending
}

func (m *member) run() *locality.Run { return &m.runs.Runs[0] }

// work is what a run's time is proportional to.
func (m *member) work() float64 { return float64(m.run().Accesses) }

// runner runs the program and fits models, and keeps account of the time.
type runner struct {
	prog     *subject.Program
	opt      Options
	spent    float64
	lastFit  float64
	runs     int // begun
	models   map[string]*misses.Model
	warnings []string
}

func newRunner(prog *subject.Program, opt Options) (*runner, error) {
	var err error
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	opt.Fit.Store = opt.Store
	return &runner{prog: prog, opt: opt, models: make(map[string]*misses.Model)}, nil
}

// left returns the seconds of the budget that are left.
func (r *runner) left() float64 { return r.opt.Budget.Seconds() - r.spent }

// of returns what is run at a size.
func (r *runner) of(size float64) subject.BinaryPoint {
	point := r.opt.point(size)
	for _, b := range r.opt.Binaries {
		if maps.Equal(b.Point, point) {
			return b
		}
	}
	return subject.BinaryPoint{Point: point, Program: r.prog}
}

// tried is what became of a run.
type tried struct {
	*member
	outcome Outcome // Fitted, if there is a profile
	note    string
}

// try runs the program at a size. An error is the caller's: what the program does is
// an outcome.
func (r *runner) try(ctx context.Context, size float64, oneIn uint64) (tried, error) {
	of, opt := r.of(size), r.opt.ProfileOptions
	opt.CompiledIn = opt.CompiledIn || len(r.opt.Binaries) > 0
	if oneIn > 1 {
		opt.SampleOneIn, opt.SampleEvenly = oneIn, true
	}
	stored := false
	opt.Progress = r.progress(&stored)
	rec, err := opt.RecordedAt(of)
	if err != nil {
		return tried{}, err
	}
	key, err := store.NewKey("training-run", spendingVersion, struct {
		Recorded   locality.Recorded
		BlockBytes []uint64
	}{rec, opt.BlockBytes})
	if err != nil {
		return tried{}, err
	}
	m := &member{size: size, oneIn: max(1, oneIn), recorded: rec}
	known := r.opt.Store.Load(key, &m.spending) == nil
	left := r.left()
	r.runs++
	if known && m.Unfinished && left <= m.Seconds {
		r.spent += m.Seconds
		return tried{m, Unfinished, "as when it was tried before"}, nil
	}
	begin := time.Now()
	limited, cancel := r.limit(ctx, left)
	defer cancel()
	m.runs, err = locality.Profile(limited, r.prog, []subject.Point{of.Point}, opt)
	took := spending{Seconds: time.Since(begin).Seconds(), Loaded: stored}
	if ctx.Err() != nil {
		return tried{}, context.Cause(ctx)
	}
	if r.opt.seconds != nil && err == nil {
		s := r.opt.seconds(m.work(), oneIn)
		took = spending{Seconds: s, Unfinished: s > left}
	}
	took.Unfinished = took.Unfinished || err != nil && errors.Is(limited.Err(), context.DeadlineExceeded)
	if !known || m.Unfinished {
		m.spending = took
		r.keep(key, took)
	}
	r.spent += m.Seconds
	switch {
	case m.Unfinished:
		return tried{m, Unfinished, fmt.Sprintf("ended after the %.3g s that were left", left)}, nil
	case err != nil:
		return tried{m, Failed, firstLine(err)}, nil
	}
	m.recorded = m.runs.Runs[0].Recorded // with shared libraries
	return tried{m, Fitted, ""}, nil
}

// limit returns a context that ends after some seconds, by this machine's clock.
func (r *runner) limit(ctx context.Context, seconds float64) (context.Context, context.CancelFunc) {
	if r.opt.seconds != nil {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, time.Duration(seconds*float64(time.Second)))
}

// progress passes on the reports of one run as those of a step of many, and notes
// whether its result was found in the store.
func (r *runner) progress(stored *bool) progress.Func {
	done := r.runs
	return func(p progress.Report) {
		*stored = *stored || p.Stored
		if !p.Finished() {
			p.Done, p.Total = done, 0
			r.opt.Progress.Report(p)
		}
	}
}

// keep saves a time.
func (r *runner) keep(key store.Key, took spending) {
	if err := r.opt.Store.Save(key, took); err != nil {
		r.warnings = append(r.warnings, fmt.Sprintf("%v; the time of a step was not kept, so that a repeated call may choose otherwise", err))
	}
}

// fit returns the model of some runs.
func (r *runner) fit(ctx context.Context, members []*member) (*misses.Model, error) {
	of := fitInputs{
		BlockBytes: r.opt.BlockBytes, Basis: r.opt.Fit.Basis, Shape: r.opt.Fit.Shape,
		Tolerance: r.opt.Fit.Tolerance, MedianRatio: r.opt.Fit.MedianRatio,
	}
	for _, m := range members {
		of.Runs, of.Sizes = append(of.Runs, m.recorded), append(of.Sizes, m.size)
	}
	key, err := store.NewKey("training-fit", spendingVersion, of)
	if err != nil {
		return nil, err
	}
	if known := r.models[key.Hash]; known != nil {
		return known, nil
	}
	joined, err := join(members)
	if err != nil {
		return nil, err
	}
	begin := time.Now()
	model, err := misses.Fit(ctx, joined, r.opt.Fit)
	if err != nil {
		return nil, err
	}
	took := spending{Seconds: time.Since(begin).Seconds()}
	if r.opt.seconds != nil {
		took.Seconds = 0
	}
	known := took
	if r.opt.Store.Load(key, &known) != nil {
		known = took
		r.keep(key, took)
	}
	r.spent, r.lastFit = r.spent+known.Seconds, known.Seconds
	r.models[key.Hash] = model
	return model, nil
}

// fitInputs are what a fit depends on.
type fitInputs struct {
	Runs        []locality.Recorded
	Sizes       []float64
	BlockBytes  []uint64
	Basis       string
	Shape       string
	Tolerance   float64
	MedianRatio bool
}

// join returns the profiles of some runs as one sweep.
func join(members []*member) (*locality.Runs, error) {
	parts := make([]*locality.Runs, len(members))
	for i, m := range members {
		parts[i] = m.runs
	}
	return locality.Join(parts...)
}

// firstLine returns the first line of an error's text.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}
