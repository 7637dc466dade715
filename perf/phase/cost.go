package phase

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"time"

	"presage/perf/cache"
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
	key, err := store.NewKey("overhead", storeVersion, struct {
		Inputs     subject.Inputs
		Hierarchy  cache.Config
		Sample     metasim.Sample
		Warmup     metasim.Warmup
		WarmLength uint64
		Repeats    int
	}{p.in, opt.Machine.Hierarchy(), stretches.sample, how.Warmup, how.WarmLength, opt.Repeats})
	if err != nil {
		return Overhead{}, err
	}
	run := (&blockRunner{p.Program, p.in}).run
	memo, err := store.Memo(p.stored, key, func() ([2][]RunCost, error) {
		return inTurn(opt.Repeats,
			func() error { _, err := run(ctx, engine.Request{}); return err },
			func() error {
				_, err := metasim.Simulate(ctx, run, p.Code, stretches.sample, []cache.Config{opt.Machine.Hierarchy()}, how)
				return err
			})
	})
	if err != nil {
		return Overhead{}, fmt.Errorf("perf: %w", err)
	}
	return Overhead{medianCost(memo.Value[0]), medianCost(memo.Value[1])}, nil
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
	opt.Progress = nil // it takes little time
	memo, err := subject.Memo(subject.Step{Options: &opt, Point: point}, "length", storeVersion, in, func(func(uint64)) (uint64, error) {
		out, err := (&blockRunner{prog, in}).run(ctx, engine.Request{})
		if err != nil {
			return 0, fmt.Errorf("perf: %w", err)
		}
		return out.Instructions, nil
	})
	return memo.Value, err
}
