package growth

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/subject"
	"presage/perf/timing"
)

// Options configures a study of a program: how far off its predicted misses are
// (Validation), and curves of misses and of time over its size, as in Figures 6 and
// 7 of Marin and Mellor-Crummey (2004).
type Options struct {
	misses.Validation
	Curve []subject.Point // sizes of the curves, which are predicted
	Times []subject.Point // sizes at which execution is simulated; among those of Curve

	SampleAt []subject.Point // sizes at which intervals are simulated: see SampledTimes
	Sampling timing.Sampling // which intervals
}

// Findings are the results of a study.
type Findings struct {
	Program *subject.Program
	Misses  []misses.Judgement // as of misses.Validate
	On      []OnMachine        // in the order of Options.Machines
}

// OnMachine are the curves of a program on one machine, without intervals and for
// the whole program, and the times of its scopes at some sizes.
type OnMachine struct {
	Misses    []misses.Row
	Times     []timing.Row
	Fixed     []timing.Row          // with the fixed shares of latencies of the paper; rows as in Times
	Simulated []timing.SimulatedRow // at Options.Times
	Scopes    []ScopeTime           // likewise, by routine and by loop
}

// Run studies prog. Everything that takes long is kept in the store: a study that
// was interrupted resumes where it stopped.
func (opt Options) Run(ctx context.Context, prog *subject.Program) (*Findings, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	if err := opt.runAll(ctx, prog); err != nil {
		return nil, err
	}
	model, err := opt.Model(ctx, prog)
	if err != nil {
		return nil, err
	}
	f := &Findings{Program: prog}
	if f.Misses, err = opt.Judged(ctx, prog, model); err != nil {
		return nil, err
	}
	execution, err := opt.execution(ctx, prog)
	if err != nil {
		return nil, err
	}
	for _, m := range opt.Machines {
		on, err := opt.on(ctx, m, prog, model, execution)
		if err != nil {
			return nil, err
		}
		f.On = append(f.On, on)
	}
	return f, nil
}

// execution returns a model of how often the program's edges are executed.
func (opt *Options) execution(ctx context.Context, prog *subject.Program) (*timing.ExecutionModel, error) {
	counts, err := anatomy.CountSweep(ctx, prog, opt.Train, opt.RunOptions)
	if err != nil {
		return nil, err
	}
	return timing.FitExecution(ctx, counts)
}

// runAll has the runs of the study done in one campaign, if there is one: none depends
// on another's result.
func (opt *Options) runAll(ctx context.Context, prog *subject.Program) error {
	if opt.Campaign == nil {
		return nil
	}
	jobs, err := opt.Jobs(ctx, prog)
	if err != nil {
		return err
	}
	counts, err := anatomy.Jobs(prog, opt.Train, opt.RunOptions)
	if err != nil {
		return err
	}
	jobs = append(jobs, counts...)
	for _, m := range opt.Machines {
		fresh, err := timing.Jobs(prog, m, opt.Times, timing.SimulateOptions{RunOptions: opt.RunOptions})
		if err != nil {
			return err
		}
		jobs = append(jobs, fresh...)
	}
	return opt.Campaign.Run(ctx, opt.Store, jobs, opt.Progress)
}

// check returns an error if the study cannot be made, before anything takes long.
func (opt *Options) check() error {
	if len(opt.Curve) == 0 {
		return errors.New("perf: study: no sizes for the curves")
	}
	if err := opt.checkTimes(); err != nil {
		return err
	}
	if err := opt.Check(); err != nil {
		return err
	}
	for _, m := range opt.Machines {
		if err := timing.CheckMachine(m); err != nil {
			return err
		}
	}
	return nil
}

// checkTimes returns an error if time is simulated where it is not predicted.
func (opt *Options) checkTimes() error {
	for _, p := range opt.Times {
		if !slices.ContainsFunc(opt.Curve, func(q subject.Point) bool { return q.String() == p.String() }) {
			return fmt.Errorf("perf: study: time is simulated at %v, which is not on the curve", p)
		}
	}
	return nil
}

// on predicts and simulates on one machine.
func (opt *Options) on(ctx context.Context, m *machine.Machine, prog *subject.Program, model *misses.Model, execution *timing.ExecutionModel) (on OnMachine, err error) {
	if on.Misses, err = misses.Predict(ctx, model, m, opt.Curve, misses.PredictOptions{Method: opt.Method, Coverage: -1}); err != nil {
		return on, err
	}
	err = opt.times(ctx, &on, m, prog, model, execution)
	return on, err
}

// times sets what is known of times on one machine.
func (opt *Options) times(ctx context.Context, on *OnMachine, m *machine.Machine, prog *subject.Program, model *misses.Model, execution *timing.ExecutionModel) (err error) {
	if err := opt.predictTimes(ctx, on, m, model, execution, opt.Curve); err != nil {
		return err
	}
	if len(opt.Times) == 0 {
		return nil
	}
	if on.Simulated, err = timing.Simulate(ctx, prog, m, opt.Times, timing.SimulateOptions{RunOptions: opt.RunOptions}); err != nil {
		return err
	}
	on.Scopes, err = opt.scopeTimes(ctx, m, prog, model, execution)
	return err
}

// predictTimes sets on.Times and on.Fixed, if there are points.
func (opt *Options) predictTimes(ctx context.Context, on *OnMachine, m *machine.Machine, model *misses.Model, execution *timing.ExecutionModel, points []subject.Point) (err error) {
	if len(points) == 0 {
		return nil
	}
	if on.Times, err = timing.Predict(ctx, model, execution, m, points, timing.PredictOptions{Method: opt.Method}); err != nil {
		return err
	}
	on.Fixed, err = timing.Predict(ctx, model, execution, m, points, timing.PredictOptions{Method: opt.Method, FixedExposure: true})
	return err
}
