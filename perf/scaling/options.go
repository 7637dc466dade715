package scaling

import (
	"presage/perf/fit"
	"presage/perf/reuse"
)

// Group is what was measured of one group of references: a histogram at each
// size, in the order of the sizes. The zero Histogram means no access at that
// size.
type Group struct {
	Name  string
	Hists []reuse.Histogram
}

// DefaultShape is what counts and distances do: they are not negative, and
// neither turn nor oscillate.
var DefaultShape = fit.Shape{NonNegative: true, Trend: fit.TrendOfData, Curvature: fit.OneCurvature}

// Options says how histograms are modelled. The zero value is the default.
type Options struct {
	// Basis of all functions; nil for monomials up to degree 3 in the
	// parameters of the sizes.
	Basis *fit.Basis

	// BlockBytes is the block size of the histograms, for terms of the default
	// basis that describe how rows of elements lie in blocks, and for doubts about
	// rows and planes that outgrow a page; 0: none.
	BlockBytes uint64

	// Reach is where the functions keep their shape; nil for up to
	// fit.ReachLimit times the largest size.
	Reach fit.Reach

	// Shape is what every function obeys up to the reach; nil for DefaultShape.
	Shape *fit.Shape

	// Tolerance is the relative difference of the average distances of two
	// neighbouring parts below which they are one bin; 0 for
	// DefaultTolerance.
	Tolerance float64

	// Negligible is the share that a part must have, at some size, of all
	// accesses of the program that may miss (those outside constant leading
	// bins, and the cold ones) to be split further; 0 for DefaultNegligible,
	// negative to split all.
	Negligible float64

	// MedianRatio splits in the same ratio at all sizes, always, as the papers
	// do.
	MedianRatio bool

	// Workers is the number of groups modelled at a time; 0 for GOMAXPROCS.
	// The result does not depend on it.
	Workers int
}

// Defaults of Options.
const (
	DefaultTolerance  = 0.05
	DefaultNegligible = 1e-5
)

const (
	// maxDepth bounds the depth of splits: 2^maxDepth bins of a range that is
	// 2^maxDepth times as wide as a bin.
	maxDepth = 12

	// minSplit is the number of accesses that a part must have at some size to
	// be split.
	minSplit = 8

	// constantLimit is the distance, in blocks, below which a leading bin can
	// be a constant one: reuse within an innermost loop spans few blocks.
	constantLimit = 512

	// significant is the share of a group's reuses at a size that a leading
	// bin must have to need a counterpart at the other sizes; what is below
	// joins its neighbour.
	significant = 1e-3

	// smooth is the leave-one-out error, relative, up to which the counts on
	// both sides of a cut are functions of the size, so that each size keeps
	// its own ratio.
	smooth = 0.03

	// smoothConstant is the same for a constant leading bin.
	smoothConstant = 0.01

	// minSizes is the number of sizes at which a quantity must be seen for its
	// growth to be modelled; with fewer it is held constant.
	minSizes = 3

	// recommendedSizes is the number of sizes below which a model warns.
	recommendedSizes = 5

	// totalsLimit is the relative difference between the sum of the bins'
	// frequencies and the total that gives a warning.
	totalsLimit = 0.05
)
