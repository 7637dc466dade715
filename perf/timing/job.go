package timing

import (
	"context"
	"fmt"

	"presage/perf/campaign"
	"presage/perf/machine"
	"presage/perf/pipeline"
	"presage/perf/store"
	"presage/perf/subject"
)

// timeKind is the kind of jobs that simulate a core on a run.
const timeKind = "time"

// timeSpec describes a simulation. The keys of its results follow from counting the
// run, so that the job has a mark.
type timeSpec struct {
	Run     subject.Remote
	Config  pipeline.Config
	Version int // of the result

	Sampling *Sampling `json:",omitempty"` // nil: all of the run
}

// job returns the job that simulates the run.
func (s *simulation) job(point subject.Point, st *store.Store) (campaign.Job, error) {
	r, err := s.prog.Remote(st, s.in, point)
	if err != nil {
		return campaign.Job{}, err
	}
	return subject.RemoteJob(timeKind, "time "+s.machine.Name+" on", &s.in, timeSpec{r, s.config, s.version(), s.sampling})
}

// version is that of what is stored of the simulation.
func (s *simulation) version() int {
	if s.sampling != nil {
		return sampledVersion
	}
	return timeVersion
}

// Jobs returns the jobs that put what Simulate needs into the store.
func Jobs(prog *subject.Program, m *machine.Machine, points []subject.Point, opt SimulateOptions) ([]campaign.Job, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	config, err := opt.pipeline(m)
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
		s := simulation{prog: p.Program, machine: m, in: in, config: config.Config, sampling: opt.Sampled}
		if jobs[i], err = s.job(p.Point, st); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{campaign.NewWork(timeKind, func(ctx context.Context, at campaign.Site, s timeSpec) error {
		sim := simulation{in: s.Run.Inputs, config: s.Config, sampling: s.Sampling}
		if s.Version != sim.version() {
			return fmt.Errorf("perf: a simulation of version %d, and this is %d", s.Version, sim.version())
		}
		prog, err := s.Run.Open(at.Store)
		if err != nil {
			return err
		}
		sim.prog = prog
		_, _, err = sim.simulated(ctx, s.Run.Step(at))
		return err
	})}
}
