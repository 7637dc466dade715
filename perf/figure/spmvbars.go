package figure

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"presage/perf/frame"
)

// ColumnBarsOptions say what ColumnBars draws.
type ColumnBarsOptions struct {
	Label          string  // column of the groups' names
	Bars           []Curve // columns, a bar in each group; Mark is not looked at
	Title          string
	XLabel, YLabel string
	Width          float64 // of a bar, in points; 0: 8
}

// ColumnBars draws groups of bars: a group a row, a bar a column.
func ColumnBars(df dataframe.DataFrame, opt ColumnBarsOptions) (*Figure, error) {
	if len(opt.Bars) == 0 {
		return nil, fmt.Errorf("figure: a chart without bars")
	}
	labels, err := frame.Strings(df, opt.Label)
	if err != nil {
		return nil, err
	}
	if len(labels) == 0 {
		return nil, fmt.Errorf("figure: no rows to draw bars of")
	}
	p := newPlot(opt.Title, opt.XLabel, opt.YLabel)
	width := vg.Points(opt.Width)
	if opt.Width == 0 {
		width = vg.Points(8)
	}
	top := 0.0
	for i, b := range opt.Bars {
		values, err := frame.Floats(df, b.Column)
		if err != nil {
			return nil, err
		}
		top = max(top, slices.Max(values))
		bars, err := plotter.NewBarChart(plotter.Values(values), width)
		if err != nil {
			return nil, fmt.Errorf("figure: %s: %w", b.Column, err)
		}
		bars.Color, bars.LineStyle.Width = paletteAt(i), 0
		bars.Offset = width * vg.Length(float64(i)-float64(len(opt.Bars)-1)/2)
		p.Add(bars)
		label := b.Label
		if label == "" {
			label = b.Column
		}
		p.Legend.Add(label, bars)
	}
	p.NominalX(labels...)
	slantLabels(&p.X)
	p.Legend.Top, p.Legend.Left = true, true
	p.Y.Min, p.Y.Max = 0, top*(1.08+0.09*float64(len(opt.Bars))) // room for the legend
	p.Y.Tick.Marker = linearTicks{}
	return &Figure{panels: []*plot.Plot{p}}, nil
}

// slantLabels turns the labels of an axis, so that long names fit side by side.
func slantLabels(a *plot.Axis) {
	a.Tick.Label.Rotation = math.Pi / 5
	a.Tick.Label.XAlign, a.Tick.Label.YAlign = -1, -0.5
}

// ColumnBoxesOptions say what ColumnBoxes draws, a panel a column.
type ColumnBoxesOptions struct {
	Group          string   // column: a box for each of its values, in the order of the rows
	Panels         []string // columns of numbers, a panel each
	Titles         []string // of the panels; default the columns' names
	XLabel, YLabel string
	Top            float64 // of the y axis; 0: that of the data
	Goal           float64 // drawn as a line, if not 0
}

// ColumnBoxes draws how numbers are distributed in groups: a box from the lower to the
// upper quartile with the median, whiskers and what lies outside, as Tukey does.
func ColumnBoxes(df dataframe.DataFrame, opt ColumnBoxesOptions) (*Figure, error) {
	groups, err := frame.Strings(df, opt.Group)
	if err != nil {
		return nil, err
	}
	if len(opt.Panels) == 0 || len(groups) == 0 {
		return nil, fmt.Errorf("figure: %d panels of boxes of %d rows: there is nothing to draw", len(opt.Panels), len(groups))
	}
	var names []string
	for _, g := range groups {
		if !slices.Contains(names, g) {
			names = append(names, g)
		}
	}
	f := new(Figure)
	for i, column := range opt.Panels {
		values, err := frame.Floats(df, column)
		if err != nil {
			return nil, err
		}
		title := column
		if len(opt.Titles) > i {
			title = opt.Titles[i]
		}
		p := newPlot(title, opt.XLabel, opt.YLabel)
		for k, name := range names {
			var of plotter.Values
			for j, g := range groups {
				if g == name {
					of = append(of, values[j])
				}
			}
			box, err := plotter.NewBoxPlot(vg.Points(14), float64(k), of)
			if err != nil {
				return nil, fmt.Errorf("figure: %s of %s: %w", column, name, err)
			}
			box.FillColor = paletteAt(5)
			box.GlyphStyle.Radius = vg.Points(1.2)
			p.Add(box)
		}
		if opt.Goal != 0 {
			line, err := plotter.NewLine(plotter.XYs{{X: -0.5, Y: opt.Goal}, {X: float64(len(names)) - 0.5, Y: opt.Goal}})
			if err != nil {
				return nil, fmt.Errorf("figure: %w", err)
			}
			line.Color, line.Width = paletteAt(1), vg.Points(1)
			p.Add(line)
		}
		p.NominalX(names...)
		slantLabels(&p.X)
		p.Y.Min = 0
		if opt.Top > 0 {
			p.Y.Max = opt.Top
		}
		p.Y.Tick.Marker = linearTicks{}
		f.panels = append(f.panels, p)
	}
	return f, nil
}
