package phase

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"time"

	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/simpoint"
	"presage/perf/store"
	"presage/perf/subject"
)

// Sampling says which parts of a run are simulated. The zero value is guided by
// SimPoint with its defaults, on the intervals of the phases at hand.
type Sampling struct {
	Name string // in tables; "": made from the rest

	Full    bool    // the whole run
	Percent float64 // above 0: so much of the run, in regular periods (2005, section 2)
	Periods int     // of these; 0: metasim.DefaultPeriods

	// Otherwise SimPoint chooses, as SimPoint says, unless Points are given.
	SimPoint simpoint.Options
	Points   []simpoint.Point

	// Warmup says what caches hold when a stretch begins; by default they are
	// warmed up with metasim.DefaultWarmLength instructions.
	Warmup     metasim.Warmup
	WarmLength uint64
}

// Title returns the name that stands in tables.
func (s *Sampling) Title() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Full:
		return "full"
	case s.Percent > 0:
		return fmt.Sprintf("periodic %g%%", s.Percent)
	}
	return "simpoint"
}

// Warmth is the name of the warm-up in tables.
func (s *Sampling) Warmth() string {
	if s.Full {
		return ""
	}
	return s.Warmup.String()
}

// sample returns the stretches.
func (s *Sampling) sample(ctx context.Context, p *Phases) (metasim.Sample, *simpoint.Result, error) {
	switch {
	case s.Full && s.Percent != 0:
		return metasim.Sample{}, nil, errors.New("perf: sampling: all of the run or a percentage, not both")
	case s.Full:
		return metasim.Full(), nil, nil
	case s.Percent != 0:
		m, err := metasim.Periodic(p.Instructions, s.Percent, s.Periods)
		return m, nil, err
	case s.Points != nil:
		m, err := metasim.Guided(p.Vectors, s.Points)
		return m, nil, err
	}
	r, err := simpoint.Pick(ctx, p.Vectors, s.SimPoint)
	if err != nil {
		return metasim.Sample{}, nil, err
	}
	m, err := metasim.Guided(p.Vectors, r.Points)
	return m, r, err
}

// CacheSample is what the simulation of a machine's caches on a sample of a run
// gave.
type CacheSample struct {
	Phases   *Phases
	Machine  *machine.Machine
	Sampling Sampling
	Points   int     // stretches that were simulated
	Mismatch float64 // of SimPoint's choice (simpoint.Result.Mismatch); NaN for others

	Rates *metasim.Rates // of blocks
	// ByAccess are rates in which a stretch counts by how often the block accesses
	// memory in it, in place of equation (4).
	ByAccess *metasim.Rates

	Simulated, Warmed uint64 // instructions: counted, and before that to warm up
	Executed          uint64 // by the engine: runs end with their last stretch
	Cost              RunCost
	Warnings          []string
}

// storedSample is what the store holds of a simulated sample.
type storedSample struct {
	Levels            []string
	Stretches         []metasim.StretchResult
	Simulated, Warmed uint64
	Executed          uint64
	Cost              RunCost
	Warnings          []string
}

