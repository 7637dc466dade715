package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// RooflineOptions says what Roofline draws. Its columns are those of roofline.Row unless
// others are named.
type RooflineOptions struct {
	X, Y   string // operations for each byte, operations in a cycle
	Core   string // operations in a cycle that the core allows
	Level  string // bytes in a cycle that the panel's level gives; missing: no slope
	Size   string // to which the area of a point is proportional: cycles
	By     string // column whose values get a colour, and a path, each: the scope
	Panel  string // the level
	XLabel string // with units
	YLabel string
}

func (opt *RooflineOptions) defaults() {
	for _, x := range []struct {
		to   *string
		text string
	}{
		{&opt.X, "pred_flops_per_byte"},
		{&opt.Y, "pred_flops_per_cycle"},
		{&opt.Core, "core_flops_per_cycle"},
		{&opt.Level, "level_bytes_per_cycle"},
		{&opt.Size, "pred_cycles"},
		{&opt.By, "scope"},
		{&opt.Panel, "level"},
		{&opt.XLabel, "operations per byte of the level"},
		{&opt.YLabel, "operations per cycle"},
	} {
		*x.to = orDefault(*x.to, x.text)
	}
}

// largestMark is the radius of the point that takes longest, smallestMark that of any.
const largestMark, smallestMark = 9, 2

// Roofline draws the rooflines of roofline.Predict: in a panel for each level of memory
// the ceilings of the core and of that level, on logarithmic axes, and below them the
// scopes, as points whose area is the time that they take. Those of one scope are joined
// in the order of the rows: its path over the problem size. Rows without bytes are not
// drawn; the panel's title counts them.
func Roofline(df dataframe.DataFrame, opt RooflineOptions) (*Figure, error) {
	opt.defaults()
	all, err := roofPointsOf(df, &opt)
	if err != nil {
		return nil, err
	}
	largest := slices.MaxFunc(all, func(a, b roofPoint) int { return cmp.Compare(a.size, b.size) }).size
	var panels, names []string
	for _, p := range all {
		panels, names = append(panels, p.panel), append(names, p.name)
	}
	panels, names = distinct(panels), distinct(names)
	lowest := math.Inf(1)
	for _, p := range all {
		lowest = min(lowest, p.y)
	}
	fig := &Figure{Alt: fmt.Sprintf("Rooflines of %d levels with %d scopes below them.", len(panels), len(names))}
	for i, title := range panels {
		var points []roofPoint
		for _, p := range all {
			if p.panel == title {
				points = append(points, p)
			}
		}
		p, err := rooflinePanel(points, title, names, lowest, largest, &opt, i == 0)
		if err != nil {
			return nil, err
		}
		fig.panels = append(fig.panels, p)
	}
	return fig, nil
}

// roofPoint is a row.
type roofPoint struct {
	panel, name             string
	x, y, core, level, size float64
}

// drawn reports whether a logarithmic axis takes the point.
func (p *roofPoint) drawn() bool { return p.x > 0 && !math.IsInf(p.x, 0) }

