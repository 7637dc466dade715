package locality

import (
	"context"
	"fmt"

	"presage/perf/campaign"
	"presage/perf/store"
	"presage/perf/subject"
)

// profileKind is the kind of jobs that profile a run.
const profileKind = "profile"

// profileSpec describes a run that is profiled.
type profileSpec struct {
	subject.Whereabouts
	Point      subject.Point
	Recorded   Recorded
	BlockBytes []uint64
}

// job returns the job that profiles the run.
func (p *profiler) job() (campaign.Job, error) {
	r, err := p.prog.Remote(p.store, p.rec.Inputs, p.point)
	if err != nil {
		return campaign.Job{}, err
	}
	var results []store.Key
	for _, size := range p.sizes {
		key, err := reuseKey(p.rec, size)
		if err != nil {
			return campaign.Job{}, err
		}
		results = append(results, key)
	}
	return subject.RemoteJob(profileKind, "profile", &p.rec.Inputs, profileSpec{r.Whereabouts, p.point, p.rec, p.sizes}, results...)
}

// Jobs returns the jobs that put what Profile needs into the store.
func Jobs(ctx context.Context, prog *subject.Program, points []subject.Point, opt ProfileOptions) ([]campaign.Job, error) {
	sweep, err := opt.Sweep(prog, points)
	if err != nil {
		return nil, err
	}
	opt.RunOptions = sweep.Options
	sizes, err := opt.blockSizes()
	if err != nil {
		return nil, err
	}
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	profilers, err := opt.profilers(ctx, sweep.Points, sizes)
	if err != nil {
		return nil, err
	}
	jobs := make([]campaign.Job, len(profilers))
	for i, p := range profilers {
		if jobs[i], err = p.job(); err != nil {
			return nil, err
		}
	}
	return jobs, nil
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{campaign.NewWork(profileKind, func(ctx context.Context, at campaign.Site, s profileSpec) error {
		r := subject.Remote{Inputs: s.Recorded.Inputs, Point: s.Point, Whereabouts: s.Whereabouts}
		prog, err := r.Open(at.Store)
		if err != nil {
			return err
		}
		s.Recorded.Inputs = r.Inputs
		plan, err := planOf(prog, s.Recorded.Stack)
		if err != nil {
			return err
		}
		if c := s.Recorded.Carriers; plan.Digest() != s.Recorded.Plan || c != 0 && c != carriersVersion {
			return fmt.Errorf("perf: %s: another version of presage made the job", s.Recorded.Inputs.Command())
		}
		p := profiler{prog: prog, point: s.Point, rec: s.Recorded, sizes: s.BlockBytes, store: at.Store, report: func(n uint64, _ bool) {
			if at.Running != nil {
				at.Running(n)
			}
		}}
		_, err = p.profile(ctx)
		return err
	})}
}
