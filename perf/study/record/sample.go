package record

import (
	"math"
	"slices"

	"presage/perf/internal/order"
)

// WithSample returns h with the median, the 90th percentile, the largest and the
// number of the magnitudes of errors, in which missing ones do not count. Without any
// the figures are missing.
func (h Headline) WithSample(errs []float64) Headline {
	abs := make([]float64, 0, len(errs))
	for _, e := range errs {
		if !math.IsNaN(e) {
			abs = append(abs, math.Abs(e))
		}
	}
	slices.Sort(abs)
	h.Rows = len(abs)
	h.Value, h.P90, h.Worst = math.NaN(), math.NaN(), math.NaN()
	if len(abs) > 0 {
		h.Value, h.P90, h.Worst = order.Quantile(abs, 0.5), order.Quantile(abs, 0.9), abs[len(abs)-1]
	}
	return h
}

// Single returns h as a single figure, without a sample.
func (h Headline) Single(value float64) Headline {
	h.Value, h.P90, h.Worst, h.Rows = value, math.NaN(), math.NaN(), 0
	return h
}
