package infer

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"presage/perf/internal/order"
)

// Accuracy summarises predictions against true values, as Figures 7, 8 and 10
// of 2012 do.
type Accuracy struct {
	Rows int

	// Quantiles of the absolute relative error |predicted - true| / |true|,
	// and its mean.
	Lower, Median, Upper float64 // quartiles
	P90, Max, Mean       float64

	// Correlation is Pearson's, between predicted and true, -1 to 1; NaN for
	// fewer than two rows, or if either is constant: see constantSpread.
	Correlation float64
}

// Judge compares predictions with true values, none of which may be 0. It
// panics if their numbers differ or there are none.
func Judge(predicted, truth []float64) Accuracy {
	if len(predicted) != len(truth) || len(truth) == 0 {
		panic(fmt.Sprintf("infer: %d predictions for %d values", len(predicted), len(truth)))
	}
	errs := RelativeErrors(predicted, truth)
	slices.Sort(errs)
	a := Accuracy{
		Rows: len(errs), Lower: order.Quantile(errs, 0.25), Median: order.Quantile(errs, 0.5), Upper: order.Quantile(errs, 0.75),
		P90: order.Quantile(errs, 0.9), Max: errs[len(errs)-1], Mean: stat.Mean(errs, nil), Correlation: math.NaN(),
	}
	if len(errs) > 1 && !constant(predicted) && !constant(truth) {
		a.Correlation = stat.Correlation(predicted, truth, nil)
	}
	return a
}

// constantSpread is the variance, relative to the mean square, up to which
// values count as constant: the rest is rounding of the sums behind them, and
// correlates with nothing.
const constantSpread = 1e-12

// constant reports whether values differ by rounding at most.
func constant(values []float64) bool {
	mean := stat.Mean(values, nil)
	var spread, square float64
	for _, v := range values {
		spread += (v - mean) * (v - mean)
		square += v * v
	}
	return spread <= constantSpread*square
}

// RelativeErrors returns |predicted - true| / |true|, row by row.
func RelativeErrors(predicted, truth []float64) []float64 {
	errs := make([]float64, len(truth))
	for i, z := range truth {
		errs[i] = math.Abs(predicted[i]-z) / math.Abs(z)
	}
	return errs
}
