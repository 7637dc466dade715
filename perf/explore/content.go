package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"sync"
	"time"

	"presage/perf/figure"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/subject"
)

// use remembers when a page asked for something, and the last state that was shown.
type use struct {
	mu    sync.Mutex
	at    time.Time
	state State
}

func (u *use) used(st State) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at, u.state = time.Now(), st
}

func (u *use) alive() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.at = time.Now()
}

func (u *use) last() (State, time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.state, u.at
}

// content is what the page's templates show.
type content struct {
	Title   string
	State   State
	Query   template.URL // of Session.Query, which escapes
	Problem string       // why there is no View, or empty
	View    *View
	Figures []figureContent
	CanEnd  bool
	Swap    bool // the controls replace those of the page

	Runs, Machines, Levels, Shapes, Blocks, Methods, Kinds, Scopes, Params []choice
	Sliders                                                                []slider
	Least, Most                                                            float64 // sizes to predict
	Parts                                                                  []partName
}

// choice is an entry of a menu.
type choice struct {
	Value, Text string
	Chosen      bool
}

func choices(values []string, chosen ...string) []choice {
	var all []choice
	for _, v := range values {
		all = append(all, choice{v, v, slices.Contains(chosen, v)})
	}
	return all
}

// maxScopes are in the menu.
const maxScopes = 200

// shapeNames are those of misses.FitOptions.
var shapeNames = []string{"", "monotone", "convex", "concave", "free"}

func (h *server) content(st State, v *View, err error) *content {
	c := &content{Title: h.opt.Title, State: st, View: v, CanEnd: h.opt.CanEnd, Parts: partNames}
	if err != nil {
		c.Problem = userText(err)
	}
	if v != nil {
		c.State = v.State
		c.Figures = v.figureContents()
	}
	c.Query = template.URL(h.Query(c.State))
	for _, p := range h.points {
		c.Runs = append(c.Runs, choice{p, p, !slices.Contains(st.Without, p)})
	}
	c.Machines = choices(h.MachineNames(), st.Machine)
	for _, l := range h.levels(h.machine(st.Machine)) {
		c.Levels = append(c.Levels, choice{l.Name, l.Name, l.Name == st.Level})
	}
	for _, name := range shapeNames {
		text := name
		if name == "" {
			text = "monotone, one curvature"
		}
		c.Shapes = append(c.Shapes, choice{name, text, name == st.Shape || text == st.Shape})
	}
	for _, b := range h.blocks {
		c.Blocks = append(c.Blocks, choice{strconv.FormatUint(b, 10), machine.Bytes(b).String(), b == st.Block})
	}
	c.Methods = []choice{
		{string(predict.MethodFullyAssociative), "as if fully associative", st.Method != predict.MethodBinomial},
		{string(predict.MethodBinomial), "binomial, by the ways", st.Method == predict.MethodBinomial},
	}
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine, subject.ByLoop, subject.ByReference} {
		c.Kinds = append(c.Kinds, choice{string(by), string(by), by == st.By})
	}
	c.Scopes = scopeChoices(c.State.Scope, v)
	c.Params = choices(h.params(), st.Param)
	c.Sliders = []slider{c.State.capacitySlider(), c.State.waysSlider()}
	lo, hi := h.span(st.Param)
	c.Least, c.Most = lo, reach*hi/2
	if st.At > c.Most {
		c.Most = reach * hi
	}
	return c
}

// scopeChoices are the scopes with the most misses, with the one that is chosen.
func scopeChoices(chosen string, v *View) []choice {
	if v == nil {
		return []choice{{chosen, chosen, true}}
	}
	var all []choice
	for i, s := range v.Scopes {
		if i < maxScopes || s.Scope == chosen {
			all = append(all, choice{s.Scope, fmt.Sprintf("%s (%.1f%%)", s.Scope, 100*s.Share), s.Scope == chosen})
		}
	}
	return all
}

// figureContent is a figure in the page.
type figureContent struct {
	Name, Caption, Alt, Problem string
	SVG                         template.HTML
}

var captions = map[string]string{
	FigureCurve: "Curve", FigureResiduals: "Residuals", FigureHistogram: "Histogram", FigureSurface: "Surface",
}

// figureContents draws the figures that are part of the page. The surface has too many
// faces for that: the page asks for a picture of it, which is drawn then.
func (v *View) figureContents() []figureContent {
	names := FigureNames()
	all := make([]figureContent, len(names))
	_ = each(context.Background(), len(names), func(i int) error { // what fails says so in its place
		all[i] = v.figureContent(names[i])
		return nil
	})
	return all
}

func (v *View) figureContent(name string) figureContent {
	c := figureContent{Name: name, Caption: captions[name]}
	var f *figure.Figure
	var err error
	if name == FigureSurface {
		c.Alt = surfaceAlt
		_, err = v.surfaceRows()
	} else {
		f, err = v.Figure(name)
	}
	if err != nil {
		c.Problem = "No " + name + ": " + userText(err) + "."
	}
	if f == nil {
		return c
	}
	svg, err := f.SVG(figureWidth, figureHeight)
	if err != nil {
		c.Problem = userText(err)
		return c
	}
	c.SVG = template.HTML(svg) // figure escapes what is text in it
	return c
}

var templateFuncs = template.FuncMap{
	"count":   count,
	"percent": percent,
	"point":   func(p map[string]float64) string { return subject.Point(p).String() },
	"ms":      func(d time.Duration) string { return d.Round(time.Millisecond).String() },
	"json": func(v any) (string, error) {
		b, err := json.Marshal(v)
		return string(b), err
	},
}

// percent writes a ratio for people; an unknown one is a dash.
func percent(v float64) string {
	switch a := math.Abs(v); {
	case math.IsNaN(v) || a >= math.MaxFloat64:
		return "–"
	case a >= 1:
		return fmt.Sprintf("%.0f%%", 100*v)
	case a >= 0.0995:
		return fmt.Sprintf("%.1f%%", 100*v)
	case a > 0 && a < 1e-4:
		return "< 0.01%"
	}
	return fmt.Sprintf("%.2g%%", 100*v)
}
