package metasim

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"presage/perf/cache"
	"presage/perf/trace"
)

// Warmup says what caches hold when a stretch begins. The paper does not say
// what they held.
type Warmup uint8

const (
	// WarmFixed simulates some instructions before each stretch without
	// counting them, beginning with empty caches.
	WarmFixed Warmup = iota
	// WarmNone empties the caches before each stretch.
	WarmNone
	// WarmKept leaves in the caches what the stretch before left there.
	WarmKept
	// WarmKeptFixed does that, and then what WarmFixed does.
	WarmKeptFixed
)

func (w Warmup) String() string {
	if int(w) < len(warmups) {
		return warmups[w]
	}
	return fmt.Sprintf("Warmup(%d)", uint8(w))
}

var warmups = [...]string{"fixed", "none", "kept", "kept, fixed"}

// DefaultWarmLength is how many instructions WarmFixed simulates before a
// stretch where nothing else is asked for: enough for caches of level 1. With
// them the hit rates of level 1 of Sweep3D, conjugate gradients and a matrix
// multiply were within 0.001 points of those with a million. Caches of level 2
// take more, or what WarmKeptFixed leaves in them.
const DefaultWarmLength = 200_000

// SimulateOptions say how a sample is simulated.
type SimulateOptions struct {
	Warmup     Warmup
	WarmLength uint64 // instructions, of WarmFixed and WarmKeptFixed; 0: DefaultWarmLength

	// Checkpoints, as Checkpoints takes them for the same sample and warm-up,
	// have each stretch begin from one of them, Workers at once (0: as many as
	// there are processors). Not with WarmKept or WarmKeptFixed. The result does
	// not depend on it.
	Checkpoints []Checkpoint
	Workers     int

	Progress func(instructions uint64) // not with Checkpoints
}

func (o *SimulateOptions) fill() error {
	switch {
	case o.Warmup > WarmKeptFixed:
		return fmt.Errorf("metasim: unknown warm-up %d", o.Warmup)
	case o.Warmup == WarmNone || o.Warmup == WarmKept:
		if o.WarmLength != 0 {
			return fmt.Errorf("metasim: a warm-up of %d instructions and the mode %q exclude each other", o.WarmLength, o.Warmup)
		}
	case o.WarmLength == 0:
		o.WarmLength = DefaultWarmLength
	}
	if o.Checkpoints != nil && o.keeps() {
		return fmt.Errorf("metasim: what caches keep from stretch to stretch is not in checkpoints: leave out one of the two")
	}
	return nil
}

func (o *SimulateOptions) keeps() bool { return o.Warmup == WarmKept || o.Warmup == WarmKeptFixed }

// Simulation is what the simulation of a sample on one hierarchy gave.
type Simulation struct {
	Sample    Sample
	Hierarchy cache.Config
	Levels    []string        // names, then those of the TLBs
	Stretches []StretchResult // of Sample.Stretches that the run reached

	Simulated, Warmed uint64 // instructions: in stretches, and to warm up
	Executed          uint64 // instructions, all runs together
	Elapsed           time.Duration
	Warnings          []error
}

// StretchResult is what happened in a stretch.
type StretchResult struct {
	Stretch               // as asked for
	Instructions uint64   // in the stretch as it was
	Blocks       []Counts // that accessed memory, by ascending index
}

// Counts is what a block did in a stretch.
type Counts struct {
	Block    int      // index in Code.Blocks
	Accesses uint64   // memory references executed
	Misses   []uint64 // at each of Simulation.Levels
}

// Simulate runs the program once and simulates the hierarchies, each by itself,
// on a sample of the run. It stops the run after the last stretch. With
// checkpoints it runs each stretch from its own.
func Simulate(ctx context.Context, run Runner, code *Code, sample Sample, hierarchies []cache.Config, opt SimulateOptions) ([]*Simulation, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if err := sample.check(); err != nil {
		return nil, err
	}
	units := unitsOf(&sample, &opt)
	if opt.Checkpoints == nil {
		units = []unit{join(units)}
	} else if len(opt.Checkpoints) != len(units) {
		return nil, fmt.Errorf("metasim: %d checkpoints for %d stretches or runs of them: take them for the same sample and warm-up", len(opt.Checkpoints), len(units))
	}
	all := make([]unitResult, len(units))
	if err := eachUnit(opt.Workers, len(units), func(i int) (err error) {
		var from Checkpoint
		if opt.Checkpoints != nil {
			from = opt.Checkpoints[i]
		}
		all[i], err = units[i].simulate(ctx, run, code, hierarchies, from, &opt)
		return err
	}); err != nil {
		return nil, fmt.Errorf("metasim: %w", err)
	}
	return gather(&sample, hierarchies, all), nil
}

