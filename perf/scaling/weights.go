package scaling

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"presage/perf/fit"
)

// distanceSlack is the fit.Options.Slack of distances: they are averages over
// loops with remainders, so small gains of a further term mean little.
const distanceSlack = 0.3

// cancellation is the fit.Options.Cancellation of all functions. Counts and
// distances are sums over loops; a difference of large terms that meets the
// training data goes astray beyond it.
const cancellation = 1

// ahead is the fit.Options.Ahead of functions whose leave-one-out error is above noisy:
// they are there to be continued. Of counts with noise of 2% that grow a little faster
// than the size, n and n³ leave less among the points than n alone, and are twice too
// many at four times the size. What is nearer than that is a sum of powers, and which
// ones the points can tell.
const (
	ahead = 1
	noisy = 0.005
)

// The part of a count or distance that a basis does not describe (remainders of
// a block or a line, the edges of a mesh) falls as 1/size, so residuals are
// usually weighted in proportion to the size. If no function meets the data,
// for instance because a plane of the mesh outgrew a page between two of the
// sizes, there are several functions in sequence, and larger sizes follow the
// last: then the weight grows so fast that the largest sizes decide and the
// others only break ties.
const (
	usual = 1 // exponent of the size in a weight
	late  = 8 // the same for data with pieces

	// pieces is the relative leave-one-out error above which data count as
	// having pieces.
	pieces = 0.1
)

// fitTo models y, counts or distances at sizes of the given mean parameters.
func fitTo(d *fit.Design, shape fit.Shape, extents, y []float64, slack float64, noSpread bool) (fit.Func, error) {
	opt := fit.Options{NoSpread: noSpread, Weights: weights(extents, y, usual), Shape: shape, Slack: slack, Cancellation: cancellation}
	g, err := d.Fit(y, opt)
	if err != nil || g.LOO <= pieces {
		return g, err
	}
	doubt := fit.Warning{Doubt: Pieces, Detail: fmt.Sprintf("over all sizes the leave-one-out error is %.0f%%: the largest sizes decide", 100*math.Min(g.LOO, 10))}
	opt.Weights = weights(extents, y, late)
	if g, err = d.Fit(y, opt); err == nil {
		g.Warnings = append(g.Warnings, doubt)
	}
	return g, err
}

// continued is fitTo for data that may have noise, since they depend on more than the
// size: what a program does may depend on its data, too. Functions that do not meet them
// are chosen for what is certain ahead (fit.Options.Ahead), and the largest sizes decide
// only where a function meets them, or where they would have foretold larger ones.
func continued(d *fit.Design, shape fit.Shape, extents, y []float64, slack float64, noSpread bool) (fit.Func, error) {
	opt := fit.Options{NoSpread: noSpread, Weights: weights(extents, y, usual), Shape: shape, Slack: slack, Cancellation: cancellation}
	g, err := d.Fit(y, opt)
	if err == nil && g.LOO > noisy {
		// What is certain ahead is no more likely than what is nearest to the points:
		// intervals hold both.
		nearest := g
		opt.Ahead = ahead
		if g, err = d.Fit(y, opt); err == nil && !noSpread {
			g.Spread = g.Spread.Or(nearest.Spread)
		}
	}
	if err != nil || g.LOO <= pieces {
		return g, err
	}
	why := fmt.Sprintf("over all sizes the leave-one-out error is %.0f%%", 100*math.Min(g.LOO, 10))
	opt.Weights = weights(extents, y, late)
	last, err := d.Fit(y, opt)
	if err != nil {
		return g, err
	}
	if !meets(&last, extents, y) && !lateForetell(d, opt, extents, y) {
		// These are no pieces, and a function through the last two values is chance.
		g.Warnings = append(g.Warnings, fit.Warning{Doubt: Pieces, Detail: why})
		return g, nil
	}
	last.Warnings = append(last.Warnings, fit.Warning{Doubt: Pieces, Detail: why + ": the largest sizes decide"})
	return last, nil
}

const (
	// heldBack is the number of the largest sizes that are foretold from the others, one
	// and then all of them.
	heldBack = 2
	// clearlyForetold is how many times less functions have to be off there.
	clearlyForetold = 1.5
)

// lateForetell reports whether functions by which the largest of some sizes decide are
// clearly nearer to the sizes beyond these than functions by which all of them do. Of too
// few sizes neither can be told.
func lateForetell(d *fit.Design, opt fit.Options, extents, y []float64) bool {
	order := largestFirst(extents)
	opt.NoSpread = true
	var byAll, byLate float64
	for held := 1; held <= heldBack && len(y)-held > minSizes; held++ {
		beyond := order[:held]
		fewer, err := d.Without(beyond...)
		if err != nil {
			return false
		}
		var e, v []float64
		for i := range y {
			if !slices.Contains(beyond, i) {
				e, v = append(e, extents[i]), append(v, y[i])
			}
		}
		off := func(power float64) float64 {
			opt.Weights = weights(e, v, power)
			f, err := fewer.Fit(v, opt)
			if err != nil {
				return math.Inf(1)
			}
			sum := 0.0
			for _, i := range beyond {
				sum += math.Abs(math.Log((math.Max(0, f.Eval(d.Point(i))) + 1) / (y[i] + 1)))
			}
			return sum
		}
		byAll, byLate = byAll+off(usual), byLate+off(late)
	}
	return byLate*clearlyForetold < byAll
}

// weights returns the weight of each value of y, a count or a distance, at
// sizes of the given mean parameters: inversely proportional to the value,
// which grows by orders of magnitude, and proportional to a power of the size.
// A zero weighs as much as the smallest positive value. The second factor has a
// mean square of one, so that a weighted residual still reads as a relative
// error.
func weights(extents, y []float64, power float64) []float64 {
	largest := slices.Max(extents)
	factor := make([]float64, len(y))
	sum := 0.0
	for i := range y {
		factor[i] = math.Pow(extents[i]/largest, power)
		sum += factor[i] * factor[i] / float64(len(y))
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
	out := factor
	for i, v := range y {
		out[i] = math.Max(factor[i], leastFactor) / math.Sqrt(sum) / math.Max(v, smallest)
	}
	return out
}

// leastFactor keeps weights of sizes far below the largest above zero.
const leastFactor = 1e-12

// CompareSizes orders sizes by the geometric mean of their parameters.
func CompareSizes(a, b fit.Point) int { return cmp.Compare(meanParameter(a), meanParameter(b)) }

// meanParameter returns the geometric mean of the parameters of a size.
func meanParameter(p fit.Point) float64 {
	product := 1.0
	for _, name := range sortedNames(p) {
		product *= p[name]
	}
	return math.Pow(product, 1/float64(len(p)))
}

// latest is the number of the largest sizes, at least, whose values a function has to
// meet to within met, relative to them or to one, for these sizes to decide.
const (
	latest = 3
	met    = 0.03
)

// meets reports whether f meets the values at the largest sizes: at latest of them, and
// at more than it has terms.
func meets(f *fit.Func, extents, y []float64) bool {
	order := largestFirst(extents)
	for _, i := range order[:min(len(order), max(latest, len(f.Terms)+1))] {
		if math.Abs(f.Residuals[i]) > met*math.Max(math.Abs(y[i]), 1) {
			return false
		}
	}
	return true
}

// largestFirst returns the indices of sizes, by descending extents.
func largestFirst(extents []float64) []int {
	order := make([]int, len(extents))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(extents[b], extents[a]) })
	return order
}
