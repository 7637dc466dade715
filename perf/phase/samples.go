package phase

import (
	"context"
	"fmt"
	"math"

	"presage/perf/cache"
	"presage/perf/campaign"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/store"
	"presage/perf/subject"
)

// CacheSample is the simulation of a machine's caches on a sample of a run.
type CacheSample struct {
	Intervals *Intervals // of the run
	Machine   *machine.Machine
	Sampling  Sampling
	Points    int     // stretches that were simulated
	Mismatch  float64 // of SimPoint's choice (simpoint.Result.Mismatch); NaN for others

	Rates *metasim.Rates // of blocks
	// ByAccess are rates in which a stretch counts by the block's accesses in it,
	// in place of equation (4).
	ByAccess *metasim.Rates
	// ByHistory are the same with the misses in histories (metasim.ByHistory). nil
	// without metasim.WarmHistory, or where the clusters of intervals are not known.
	ByHistory *metasim.Rates

	Simulated uint64  // instructions whose hits and misses count
	Warmed    uint64  // instructions before these that warm the caches up
	Executed  uint64  // instructions by the engine: runs end with their last stretch, but for WarmHistory
	Cost      RunCost // NaN if the sample was simulated together with others
	Warnings  []string
}

// storedSample is what the store holds of a simulated sample.
type storedSample struct {
	Levels            []string
	Stretches         []metasim.StretchResult
	Once              []uint64 // as metasim.Simulation.Once
	Simulated, Warmed uint64
	Executed          uint64
	Cost              RunCost
	Warnings          []string
}

// SampleCaches simulates the caches of m on samples of a run: a run for each
// sample. Results are kept in the store.
func SampleCaches(ctx context.Context, p *Intervals, m *machine.Machine, samplings []Sampling) ([]*CacheSample, error) {
	if err := p.runnable(); err != nil {
		return nil, err
	}
	if err := p.RunSamples(ctx, m, samplings); err != nil {
		return nil, err
	}
	var all []*CacheSample
	for _, s := range samplings {
		c, err := sampleCaches(ctx, p, m, s)
		if err != nil {
			return nil, fmt.Errorf("perf: %s, %s: %w", p.Name, s.Title(), err)
		}
		all = append(all, c)
	}
	return all, nil
}

// RunSamples has samples simulated in one campaign, for SampleCaches to find; without a
// campaign, see subject.RunOptions, it does nothing.
func (p *Intervals) RunSamples(ctx context.Context, m *machine.Machine, samplings []Sampling) error {
	if p.campaign == nil {
		return nil
	}
	jobs := make([]campaign.Job, len(samplings))
	for i, s := range samplings {
		chosen, err := s.stretches(ctx, p)
		if err != nil {
			return fmt.Errorf("perf: %s, %s: %w", p.Name, s.Title(), err)
		}
		how := s.how(p, &chosen.sample)
		in := sampleInputs{p.in, m.Hierarchy(), chosen.sample, how.Warmup, how.WarmLength}
		if jobs[i], err = in.job(p); err != nil {
			return err
		}
	}
	if err := p.campaign.Run(ctx, p.stored, jobs, nil); err != nil {
		return err
	}
	for i := range jobs {
		if err := p.campaign.Failure(&jobs[i]); err != nil {
			return err
		}
	}
	return nil
}

func sampleCaches(ctx context.Context, p *Intervals, m *machine.Machine, s Sampling) (*CacheSample, error) {
	chosen, err := s.stretches(ctx, p)
	if err != nil {
		return nil, err
	}
	how := s.how(p, &chosen.sample)
	in := sampleInputs{p.in, m.Hierarchy(), chosen.sample, how.Warmup, how.WarmLength}
	sim, err := in.simulate(ctx, p)
	if err != nil {
		return nil, err
	}
	c := &CacheSample{
		Intervals: p, Machine: m, Sampling: s, Points: len(sim.Stretches), Mismatch: chosen.mismatch,
		Simulated: sim.Simulated, Warmed: sim.Warmed, Executed: sim.Executed, Cost: sim.Cost, Warnings: append(sim.Warnings, chosen.warnings...),
	}
	c.rate(sim.simulation(chosen.sample))
	return c, nil
}