// Checkpoints runs the program once, without tracing, and takes what Simulate
// needs to run the stretches of a sample one by one.
func Checkpoints(ctx context.Context, run Runner, sample Sample, opt SimulateOptions) ([]Checkpoint, error) {
	opt.Checkpoints = nil
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if opt.keeps() {
		return nil, fmt.Errorf("metasim: what caches keep from stretch to stretch is not in checkpoints")
	}
	if err := sample.check(); err != nil {
		return nil, err
	}
	var list []Checkpoint
	r := Request{Progress: opt.Progress, Take: func(c Checkpoint) error {
		list = append(list, c)
		return nil
	}}
	for _, u := range unitsOf(&sample, &opt) {
		r.CheckpointAt = append(r.CheckpointAt, u[0].From)
	}
	r.Until = r.CheckpointAt[len(r.CheckpointAt)-1] + 1
	if _, err := run.Run(ctx, r); err != nil {
		return nil, fmt.Errorf("metasim: checkpoints: %w", err)
	}
	if len(list) != len(r.CheckpointAt) {
		return nil, fmt.Errorf("metasim: the run ended before %d of the %d checkpoints", len(r.CheckpointAt)-len(list), len(r.CheckpointAt))
	}
	return list, nil
}

// eachUnit calls do for each unit, some at once.
func eachUnit(workers, n int, do func(i int) error) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	errs := make([]error, n)
	next := make(chan int)
	var wg sync.WaitGroup
	for range min(workers, n) {
		wg.Go(func() {
			for i := range next {
				errs[i] = do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
	return errors.Join(errs...)
}

// unitResult is what one run gave.
type unitResult struct {
	stretches [][]StretchResult // by hierarchy
	outcome   *Outcome
	from      uint64 // instructions before the run
	warmed    uint64
	warnings  []error
}

// simulate runs a unit.
func (u unit) simulate(ctx context.Context, run Runner, code *Code, hierarchies []cache.Config, from Checkpoint, opt *SimulateOptions) (unitResult, error) {
	plan := code.accesses()
	var trackers []*tracker
	var collectors []trace.Collector
	for _, h := range hierarchies {
		t, err := newTracker(code, h, u)
		if err != nil {
			return unitResult{}, err
		}
		trackers, collectors = append(trackers, t), append(collectors, t)
	}
	sink := trace.NewPipeline(collectors...)
	r := Request{Plan: plan, Sink: sink, Windows: u.windows(), From: from, Progress: opt.Progress}
	r.Until = r.Windows[len(r.Windows)-1].To
	out, err := run.Run(ctx, r)
	if closed := sink.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return unitResult{}, err
	}
	res := unitResult{outcome: out, warnings: out.Warnings}
	if from != nil {
		res.from = from.Instructions()
	}
	if missed := len(u) - len(out.Windows); missed > 0 {
		res.warnings = append(res.warnings, fmt.Errorf("metasim: the run ended after %d instructions, before %d of the stretches of the sample, or of their warm-ups", out.Instructions, missed))
	}
	for i, w := range out.Windows {
		if u[i].stretch < 0 {
			res.warmed += w.To - w.From
		}
	}
	for _, t := range trackers {
		stretches, err := t.finish(out)
		if err != nil {
			return unitResult{}, err
		}
		res.stretches = append(res.stretches, stretches)
	}
	return res, nil
}

// gather puts the results of all runs together.
func gather(sample *Sample, hierarchies []cache.Config, all []unitResult) []*Simulation {
	var sims []*Simulation
	for h, config := range hierarchies {
		s := &Simulation{Sample: *sample, Hierarchy: config}
		for _, l := range config.Levels {
			s.Levels = append(s.Levels, l.Name)
		}
		for _, t := range config.TLBs {
			s.Levels = append(s.Levels, t.Name)
		}
		for _, r := range all {
			s.Stretches = append(s.Stretches, r.stretches[h]...)
			s.Warmed += r.warmed
			s.Executed += r.outcome.Instructions - r.from
			s.Elapsed += r.outcome.Elapsed
			s.Warnings = append(s.Warnings, r.warnings...)
		}
		for i := range s.Stretches {
			s.Simulated += s.Stretches[i].Instructions
		}
		sims = append(sims, s)
	}
	return sims
}
