package misses

import (
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/subject"
)

// histogramRow is a bin of a histogram with its source.
type histogramRow struct {
	Program  string             `frame:"program"`
	Source   string             `frame:"source"`
	Point    map[string]float64 `frame:",each"`
	Block    uint64             `frame:"block_bytes"`
	Lo       float64            `frame:"lo_blocks"`
	Hi       float64            `frame:"hi_blocks"`
	Accesses float64            `frame:"accesses"`
	Cold     float64            `frame:"cold_accesses"`
}

// Histograms returns the histogram of the references that the options choose at
// each point, collected and as the model has it, one below the other, for
// figure.Surface and figure.Histogram: a row for each bin.
//
//   - source: collected, or predicted
//   - block_bytes, lo_blocks, hi_blocks, accesses, cold_accesses: as in
//     ReuseHistogram; a predicted bin is at its average distance, one block wide
//
// Collected are the runs that the model may have been fitted on; predicted are
// their points and the further ones.
func (m *Model) Histograms(runs *locality.Runs, opt locality.HistogramOptions, further ...subject.Point) (dataframe.DataFrame, error) {
	if opt.BlockBytes == 0 {
		opt.BlockBytes = num.Keys(m.byBlock)[0]
	}
	fitted := m.byBlock[opt.BlockBytes]
	if fitted == nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no model for blocks of %d bytes; there are %v", opt.BlockBytes, num.Keys(m.byBlock))
	}
	groups, err := runs.GroupsOf(opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []histogramRow
	points := []subject.Point{}
	for i := range runs.Runs {
		run := &runs.Runs[i]
		res, err := run.At(opt.BlockBytes)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		points = append(points, run.Point)
		h := locality.SumHistograms(res, groups[i])
		for _, b := range h.Bins {
			rows = append(rows, histogramRow{m.Program, "collected", run.Point, opt.BlockBytes, float64(b.Lo), float64(b.Hi), float64(b.Count), float64(h.Cold)})
		}
	}
	for _, point := range append(points, further...) {
		if err := m.Check(point); err != nil {
			return dataframe.DataFrame{}, err
		}
		var bins []histogramRow
		cold := 0.0
		for g := range fitted.Groups {
			if !opt.Chooses(&m.Refs[m.Members[g][0]]) {
				continue
			}
			h := fitted.Groups[g].Histogram(fit.Point(point))
			cold += h.Cold
			for _, b := range h.Bins {
				if b.Count > 0 {
					at := math.Max(0, b.Distance)
					bins = append(bins, histogramRow{m.Program, "predicted", point, opt.BlockBytes, at, at + 1, b.Count, 0})
				}
			}
		}
		for i := range bins {
			bins[i].Cold = cold
		}
		rows = append(rows, bins...)
	}
	if len(rows) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: the references chosen have no reuse at any point")
	}
	return frame.Of(rows), nil
}
