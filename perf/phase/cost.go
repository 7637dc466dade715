package phase

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"presage/perf/cache"
	"presage/perf/campaign"
	"presage/perf/engine"
	"presage/perf/machine"
	"presage/perf/metasim"
	"presage/perf/store"
	"presage/perf/subject"
)

// RunCost is the time that a run took.
type RunCost struct {
	Seconds          float64 // by the clock
	ProcessorSeconds float64 // of all threads of the process; NaN where the system does not tell
}

// Timed calls do and returns the time that it took.
func Timed(do func() error) (RunCost, error) {
	runtime.GC() // so that do does not pay for the garbage of what ran before
	before, begin := processorSeconds(), time.Now()
	err := do()
	return RunCost{Seconds: time.Since(begin).Seconds(), ProcessorSeconds: processorSeconds() - before}, err
}

// DefaultRepeats is how often Overhead runs each of the two by default.
const DefaultRepeats = 3

// OverheadOptions say what Overhead measures.
type OverheadOptions struct {
	Machine  *machine.Machine // whose caches are simulated
	Sampling Sampling
	Repeats  int // runs of each of the two; 0: DefaultRepeats
}

// Overhead is the time of a program with and without the simulation of a sample.
type Overhead struct {
	Untraced RunCost // nothing is recorded
	Sampled  RunCost
}

// Overhead runs the program alternately without recording and with the simulation of a
// sample, and returns the medians by CPU time. The runs alternate because the speed of
// a machine changes from minute to minute with its other load. Results are kept in the
// store.
func (p *Intervals) Overhead(ctx context.Context, opt OverheadOptions) (Overhead, error) {
	if err := p.runnable(); err != nil {
		return Overhead{}, err
	}
	if opt.Repeats < 0 {
		return Overhead{}, fmt.Errorf("perf: overhead over %d runs: want one at least", opt.Repeats)
	}
	if opt.Repeats == 0 {
		opt.Repeats = DefaultRepeats
	}
	stretches, err := opt.Sampling.stretches(ctx, p)
	if err != nil {
		return Overhead{}, err
	}
	how := opt.Sampling.how(p, &stretches.sample)
	o := overheadInputs{p.in, opt.Machine.Hierarchy(), stretches.sample, how.Warmup, how.WarmLength, opt.Repeats}
	if err := p.campaign.Need(ctx, p.stored, nil, func() (campaign.Job, error) { return o.job(p) }); err != nil {
		return Overhead{}, err
	}
	found, err := o.measure(ctx, p)
	if err != nil {
		return Overhead{}, fmt.Errorf("perf: %w", err)
	}
	return Overhead{medianCost(found[0]), medianCost(found[1])}, nil
}

// overheadInputs is what the times of Overhead are of.
type overheadInputs struct {
	Inputs     subject.Inputs
	Hierarchy  cache.Config
	Sample     metasim.Sample
	Warmup     metasim.Warmup
	WarmLength uint64
	Repeats    int
}

const overheadKind = "overhead"

// measure returns the times, from the store if they are there.
func (o *overheadInputs) measure(ctx context.Context, p *Intervals) ([2][]RunCost, error) {
	key, err := store.NewKey(overheadKind, sampleVersion, *o)
	if err != nil {
		return [2][]RunCost{}, err
	}
	run := (&blockRunner{p.Program, p.in}).run
	how := metasim.SimulateOptions{Warmup: o.Warmup, WarmLength: o.WarmLength}
	memo, err := store.Memo(p.stored, key, func() ([2][]RunCost, error) {
		return inTurn(o.Repeats,
			func() error { _, err := run(ctx, engine.Request{}); return err },
			func() error {
				_, err := metasim.Simulate(ctx, run, p.Code, o.Sample, []cache.Config{o.Hierarchy}, how)
				return err
			})
	})
	return memo.Value, err
}

// inTurn times two functions alternately.
func inTurn(repeats int, first, second func() error) (both [2][]RunCost, err error) {
	for range repeats {
		for i, do := range []func() error{first, second} {
			cost, err := Timed(do)
			if err != nil {
				return both, err
			}
			both[i] = append(both[i], cost)
		}
	}
	return both, nil
}

// medianCost returns the cost with the median of processor time, the lower of two.
func medianCost(costs []RunCost) RunCost {
	slices.SortFunc(costs, func(a, b RunCost) int { return cmp.Compare(a.ProcessorSeconds, b.ProcessorSeconds) })
	return costs[(len(costs)-1)/2]
}

// RunLength returns the instructions that a run of prog at the point executes,
// counted in an untraced run. The result is kept in the store.
func RunLength(ctx context.Context, prog *subject.Program, point subject.Point, opt subject.RunOptions) (uint64, error) {
	in, err := prog.Inputs(point, opt)
	if err != nil {
		return 0, err
	}
	if opt.Store, err = store.OrDefault(opt.Store); err != nil {
		return 0, err
	}
	opt.Progress = nil // it takes little time
	if err := opt.Campaign.Need(ctx, opt.Store, nil, func() (campaign.Job, error) { return lengthJob(prog, in, point, opt.Store) }); err != nil {
		return 0, err
	}
	return runLength(ctx, prog, in, subject.Step{Options: &opt, Point: point})
}

const lengthKind = "length"

// runLength is RunLength for a run with the inputs in.
func runLength(ctx context.Context, prog *subject.Program, in subject.Inputs, step subject.Step) (uint64, error) {
	memo, err := subject.Memo(step, lengthKind, storeVersion, in, func(func(uint64)) (uint64, error) {
		out, err := (&blockRunner{prog, in}).run(ctx, engine.Request{})
		if err != nil {
			return 0, fmt.Errorf("perf: %w", err)
		}
		return out.Instructions, nil
	})
	return memo.Value, err
}