// SampleCaches simulates the caches of m on samples of the run whose phases are
// given: a run for each. Results are kept in the store.
func SampleCaches(ctx context.Context, p *Phases, m *machine.Machine, samplings []Sampling) ([]*CacheSample, error) {
	if err := p.runnable(); err != nil {
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

func (p *Phases) runnable() error {
	if p.Program == nil {
		return fmt.Errorf("perf: %s: the phases were read from a file, and which program they are of is not known; use BlockVectors", p.Name)
	}
	return nil
}

func sampleCaches(ctx context.Context, p *Phases, m *machine.Machine, s Sampling) (*CacheSample, error) {
	sample, picked, err := s.sample(ctx, p)
	if err != nil {
		return nil, err
	}
	sim, err := SimulateSample(ctx, p, m.Hierarchy(), sample, metasim.SimulateOptions{Warmup: s.Warmup, WarmLength: s.WarmLength})
	if err != nil {
		return nil, err
	}
	c := &CacheSample{
		Phases: p, Machine: m, Sampling: s, Points: len(sim.Stretches), Mismatch: math.NaN(),
		Simulated: sim.Simulated, Warmed: sim.Warmed, Executed: sim.Executed, Cost: sim.Cost, Warnings: sim.Warnings,
	}
	if picked != nil {
		c.Mismatch = picked.Mismatch
		c.Warnings = append(c.Warnings, errorTexts(picked.Warnings)...)
	}
	c.Rate(sim.Simulation(sample))
	return c, nil
}

// Rate makes the rates of blocks.
func (c *CacheSample) Rate(sim *metasim.Simulation) {
	c.Rates = metasim.RatesOf(c.Phases.Code, sim)
	other := *sim
	other.Sample.Combine = metasim.ByAccess
	c.ByAccess = metasim.RatesOf(c.Phases.Code, &other)
}

func (s *storedSample) Simulation(sample metasim.Sample) *metasim.Simulation {
	return &metasim.Simulation{Sample: sample, Levels: s.Levels, Stretches: s.Stretches, Simulated: s.Simulated, Warmed: s.Warmed, Executed: s.Executed}
}

// SimulateSample finds the simulation of a sample in the store, or runs it.
func SimulateSample(ctx context.Context, p *Phases, h cache.Config, sample metasim.Sample, how metasim.SimulateOptions) (*storedSample, error) {
	key, err := store.NewKey("metasim", phasesVersion, struct {
		Inputs     subject.Inputs
		Hierarchy  cache.Config
		Sample     metasim.Sample
		Warmup     metasim.Warmup
		WarmLength uint64
	}{p.in, h, sample, how.Warmup, how.WarmLength})
	if err != nil {
		return nil, err
	}
	out, warning, err := store.Memo(p.stored, key, func() (*storedSample, error) {
		var sims []*metasim.Simulation
		cost, err := CostOf(func() (err error) {
			sims, err = metasim.Simulate(ctx, (&blockRunner{p.Program, p.in}).run, p.Code, sample, []cache.Config{h}, how)
			return err
		})
		if err != nil {
			return nil, err
		}
		s := sims[0]
		return &storedSample{s.Levels, s.Stretches, s.Simulated, s.Warmed, s.Executed, cost, errorTexts(s.Warnings)}, nil
	})
	if err == nil && warning != nil {
		out.Warnings = append(out.Warnings, warning.Error())
	}
	return out, err
}

// CostOf measures a call.
func CostOf(do func() error) (RunCost, error) {
	runtime.GC() // what others left behind is not to be cleared away on its account
	before, begin := processorSeconds(), time.Now()
	err := do()
	return RunCost{Seconds: time.Since(begin).Seconds(), ProcessorSeconds: processorSeconds() - before}, err
}

// Overhead runs the program without recording anything, and with the simulation of
// a sample, in turn and so many times each, and returns what each took: the medians
// by processor time. In turn, because what else a machine does changes how fast it
// is from one minute to the next. Results are kept in the store.
func (p *Phases) Overhead(ctx context.Context, m *machine.Machine, s Sampling, repeats int) (untraced, sampled RunCost, err error) {
	if err := p.runnable(); err != nil {
		return untraced, sampled, err
	}
	if repeats < 1 {
		return untraced, sampled, fmt.Errorf("perf: overhead over %d runs: want one at least", repeats)
	}
	sample, _, err := s.sample(ctx, p)
	if err != nil {
		return untraced, sampled, err
	}
	how := metasim.SimulateOptions{Warmup: s.Warmup, WarmLength: s.WarmLength}
	key, err := store.NewKey("overhead", phasesVersion, struct {
		Inputs     subject.Inputs
		Hierarchy  cache.Config
		Sample     metasim.Sample
		Warmup     metasim.Warmup
		WarmLength uint64
		Repeats    int
	}{p.in, m.Hierarchy(), sample, how.Warmup, how.WarmLength, repeats})
	if err != nil {
		return untraced, sampled, err
	}
	run := (&blockRunner{p.Program, p.in}).run
	both, _, err := store.Memo(p.stored, key, func() (both [2][]RunCost, err error) {
		for range repeats {
			for i, do := range []func() error{
				func() error { _, err := run(ctx, engine.Request{}); return err },
				func() error {
					_, err := metasim.Simulate(ctx, run, p.Code, sample, []cache.Config{m.Hierarchy()}, how)
					return err
				},
			} {
				cost, err := CostOf(do)
				if err != nil {
					return both, err
				}
				both[i] = append(both[i], cost)
			}
		}
		return both, nil
	})
	if err != nil {
		return untraced, sampled, fmt.Errorf("perf: %w", err)
	}
	return medianCost(both[0]), medianCost(both[1]), nil
}

// medianCost returns the cost with the median of processor time, the lower of two.
func medianCost(costs []RunCost) RunCost {
	slices.SortFunc(costs, func(a, b RunCost) int { return cmp.Compare(a.ProcessorSeconds, b.ProcessorSeconds) })
	return costs[(len(costs)-1)/2]
}

// Length returns the instructions that a run executes, counted in an untraced
// run. The result is kept in the store.
func Length(ctx context.Context, prog *subject.Program, in subject.Inputs, st *store.Store) (uint64, error) {
	run := &blockRunner{prog, in}
	key, err := store.NewKey("length", phasesVersion, in)
	if err != nil {
		return 0, err
	}
	n, _, err := store.Memo(st, key, func() (uint64, error) {
		out, err := run.run(ctx, engine.Request{})
		if err != nil {
			return 0, fmt.Errorf("perf: %w", err)
		}
		return out.Instructions, nil
	})
	return n, err
}
