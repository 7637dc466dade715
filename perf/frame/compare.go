package frame

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/internal/num"
	"presage/perf/internal/order"
)

// Common returns the columns that both tables have, in the order of a.
func Common(a, b dataframe.DataFrame) []string {
	var names []string
	for _, name := range a.Names() {
		if slices.Contains(b.Names(), name) {
			names = append(names, name)
		}
	}
	return names
}

// Overlay returns left with the columns of right beside it, joined by all the
// columns that both have, and keeps the rows of left that agree with none of
// right: a curve with the points that were checked.
func Overlay(left, right dataframe.DataFrame) (dataframe.DataFrame, error) {
	return LeftJoin(left, right, Common(left, right)...)
}

// An ErrorColumn is a column of relative errors, (Pred - Ref) / Ref.
type ErrorColumn struct{ Pred, Ref, Name string }

// WithErrors returns df with columns of relative errors added. An error relative
// to 0 is infinite, or 0 if the prediction is 0 too.
func WithErrors(df dataframe.DataFrame, columns ...ErrorColumn) (dataframe.DataFrame, error) {
	for _, c := range columns {
		pred, err := Floats(df, c.Pred)
		if err != nil {
			return df, err
		}
		ref, err := Floats(df, c.Ref)
		if err != nil {
			return df, err
		}
		errs := make([]float64, len(pred))
		for i := range pred {
			errs[i] = num.RelErr(pred[i], ref[i])
		}
		df = WithFloats(df, c.Name, errs)
	}
	return df, nil
}

// Median returns the median of the absolute values of a column, leaving out
// missing ones: the headline of a column of relative errors. It is NaN if there
// are none.
func Median(df dataframe.DataFrame, column string) (float64, error) {
	values, err := Floats(df, column)
	if err != nil {
		return math.NaN(), err
	}
	abs := magnitudes(values)
	if len(abs) == 0 {
		return math.NaN(), nil
	}
	return order.Median(abs), nil
}

// magnitudes returns the absolute values of those that are not missing,
// ascending.
func magnitudes(values []float64) []float64 {
	var abs []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			abs = append(abs, math.Abs(v))
		}
	}
	slices.Sort(abs)
	return abs
}

// ErrorSummary sums up a column of relative errors over the rows of a group.
type ErrorSummary struct {
	Of     string  `frame:"of"`            // the group: values of the columns that it was made by
	Error  string  `frame:"error"`         // the column
	Rows   int     `frame:"rows"`          // that have the error
	Median float64 `frame:"median_abs"`    // of its absolute value
	Mean   float64 `frame:"mean_abs_to_1"` // likewise, errors above 1 counted as 1
	P90    float64 `frame:"p90_abs"`       // likewise
	Worst  float64 `frame:"worst_abs"`     // likewise
}

// SummarizeErrors sums up columns of relative errors for each combination of the
// values of the columns by, or over all rows if there are none. Missing errors
// are left out, and so are groups without any.
func SummarizeErrors(df dataframe.DataFrame, columns []string, by ...string) ([]ErrorSummary, error) {
	key := make([]string, df.Nrow())
	for _, name := range by {
		values, err := Strings(df, name)
		if err != nil {
			return nil, err
		}
		for i, v := range values {
			key[i] = strings.TrimSpace(key[i] + " " + v)
		}
	}
	var rows []ErrorSummary
	for _, column := range columns {
		errs, err := Floats(df, column)
		if err != nil {
			return nil, err
		}
		groups := make(map[string][]float64)
		var names []string
		for i, k := range key {
			if _, ok := groups[k]; !ok {
				names = append(names, k)
			}
			groups[k] = append(groups[k], errs[i])
		}
		for _, name := range names {
			if row := summarize(groups[name]); row.Rows > 0 {
				row.Of, row.Error = name, column
				rows = append(rows, row)
			}
		}
	}
	return rows, nil
}

func summarize(errs []float64) ErrorSummary {
	abs := magnitudes(errs)
	n := len(abs)
	if n == 0 {
		return ErrorSummary{}
	}
	sum := 0.0
	for _, e := range errs {
		if !math.IsNaN(e) {
			sum += math.Min(1, math.Abs(e))
		}
	}
	return ErrorSummary{Rows: n, Median: order.Median(abs), Mean: sum / float64(n), P90: abs[(n*9-1)/10], Worst: abs[n-1]}
}

// DivideBy returns df with a column added for each of some columns, called
// column_per_unit: the column divided by the divisors, row by row.
func DivideBy(df dataframe.DataFrame, divisors []float64, unit string, columns ...string) (dataframe.DataFrame, error) {
	if len(divisors) != df.Nrow() {
		return df, fmt.Errorf("frame: %d divisors for %d rows", len(divisors), df.Nrow())
	}
	for _, column := range columns {
		values, err := Floats(df, column)
		if err != nil {
			return df, err
		}
		for i := range values {
			values[i] /= divisors[i]
		}
		df = WithFloats(df, column+"_per_"+unit, values)
	}
	return df, nil
}