func roofPointsOf(df dataframe.DataFrame, opt *RooflineOptions) ([]roofPoint, error) {
	var numbers [5][]float64
	for i, name := range []string{opt.X, opt.Y, opt.Core, opt.Level, opt.Size} {
		var err error
		if numbers[i], err = frame.Floats(df, name); err != nil {
			return nil, err
		}
	}
	name, err := frame.Strings(df, opt.By)
	if err != nil {
		return nil, err
	}
	panel, err := frame.Strings(df, opt.Panel)
	if err != nil {
		return nil, err
	}
	var all []roofPoint
	for i := range name {
		p := roofPoint{panel[i], name[i], numbers[0][i], numbers[1][i], numbers[2][i], numbers[3][i], numbers[4][i]}
		if !(p.y > 0) || !(p.core > 0) || !(p.size >= 0) {
			return nil, fmt.Errorf("figure: row %d: %g operations per cycle below %g, in %g: a logarithmic axis takes values above 0", i+1, p.y, p.core, p.size)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	return all, nil
}

func rooflinePanel(points []roofPoint, title string, names []string, lowest, largest float64, opt *RooflineOptions, first bool) (*panel, error) {
	left, lo, hi := 0, math.Inf(1), math.Inf(-1)
	for i := range points {
		if !points[i].drawn() {
			left++
			continue
		}
		lo, hi = min(lo, points[i].x), max(hi, points[i].x)
	}
	core, level := points[0].core, points[0].level
	ridge := core / level // NaN without the level's bandwidth
	if ridge > 0 {
		lo, hi = min(lo, ridge), max(hi, ridge)
	}
	if math.IsInf(lo, 0) {
		lo, hi = 1, 1
	}
	lo, hi = lo/3, hi*3
	y := ""
	if first {
		y = opt.YLabel
	}
	if left > 0 {
		title = fmt.Sprintf("%s (no bytes, not drawn: %d)", title, left)
	}
	p := newPlot(title, opt.XLabel, y)
	p.Add(plotter.NewGrid())
	if err := addRoof(p, core, level, lo, hi, first); err != nil {
		return nil, err
	}
	for n, name := range names {
		if err := addPath(p, points, name, n, largest); err != nil {
			return nil, err
		}
		if first { // of all panels, also of those where others are drawn
			p.Legend.Add(name, &plotter.Line{LineStyle: pathStyle(n)})
		}
	}
	p.X.Min, p.X.Max = math.Log10(lo), math.Log10(hi)
	p.Y.Min, p.Y.Max = math.Log10(lowest/3), math.Log10(core*2)
	p.X.Tick.Marker, p.Y.Tick.Marker = decades{}, oneTwoFive{}
	return p, nil
}

// addRoof draws the ceilings from an intensity to another.
func addRoof(p *panel, core, level, lo, hi float64, legend bool) error {
	at := func(x, y float64) plotter.XY { return plotter.XY{X: math.Log10(x), Y: math.Log10(y)} }
	flat, err := plotter.NewLine(plotter.XYs{at(lo, core), at(hi, core)})
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	flat.LineStyle = draw.LineStyle{Color: color.Gray{0x40}, Width: vg.Points(1.5)}
	p.Add(flat)
	sloped := draw.LineStyle{Color: color.Gray{0x40}, Width: vg.Points(1.5), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
	if legend {
		p.Legend.Add("the core's ceiling", flat)
		p.Legend.Add("the level's ceiling", &plotter.Line{LineStyle: sloped})
	}
	if !(level > 0) {
		return nil
	}
	slope, err := plotter.NewLine(plotter.XYs{at(lo, lo*level), at(core/level, core)})
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	slope.LineStyle = sloped
	p.Add(slope)
	return nil
}

// addPath draws the points of one scope, joined in their order.
func addPath(p *panel, points []roofPoint, name string, number int, largest float64) error {
	var path plotter.XYs
	for i := range points {
		if points[i].name != name || !points[i].drawn() {
			continue
		}
		at := plotter.XY{X: math.Log10(points[i].x), Y: math.Log10(points[i].y)}
		path = append(path, at)
		mark, err := plotter.NewScatter(plotter.XYs{at})
		if err != nil {
			return fmt.Errorf("figure: %w", err)
		}
		radius := smallestMark
		if largest > 0 {
			radius = max(radius, int(largestMark*math.Sqrt(points[i].size/largest)))
		}
		mark.GlyphStyle = draw.GlyphStyle{Color: paletteAt(number), Radius: vg.Points(float64(radius)), Shape: draw.CircleGlyph{}}
		p.Add(mark)
	}
	if len(path) == 0 {
		return nil
	}
	line, err := plotter.NewLine(path)
	if err != nil {
		return fmt.Errorf("figure: %w", err)
	}
	line.LineStyle = pathStyle(number)
	p.Add(line)
	return nil
}

func pathStyle(number int) draw.LineStyle {
	return draw.LineStyle{Color: paletteAt(number), Width: vg.Points(1.2)}
}
