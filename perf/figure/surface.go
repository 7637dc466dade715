package figure

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"presage/perf/frame"
)

// SurfaceOptions says what Surface draws.
type SurfaceOptions struct {
	// Size is the column of the problem size, such as "n".
	Size string
	// Panel is the column with a panel for each of its values, such as
	// "collected" and "model", side by side with the same axes; "" for one
	// panel.
	Panel string
	// Title is the title of a single panel, or precedes the panels' values.
	Title string
	// XLabel names the size, with unit; "problem size n" by default for n.
	XLabel string
	// Log draws distance + 1 on a logarithmic axis.
	Log bool
	// Cuts are drawn as planes; the vertical axis includes all of them.
	Cuts []Cut
	View View
}

// Surface draws reuse-distance histograms over problem size, in the style of
// Figure 4 of Marin and Mellor-Crummey (2004) and Figure 5(a) to (d) of their
// paper of 2005: problem size along the x axis; along y the accesses that are
// not cold, sorted by distance, as a share; their distance along z.
//
// Each size's histogram is a stair over y, its quantile function, drawn as a
// line; between neighbouring sizes the surface is straight at each share. A cut
// is a plane at a cache's size: the surface below it is the hits of a fully
// associative cache, and their intersection is the hit ratio. Colour is height;
// shading shows slopes.
//
// df has the columns lo_blocks, hi_blocks, accesses and that of the size, a row
// for each bin, like tables of reuse histograms. A size without reuse leaves a
// gap, which the legend mentions. The panels' X and Y axes are hidden; callers
// may change titles and legends.
func Surface(df dataframe.DataFrame, opt SurfaceOptions) (*Figure, error) {
	opt.View = opt.View.orDefault()
	if err := opt.View.check(); err != nil {
		return nil, err
	}
	axis := distanceAxis{opt.Log}
	for _, cut := range opt.Cuts {
		if !(cut.Blocks >= 1) || math.IsInf(cut.Blocks, 0) {
			return nil, fmt.Errorf("figure: cut %q at %g blocks: a cache has one block at least", cut.Label, cut.Blocks)
		}
	}
	values := []string{""}
	if opt.Panel != "" {
		column, err := frame.Strings(df, opt.Panel)
		if err != nil {
			return nil, err
		}
		values = distinct(column)
	}
	if len(values) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	var surfaces []*surface
	for _, v := range values {
		rows := df
		if opt.Panel != "" {
			var err error
			if rows, err = frame.Where(df, opt.Panel, v); err != nil {
				return nil, err
			}
		}
		s, err := newSurface(rows, opt.Size, axis)
		if err != nil {
			if opt.Panel != "" {
				return nil, fmt.Errorf("%w (where %s is %s)", err, opt.Panel, v)
			}
			return nil, err
		}
		surfaces = append(surfaces, s)
	}
	space := commonSpace(surfaces, axis, opt)
	fig := new(Figure)
	for i, s := range surfaces {
		s.space = space
		fig.panels = append(fig.panels, s.panel(joinTitle(opt.Title, values[i]), i == 0))
	}
	return fig, nil
}

func joinTitle(title, value string) string {
	if title == "" || value == "" {
		return title + value
	}
	return title + ": " + value
}

// surface is a Plotter of one group's histograms over problem size.
type surface struct {
	sizes  []float64 // ascending
	stairs [][]step  // at each size; none where there is no reuse

	space space
}

// space is shared by the panels of a figure: ranges, cuts and the camera.
type space struct {
	axis   distanceAxis
	size   [2]float64 // range of problem sizes
	top    float64    // of the vertical axis, which begins at 0
	cuts   []plane    // by height
	camera camera
	xLabel string
}

// plane is a cut with its place between floor and top, 0 to 1.
type plane struct {
	Cut
	height float64
	color  color.RGBA
}

