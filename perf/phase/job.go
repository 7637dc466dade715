package phase

import (
	"context"
	"fmt"

	"presage/perf/campaign"
	"presage/perf/metasim"
	"presage/perf/store"
	"presage/perf/subject"
)

// Jobs of this package are timed, so that nothing else may run on their machine.

// timedJob returns a job of a run whose times count.
func timedJob(kind, what string, prog *subject.Program, in *subject.Inputs, point subject.Point, st *store.Store, spec func(subject.Remote) any, key store.Key) (campaign.Job, error) {
	r, err := prog.Remote(st, *in, point)
	if err != nil {
		return campaign.Job{}, err
	}
	job, err := subject.RemoteJob(kind, what, in, spec(r), key)
	job.Needs.Alone = true
	return job, err
}

// lengthJob returns the job that counts the instructions of a run.
func lengthJob(prog *subject.Program, in subject.Inputs, point subject.Point, st *store.Store) (campaign.Job, error) {
	key, err := store.NewKey(lengthKind, storeVersion, in)
	if err != nil {
		return campaign.Job{}, err
	}
	return timedJob(lengthKind, "length of", prog, &in, point, st, func(r subject.Remote) any { return r }, key)
}

// vectorsSpec describes the collection of vectors.
type vectorsSpec struct {
	Run      subject.Remote
	Interval uint64
}

func (v *vectorInputs) job(prog *subject.Program, point subject.Point, st *store.Store) (campaign.Job, error) {
	key, err := store.NewKey(vectorsKind, storeVersion, *v)
	if err != nil {
		return campaign.Job{}, err
	}
	return timedJob(vectorsKind, "vectors of", prog, &v.Inputs, point, st, func(r subject.Remote) any { return vectorsSpec{r, v.Interval} }, key)
}

// sampleSpec describes the simulation of a sample. Its Inputs are those of Run.
type sampleSpec struct {
	Run    subject.Remote
	Sample sampleInputs
}

func (s *sampleInputs) job(p *Intervals) (campaign.Job, error) {
	key, err := store.NewKey(sampleKind, sampleVersion, *s)
	if err != nil {
		return campaign.Job{}, err
	}
	rest := *s
	rest.Inputs = subject.Inputs{Engine: s.Inputs.Engine}
	return timedJob(sampleKind, "sample "+s.Sample.Name+" of", p.Program, &p.in, p.Point, p.stored, func(r subject.Remote) any { return sampleSpec{r, rest} }, key)
}

// overheadSpec describes the times of a sample. Its Inputs are those of Run.
type overheadSpec struct {
	Run      subject.Remote
	Overhead overheadInputs
}

func (o *overheadInputs) job(p *Intervals) (campaign.Job, error) {
	key, err := store.NewKey(overheadKind, sampleVersion, *o)
	if err != nil {
		return campaign.Job{}, err
	}
	rest := *o
	rest.Inputs = subject.Inputs{Engine: o.Inputs.Engine}
	return timedJob(overheadKind, "overhead on", p.Program, &p.in, p.Point, p.stored, func(r subject.Remote) any { return overheadSpec{r, rest} }, key)
}

// opened returns the run of a job: intervals without vectors.
func opened(at campaign.Site, r *subject.Remote) (*Intervals, error) {
	prog, err := r.Open(at.Store)
	if err != nil {
		return nil, err
	}
	code, err := metasim.CodeOf(prog.Structure().Graph)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", prog.Name, err)
	}
	return &Intervals{Name: prog.Name, Program: prog, Point: r.Point, Code: code, in: r.Inputs, stored: at.Store}, nil
}

// Work returns the kinds of jobs of this package.
func Work() []campaign.Work {
	return []campaign.Work{
		campaign.NewWork(lengthKind, func(ctx context.Context, at campaign.Site, r subject.Remote) error {
			prog, err := r.Open(at.Store)
			if err != nil {
				return err
			}
			_, err = runLength(ctx, prog, r.Inputs, r.Step(at))
			return err
		}),
		campaign.NewWork(vectorsKind, func(ctx context.Context, at campaign.Site, s vectorsSpec) error {
			p, err := opened(at, &s.Run)
			if err != nil {
				return err
			}
			_, err = (&vectorInputs{p.in, s.Interval}).collect(ctx, p.Program, p.Code, s.Run.Step(at))
			return err
		}),
		campaign.NewWork(sampleKind, func(ctx context.Context, at campaign.Site, s sampleSpec) error {
			p, err := opened(at, &s.Run)
			if err != nil {
				return err
			}
			s.Sample.Inputs = p.in
			_, err = s.Sample.simulate(ctx, p)
			return err
		}),
		campaign.NewWork(overheadKind, func(ctx context.Context, at campaign.Site, s overheadSpec) error {
			p, err := opened(at, &s.Run)
			if err != nil {
				return err
			}
			s.Overhead.Inputs = p.in
			_, err = s.Overhead.measure(ctx, p)
			return err
		}),
	}
}
