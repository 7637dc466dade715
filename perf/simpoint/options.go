package simpoint

import (
	"errors"
	"fmt"
	"math"
)

// Init says how k-means begins.
type Init uint8

const (
	// PlusPlus draws each centre from the intervals with a chance proportional
	// to its weight and its squared distance from the centres so far.
	PlusPlus Init = iota
	// Sample draws k different intervals with equal chances (SimPoint's -initkm
	// samp).
	Sample
	// FurthestFirst draws the first centre, and takes as the next always the
	// interval that is furthest from the centres so far (SimPoint's -initkm ff).
	FurthestFirst
)

// Search says which numbers of clusters are tried.
type Search uint8

const (
	// Binary tries 1, MaxK, and numbers between them by bisection, as if the
	// score rose with k.
	Binary Search = iota
	// All tries 1 to MaxK.
	All
)

// Options say how intervals are chosen. The zero value is SimPoint 3.2's: 15
// dimensions, up to 30 clusters by binary search, 5 beginnings each of at most
// 100 iterations, a threshold of 0.9 of the BIC; but k-means++ beginnings.
type Options struct {
	// K is the number of clusters; 0: it is chosen by its score. The paper takes
	// 8 always (2005, section 4).
	K int
	// MaxK is the largest number of clusters that is tried, and Search says how;
	// 0: 30.
	MaxK   int
	Search Search
	// Threshold is the share of the range of the scores tried, from the lowest
	// to the highest, that the score chosen must reach; 0: 0.9.
	Threshold float64

	// Dims is the number of dimensions that vectors are projected to; 0: 15;
	// NoProjection: a dimension a block.
	Dims int

	Init       Init
	Starts     int // k-means runs for each k, of which the one with the best score counts; 0: 5
	Iterations int // of k-means at most; 0: 100

	// Equal counts all intervals alike, in clusters and in weights, whatever
	// their length (SimPoint's -fixedLength on). Otherwise an interval counts by
	// its instructions; where all have the same length there is no difference.
	Equal bool

	// Early prefers early intervals, which need less fast-forwarding: of each
	// cluster it takes, instead of the interval nearest to the centre, the first
	// one that is no further from it than that by Early times the cluster's
	// root-mean-square radius; 0: the nearest.
	Early float64

	// Coverage leaves out the smallest clusters as long as the others hold this
	// share of the run (SimPoint's -coveragePct). The weights of those left add
	// up to 1. 0: 1, all.
	Coverage float64

	// Seed is what all random choices follow from.
	Seed uint64

	// Workers is how many k-means runs are under way at once; 0: as many as
	// there are processors. It does not change the result.
	Workers int
}

// NoProjection, as Options.Dims, leaves vectors as they are.
const NoProjection = -1

// Limits on options, and on what a projection may take.
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
	def(&o.Starts, 5)
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
	case o.Init > FurthestFirst || o.Search > All:
		return errors.New("simpoint: unknown Init or Search")
	}
	return nil
}
