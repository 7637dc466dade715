package growth

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"presage/perf/anatomy"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/store"
	"presage/perf/study/record"
	"presage/perf/subject"
	"presage/perf/timing"
)

// SampledTimes predicts times at opt.SampleAt, by the models of Run, and simulates
// intervals of the runs at these sizes, as opt.Sampling says: a row for each machine and
// size with the columns of OnMachine.Times, pred_fixed_cycles and those of
// timing.SimulatedRow, of which sim_cycles is an estimate between sim_cycles_low and
// sim_cycles_high.
func (opt Options) SampledTimes(ctx context.Context, prog *subject.Program) (frame.Table, error) {
	if len(opt.SampleAt) == 0 {
		return frame.Table{}, errors.New("perf: study: no sizes to simulate intervals at")
	}
	for _, m := range opt.Machines {
		if err := timing.CheckMachine(m); err != nil {
			return frame.Table{}, err
		}
	}
	var err error
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return frame.Table{}, err
	}
	if err := opt.runSampled(ctx, prog); err != nil {
		return frame.Table{}, err
	}
	model, err := opt.Model(ctx, prog)
	if err != nil {
		return frame.Table{}, err
	}
	execution, err := opt.execution(ctx, prog)
	if err != nil {
		return frame.Table{}, err
	}
	f := Findings{Program: prog}
	for _, m := range opt.Machines {
		on, err := opt.sampled(ctx, m, prog, model, execution)
		if err != nil {
			return frame.Table{}, err
		}
		f.On = append(f.On, on)
	}
	return f.times()
}

// simulating returns how intervals are simulated.
func (opt *Options) simulating() timing.SimulateOptions {
	return timing.SimulateOptions{RunOptions: opt.RunOptions, Sampled: &opt.Sampling}
}

// sampled predicts and simulates intervals on one machine.
func (opt *Options) sampled(ctx context.Context, m *machine.Machine, prog *subject.Program, model *misses.Model, execution *timing.ExecutionModel) (on OnMachine, err error) {
	if err := opt.predictTimes(ctx, &on, m, model, execution, opt.SampleAt); err != nil {
		return on, err
	}
	on.Simulated, err = timing.Simulate(ctx, prog, m, opt.SampleAt, opt.simulating())
	return on, err
}

// runSampled has the simulations done in one campaign, if there is one.
func (opt *Options) runSampled(ctx context.Context, prog *subject.Program) error {
	if opt.Campaign == nil {
		return nil
	}
	counts, err := anatomy.Jobs(prog, opt.Train, opt.RunOptions)
	if err != nil {
		return err
	}
	jobs := counts
	for _, m := range opt.Machines {
		fresh, err := timing.Jobs(prog, m, opt.SampleAt, opt.simulating())
		if err != nil {
			return err
		}
		jobs = append(jobs, fresh...)
	}
	return opt.Campaign.Run(ctx, opt.Store, jobs, opt.Progress)
}

// RecordSampled records a table of SampledTimes in prefix-sampled.csv.
func RecordSampled(prog *subject.Program, table frame.Table, prefix, command string) error {
	var text bytes.Buffer
	if err := frame.WriteCSV(&text, table); err != nil {
		return fmt.Errorf("perf: record: %w", err)
	}
	return record.WriteText(prefix+"-sampled.csv", text.Bytes(), record.Source{
		Origin:  fmt.Sprintf("predicted, and %s, by presage; %s, SHA-256 %s", timing.SampledReference, prog.Name, prog.File.SHA256),
		Command: command,
	})
}