// newSurface sorts the rows of a histogram's frame by size.
func newSurface(df dataframe.DataFrame, size string, axis distanceAxis) (*surface, error) {
	if size == "" {
		return nil, fmt.Errorf("figure: no column named for the problem size; the frame has columns %v", df.Names())
	}
	sizes, err := frame.Floats(df, size)
	if err != nil {
		return nil, err
	}
	bins, err := binsOf(df)
	if err != nil {
		return nil, err
	}
	if err := oneHistogramEach(df, sizes); err != nil {
		return nil, err
	}
	at := make(map[float64][]bin)
	for i, x := range sizes {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, fmt.Errorf("figure: row %d has %s = %g, which has no place on an axis", i, size, x)
		}
		at[x] = append(at[x], bins[i])
	}
	s := new(surface)
	for x := range at {
		s.sizes = append(s.sizes, x)
	}
	slices.Sort(s.sizes)
	joined := 0
	for i, x := range s.sizes {
		s.stairs = append(s.stairs, stairOf(at[x], axis))
		if i > 0 && len(s.stairs[i-1]) > 0 && len(s.stairs[i]) > 0 {
			joined++
		}
	}
	if joined == 0 {
		return nil, fmt.Errorf("figure: a surface needs two neighbouring sizes with reuse; %s has the values %v, without reuse %v (Histogram draws a single size)",
			size, s.sizes, s.gaps())
	}
	return s, nil
}

// oneHistogramEach returns an error if a frame mixes the histograms of several
// programs or block sizes at one problem size: their sum is meaningless.
func oneHistogramEach(df dataframe.DataFrame, sizes []float64) error {
	for _, name := range []string{"program", "block_bytes"} {
		if !slices.Contains(df.Names(), name) {
			continue
		}
		column, err := frame.Strings(df, name)
		if err != nil {
			return err
		}
		first := make(map[float64]string)
		for i, v := range column {
			if other, ok := first[sizes[i]]; ok && other != v {
				return fmt.Errorf("figure: at size %g the frame mixes %s %s and %s: choose one, or give each a panel", sizes[i], name, other, v)
			}
			first[sizes[i]] = v
		}
	}
	return nil
}

// gaps returns the sizes without reuse.
func (s *surface) gaps() []float64 {
	var out []float64
	for i, stair := range s.stairs {
		if len(stair) == 0 {
			out = append(out, s.sizes[i])
		}
	}
	return out
}

// commonSpace computes ranges that contain all surfaces, and places the cuts.
func commonSpace(surfaces []*surface, axis distanceAxis, opt SurfaceOptions) space {
	sp := space{
		axis:   axis,
		size:   [2]float64{math.Inf(1), math.Inf(-1)},
		camera: newCamera(opt.View),
		xLabel: orDefault(opt.XLabel, "problem size "+opt.Size),
	}
	for _, s := range surfaces {
		sp.size[0] = min(sp.size[0], s.sizes[0])
		sp.size[1] = max(sp.size[1], s.sizes[len(s.sizes)-1])
		for _, stair := range s.stairs {
			if len(stair) > 0 {
				sp.top = max(sp.top, stair[len(stair)-1].height)
			}
		}
	}
	for _, cut := range opt.Cuts {
		sp.top = max(sp.top, axis.cut(cut.Blocks))
	}
	if sp.top == 0 {
		sp.top = 1
	}
	sp.top *= 1.04 // so that neither peak nor plane lies in the box's lid
	for i, cut := range opt.Cuts {
		sp.cuts = append(sp.cuts, plane{cut, axis.cut(cut.Blocks) / sp.top, cutColors[i%len(cutColors)]})
	}
	slices.SortStableFunc(sp.cuts, func(a, b plane) int {
		if a.Blocks < b.Blocks {
			return -1
		} else if a.Blocks > b.Blocks {
			return 1
		}
		return 0
	})
	return sp
}

// cutColors are the colours of the palette that differ most from heightColors.
var cutColors = []color.RGBA{palette[1], palette[3], palette[6], palette[5]}

// panel returns a plot of the surface alone, with a legend of the cuts if it is
// the first of its figure.
func (s *surface) panel(title string, first bool) *panel {
	p := newPlot(title, "", "")
	p.HideAxes()
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = 0, 1, 0, 1
	if first {
		for _, cut := range s.space.cuts {
			p.Legend.Add(cut.Label, swatch{cut.color})
		}
	}
	if gaps := s.gaps(); len(gaps) > 0 {
		var at []string
		for _, x := range gaps {
			at = append(at, strconv.FormatFloat(x, 'g', 6, 64))
		}
		p.Legend.Add("no reuse at " + strings.Join(at, ", "))
	}
	p.Add(s)
	return p
}

// swatch is the thumbnail of a cut.
type swatch struct{ color color.RGBA }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	corners := []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}}
	c.FillPolygon(translucent(s.color), corners)
	c.StrokeLines(draw.LineStyle{Color: s.color, Width: vg.Points(1.5)}, append(corners, corners[0]))
}

// translucent returns the colour of a plane through which the surface shows.
func translucent(c color.RGBA) color.Color { return color.NRGBA{c.R, c.G, c.B, 0x38} }
