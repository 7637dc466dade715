package figure

import (
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"
	"gonum.org/v1/plot/plotter"

	"presage/perf/frame"
)

// groups holds the values of a column by panel and label, in the order of rows.
type groups struct {
	panels, labels []string
	values         map[[2]string]plotter.Values // none where a panel does not have a label
}

func grouped(df dataframe.DataFrame, values, by, panel string) (*groups, error) {
	x, err := frame.Floats(df, values)
	if err != nil {
		return nil, err
	}
	label, err := textsOr(df, by, len(x))
	if err != nil {
		return nil, err
	}
	title, err := textsOr(df, panel, len(x))
	if err != nil {
		return nil, err
	}
	g := &groups{panels: distinct(title), labels: distinct(label), values: make(map[[2]string]plotter.Values)}
	for i, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("figure: row %d: %s is %g", i, values, v)
		}
		key := [2]string{title[i], label[i]}
		g.values[key] = append(g.values[key], v)
	}
	if len(g.panels) == 0 {
		return nil, fmt.Errorf("figure: the frame has no rows")
	}
	return g, nil
}

// textsOr returns a column, or empty strings if the name is empty.
func textsOr(df dataframe.DataFrame, column string, rows int) ([]string, error) {
	if column == "" {
		return make([]string, rows), nil
	}
	return frame.Strings(df, column)
}
