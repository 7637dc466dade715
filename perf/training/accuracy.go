package training

import (
	"math"
	"slices"

	"presage/perf/internal/order"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/subject"
)

const (
	// leastMisses is the number of misses from which a capacity is judged: fewer are
	// those of start-up code.
	leastMisses = 1000
	// smallestCapacity is the first capacity judged, in blocks.
	smallestCapacity = 8
	// confidence is that of the interval of misses that a sampled run gives.
	confidence = 0.95
	// widest is the largest half width of such an interval, relative to the misses,
	// that says enough to judge a model by.
	widest = 0.1
)

// capacities returns the capacities in blocks that are judged where a program
// touches some blocks: the powers of two and three times them, which are all edges
// of the bins of histograms, so that the misses of an exact run are exact. The last
// holds everything, and has cold misses alone.
func capacities(touched float64) []uint64 {
	var out []uint64
	for c := uint64(smallestCapacity); ; c *= 2 {
		for _, v := range []uint64{c, c + c/2} {
			out = append(out, v)
			if float64(v) >= touched {
				return out
			}
		}
	}
}

// deviation is a relative error at one capacity.
type deviation struct {
	blockBytes, capacity uint64
	err                  float64 // absolute
}

// judge returns how far a model is off at a run that it was not fitted to, for each
// block size and capacity with enough misses. Of a sampled run, capacities whose
// misses are known to ±10% are judged, and what their intervals explain is no error.
func judge(m *misses.Model, run *locality.Run) ([]deviation, error) {
	var out []deviation
	for _, res := range run.Reuse {
		list := capacities(float64(res.Blocks))
		predicted, err := m.Curve(run.Point, res.BlockBytes, list)
		if err != nil {
			return nil, err
		}
		for i, c := range list {
			e, err := res.Estimate(c, confidence)
			if err != nil {
				return nil, err
			}
			if e.Misses < leastMisses || e.Few || float64(e.Most-e.Least) > 2*widest*float64(e.Misses) {
				continue
			}
			off := math.Max(0, math.Max(float64(e.Least)-predicted[i], predicted[i]-float64(e.Most)))
			out = append(out, deviation{res.BlockBytes, c, off / float64(e.Misses)})
		}
	}
	return out, nil
}

// differ returns how far two models are apart at a point, as judge does, relative to
// the first.
func differ(a, b *misses.Model, at subject.Point, blockBytes []uint64) ([]deviation, error) {
	var out []deviation
	for _, size := range blockBytes {
		touched, err := a.Touched(at, size)
		if err != nil {
			return nil, err
		}
		list := capacities(touched)
		p, err := a.Curve(at, size, list)
		if err != nil {
			return nil, err
		}
		q, err := b.Curve(at, size, list)
		if err != nil {
			return nil, err
		}
		for i, c := range list {
			if p[i] >= leastMisses {
				out = append(out, deviation{size, c, math.Abs(q[i]-p[i]) / p[i]})
			}
		}
	}
	return out, nil
}

// Error sums up relative errors of misses of the whole program in fully associative
// caches, each of another capacity; all missing if no capacity has enough misses to
// be judged.
type Error struct {
	Capacities int     `frame:"capacities"` // judged: those with at least 1000 misses
	Median     float64 `frame:"rel_err_median"`
	P90        float64 `frame:"rel_err_p90"`
	Worst      float64 `frame:"rel_err_worst"`
}

// within reports whether the error is known, and no larger than a limit.
func (e Error) within(limit float64) bool { return e.Capacities > 0 && e.P90 <= limit }

// sum sums up deviations.
func sum(all []deviation) Error {
	if len(all) == 0 {
		return Error{Median: math.NaN(), P90: math.NaN(), Worst: math.NaN()}
	}
	errs := make([]float64, len(all))
	for i, d := range all {
		errs[i] = d.err
	}
	slices.Sort(errs)
	return Error{len(errs), order.Median(errs), order.Quantile(errs, 0.9), errs[len(errs)-1]}
}

// mean returns the mean deviation; 0 if there is none.
func mean(all []deviation) float64 {
	if len(all) == 0 {
		return 0
	}
	s := 0.0
	for _, d := range all {
		s += math.Min(d.err, 1) // a model that is far off is no better than another
	}
	return s / float64(len(all))
}

// HeldOut is how far a model is off at the largest size that was run, which it was
// not fitted to, for one size of memory blocks, or for all together.
type HeldOut struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Run     string             `frame:"held_out_run"` // exact, or sampled 1 in …
	Block   uint64             `frame:"block_bytes"`  // 0: all
	Error
	// Capacity is where the error is worst; 0 if none was judged.
	Capacity uint64 `frame:"worst_capacity_bytes"`
}

// byBlock returns a row for each block size and one for all.
func byBlock(all []deviation, of HeldOut, blockBytes []uint64) []HeldOut {
	var rows []HeldOut
	for _, size := range append([]uint64{0}, blockBytes...) {
		own := slices.DeleteFunc(slices.Clone(all), func(d deviation) bool { return size != 0 && d.blockBytes != size })
		row := of
		row.Block, row.Error = size, sum(own)
		for _, d := range own {
			if d.err == row.Worst && row.Capacity == 0 {
				row.Capacity = d.capacity * d.blockBytes
			}
		}
		rows = append(rows, row)
	}
	return rows
}
