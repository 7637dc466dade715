package misses

import (
	"math"

	"presage/perf/fit"
	"presage/perf/predict"
)

// MethodScaledPages is how misses of a level of pages were predicted at a size n
// beyond those that the model was fitted to: from the reuse distances of the runs in
// blocks that are smaller than a page as the run's size is smaller than n.
//
// What decides about pages is how they compare with rows and tables: whether a page
// holds several rows or a row several pages, and which share of a table a page is.
// That changes with the size, so that neither distances nor counts in pages of one
// size are simple functions of n where a row outgrows a page, and a run whose data
// are a few dozen pages hardly tells how their number grows. In blocks of P·m/n
// bytes, a run of size m has as many rows in a block as the program has in a page of
// P bytes at n:
//
//	size m    block P·m/n                  size n       page P
//	┌──┬──┬──┬──┐  rows of m               ┌─────┬─────┬─────┬─────┐  rows of n
//	└──┴──┴──┴──┘  of 2/3 of a block       └─────┴─────┴─────┴─────┘  of 2/3 of a page
//
// and over the runs, each in its blocks, counts and distances are functions of the
// size without a break: of a stencil, a share of the accesses and some number of
// rows; of a random table, constants (derived here).
//
// Where memory grows as the size itself does, as of sorting, of tables and of trees,
// distances are the same at all sizes, and what changes is how many reuses there are at
// each: one number in each pass over the data, and passes as many as the data can be
// halved, or as there are elements. Groups take reuses from each other from size to size,
// as data decide, so that their sum is modelled, too, and they share it: see
// scaling.Options.SameDistances.
const MethodScaledPages = "fully associative, pages scaled"

const (
	// leastScaled is the least size in bytes of the blocks that stand for pages:
	// smaller ones hold few elements.
	leastScaled = 64
	// elementBytes is the size of an element of an array that is a row, plane or cube
	// of the size.
	elementBytes = 8
	// cubic is the power from which memory grows like a cube, and fewPlanes the size
	// of a plane in blocks, at the largest size, below which some run has none that
	// is larger.
	cubic, fewPlanes = 2.5, 2
	// leastGrowth is the power of the size below which the memory touched does not
	// grow as the size does, and neither do rows.
	leastGrowth = 0.5
	// linear is the power below which memory grows like the size, beside what is there at
	// any size.
	linear = 1.25
	// leastOff is the least that a distance in blocks may be off by, and spreadOff how
	// many times its function's relative error it is off at most.
	leastOff  = 0.5
	spreadOff = 2
)

// growthOfMemory returns the power of the parameter that the memory touched grows with.
func (m *Model) growthOfMemory(param string) float64 {
	within, _ := m.Range(param)
	lo, hi := fit.Point{param: within[0]}, fit.Point{param: within[1]}
	return math.Log(m.footprint.Blocks(m.smallestBlock(), hi)/m.footprint.Blocks(m.smallestBlock(), lo)) / math.Log(within[1]/within[0])
}

// linearMemory reports whether the memory touched grows like the parameter, beside what is
// there at any size: libraries and their data, of which small runs touch more than of their
// own.
func (m *Model) linearMemory(param string) bool {
	within, _ := m.Range(param)
	block, ratio := m.smallestBlock(), math.Sqrt(within[1]/within[0])
	at := func(n float64) float64 { return m.footprint.Blocks(block, fit.Point{param: n}) }
	low, mid, high := at(within[0]), at(within[0]*ratio), at(within[1])
	return math.Log((high-mid)/(mid-low)) < linear*math.Log(ratio)
}

// scalePower returns the power of a run's size that blocks are smaller by than pages.
// Where memory grows with the cube, and planes of an array are smaller than a block in
// runs, but larger than a page at the size predicted, blocks have to compare with
// planes as pages do, and it is the second; otherwise it is the first.
func (m *Model) scalePower(param string, page uint64, at float64) float64 {
	within, _ := m.Range(param)
	plane := elementBytes * at * at / float64(page) // in pages
	if m.growthOfMemory(param) > cubic && plane > 1 && plane*within[1]/at < fewPlanes {
		return 2
	}
	return 1
}

// missesIn returns the misses of a part of a group. Distances in few blocks are off by
// where data begin in a block, and a bin whose distance is as near to the capacity as
// it is off at the sizes of the model is neither hit nor missed as a whole.
func (h *histograms) missesIn(part int, c predict.Cache) predict.Misses {
	own := &h.groups[part].Histogram
	m := predict.OfHistogram(own, c)
	if !h.key.scaled() || c.Sets != 1 {
		return m
	}
	m.Reuse = 0
	for i, bin := range own.Bins {
		if t := h.tail(bin.Distance); t >= 0 {
			m.Reuse += bin.Count * h.from(t, float64(c.Ways))
			continue
		}
		f := &h.model.Groups[part].Bins[i].Distance
		m.Reuse += bin.Count * beyond(bin.Distance, float64(c.Ways), offBy(f, bin.Distance))
	}
	return m
}

// offBy returns how far a distance may be off: by as much, relative to it, as the
// function is at the sizes of the model.
func offBy(f *fit.Func, distance float64) float64 {
	return leastOff + spreadOff*f.RMS*distance
}

// beyond returns the share of distances spread evenly around one that are at least a
// capacity.
func beyond(distance, capacity, off float64) float64 {
	return math.Min(1, math.Max(0, 0.5+(distance-capacity+0.5)/(2*off)))
}
