package perf

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
)

// Compare puts simulated misses beside predicted ones, a row for each that both
// tables have, with relative errors (predicted - simulated) / simulated:
//
//   - rel_err: of pred_misses, against sim_misses
//   - rel_err_fully_assoc: of pred_misses_fully_assoc, against sim_misses: what
//     is lost by leaving conflicts out
//   - rel_err_model: of pred_misses_fully_assoc, against
//     sim_misses_fully_assoc: the error of the models alone; missing where that
//     was not simulated
//
// An error relative to no misses at all is infinite, or 0 if none were
// predicted either.
func Compare(predicted, simulated dataframe.DataFrame) (dataframe.DataFrame, error) {
	both, err := frame.Join(predicted, simulated, frame.Common(predicted, simulated)...)
	if err == nil {
		both, err = frame.WithErrors(
			both,
			frame.ErrorColumn{Pred: "pred_misses", Ref: "sim_misses", Name: "rel_err"},
			frame.ErrorColumn{Pred: "pred_misses_fully_assoc", Ref: "sim_misses", Name: "rel_err_fully_assoc"},
			frame.ErrorColumn{Pred: "pred_misses_fully_assoc", Ref: "sim_misses_fully_assoc", Name: "rel_err_model"},
		)
	}
	if err != nil {
		return both, fmt.Errorf("perf: compare: %w", err)
	}
	return both, nil
}

// CompareTime puts simulated or measured times beside predicted ones, a row for
// each that both tables have:
//
//   - rel_err_cycles: (pred_cycles - sim_cycles) / sim_cycles, if reference is of
//     SimulateTime
//   - rel_err_time: (pred_time_sec - meas_time_sec) / meas_time_sec, if it is of
//     Measure
func CompareTime(predicted, reference dataframe.DataFrame) (dataframe.DataFrame, error) {
	both, err := frame.Join(predicted, reference, frame.Common(predicted, reference)...)
	if err != nil {
		return both, fmt.Errorf("perf: compare times: %w", err)
	}
	var columns []frame.ErrorColumn
	for _, c := range []frame.ErrorColumn{
		{Pred: "pred_cycles", Ref: "sim_cycles", Name: "rel_err_cycles"},
		{Pred: "pred_time_sec", Ref: "meas_time_sec", Name: "rel_err_time"},
	} {
		if slices.Contains(reference.Names(), c.Ref) {
			columns = append(columns, c)
		}
	}
	if len(columns) == 0 {
		return both, fmt.Errorf("perf: compare times: the reference has neither sim_cycles nor meas_time_sec; it has %v", reference.Names())
	}
	if both, err = frame.WithErrors(both, columns...); err != nil {
		return both, fmt.Errorf("perf: compare times: %w", err)
	}
	return both, nil
}

// Overlay puts simulated misses beside predicted ones and keeps the predictions
// that have no simulation: what a figure draws as points on a curve.
func Overlay(predicted, simulated dataframe.DataFrame) (dataframe.DataFrame, error) {
	return frame.Overlay(predicted, simulated)
}

// Accuracy sums up the errors of a table of Compare or Validate, for each
// combination of the values of some columns (none: over all rows).
// frame.ErrorSummary describes the columns.
func Accuracy(df dataframe.DataFrame, by ...string) (dataframe.DataFrame, error) {
	return table(frame.SummarizeErrors(df, []string{"rel_err", "rel_err_fully_assoc", "rel_err_model"}, by...))
}

// PerUnit adds, for each of columns, the column divided by units: pred_misses
// gives pred_misses_per_cell if unit is "cell". Without columns it takes each
// column of misses that df has. units is an expression over df's columns, such as
// "n^3 * 6" for the cells and iterations of a mesh of n cells a side.
func PerUnit(df dataframe.DataFrame, unit, units string, columns ...string) (dataframe.DataFrame, error) {
	divisors, err := evaluate(df, units)
	if err != nil {
		return df, err
	}
	if len(columns) == 0 {
		columns = slices.DeleteFunc(
			[]string{"pred_misses", "pred_misses_low", "pred_misses_high", "pred_misses_fully_assoc", "sim_misses", "sim_misses_fully_assoc"},
			func(column string) bool { return !slices.Contains(df.Names(), column) })
	}
	return frame.DivideBy(df, divisors, unit, columns...)
}

// evaluate returns an expression over the columns of df in each row. It returns an
// error if the value of a row is not above 0 and finite.
func evaluate(df dataframe.DataFrame, expression string) ([]float64, error) {
	term, err := fit.ParseTerm(expression)
	if err != nil {
		return nil, fmt.Errorf("perf: units: %w", err)
	}
	columns := make(map[string][]float64)
	for _, name := range term.Params() {
		if columns[name], err = frame.Floats(df, name); err != nil {
			return nil, fmt.Errorf("perf: units %q: %w", expression, err)
		}
	}
	values := make([]float64, df.Nrow())
	for i := range values {
		point := make(fit.Point)
		for name, column := range columns {
			point[name] = column[i]
		}
		values[i] = term.Eval(point)
		if !(values[i] > 0) || math.IsInf(values[i], 0) {
			return nil, fmt.Errorf("perf: units %q are %g at %s", expression, values[i], Point(point))
		}
	}
	return values, nil
}
