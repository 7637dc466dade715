package misses

import (
	"context"

	"presage/perf/cache"
	"presage/perf/campaign"
	"presage/perf/machine"
	"presage/perf/store"
	"presage/perf/subject"
)

// simulateKind is the kind of jobs that simulate a memory hierarchy on a run.
const simulateKind = "simulate"

// simulateSpec describes a simulation.
type simulateSpec struct {
	Run    subject.Remote
	Config cache.Config
	Full   bool
}

// job returns the job that simulates a run with the inputs in.
func (s *simulation) job(p subject.BinaryPoint, in subject.Inputs, on string, st *store.Store) (campaign.Job, error) {
	r, err := p.Program.Remote(st, in, p.Point)
	if err != nil {
		return campaign.Job{}, err
	}
	plan, err := p.Program.Plan()
	if err != nil {
		return campaign.Job{}, err
	}
	key, err := store.NewKey(cacheKind, cacheVersion, cacheInputs{in, plan.Digest(), s.config, s.full})
	if err != nil {
		return campaign.Job{}, err
	}
	return subject.RemoteJob(simulateKind, "simulate "+on+" on", &in, simulateSpec{r, s.config, s.full}, key)
}

// SimulationJobs returns the jobs that put what Simulate needs into the store.
func SimulationJobs(ctx context.Context, prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]campaign.Job, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	tasks, err := opt.tasks(ctx, sweep.Points, m.Name, simulation{opt.hierarchy(m), opt.FullyAssociative})
	if err != nil {
		return nil, err
	}
	jobs := make([]campaign.Job, len(tasks))
	for i := range tasks {
		if jobs[i], err = tasks[i].Job(); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{campaign.NewWork(simulateKind, func(ctx context.Context, at campaign.Site, s simulateSpec) error {
		prog, err := s.Run.Open(at.Store)
		if err != nil {
			return err
		}
		_, err = (&simulation{s.Config, s.Full}).simulate(ctx, prog, s.Run.Step(at), s.Run.Inputs)
		return err
	})}
}
