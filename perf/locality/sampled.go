package locality

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/internal/num"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// DefaultConfidence is the default of EstimateOptions.Confidence.
const DefaultConfidence = 0.95

// EstimateOptions configures MissEstimates. The zero value is the default.
type EstimateOptions struct {
	HistogramOptions
	// Capacities are the sizes of fully associative LRU caches, in blocks; none:
	// 1, 4, 16, … up to the largest number of blocks that a run touched.
	Capacities []uint64
	// Confidence of the intervals, between 0 and 1; 0: DefaultConfidence.
	Confidence float64
}

// MissEstimate is how many misses some references have in a fully associative LRU
// cache, with an interval.
type MissEstimate struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Block    uint64             `frame:"block_bytes"`
	Capacity uint64             `frame:"capacity_blocks"`
	OneIn    uint64             `frame:"sample_one_in"` // one block in OneIn was observed; 1 for all
	Accesses uint64             `frame:"accesses"`      // block accesses of the references, always exact
	Misses   uint64             `frame:"misses"`        // by the histograms
	// Least and Most bound the misses of an exact profile with the confidence
	// asked for, over choices of the seed. Where all blocks were observed they are
	// equal, or the contents of one bin apart.
	Least  uint64  `frame:"misses_least"`
	Most   uint64  `frame:"misses_most"`
	StdErr float64 `frame:"misses_std_err"` // from the choice of the blocks
	Few    bool    `frame:"few"`            // too few sampled blocks have misses: Most is all accesses
}

// MissEstimates returns the misses of the runs in fully associative LRU caches, of
// the references chosen together, with intervals, which show what a sampled profile
// is worth. A row for each run and capacity; see reuse.Result.Estimate.
func MissEstimates(runs *Runs, opt EstimateOptions) ([]MissEstimate, error) {
	if len(runs.Runs) == 0 {
		return nil, errors.New("perf: no runs")
	}
	if opt.BlockBytes == 0 {
		opt.BlockBytes = runs.Runs[0].Reuse[0].BlockBytes
	}
	if opt.Confidence == 0 {
		opt.Confidence = DefaultConfidence
	}
	groups, err := runs.GroupsOf(opt.HistogramOptions)
	if err != nil {
		return nil, err
	}
	results := make([]*reuse.Result, len(runs.Runs))
	for i := range runs.Runs {
		if results[i], err = runs.Runs[i].At(opt.BlockBytes); err != nil {
			return nil, err
		}
	}
	if len(opt.Capacities) == 0 {
		opt.Capacities = usualCapacities(results)
	}
	var rows []MissEstimate
	for i, res := range results {
		ids := inResult(res, groups[i])
		accesses := uint64(0)
		for _, g := range ids {
			accesses += AccessesOf(res, g)
		}
		for _, capacity := range opt.Capacities {
			e := reuse.Estimate{}
			if len(ids) > 0 { // else Estimate would take all
				if e, err = res.Estimate(capacity, opt.Confidence, ids...); err != nil {
					return nil, fmt.Errorf("perf: %w", err)
				}
			}
			rows = append(rows, MissEstimate{runs.Label(), runs.Runs[i].Point, opt.BlockBytes, capacity, oneIn(res), accesses, e.Misses, e.Least, e.Most, e.StdErr, e.Few})
		}
	}
	return rows, nil
}

func usualCapacities(results []*reuse.Result) []uint64 {
	most := uint64(1)
	for _, res := range results {
		most = max(most, res.Blocks)
	}
	var list []uint64
	for c := uint64(1); c < 4*most; c *= 4 {
		list = append(list, c)
	}
	return list
}

// inResult returns the groups that a result has: a plan may leave groups out.
func inResult(res *reuse.Result, groups []trace.GroupID) []trace.GroupID {
	return slices.DeleteFunc(slices.Clone(groups), func(g trace.GroupID) bool { return int(g) >= len(res.Groups) })
}

// oneIn is the reciprocal of the rate at which blocks were sampled.
func oneIn(res *reuse.Result) uint64 {
	if res.Sample == nil {
		return 1
	}
	return res.Sample.OneIn
}

// sampled warns that the counts of a run are estimates, and says how sure those
// of each block size are: the distinct blocks touched, which are the cold
// misses, with their interval, and by how much the counts of all histograms
// together are off, which is known.
func (run *Run) sampled() []string {
	var out []string
	for _, res := range run.Reuse {
		if res.Sample == nil {
			continue
		}
		text := fmt.Sprintf("%s: blocks of %d bytes: histograms are estimates from one block in %d (seed %d)", run.Point, res.BlockBytes, res.Sample.OneIn, run.Recorded.SampleSeed)
		cold, err := res.Estimate(math.MaxUint32, DefaultConfidence)
		switch total := res.Total(); {
		case err != nil:
			text += ": " + err.Error()
		case cold.Few:
			text += fmt.Sprintf(": so few blocks were touched, about %d, that too few were sampled to tell how sure that is; sample more, or look at all", cold.Misses)
		default:
			text += fmt.Sprintf(": %d blocks touched, between %d and %d with confidence %g; counts of accesses sum to %+.1f%% of what they are",
				cold.Misses, cold.Least, cold.Most, DefaultConfidence, 100*(num.Ratio(float64(total.Accesses()), float64(res.Accesses))-1))
		}
		out = append(out, text)
	}
	return out
}
