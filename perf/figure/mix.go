package figure

import (
	"fmt"
	"strings"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"presage/perf/frame"
)

// Mix draws the instruction mix of a few scopes: a bar for each scope, stacked
// from the shares of the groups of instructions in the column group; count is
// the column to sum, such as executed_instructions. It draws the first scopes,
// at most limit.
func Mix(df dataframe.DataFrame, count, title string, limit int) (*Figure, error) {
	sums, err := frame.Sum(df, []string{"scope", "group"}, []string{count})
	if err != nil {
		return nil, err
	}
	scopeOf, err := frame.Strings(sums, "scope")
	if err != nil {
		return nil, err
	}
	groupOf, err := frame.Strings(sums, "group")
	if err != nil {
		return nil, err
	}
	values, err := frame.Floats(sums, count)
	if err != nil {
		return nil, err
	}
	totals, parts := make(map[string]float64), make(map[[2]string]float64)
	for i, v := range values {
		totals[scopeOf[i]] += v
		parts[[2]string{scopeOf[i], groupOf[i]}] += v
	}
	var scopes []string
	for _, s := range distinct(scopeOf) {
		if totals[s] > 0 && len(scopes) < limit {
			scopes = append(scopes, s)
		}
	}
	if len(scopes) == 0 {
		return nil, fmt.Errorf("figure: no scope with anything in column %s", count)
	}
	p := newPlot(title, "share of the scope's "+strings.ReplaceAll(count, "_", " "), "")
	var below *plotter.BarChart
	for i, group := range distinct(groupOf) {
		shares := make(plotter.Values, len(scopes))
		for k, s := range scopes { // the first scope at the top
			shares[len(scopes)-1-k] = parts[[2]string{s, group}] / totals[s]
		}
		bar, err := plotter.NewBarChart(shares, vg.Points(16))
		if err != nil {
			return nil, fmt.Errorf("figure: mix: %w", err)
		}
		bar.Horizontal, bar.Color, bar.LineStyle.Width = true, paletteAt(i), 0
		if below != nil {
			bar.StackOn(below)
		}
		below = bar
		p.Add(bar)
		p.Legend.Add(group, bar)
	}
	names := make([]string, len(scopes))
	for k, s := range scopes {
		names[len(scopes)-1-k] = shorten(s, 48)
	}
	p.NominalY(names...)
	p.X.Min, p.X.Max = 0, 1
	p.X.Tick.Marker = plot.ConstantTicks([]plot.Tick{{Value: 0, Label: "0"}, {Value: 0.25, Label: "0.25"}, {Value: 0.5, Label: "0.5"}, {Value: 0.75, Label: "0.75"}, {Value: 1, Label: "1"}})
	return &Figure{panels: []*panel{p}}, nil
}

// shorten keeps the end of a name, which is more specific than its beginning.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return "…" + string(r[len(r)-n+1:])
	}
	return s
}
