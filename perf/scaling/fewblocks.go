package scaling

import (
	"math"

	"presage/perf/fit"
)

const (
	// highestFew is the highest power of the size in a distance in few blocks.
	highestFew = 2
	// offByBlock and offByShare are what such a distance may be off by: where data
	// happen to begin in a block.
	offByBlock = 1
	offByShare = 0.05
	// clearlyBetter is how many times less a function of a higher power must be off
	// to be taken, if none is near enough.
	clearlyBetter = 2
	// clearlyFewer is the same for leave-one-out errors of counts, and plainEnough the
	// error from which a power is high enough in any case.
	clearlyFewer = 2.5
	plainEnough  = 0.002
)

// plainCounts models counts of accesses to few blocks. How many of them are to another
// block than the access before is off by where data happen to begin, too, and a higher
// power of the size is taken only if it explains clearly more.
func (f *fitter) plainCounts(counts []float64) (fit.Func, error) {
	var designs []*fit.Design
	for degree := 0; degree <= defaultDegree; degree++ {
		d, err := f.lowDesign(degree, counts)
		if err != nil {
			return fit.Func{}, err
		}
		designs = append(designs, d)
	}
	return f.plainest(designs, clearlyFewer, counts)
}

// plainest models counts by the first of some designs that explains them as well as others
// do, or nearly.
func (f *fitter) plainest(designs []*fit.Design, clearly float64, counts []float64) (fit.Func, error) {
	var all []fit.Func
	least := math.Inf(1)
	for _, d := range designs {
		g, err := d.Fit(counts, fit.Options{NoSpread: f.noSpread, Weights: weights(f.extents, counts, usual), Shape: f.shape, Cancellation: cancellation})
		if err != nil {
			return fit.Func{}, err
		}
		all = append(all, g)
		least = math.Min(least, g.LOO)
	}
	for _, g := range all {
		if g.LOO <= math.Max(plainEnough, clearly*least) {
			return g, nil
		}
	}
	return all[len(all)-1], nil
}

// lowestPower models distances in few blocks, of which those that are absent are
// not in extents and y. Leave-one-out errors choose badly here: of 12, 12, 12, 12,
// 12 and 21 blocks they make a cube of the size.
func (f *fitter) lowestPower(means, extents, y []float64, noSpread bool) (fit.Func, error) {
	var best fit.Func
	least := math.Inf(1)
	for degree := 0; degree <= highestFew; degree++ {
		d, err := f.lowDesign(degree, means)
		if err != nil {
			return fit.Func{}, err
		}
		g, err := d.Fit(y, fit.Options{NoSpread: noSpread, Weights: weights(extents, y, usual), Shape: f.shape, Slack: distanceSlack, Cancellation: cancellation})
		if err != nil {
			return fit.Func{}, err
		}
		off := 0.0
		for i, r := range g.Residuals {
			off = math.Max(off, math.Abs(r)/math.Max(offByBlock, offByShare*y[i]))
		}
		if off <= 1 {
			return g, nil
		}
		if off*clearlyBetter < least {
			best, least = g, off
		}
	}
	return best, nil
}

// lowDesign returns the design of the powers up to a degree over the sizes at which
// values are not absent.
func (f *fitter) lowDesign(degree int, values []float64) (*fit.Design, error) {
	return f.memo.design(ofPowers+kind(degree), values, func(at []fit.Point) (*fit.Design, error) {
		return fit.NewDesign(fit.Monomials(degree, f.params...), at, f.reach)
	}, f.sizes)
}
