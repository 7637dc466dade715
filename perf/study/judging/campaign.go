package judging

import (
	"context"
	"slices"

	"presage/perf/anatomy"
	"presage/perf/campaign"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/subject"
	"presage/perf/timing"
)

// runAll has the runs of all programs done in one campaign: none depends on another's
// result. A program whose jobs cannot be listed is left to judge, which says why.
func (opt *Options) runAll(ctx context.Context, judges []judge) error {
	if opt.Campaign == nil {
		return nil
	}
	var jobs []campaign.Job
	for i := range judges {
		fresh, err := judges[i].jobs(ctx)
		judges[i].exe = nil // opened anew when its turn comes: all at once fill the memory
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err == nil {
			jobs = append(jobs, fresh...)
		}
	}
	return opt.Campaign.Run(ctx, opt.Store, jobs, opt.Progress)
}

// jobs returns the runs of the program: what judge finds in the store once they are
// done.
func (j *judge) jobs(ctx context.Context) ([]campaign.Job, error) {
	exe, err := j.built(ctx)
	if err != nil {
		return nil, err
	}
	p := j.program
	prog, at, profiling := j.swept(exe, p.Train, j.profiling(exe))
	jobs, err := locality.Jobs(ctx, prog, at, profiling)
	if err != nil {
		return nil, err
	}
	for _, m := range j.Machines {
		opt := j.simulating(exe, m)
		prog, at, run := exe.sweep(j.simulated(), opt.RunOptions)
		opt.RunOptions = run
		fresh, err := misses.SimulationJobs(ctx, prog, m, at, opt)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, fresh...)
	}
	if len(p.Time) == 0 || exe.one == nil {
		return jobs, nil
	}
	counts, err := anatomy.Jobs(exe.one, points(p.Train), exe.running(nil))
	if err != nil {
		return nil, err
	}
	jobs = slices.Concat(jobs, counts)
	for _, m := range j.Machines {
		fresh, err := timing.Jobs(exe.one, m, points(j.timed()), timing.SimulateOptions{RunOptions: exe.running(nil)})
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, fresh...)
	}
	return jobs, nil
}

// swept returns the arguments of a sweep over some sizes.
func (j *judge) swept(exe *executables, sizes []int, opt locality.ProfileOptions) (*subject.Program, []subject.Point, locality.ProfileOptions) {
	prog, at, run := exe.sweep(sizes, opt.RunOptions)
	opt.RunOptions = run
	return prog, at, opt
}

// sweep returns the program and the points of some sizes, or no program and the
// executables of each size in the options.
func (e *executables) sweep(sizes []int, opt subject.RunOptions) (*subject.Program, []subject.Point, subject.RunOptions) {
	if e.one != nil {
		return e.one, points(sizes), opt
	}
	opt, at := opt.OfBinaries(e.at(sizes))
	return nil, at, opt
}
