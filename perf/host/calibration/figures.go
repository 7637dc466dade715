package calibration

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"presage/perf/figure"
	"presage/perf/frame"
	"presage/perf/machine"
)

const loadLatency = "load latency (cycles)"

// LatencyFigure draws the measured load latency against the working set, with the
// capacities that the system reports (dashed) and those that the curve shows
// (solid, at the largest working set that fits).
func (c *Calibration) LatencyFigure() (*figure.Figure, error) {
	type row struct {
		Bytes    float64 `frame:"bytes"`
		Ordinary float64 `frame:"ordinary"` // cycles; NaN: not measured
		Huge     float64 `frame:"huge"`
	}
	least := make(map[uint64]*row)
	for _, l := range c.Profile.Latencies {
		r := least[l.Bytes]
		if r == nil {
			r = &row{float64(l.Bytes), math.NaN(), math.NaN()}
			least[l.Bytes] = r
		}
		v := &r.Ordinary
		if l.Huge {
			v = &r.Huge
		}
		if y := c.Profile.Cycles(l.Load.Min); !(*v <= y) { // NaN: none yet
			*v = y
		}
	}
	curves := []figure.Curve{{Column: "ordinary", Label: "pages of " + machine.Bytes(c.Profile.PageBytes).String()}}
	if c.Profile.HugePages {
		curves = append(curves, figure.Curve{Column: "huge", Label: "huge pages"})
	}
	var lines []figure.Upright
	for _, l := range c.Profile.Levels {
		if l.Geometry.Capacity > 0 {
			lines = append(lines, figure.Upright{X: float64(l.Geometry.Capacity), Label: l.Name + " as the system says", Dashed: true})
		}
		if l.DetectedLo > 0 {
			lines = append(lines, figure.Upright{X: float64(l.DetectedLo), Label: l.Name + " as the curve shows"})
		}
	}
	return figure.LogCurves(frame.Of(inOrder(least)), figure.LogCurvesOptions{
		Title: fmt.Sprintf("Load latency, measured: %s, %.2f GHz", c.Profile.Processor, c.Profile.GHz()),
		X:     "bytes", XLabel: "working set", YLabel: loadLatency, Curves: curves, Lines: lines,
		TickLabel: func(n uint64) string { return machine.Bytes(n).String() },
	})
}

// TranslationFigure draws the latency of loads from one line per page, and from as
// many adjacent lines, against the number of pages, with the reach of the TLBs.
func (c *Calibration) TranslationFigure() (*figure.Figure, error) {
	type row struct {
		Pages  float64 `frame:"pages"`
		Sparse float64 `frame:"sparse"` // cycles
		Dense  float64 `frame:"dense"`
	}
	least := make(map[int]*row)
	for _, q := range c.Profile.Pages {
		r := least[q.Pages]
		if r == nil {
			r = &row{float64(q.Pages), math.Inf(1), math.Inf(1)}
			least[q.Pages] = r
		}
		r.Sparse = min(r.Sparse, c.Profile.Cycles(q.Sparse.Min))
		r.Dense = min(r.Dense, c.Profile.Cycles(q.Dense.Min))
	}
	var lines []figure.Upright
	for i, r := range c.Profile.TLBs {
		lines = append(lines, figure.Upright{X: float64(r.Lo), Label: c.Machine.TLBs[i].Name})
	}
	return figure.LogCurves(frame.Of(inOrder(least)), figure.LogCurvesOptions{
		Title: "TLB reach, measured: " + c.Profile.Processor,
		X:     "pages", XLabel: "pages of " + machine.Bytes(c.Profile.PageBytes).String(), YLabel: loadLatency,
		Curves: []figure.Curve{{Column: "sparse", Label: "one line a page"}, {Column: "dense", Label: "as many lines side by side"}},
		Lines:  lines,
	})
}

// inOrder returns the rows of a map by ascending key.
func inOrder[K int | uint64, R any](byKey map[K]*R) []R {
	var rows []R
	for _, k := range slices.Sorted(maps.Keys(byKey)) {
		rows = append(rows, *byKey[k])
	}
	return rows
}
