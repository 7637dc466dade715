package explore

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/figure"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/reuse"
)

// The figures of a view, and its tables.
const (
	FigureCurve     = "curve"
	FigureResiduals = "residuals"
	FigureHistogram = "histogram"
	FigureSurface   = "surface"

	TableErrors    = "errors"
	TableFunctions = "functions"
	TableScopes    = "scopes"
)

// FigureNames are the names of the figures, as the page shows them.
func FigureNames() []string {
	return []string{FigureCurve, FigureResiduals, FigureHistogram, FigureSurface}
}

// figureWidth and figureHeight are those of a figure, in inches.
const figureWidth, figureHeight = 6.4, 4.2

// Figure draws one of the figures. Its error says why there is none, such as a scope
// without reuse.
func (v *View) Figure(name string) (*figure.Figure, error) {
	switch name {
	case FigureCurve:
		return v.drawCurve()
	case FigureResiduals:
		return v.drawResiduals()
	case FigureHistogram:
		return v.drawHistogram()
	case FigureSurface:
		return v.drawSurface()
	}
	return nil, fmt.Errorf("explore: no figure %q; there are %v", name, FigureNames())
}

// Table returns the numbers of a figure, or one of the tables.
func (v *View) Table(name string) (dataframe.DataFrame, error) {
	switch name {
	case FigureCurve:
		return frame.Of(v.Curve), nil
	case FigureResiduals:
		return frame.Of(v.residuals()), nil
	case FigureHistogram:
		return frame.Of(v.histogram()), nil
	case FigureSurface:
		return frame.Of(v.surface()), nil
	case TableErrors:
		return frame.Of(v.Errors), nil
	case TableFunctions:
		return frame.Of(v.Functions), nil
	case TableScopes:
		return frame.Of(v.Scopes), nil
	}
	return dataframe.DataFrame{}, fmt.Errorf("explore: no table %q", name)
}

// cut is the cache across histograms.
func (v *View) cut() []figure.Cut {
	st := &v.State
	return []figure.Cut{{Label: st.Level + " " + machine.Bytes(st.Capacity).String(), Blocks: float64(st.Capacity / st.Block)}}
}

func (v *View) drawCurve() (*figure.Figure, error) {
	st := &v.State
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range v.Errors {
		if e := &v.Errors[i]; e.Run == "fitted to" {
			lo, hi = min(lo, e.Point[st.Param]), max(hi, e.Point[st.Param])
		}
	}
	curves := []figure.Curve{
		{Column: "pred_misses", Label: "model", Mark: figure.Line},
		{Column: "collected_misses", Label: "runs that it was fitted to", Mark: figure.Points},
	}
	if len(st.Without) > 0 {
		curves = append(curves, figure.Curve{Column: "held_out_misses", Label: "runs held out", Mark: figure.Points})
	}
	opt := figure.CurvesOptions{X: st.Param, XLabel: "problem size " + st.Param, YLabel: "misses in " + st.Level, Curves: curves}
	if lo < hi {
		opt.Training = [2]float64{lo, hi}
	}
	f, err := figure.Curves(frame.Of(v.Curve), opt)
	if err != nil {
		return nil, err
	}
	f.Panels()[0].Title.Text = "Misses in " + st.Level + " over " + st.Param
	f.Alt = fmt.Sprintf("Misses over %s, a curve from %s at %g to %s at %g, with the misses of %d runs as points.",
		st.Param, count(v.Curve[0].Misses), v.curve.at[0], count(v.Curve[len(v.Curve)-1].Misses), v.curve.at[len(v.curve.at)-1], len(v.Errors))
	return f, nil
}

// residualRow is the residuals of a function at a size.
type residualRow struct {
	Point     map[string]float64 `frame:",each"`
	Number    int                `frame:"number"`
	Reference string             `frame:"reference"`
	Bin       int                `frame:"bin"`
	Quantity  string             `frame:"quantity"`
	Relative  float64            `frame:"rel_residual"`
}