// NamedSelection is a selection and the name of its sample in tables.
type NamedSelection struct {
	Name string
	*Selection
}

// SampleTogether simulates the caches of m on the union of several selections of
// the run's intervals, in one run, and returns a sample for each selection. Caches
// are warmed up as by default. Results are kept in the store.
func SampleTogether(ctx context.Context, p *Intervals, m *machine.Machine, selections []NamedSelection) ([]*CacheSample, error) {
	if err := p.runnable(); err != nil {
		return nil, err
	}
	samples := make([]metasim.Sample, len(selections))
	for i, s := range selections {
		var err error
		if samples[i], err = metasim.Guided(p.Vectors, s.Points); err != nil {
			return nil, err
		}
	}
	union, err := metasim.Union("union", samples...)
	if err != nil {
		return nil, err
	}
	in := sampleInputs{Inputs: p.in, Hierarchy: m.Hierarchy(), Sample: union}
	if err := p.campaign.Need(ctx, p.stored, nil, func() (campaign.Job, error) { return in.job(p) }); err != nil {
		return nil, err
	}
	stored, err := in.simulate(ctx, p)
	if err != nil {
		return nil, fmt.Errorf("perf: %w", err)
	}
	sim := stored.simulation(union)
	var all []*CacheSample
	for i, sample := range samples {
		part, err := sim.Select(sample)
		if err != nil {
			return nil, fmt.Errorf("perf: %w", err)
		}
		c := &CacheSample{
			Intervals: p, Machine: m, Sampling: Sampling{Name: selections[i].Name, Points: selections[i].Points}, Points: len(sample.Stretches),
			Mismatch: selections[i].Mismatch, Simulated: part.Simulated, Warmed: sample.Warming(metasim.SimulateOptions{}),
			Cost: RunCost{Seconds: math.NaN(), ProcessorSeconds: math.NaN()}, Warnings: stored.Warnings,
		}
		c.rate(part)
		all = append(all, c)
	}
	return all, nil
}

// rate fills in the rates of blocks.
func (c *CacheSample) rate(sim *metasim.Simulation) {
	c.Rates = metasim.RatesOf(c.Intervals.Code, sim)
	other := *sim
	other.Sample.Combine = metasim.ByAccess
	c.ByAccess = metasim.RatesOf(c.Intervals.Code, &other)
	if len(sim.Sample.Strata) > 0 {
		other.Sample.Combine = metasim.ByHistory
		c.ByHistory = metasim.RatesOf(c.Intervals.Code, &other)
	}
}

func (s *storedSample) simulation(sample metasim.Sample) *metasim.Simulation {
	return &metasim.Simulation{Sample: sample, Levels: s.Levels, Stretches: s.Stretches, Once: s.Once, Simulated: s.Simulated, Warmed: s.Warmed, Executed: s.Executed}
}

// sampleInputs is what a storedSample depends on.
type sampleInputs struct {
	Inputs     subject.Inputs
	Hierarchy  cache.Config
	Sample     metasim.Sample
	Warmup     metasim.Warmup
	WarmLength uint64
}

const sampleKind = "metasim"

// simulate finds the simulation of a sample in the store, or runs it.
func (s *sampleInputs) simulate(ctx context.Context, p *Intervals) (*storedSample, error) {
	key, err := store.NewKey(sampleKind, sampleVersion, *s)
	if err != nil {
		return nil, err
	}
	how := metasim.SimulateOptions{Warmup: s.Warmup, WarmLength: s.WarmLength}
	memo, err := store.Memo(p.stored, key, func() (*storedSample, error) {
		var sims []*metasim.Simulation
		cost, err := Timed(func() (err error) {
			sims, err = metasim.Simulate(ctx, (&blockRunner{p.Program, p.in}).run, p.Code, s.Sample, []cache.Config{s.Hierarchy}, how)
			return err
		})
		if err != nil {
			return nil, err
		}
		s := sims[0]
		return &storedSample{s.Levels, s.Stretches, s.Once, s.Simulated, s.Warmed, s.Executed, cost, errorTexts(s.Warnings)}, nil
	})
	if err != nil {
		return nil, err
	}
	if memo.Warning != "" {
		memo.Value.Warnings = append(memo.Value.Warnings, memo.Warning)
	}
	return memo.Value, nil
}
