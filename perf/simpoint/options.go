package simpoint

import (
	"errors"
	"fmt"
	"math"
)

// Init is the choice of k-means' initial centres.
type Init uint8

const (
	// PlusPlus draws each centre from the intervals with a probability
	// proportional to its weight and its squared distance from the centres so
	// far.
	PlusPlus Init = iota
	// Sample draws k different intervals with equal probabilities (SimPoint's
	// -initkm samp).
	Sample
	// FurthestFirst draws the first centre, then repeatedly takes the interval
	// furthest from the centres so far (SimPoint's -initkm ff).
	FurthestFirst
)

// Search is the choice of the numbers of clusters to try.
type Search uint8

const (
	// Binary tries 1, MaxK, and numbers between them by bisection, as if the
	// score rose with k.
	Binary Search = iota
	// All tries 1 to MaxK.
	All
)

// Options configures the choice of intervals. The zero value is SimPoint 3.2's:
// 15 dimensions, up to 30 clusters by binary search, at most 100 iterations, a
// threshold of 0.9 of the BIC; but with k-means++ starts, and with 20 of them in
// place of its 5, which do not always find phases that are planted.
type Options struct {
	// Rules are whose details are followed: Presage's own, or the published program's.
	Rules Rules

	// K is the number of clusters; 0: chosen by score. The paper always uses 8
	// (2005, section 4).
	K int
	// MaxK is the largest number of clusters tried, by Search; 0: 30.
	MaxK   int
	Search Search
	// Threshold is the share of the range of the scores tried, from the lowest
	// to the highest, that the score chosen must reach; 0: 0.9.
	Threshold float64

	// Dims is the number of dimensions of the projection; 0: 15; NoProjection:
	// one for each block.
	Dims int

	Init       Init
	Starts     int // k-means runs for each k, of which the one with the best score counts; 0: DefaultStarts
	Iterations int // of k-means at most; 0: 100

	// Equal gives all intervals equal weights in clustering and results,
	// whatever their length (SimPoint's -fixedLength on). Otherwise an interval
	// is weighted by its instructions.
	Equal bool

	// Early prefers early intervals, which need less fast-forwarding: of each
	// cluster it takes, instead of the interval nearest to the centre, the
	// first one whose distance exceeds that by at most Early times the
	// cluster's root-mean-square radius; 0: the nearest.
	Early float64

	// Coverage drops the smallest clusters as long as the others cover this
	// share of the run (SimPoint's -coveragePct). The remaining weights sum to
	// 1. 0: 1, all.
	Coverage float64

	// Seed determines all random choices.
	Seed uint64

	// Workers is the number of concurrent k-means runs; 0: one for each
	// processor. It does not change the result.
	Workers int
}

// Numbers of starts: the default, and that of SimPoint 3.2.
const (
	DefaultStarts    = 20
	SimPoint32Starts = 5
)

// NoProjection, as Options.Dims, clusters unprojected vectors.
const NoProjection = -1

// Limits of options and of the size of a projection.
const (
	maxDims     = 1 << 12
	maxElements = 1 << 28
)

func (o *Options) fill() error {
	def := func(v *int, to int) {
		if *v == 0 {
			*v = to
		}
	}
	def(&o.MaxK, 30)
	def(&o.Dims, 15)
	if o.Rules.published() {
		def(&o.Starts, SimPoint32Starts)
	}
	def(&o.Starts, DefaultStarts)
	def(&o.Iterations, 100)
	if o.Threshold == 0 {
		o.Threshold = 0.9
	}
	if o.Coverage == 0 {
		o.Coverage = 1
	}
	share := func(v float64) bool { return v >= 0 && v <= 1 }
	switch {
	case o.K < 0 || o.MaxK < 1:
		return fmt.Errorf("simpoint: %d clusters, at most %d: want 0 for a search, or more", o.K, o.MaxK)
	case o.Dims != NoProjection && (o.Dims < 1 || o.Dims > maxDims):
		return fmt.Errorf("simpoint: %d dimensions, want 1 to %d, or NoProjection", o.Dims, maxDims)
	case o.Starts < 1 || o.Iterations < 1 || o.Workers < 0:
		return fmt.Errorf("simpoint: %d starts of %d iterations by %d workers", o.Starts, o.Iterations, o.Workers)
	case !share(o.Threshold) || !share(o.Coverage):
		return fmt.Errorf("simpoint: a threshold of %g and a coverage of %g: want 0 to 1", o.Threshold, o.Coverage)
	case !(o.Early >= 0) || math.IsInf(o.Early, 1):
		return fmt.Errorf("simpoint: early intervals may be further from the centre by %g radii: want 0 or more", o.Early)
	case o.Init > FurthestFirst || o.Search > All || o.Rules > SimPoint31:
		return errors.New("simpoint: unknown Init, Search or Rules")
	case o.Rules.published() && (o.Seed > mostSeed || o.Search == All):
		return fmt.Errorf("simpoint: the published program takes seeds up to %d here, and searches by bisection", mostSeed)
	}
	return nil
}
