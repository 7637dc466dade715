package judging

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/campaign"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/timing"
)

// Options configures the judgement of predictions on programs of a suite.
type Options struct {
	Dir      string    // of the sources: Suite.Dir
	Programs []Program // Suite.Of or Suite.Named
	Machines []*machine.Machine
	// Native has programs built by the compilers of this computer, with shared libraries,
	// and run natively. Their cycles are not judged.
	Native bool
	// Fit is how models are fitted; its store is that of the options.
	Fit misses.FitOptions
	// Coverage is the probability with which intervals are to hold the misses; 0:
	// that of misses.PredictOptions.
	Coverage float64
	// PageBytes is that of misses.SimulateOptions.
	PageBytes uint64
	// TrainedSizesOnly is that of misses.PredictOptions.
	TrainedSizesOnly bool

	// Campaign has runs done by other processes: those of all programs together; nil:
	// by this one. The results are the same.
	Campaign *campaign.Runner
	Store    *store.Store  // keeps executables, runs, models and simulations; nil: the default store
	Progress progress.Func // steps are programs; tasks say what is done to them
}

// Findings are the results of a judgement.
type Findings struct {
	Misses []MissRow
	Cycles []CycleRow
	// Failed are programs without rows, or without rows of cycles, because something
	// went wrong.
	Failed []Failure
}

// Failure is what kept a program from being judged.
type Failure struct {
	Program string `frame:"program"`
	What    string `frame:"what"` // could not be judged: misses or cycles
	Error   string `frame:"error"`
}

// What a Failure is of.
const (
	failedMisses = "misses"
	failedCycles = "cycles"
)

// Run judges the programs one after the other. A program that cannot be judged is
// among Findings.Failed, and the others are judged all the same; only an interrupted
// run is an error. What takes long is kept in the store: a run that was interrupted
// goes on where it stopped.
func (opt Options) Run(ctx context.Context) (*Findings, error) {
	if len(opt.Programs) == 0 || len(opt.Machines) == 0 {
		return nil, errors.New("perf: judge: no programs, or no machines")
	}
	for _, m := range opt.Machines {
		if err := timing.CheckMachine(m); err != nil {
			return nil, err
		}
	}
	var err error
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	if opt.Native {
		opt.Programs = native(opt.Programs)
	}
	judges := make([]judge, len(opt.Programs))
	for i := range judges {
		judges[i] = judge{Options: &opt, program: &opt.Programs[i], done: i}
	}
	if err := opt.runAll(ctx, judges); err != nil {
		return nil, err
	}
	found := new(Findings)
	for i := range judges {
		err := judges[i].judge(ctx, found)
		judges[i].correctors, judges[i].exe = nil, nil // what they replayed and analysed is large
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			found.Failed = append(found.Failed, Failure{opt.Programs[i].Name, failedMisses, err.Error()})
		}
	}
	opt.Progress.Finish(len(opt.Programs))
	return found, nil
}

// judge judges one program.
type judge struct {
	*Options
	program *Program
	done    int // programs before this one
	exe     *executables

	correctors map[*machine.Machine]misses.Corrector // of the program's misses
}

// step returns what reports the progress of a part of the judgement: of what is done
// to the program, among all programs.
func (j *judge) step(what string) progress.Func {
	return func(r progress.Report) {
		if r.Finished() {
			return
		}
		r.Task = fmt.Sprintf("%s, %s, %s", j.program.Name, what, r.Task)
		r.Done, r.Total = j.done, len(j.Programs)
		j.Progress.Report(r)
	}
}

// judge adds the rows of the program to found.
func (j *judge) judge(ctx context.Context, found *Findings) error {
	p := j.program
	exe, err := j.built(ctx)
	if err != nil {
		return err
	}
	model, err := j.model(ctx, exe)
	if err != nil {
		return err
	}
	var rows []MissRow
	for _, m := range j.Machines {
		fresh, err := j.misses(ctx, exe, model, m)
		if err != nil {
			return fmt.Errorf("on %s: %w", m.Name, err)
		}
		rows = append(rows, fresh...)
	}
	found.Misses = append(found.Misses, rows...)
	if len(p.Time) == 0 {
		return nil
	}
	cycles, err := j.cycles(ctx, exe, model)
	if err != nil {
		found.Failed = append(found.Failed, Failure{p.Name, failedCycles, err.Error()})
	}
	found.Cycles = append(found.Cycles, cycles...)
	return nil
}

// built returns the executables of the program, which are built at the first call.
func (j *judge) built(ctx context.Context) (*executables, error) {
	if j.exe == nil {
		var err error
		sizes := slices.Concat(j.program.Train, j.program.Judge)
		if j.exe, err = build(ctx, j.Dir, j.program, sizes, subject.RunOptions{Store: j.Store, Campaign: j.Campaign}); err != nil {
			return nil, err
		}
	}
	return j.exe, nil
}

// profiling returns the options of profiles, with the block sizes of all machines.
func (j *judge) profiling(exe *executables) locality.ProfileOptions {
	opt := locality.ProfileOptions{RunOptions: exe.running(j.step("profile"))}
	for _, m := range j.Machines {
		opt.BlockBytes = append(opt.BlockBytes, m.BlockBytes()...)
	}
	return opt
}

// model profiles the program at its training sizes, the stack included, which
// simulations see, too, and fits a model for the block sizes of all machines.
func (j *judge) model(ctx context.Context, exe *executables) (*misses.Model, error) {
	prog, at, opt := j.swept(exe, j.program.Train, j.profiling(exe))
	runs, err := locality.Profile(ctx, prog, at, opt)
	if err != nil {
		return nil, err
	}
	j.Fit.Store = j.Store
	return misses.Fit(ctx, runs, j.Fit)
}

// native returns programs as those of this computer.
func native(programs []Program) []Program {
	out := slices.Clone(programs)
	for i := range out {
		out[i].Native, out[i].Time = true, nil
	}
	return out
}
