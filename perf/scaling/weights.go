package scaling

import (
	"math"

	"presage/perf/fit"
)

// distanceSlack is the fit.Options.Slack of distances: they are averages over
// loops with remainders, so small gains of a further term mean little.
const distanceSlack = 0.3

// weights returns the weight of each value of y, a count or a distance, at the
// given sizes: relative to the value, because it grows by orders of magnitude,
// and in proportion to the size, because what the bases do not describe
// (remainders of a block or a line, the edges of a mesh) is a share of it that
// falls as 1/size. A zero weighs as the smallest value above zero would. The
// mean square of the weights' second factor is one, so that a weighted residual
// still reads as a relative error.
func weights(sizes []fit.Point, y []float64) []float64 {
	extent := make([]float64, len(y))
	sum := 0.0
	for i := range y {
		extent[i] = meanParameter(sizes[i])
		sum += extent[i] * extent[i] / float64(len(y))
	}
	smallest := math.Inf(1)
	for _, v := range y {
		if v > 0 {
			smallest = math.Min(smallest, v)
		}
	}
	if math.IsInf(smallest, 1) {
		smallest = 1
	}
	out := make([]float64, len(y))
	for i, v := range y {
		out[i] = extent[i] / math.Sqrt(sum) / math.Max(v, smallest)
	}
	return out
}

// meanParameter returns the geometric mean of the parameters of a size.
func meanParameter(p fit.Point) float64 {
	product := 1.0
	for _, name := range sortedNames(p) {
		product *= p[name]
	}
	return math.Pow(product, 1/float64(len(p)))
}
