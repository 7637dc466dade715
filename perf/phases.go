package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/machine"
	"presage/perf/phase"
)

// HitRates returns the program's cumulative hit ratios, a row for each sample and
// level of its machine:
//
//   - sampling, interval_instructions (of SimPoint only), points: stretches that
//     were simulated; warmup
//   - simulated_share, warmup_share: of the run's instructions, from 0 to 1
//   - mismatch: of the mix of code, from 0 to 1; of SimPoint only
//   - sim_hit_ratio: the mean of the blocks' hit ratios by equation (4), weighted
//     by their accesses in the full run; blocks that the sample does not show are
//     taken to hit always, as in the paper (2005, section 5.2)
//   - sim_hit_ratio_by_access: the same, stretches counting by a block's accesses
//     in them
//   - unseen_share: of the full run's accesses, by such blocks; if all of those
//     miss the ratio is sim_hit_ratio_least, if all hit sim_hit_ratio_most, and
//     if they hit as often as others sim_hit_ratio_like_seen
//   - sim_full_hit_ratio, and the differences from it, in the units of ratios:
//     missing if no full simulation of the program and machine is among samples
func HitRates(samples ...*phase.CacheSample) (dataframe.DataFrame, error) {
	return table(phase.HitRates(samples...))
}

// Phases are the intervals of a run, and the code that each of them executes. They
// are not modified once made, and may be shared.
type Phases = phase.Intervals

// PhaseOptions say how a run is divided into intervals. The zero value is the
// default throughout.
type PhaseOptions = phase.Options

// BlockVectors runs prog once at the point, and counts the instructions that each
// interval executes in each basic block. Results are kept in the store.
func BlockVectors(ctx context.Context, prog *Program, point Point, opt PhaseOptions) (*Phases, error) {
	return phase.BlockVectors(ctx, prog, point, opt)
}

// Sampling says which parts of a run are simulated. The zero value takes the
// points that SimPoint chooses with its defaults, on the intervals at hand.
type Sampling = phase.Sampling

// SampleCaches simulates the caches of m on samples of a run: a run for each
// sample. Results are kept in the store.
func SampleCaches(ctx context.Context, p *Phases, m *machine.Machine, samplings []Sampling) ([]*phase.CacheSample, error) {
	return phase.SampleCaches(ctx, p, m, samplings)
}
