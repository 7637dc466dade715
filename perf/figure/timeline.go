package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// Timeline draws the cluster of each interval over time, from the table of
// phase.Selection.Timeline, and rings around the simulation points.
func Timeline(df dataframe.DataFrame, title string) (*Figure, error) {
	start, err := frame.Floats(df, "start_instructions")
	if err != nil {
		return nil, err
	}
	cluster, err := frame.Floats(df, "cluster")
	if err != nil {
		return nil, err
	}
	point, err := frame.Strings(df, "point")
	if err != nil {
		return nil, err
	}
	if len(start) == 0 {
		return nil, fmt.Errorf("figure: a time line without intervals")
	}
	label, unit := executed(slices.Max(start))
	p := newPlot(title, label, "cluster")
	p.Add(plotter.NewGrid())
	all := make([]plotter.XYs, int(slices.Max(cluster))+1)
	var chosen plotter.XYs
	for i := range start {
		xy := plotter.XY{X: start[i] / unit, Y: cluster[i]}
		all[int(cluster[i])] = append(all[int(cluster[i])], xy)
		if point[i] == "true" {
			chosen = append(chosen, xy)
		}
	}
	for c, data := range all {
		if len(data) == 0 {
			continue
		}
		s, err := plotter.NewScatter(data)
		if err != nil {
			return nil, fmt.Errorf("figure: cluster %d: %w", c, err)
		}
		s.GlyphStyle = draw.GlyphStyle{Color: paletteAt(c), Radius: vg.Points(2), Shape: draw.BoxGlyph{}}
		p.Add(s)
	}
	if len(chosen) > 0 {
		s, err := plotter.NewScatter(chosen)
		if err != nil {
			return nil, fmt.Errorf("figure: points: %w", err)
		}
		s.GlyphStyle = draw.GlyphStyle{Color: color.Black, Radius: vg.Points(5), Shape: draw.RingGlyph{}}
		p.Add(s)
		p.Legend.Add("simulation point", s)
	}
	p.X.Min, p.X.Max = 0, math.Max(slices.Max(start)/unit*1.01, 1e-9)
	p.Y.Min, p.Y.Max = -0.5, float64(len(all))-0.5
	p.X.Tick.Marker, p.Y.Tick.Marker = linearTicks{}, plot.TickerFunc(func(lo, _ float64) []plot.Tick { return wholeTicks(lo, float64(len(all)-1)) })
	return &Figure{panels: []*panel{p}}, nil
}
