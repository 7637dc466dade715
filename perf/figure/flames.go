package figure

import (
	"cmp"
	"fmt"
	"image/color"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// FlameOptions says what Flames draws. Its columns are those of callpath.Simulated unless
// others are named: for callpath.Predicted, Value is "pred_misses_inclusive".
type FlameOptions struct {
	Path      string // of the row: elements joined by Separator; each path before the last element has a row, too
	Value     string // of the path and all that go on from it
	Panel     string // column whose values get a panel each: the level
	Only      string // value of Panel that is drawn; empty: all
	Separator string // " > "
	XLabel    string // with units
}

func (opt *FlameOptions) defaults() {
	opt.Path = orDefault(opt.Path, "call_path")
	opt.Value = orDefault(opt.Value, "sim_misses_inclusive")
	opt.Panel = orDefault(opt.Panel, "level")
	opt.Separator = orDefault(opt.Separator, " > ")
	opt.XLabel = orDefault(opt.XLabel, "misses")
}

// Flames draws costs by call path as flame graphs, a panel for each level: a box for each
// path, as wide as what it costs with all that go on from it, upon the box of the path
// before its last element. What is free above a box it costs by itself. An element has
// the same colour wherever it is; loops are pale. Boxes of less than a thousandth of the
// width are left out.
func Flames(df dataframe.DataFrame, opt FlameOptions) (*Figure, error) {
	opt.defaults()
	paths, err := frame.Strings(df, opt.Path)
	if err != nil {
		return nil, err
	}
	titles, err := frame.Strings(df, opt.Panel)
	if err != nil {
		return nil, err
	}
	values, err := frame.Floats(df, opt.Value)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	panels := distinct(titles)
	if opt.Only != "" {
		if !slices.Contains(panels, opt.Only) {
			return nil, fmt.Errorf("figure: no row has %s %q; there are %q", opt.Panel, opt.Only, panels)
		}
		panels = []string{opt.Only}
	}
	fig := new(Figure)
	most := 0
	for _, title := range panels {
		f := flames{separator: opt.Separator}
		for i, path := range paths {
			if titles[i] != title {
				continue
			}
			if !(values[i] >= 0) {
				return nil, fmt.Errorf("figure: row %d: %s of %g: a box cannot be as wide", i+1, opt.Value, values[i])
			}
			f.boxes = append(f.boxes, &flame{path: path, value: values[i]})
		}
		if err := f.place(); err != nil {
			return nil, err
		}
		p := newPlot(title, opt.XLabel, "")
		p.Add(&f)
		p.HideY()
		p.X.Tick.Marker = linearTicks{}
		fig.panels = append(fig.panels, p)
		most = max(most, len(f.boxes))
	}
	fig.Alt = fmt.Sprintf("Flame graphs of %s by call path at %d levels, with up to %d paths.", opt.XLabel, len(fig.panels), most)
	return fig, nil
}

// flame is a box of a flame graph.
type flame struct {
	path, label string
	value       float64
	x           float64 // where it begins
	depth       int
	fill        color.RGBA
	narrow      bool // it is not drawn
}

// flames is a plotter of boxes.
type flames struct {
	boxes     []*flame
	separator string
	depth     int // the largest
}

var (
	_ plot.Plotter    = (*flames)(nil)
	_ plot.DataRanger = (*flames)(nil)
)

// place puts each box upon that of the path before it, the widest first.
func (f *flames) place() error {
	at := make(map[string]*flame)
	for _, b := range f.boxes {
		if at[b.path] != nil {
			return fmt.Errorf("figure: the path %q has two rows in a panel", b.path)
		}
		at[b.path] = b
	}
	slices.SortStableFunc(f.boxes, func(a, b *flame) int {
		return cmp.Or(cmp.Compare(strings.Count(a.path, f.separator), strings.Count(b.path, f.separator)), -cmp.Compare(a.value, b.value), cmp.Compare(a.path, b.path))
	})
	widest := 0.0
	if len(f.boxes) > 0 {
		widest = f.boxes[0].value
	}
	next := make(map[*flame]float64) // where the next box upon one begins
	root := new(flame)
	for _, b := range f.boxes {
		b.label = b.path
		below := root
		if i := strings.LastIndex(b.path, f.separator); i >= 0 {
			b.label = b.path[i+len(f.separator):]
			if below = at[b.path[:i]]; below == nil {
				return fmt.Errorf("figure: the path %q has a row, and %q has none", b.path, b.path[:i])
			}
			b.depth = below.depth + 1
		}
		if next[below] == 0 {
			next[below] = below.x
		}
		b.x = next[below]
		next[below] += b.value
		if b.value >= widest/1000 {
			f.depth = max(f.depth, b.depth)
		} else {
			b.narrow = true
		}
	}
	f.colour()
	return nil
}

// DataRange implements plot.DataRanger.
func (f *flames) DataRange() (xmin, xmax, ymin, ymax float64) {
	for _, b := range f.boxes {
		xmax = max(xmax, b.x+b.value)
	}
	return 0, max(xmax, 1), 0, float64(f.depth + 1)
}

// Plot implements plot.Plotter.
func (f *flames) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	face := font.From(plot.DefaultFont, smallestText)
	face.Variant = sans
	style := text.Style{Font: face, Handler: plot.DefaultTextHandler, Color: color.Gray{0x10}, YAlign: text.YCenter}
	for _, b := range f.boxes {
		left, right := toX(b.x), toX(b.x+b.value)
		low, high := toY(float64(b.depth)), toY(float64(b.depth+1))
		if b.narrow {
			continue
		}
		corners := []vg.Point{{X: left, Y: low}, {X: right, Y: low}, {X: right, Y: high}, {X: left, Y: high}}
		c.FillPolygon(b.fill, corners)
		c.StrokeLines(draw.LineStyle{Color: color.Gray{0xfe}, Width: vg.Points(0.5)}, append(corners, corners[0]))
		if label := shortened(b.label, style, right-left-vg.Points(6)); label != "" && high-low > style.Font.Size {
			c.FillText(style, vg.Point{X: left + vg.Points(3), Y: (low + high) / 2}, label)
		}
	}
}

// shortened returns as much of a label as fits a width.
func shortened(label string, style text.Style, width vg.Length) string {
	if style.Width(label) <= width {
		return label
	}
	runes := []rune(label)
	for n := len(runes) - 1; n > 0; n-- {
		if s := string(runes[:n]) + "…"; style.Width(s) <= width {
			return s
		}
	}
	return ""
}

// colour gives the boxes of one label the same colour, and those that come first others.
func (f *flames) colour() {
	of := make(map[string]color.RGBA)
	for _, b := range f.boxes {
		c, ok := of[b.label]
		switch {
		case b.depth == 0:
			c = color.RGBA{0xd0, 0xd0, 0xd0, 0xff}
		case strings.HasPrefix(b.label, "loop"):
			c = color.RGBA{0xf7, 0xf1, 0xd7, 0xff}
		case !ok:
			c = tint(palette[len(of)%(len(palette)-1)]) // not black
			of[b.label] = c
		}
		b.fill = c
	}
}