func (v *View) residuals() []residualRow {
	var rows []residualRow
	for k, f := range v.shown {
		for i, p := range v.model.Points {
			rows = append(rows, residualRow{p, k + 1, f.Reference, f.Bin, f.Quantity, f.Relative[i]})
		}
	}
	return rows
}

func (v *View) drawResiduals() (*figure.Figure, error) {
	if len(v.shown) == 0 {
		return nil, fmt.Errorf("no function of this %s was fitted to all sizes", v.State.By)
	}
	x := make([]float64, len(v.model.Points))
	for i, p := range v.model.Points {
		x[i] = p[v.State.Param]
	}
	df := frame.WithFloats(frame.Of(pointRows(v.model)), v.State.Param, x)
	var curves []figure.Curve
	lo, hi := 0.0, 0.0
	for k, f := range v.shown {
		percent := make([]float64, len(f.Relative))
		for i, r := range f.Relative {
			percent[i] = 100 * r
			lo, hi = min(lo, percent[i]), max(hi, percent[i])
		}
		name := fmt.Sprintf("f%d", k+1)
		df = frame.WithFloats(df, name, percent)
		what := map[string]string{"accesses": "accesses", "distance_blocks": "distance"}[f.Quantity]
		if f.Bin < 0 {
			what = "cold accesses"
		}
		curves = append(curves, figure.Curve{Column: name, Label: fmt.Sprintf("%d: %s, %s of accesses", k+1, what, num.Percent(f.Share)), Mark: figure.Line})
	}
	fig, err := figure.Curves(df, figure.CurvesOptions{X: v.State.Param, XLabel: "problem size " + v.State.Param, YLabel: "data less model, % of data", Curves: curves})
	if err != nil {
		return nil, err
	}
	p := fig.Panels()[0]
	p.Title.Text = "Residuals of the functions with most accesses"
	margin := max((hi-lo)*0.08, 1e-6)
	p.Y.Min, p.Y.Max = lo-margin, hi+margin
	fig.Alt = fmt.Sprintf("Relative residuals of %d functions at the %d sizes that they were fitted to, from %.2g%% to %.2g%%.", len(v.shown), len(x), lo, hi)
	return fig, nil
}

// pointRow makes a table with a row for each size.
type pointRow struct {
	Points int `frame:"size"`
}

func pointRows(m *misses.Model) []pointRow {
	rows := make([]pointRow, len(m.Points))
	for i := range rows {
		rows[i].Points = i + 1
	}
	return rows
}

// binRow is a bin of a histogram.
type binRow struct {
	Histogram string             `frame:"histogram"` // collected or model, and where
	Point     map[string]float64 `frame:",each"`
	Lo        float64            `frame:"lo_blocks"`
	Hi        float64            `frame:"hi_blocks"`
	Accesses  float64            `frame:"accesses"`
}

// perOctave is the number of steps in which a model's distances are drawn between one
// and its double: 2% apart, which is less than a line is wide.
const perOctave = 32

// modelBins returns a model's histogram as bins one block wide, those less than a
// step apart as one.
func (v *View) modelBins(label string, at float64, h *misses.ScopedHistograms) []binRow {
	type sum struct{ accesses, weighted float64 }
	steps := make(map[int]sum)
	for _, b := range h.Histogram(h.Index(v.State.Scope)).Bins {
		if b.Count > 0 {
			k := int(math.Round(perOctave * math.Log2(b.Distance+1)))
			s := steps[k]
			steps[k] = sum{s.accesses + b.Count, s.weighted + b.Count*b.Distance}
		}
	}
	var rows []binRow
	for _, k := range slices.Sorted(maps.Keys(steps)) {
		s := steps[k]
		d := s.weighted / s.accesses
		rows = append(rows, binRow{label, v.session.at(&v.State, at), d, d + 1, s.accesses})
	}
	return rows
}

