package anatomy

import (
	"context"

	"presage/perf/campaign"
	"presage/perf/store"
	"presage/perf/subject"
)

// countKind is the kind of jobs that count a run's blocks and edges.
const countKind = "count"

// countJob returns the job that counts a run.
func countJob(p subject.BinaryPoint, in subject.Inputs, st *store.Store) (campaign.Job, error) {
	r, err := p.Program.Remote(st, in, p.Point)
	if err != nil {
		return campaign.Job{}, err
	}
	key, err := store.NewKey("flow", flowVersion, flowInputsOf(p.Program, in))
	if err != nil {
		return campaign.Job{}, err
	}
	return subject.RemoteJob(countKind, "count", &in, r, key)
}

// Jobs returns the jobs that put what CountSweep needs into the store.
func Jobs(prog *subject.Program, points []subject.Point, opt subject.RunOptions) ([]campaign.Job, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	jobs := make([]campaign.Job, len(points))
	for i, p := range sweep.Points {
		in, err := p.Program.Inputs(p.Point, sweep.Options)
		if err != nil {
			return nil, err
		}
		if jobs[i], err = countJob(p, in, st); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{campaign.NewWork(countKind, func(ctx context.Context, at campaign.Site, r subject.Remote) error {
		prog, err := r.Open(at.Store)
		if err != nil {
			return err
		}
		_, err = countStep(ctx, prog, r.Inputs, r.Step(at))
		return err
	})}
}
