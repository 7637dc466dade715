package figure

import (
	"fmt"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"presage/perf/frame"
)

// BarsOptions says what Bars draws: bars for the values of one column, or for
// several columns.
type BarsOptions struct {
	Names string // column of the places on the x axis

	Values string // column of the heights
	By     string // column whose values get a bar each at every place; "" for one

	// Columns, if given, replaces Values and By: a bar for each at every place.
	// Marks are ignored.
	Columns []Curve

	Title          string
	XLabel, YLabel string  // with unit; YLabel is the values' column by default
	Width          float64 // of a bar, in points; 0: all bars of a place take 30
}

// barSeries holds the heights of one kind of bar, by place.
type barSeries struct {
	label   string
	heights plotter.Values
}

// Bars draws a bar for each value, those of one place side by side. It fails if
// two values claim the same bar.
func Bars(df dataframe.DataFrame, opt BarsOptions) (*Figure, error) {
	names, err := frame.Strings(df, opt.Names)
	if err != nil {
		return nil, err
	}
	x := axisPlaces{names: names, distinct: distinct(names)}
	if len(names) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	var all []barSeries
	if len(opt.Columns) > 0 {
		all, err = barsOfColumns(df, opt.Columns, x)
	} else {
		all, err = barsOfValues(df, opt, x)
	}
	if err != nil {
		return nil, err
	}
	p := newPlot(opt.Title, opt.XLabel, orDefault(opt.YLabel, opt.Values))
	p.Add(plotter.NewGrid())
	if err := addBars(p, all, opt.Width); err != nil {
		return nil, err
	}
	p.NominalX(x.distinct...)
	slantLabels(&p.X)
	p.Y.Tick.Marker = linearTicks{}
	return &Figure{panels: []*panel{p}}, nil
}

// axisPlaces holds the name of each row and the places on the axis.
type axisPlaces struct{ names, distinct []string }

// series returns the heights by place of the rows for which in holds.
func (x *axisPlaces) series(label string, values []float64, in func(row int) bool) (barSeries, error) {
	s := barSeries{label, make(plotter.Values, len(x.distinct))}
	taken := make([]bool, len(x.distinct))
	for i, v := range values {
		if !in(i) {
			continue
		}
		at := slices.Index(x.distinct, x.names[i])
		if taken[at] {
			return s, fmt.Errorf("figure: row %d is another bar %q at %s", i, label, x.names[i])
		}
		s.heights[at], taken[at] = v, true
	}
	return s, nil
}

func barsOfColumns(df dataframe.DataFrame, columns []Curve, x axisPlaces) ([]barSeries, error) {
	var all []barSeries
	for _, c := range columns {
		values, err := frame.Floats(df, c.Column)
		if err != nil {
			return nil, err
		}
		s, err := x.series(orDefault(c.Label, c.Column), values, func(int) bool { return true })
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

func barsOfValues(df dataframe.DataFrame, opt BarsOptions, x axisPlaces) ([]barSeries, error) {
	values, err := frame.Floats(df, opt.Values)
	if err != nil {
		return nil, err
	}
	by, err := textsOr(df, opt.By, len(values))
	if err != nil {
		return nil, err
	}
	var all []barSeries
	for _, kind := range distinct(by) {
		s, err := x.series(kind, values, func(i int) bool { return by[i] == kind })
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// addBars draws series side by side, with a legend above the bars.
func addBars(p *panel, all []barSeries, points float64) error {
	if points == 0 {
		points = 30 / float64(len(all))
	}
	width := vg.Points(points)
	lo, hi := 0.0, 0.0
	for k, s := range all {
		bars, err := plotter.NewBarChart(s.heights, width)
		if err != nil {
			return fmt.Errorf("figure: %s: %w", s.label, err)
		}
		bars.Color, bars.LineStyle.Width = paletteAt(k), 0
		bars.Offset = width * vg.Length(float64(k)-float64(len(all)-1)/2)
		p.Add(bars)
		lo, hi = min(lo, slices.Min(s.heights)), max(hi, slices.Max(s.heights))
		if s.label != "" {
			p.Legend.Add(s.label, bars)
		}
	}
	p.Y.Min, p.Y.Max = lo, hi+(hi-lo)*0.05
	if lo == hi {
		p.Y.Max = 1
	}
	return nil
}
