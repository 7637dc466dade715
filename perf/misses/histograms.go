package misses

import (
	"cmp"
	"fmt"
	"math"

	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// Bin is a bin of a histogram, collected or predicted. A predicted one is at its
// average distance, one block wide.
type Bin struct {
	Program  string             `frame:"program"`
	Source   string             `frame:"source"` // collected, or predicted
	Point    map[string]float64 `frame:",each"`
	Block    uint64             `frame:"block_bytes"`
	Lo       float64            `frame:"lo_blocks"` // the least distance in the bin
	Hi       float64            `frame:"hi_blocks"` // the least distance beyond it
	Accesses float64            `frame:"accesses"`
	Cold     float64            `frame:"cold_accesses"` // of the whole histogram
}

// Histograms returns the histogram of the references that the options choose at
// each point, collected and as the model has it, one below the other, for
// figure.Surface and figure.Histogram.
//
// Collected are the runs that the model may have been fitted to; predicted are
// their points and the further ones.
func (m *Model) Histograms(runs *locality.Runs, opt locality.HistogramOptions, further ...subject.Point) ([]Bin, error) {
	opt.BlockBytes = cmp.Or(opt.BlockBytes, m.smallestBlock())
	fitted, err := m.forBlocks(opt.BlockBytes)
	if err != nil {
		return nil, err
	}
	rows, err := m.collected(runs, opt)
	if err != nil {
		return nil, err
	}
	var points []subject.Point
	for i := range runs.Runs {
		points = append(points, runs.Runs[i].Point)
	}
	for _, point := range append(points, further...) {
		if err := m.Check(point); err != nil {
			return nil, err
		}
		rows = append(rows, m.predicted(fitted, opt, point)...)
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("perf: the references chosen have no reuse at any point")
	}
	return rows, nil
}

// forBlocks returns the model for a block size.
func (m *Model) forBlocks(blockBytes uint64) (*scaling.Model, error) {
	fitted := m.byBlock[blockBytes]
	if fitted == nil {
		return nil, fmt.Errorf("perf: no model for blocks of %d bytes; there are %v", blockBytes, m.blockSizes())
	}
	return fitted, nil
}

// collected returns the bins of the runs.
func (m *Model) collected(runs *locality.Runs, opt locality.HistogramOptions) ([]Bin, error) {
	groups, err := runs.GroupsOf(opt)
	if err != nil {
		return nil, err
	}
	var rows []Bin
	for i := range runs.Runs {
		run := &runs.Runs[i]
		res, err := run.At(opt.BlockBytes)
		if err != nil {
			return nil, err
		}
		h := locality.SumHistograms(res, groups[i])
		for _, b := range h.Bins {
			rows = append(rows, Bin{m.Program, "collected", run.Point, opt.BlockBytes, float64(b.Lo), float64(b.Hi), float64(b.Count), float64(h.Cold)})
		}
	}
	return rows, nil
}

// predicted returns the bins of the model at a point.
func (m *Model) predicted(fitted *scaling.Model, opt locality.HistogramOptions, point subject.Point) []Bin {
	var rows []Bin
	cold := 0.0
	for g := range fitted.Groups {
		if !opt.Chooses(m.first(Group(g))) {
			continue
		}
		h := fitted.Groups[g].Histogram(fit.Point(point))
		cold += h.Cold
		for _, b := range h.Bins {
			if b.Count > 0 {
				at := math.Max(0, b.Distance)
				rows = append(rows, Bin{m.Program, "predicted", point, opt.BlockBytes, at, at + 1, b.Count, 0})
			}
		}
	}
	for i := range rows {
		rows[i].Cold = cold
	}
	return rows
}
