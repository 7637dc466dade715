package misses

import (
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/internal/num"
)

// accuracyRow is a row of the table of Accuracy.
type accuracyRow struct {
	Of     string  `frame:"of"`
	Error  string  `frame:"error"`
	Rows   int     `frame:"rows"`
	Median float64 `frame:"median_abs"`
	Mean   float64 `frame:"mean_abs_to_1"`
	P90    float64 `frame:"p90_abs"`
	Worst  float64 `frame:"worst_abs"`
}

// Accuracy sums up the errors of a table of Compare or Validate, for each
// combination of the values of some columns (none: over all rows):
//
//   - of: the values of these columns
//   - error: rel_err, rel_err_fully_assoc or rel_err_model, as in Compare
//   - rows: how many rows have it
//   - median_abs, p90_abs, worst_abs: of its absolute value
//   - mean_abs_to_1: its mean, errors above 1 counted as 1, so that a few counts
//     that should be nearly zero do not decide it
func Accuracy(df dataframe.DataFrame, by ...string) (dataframe.DataFrame, error) {
	key := make([]string, df.Nrow())
	for _, name := range by {
		values, err := frame.Strings(df, name)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for i, v := range values {
			key[i] = strings.TrimSpace(key[i] + " " + v)
		}
	}
	var groups []string
	for _, k := range key {
		if !slices.Contains(groups, k) {
			groups = append(groups, k)
		}
	}
	var rows []accuracyRow
	for _, column := range []string{"rel_err", "rel_err_fully_assoc", "rel_err_model"} {
		errs, err := frame.Floats(df, column)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for _, g := range groups {
			if row := newAccuracy(errs, func(i int) bool { return key[i] == g }); row.Rows > 0 {
				row.Of, row.Error = g, column
				rows = append(rows, row)
			}
		}
	}
	return frame.Of(rows), nil
}

// newAccuracy sums up those errors that are wanted and not missing.
func newAccuracy(errs []float64, want func(i int) bool) accuracyRow {
	var abs []float64
	sum := 0.0
	for i, e := range errs {
		if want(i) && !math.IsNaN(e) {
			abs = append(abs, math.Abs(e))
			sum += math.Min(1, math.Abs(e))
		}
	}
	if len(abs) == 0 {
		return accuracyRow{}
	}
	slices.Sort(abs)
	n := len(abs)
	return accuracyRow{Rows: n, Median: num.Median(abs), Mean: sum / float64(n), P90: abs[(n*9-1)/10], Worst: abs[n-1]}
}
