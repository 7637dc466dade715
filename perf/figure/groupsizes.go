package figure

import (
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// GroupSizes draws the number of groups of references of each size, in the
// style of Figure 3 of Marin and Mellor-Crummey (2005): the number of groups
// along the x axis, their size along the y axis, both logarithmic, with a
// colour for each stage of aggregation. df has the columns aggregation,
// references and groups. The legend gives the number of groups after each
// stage.
func GroupSizes(df dataframe.DataFrame, title string) (*Figure, error) {
	stages, err := frame.Strings(df, "aggregation")
	if err != nil {
		return nil, err
	}
	p := newPlot(title, "groups of that size", "references in a group")
	p.Add(plotter.NewGrid())
	shapes := []draw.GlyphDrawer{draw.BoxGlyph{}, draw.CircleGlyph{}, draw.PyramidGlyph{}}
	for i, stage := range distinct(stages) {
		rows, err := frame.Where(df, "aggregation", stage)
		if err != nil {
			return nil, err
		}
		sizes, err := frame.Floats(rows, "references")
		if err != nil {
			return nil, err
		}
		groups, err := frame.Floats(rows, "groups")
		if err != nil {
			return nil, err
		}
		total, data := 0.0, plotter.XYs{}
		for k := range sizes {
			if sizes[k] >= 1 && groups[k] >= 1 { // what a logarithmic axis can hold
				total += groups[k]
				data = append(data, plotter.XY{X: math.Log10(groups[k]), Y: math.Log10(sizes[k])})
			}
		}
		if len(data) == 0 {
			continue
		}
		s, err := plotter.NewScatter(data)
		if err != nil {
			return nil, fmt.Errorf("figure: group sizes: %w", err)
		}
		s.GlyphStyle = draw.GlyphStyle{Color: paletteAt(i), Radius: vg.Points(4), Shape: shapes[i%len(shapes)]}
		p.Add(s)
		label := "aggregated by " + stage
		if stage == "none" {
			label = "no aggregation"
		}
		p.Legend.Add(fmt.Sprintf("%s: %g groups", label, total), s)
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, decades{}
	p.X.Min, p.Y.Min = 0, 0
	p.X.Max, p.Y.Max = math.Ceil(p.X.Max+0.1), math.Ceil(p.Y.Max+0.1)
	return &Figure{panels: []*panel{p}}, nil
}
