package metasim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/trace"
)

// Warmup determines the contents of caches at the start of a stretch, which the
// paper does not specify.
type Warmup uint8

const (
	// WarmFixed simulates WarmLength instructions before each stretch without
	// counting them, beginning with empty caches.
	WarmFixed Warmup = iota
	// WarmNone empties the caches before each stretch.
	WarmNone
	// WarmKept keeps the contents from the end of the previous stretch.
	WarmKept
	// WarmKeptFixed keeps the contents and simulates a warm-up like WarmFixed.
	WarmKeptFixed
	// WarmHistory simulates WarmLength instructions before each stretch, beginning
	// with empty caches: all but the last DefaultWarmLength in a fraction of the time
	// (cache.Simulator.Warm; TLBs as they are). Under LRU, hits are then what they would
	// be with the whole history, and so are misses of full sets, up to what the levels
	// above hold. What an access would do that misses where its set has a free place is
	// not known (an unknown reference of Wood, Hill and Kessler, SIGMETRICS 1991). Of
	// these, a share of (d - w)/d is taken for misses if the parts of the run that
	// were simulated touched d blocks of the set and it has w < d ways: so many of d
	// blocks that are accessed alike are not held. If d <= w nothing was ever
	// evicted: they are hits, but for the first access to each block, which is one
	// miss of the whole run whatever the stretch stands for (Simulation.Once).
	//
	// Where the engine lists the pages that the run touches (engine.Outcome.Pages),
	// first accesses are known at all levels but the first, whatever d: in a page that
	// was untouched when the history began, each block's first is the run's. They are
	// taken back, too, and all of the run are misses once: the blocks that were
	// simulated, and at least as many in each touched page as in the median of those
	// of which something was, but for pages that the run's first million instructions
	// touch, or, where the first history begins as early, its first segment. These are simulated for that, as a program's start looks at a little of
	// much that it does not come back to. All are derived here.
	WarmHistory
)

func (w Warmup) String() string {
	if int(w) < len(warmups) {
		return warmups[w]
	}
	return fmt.Sprintf("Warmup(%d)", uint8(w))
}

var warmups = [...]string{"fixed", "none", "kept", "kept, fixed", "history"}

// DefaultWarmLength is the default of SimulateOptions.WarmLength, in instructions.
// It is enough for first-level caches: with it the L1 hit rates of Sweep3D,
// conjugate gradients and a matrix multiply were within 0.001 points of those with
// a million instructions. Second-level caches need more, or the contents that
// WarmKeptFixed keeps.
const DefaultWarmLength = 200_000

// SimulateOptions configure Simulate.
type SimulateOptions struct {
	Warmup     Warmup
	WarmLength uint64 // instructions, for WarmFixed, WarmKeptFixed (0: DefaultWarmLength) and WarmHistory

	Progress func(instructions uint64)
}

func (o *SimulateOptions) fill() error {
	switch {
	case o.Warmup > WarmHistory:
		return fmt.Errorf("metasim: unknown warm-up %d", o.Warmup)
	case o.Warmup == WarmNone || o.Warmup == WarmKept:
		if o.WarmLength != 0 {
			return fmt.Errorf("metasim: a warm-up of %d instructions and the mode %q exclude each other", o.WarmLength, o.Warmup)
		}
	case o.WarmLength == 0 && o.Warmup == WarmHistory:
		return errors.New("metasim: a warm-up by history has no default length: some hundredths of the run, divided by the stretches")
	case o.WarmLength == 0:
		o.WarmLength = DefaultWarmLength
	}
	return nil
}

func (o *SimulateOptions) keeps() bool { return o.Warmup == WarmKept || o.Warmup == WarmKeptFixed }

// Simulation is the result of simulating a sample on one hierarchy.
type Simulation struct {
	Sample    Sample
	Hierarchy cache.Config
	Levels    []string        // names of the cache levels, then of the TLBs
	Stretches []StretchResult // those of Sample.Stretches that the run reached
	// Once are misses at each of Levels that the whole run has once: see WarmHistory.
	// nil for the others.
	Once []uint64

	Simulated, Warmed uint64 // instructions in stretches and in warm-ups
	Executed          uint64 // instructions of the run
	Elapsed           time.Duration
	Warnings          []error
}

// StretchResult holds the counts of a stretch.
type StretchResult struct {
	Stretch               // as requested
	Instructions uint64   // in its exact extent
	Blocks       []Counts // of blocks that accessed memory, by ascending index

	// Like are the counts of the strata that are like the stretch (Sample.Strata),
	// without misses at the first level, which histories do not simulate.
	Like             []Counts
	LikeInstructions uint64
}

// Counts are the accesses and misses of a block in a stretch.
type Counts struct {
	Block    int      // index in Code.Blocks
	Accesses uint64   // memory references executed
	Misses   []uint64 // at each of Simulation.Levels, without those that WarmHistory does not take for misses
}

// Simulate runs the program once, up to the end of the last stretch or, with WarmHistory,
// to its own, and simulates each hierarchy independently on a sample of the run.
func Simulate(ctx context.Context, run engine.Runner, code *Code, sample Sample, hierarchies []cache.Config, opt SimulateOptions) ([]*Simulation, error) {
	if err := opt.fill(); err != nil {
		return nil, err
	}
	if err := sample.check(); err != nil {
		return nil, err
	}
	segments := segmentsOf(&sample, &opt)
	r := engine.Request{Plan: code.accesses(), Progress: opt.Progress}
	for _, s := range segments {
		r.Windows = append(r.Windows, s.Window)
	}
	if opt.Warmup == WarmHistory {
		r.Pages = true // of all the run
	} else {
		r.Until = segments[len(segments)-1].To
	}
	trackers := make([]*tracker, len(hierarchies))
	collectors := make([]trace.Collector, len(hierarchies))
	for i, h := range hierarchies {
		t, err := newTracker(code, h, segments, opt.Warmup == WarmHistory)
		if err != nil {
			return nil, fmt.Errorf("metasim: %w", err)
		}
		trackers[i], collectors[i] = t, t
	}
	out, warnings, err := record(ctx, run, r, collectors...)
	if err != nil {
		return nil, fmt.Errorf("metasim: %w", err)
	}
	if missed := len(segments) - len(out.Windows); missed > 0 {
		warnings = append(warnings, fmt.Errorf("metasim: the run ended after %d instructions, before %d of the stretches of the sample, or of their warm-ups", out.Instructions, missed))
	}
	var sims []*Simulation
	for i, h := range hierarchies {
		s := &Simulation{Sample: sample, Hierarchy: h, Executed: out.Instructions, Elapsed: out.Elapsed, Warnings: slices.Clone(warnings)}
		if err := s.fill(trackers[i], segments, out); err != nil {
			return nil, fmt.Errorf("metasim: %w", err)
		}
		sims = append(sims, s)
	}
	return sims, nil
}

// fill sets the results of the hierarchy's tracker for the windows of the run.
func (s *Simulation) fill(t *tracker, segments []segment, out *engine.Outcome) (err error) {
	for _, l := range s.Hierarchy.Levels {
		s.Levels = append(s.Levels, l.Name)
	}
	for _, l := range s.Hierarchy.TLBs {
		s.Levels = append(s.Levels, l.Name)
	}
	if s.Stretches, err = t.finish(out); err != nil {
		return err
	}
	s.Once = t.once
	for i, w := range out.Windows {
		if segments[i].stretch < 0 {
			s.Warmed += w.To - w.From
		} else {
			s.Simulated += w.To - w.From
		}
	}
	return nil
}