func (v *View) runBins(label string, run int, h *reuse.Histogram) []binRow {
	var rows []binRow
	for _, b := range h.Bins {
		rows = append(rows, binRow{label, v.session.runs.Runs[run].Point, float64(b.Lo), float64(b.Hi), float64(b.Count)})
	}
	return rows
}

// histogram returns the largest run's histogram, the model's there, and the model's
// at the size to predict.
func (v *View) histogram() []binRow {
	st := &v.State
	last, largest := -1, math.Inf(-1)
	for i := range v.session.runs.Runs {
		if x := v.session.runs.Runs[i].Point[st.Param]; v.session.onAxis(i, st.Param) && x > largest {
			last, largest = i, x
		}
	}
	rows := v.runBins(fmt.Sprintf("%s = %g, collected", st.Param, largest), last, &v.hists[last])
	if i := slices.Index(v.curve.at, largest); i >= 0 {
		rows = append(rows, v.modelBins(fmt.Sprintf("%s = %g, model", st.Param, largest), largest, v.curve.scoped[i])...)
	}
	if st.At != largest {
		rows = append(rows, v.modelBins(fmt.Sprintf("%s = %g, model", st.Param, st.At), st.At, v.now)...)
	}
	return rows
}

func (v *View) drawHistogram() (*figure.Figure, error) {
	rows := v.histogram()
	if len(rows) == 0 {
		return nil, fmt.Errorf("this %s reuses nothing", v.State.By)
	}
	f, err := figure.Histogram(frame.Of(rows), figure.HistogramOptions{Title: "Reuse distances", By: "histogram", Cuts: v.cut()})
	if err != nil {
		return nil, err
	}
	f.Alt = fmt.Sprintf("Accesses sorted by reuse distance, as the largest run has them and as the model does, with the capacity of %s across.", v.State.Level)
	return f, nil
}

// surface returns the histograms of the runs on the axis, and the model's there.
func (v *View) surface() []binRow {
	var rows []binRow
	for i := range v.session.runs.Runs {
		if v.session.onAxis(i, v.State.Param) {
			rows = append(rows, v.runBins("collected", i, &v.hists[i])...)
		}
	}
	for i, x := range v.curve.at {
		if slices.Contains(v.session.values(v.State.Param), x) {
			rows = append(rows, v.modelBins("model", x, v.curve.scoped[i])...)
		}
	}
	return rows
}

func (v *View) drawSurface() (*figure.Figure, error) {
	rows, err := v.surfaceRows()
	if err != nil {
		return nil, err
	}
	f, err := figure.Surface(frame.Of(rows), figure.SurfaceOptions{Size: v.State.Param, Panel: "histogram", Log: true, Cuts: v.cut()})
	if err != nil {
		return nil, err
	}
	f.Alt = surfaceAlt
	return f, nil
}

// surfaceAlt says what the figure of the surface shows.
const surfaceAlt = "Surfaces of reuse distance over problem size and share of accesses, as the runs have them and as the model does; the capacity is a plane across."

// surfaceRows returns the rows of the figure, or an error if there are none.
func (v *View) surfaceRows() ([]binRow, error) {
	rows := v.surface()
	if len(rows) == 0 {
		return nil, fmt.Errorf("this %s reuses nothing", v.State.By)
	}
	return rows, nil
}

// Picture draws all figures of the view that there are as one.
func (v *View) Picture() (*figure.Figure, error) {
	var all []*figure.Figure
	alt := v.Summary()
	for _, name := range FigureNames() {
		f, err := v.Figure(name)
		if err != nil {
			continue // a place without reuse has no histogram: the others are shown
		}
		all = append(all, f)
		alt += " " + f.Alt
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("explore: there is nothing to draw of %s %s", v.State.By, v.State.Scope)
	}
	f := figure.Beside(all...)
	f.Alt = alt
	return f, nil
}
