package scaling

import (
	"presage/perf/fit"
	"presage/perf/reuse"
)

// Group is the measurements of one group of references: a histogram for each
// size, in order. The zero Histogram means no access at that size.
type Group struct {
	Name  string
	Hists []reuse.Histogram
	// Accesses are the accesses at each size where the histograms are estimates
	// whose counts do not sum to them; nil: those of the histograms.
	Accesses []float64
}

// DefaultShape holds for counts and distances: they are not negative, and
// neither turn nor oscillate.
var DefaultShape = fit.Shape{NonNegative: true, Trend: fit.TrendOfData, Curvature: fit.OneCurvature}

// Options configures Fit. The zero value is the default.
type Options struct {
	// Basis of all functions; nil for monomials up to degree 3 in the
	// parameters of the sizes.
	Basis *fit.Basis

	// BlockBytes is the block size of the histograms, for terms of the default
	// basis that describe the alignment of rows, and for doubts about rows and
	// planes that outgrow a page; 0: neither.
	BlockBytes uint64

	// Reach is the range over which functions keep their shape; nil for up to
	// fit.ReachLimit times the largest size.
	Reach fit.Reach

	// Shape is the shape of every function up to the reach; nil for
	// DefaultShape.
	Shape *fit.Shape

	// Tolerance is the relative difference of the average distances of two
	// neighbouring parts below which they are one bin; 0 for
	// DefaultTolerance.
	Tolerance float64

	// Negligible is the share that a part must have, at some size, to be split
	// further: of all accesses of the program that may miss, which are those
	// outside constant leading bins and the cold ones. 0 for DefaultNegligible,
	// negative to split all.
	Negligible float64

	// MedianRatio always splits in the same ratio at all sizes, as the papers
	// do.
	MedianRatio bool

	// FewBlocks is for histograms in blocks so large that most distances are of a few
	// blocks, and off by one where data happen to begin in a block: a distance is
	// then the function of the lowest power, up to the second, that is nowhere off by
	// more than a block or a twentieth, or else that which is off least. It takes
	// sizes of one parameter; of several it makes no difference.
	FewBlocks bool

	// SameDistances is for histograms in blocks that grow as the memory does, so that
	// distances are the same at all sizes, and only counts change: bins are then ranges of
	// distance, as wide as the tolerance, the same at all sizes. Sizes of one parameter have
	// Model.Tails besides.
	SameDistances bool

	// NoSpread leaves fit.Func.Spread out of all functions, for models of which only
	// values are needed.
	NoSpread bool

	// Chance is for FitCounts: counts may depend on data as well as on the size, as Fit
	// takes those of histograms to do. Functions that do not meet them are chosen for what
	// is certain ahead. With a Basis it makes no difference; of fewer sizes than
	// RecommendedSizes chance cannot be told from higher powers.
	Chance bool

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
	// maxDepth bounds the depth of splits: a range can be divided into
	// 2^maxDepth bins.
	maxDepth = 12

	// minSplit is the number of accesses that a part must have at some size to
	// be split.
	minSplit = 8

	// constantLimit is the distance, in blocks, below which a leading bin can
	// be constant: reuse within an innermost loop spans few blocks.
	constantLimit = 512

	// significant is the share of a group's reuses at a size from which a
	// leading bin needs a counterpart at the other sizes; smaller ones join
	// their neighbour.
	significant = 1e-3

	// smooth is the relative leave-one-out error up to which the counts on both
	// sides of a cut count as functions of the size, so that each size keeps
	// its own ratio.
	smooth = 0.03

	// smoothConstant is the same for a constant leading bin.
	smoothConstant = 0.01

	// minSizes is the number of sizes at which a quantity must be seen for its
	// growth to be modelled; with fewer it is held constant.
	minSizes = 3

	// RecommendedSizes is the number of sizes below which a model warns.
	RecommendedSizes = 5

	// totalsLimit is the relative difference between the sum of the bins'
	// frequencies and the total above which a model warns.
	totalsLimit = 0.05
)
