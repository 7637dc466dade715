package misses

import (
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/subject"
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
	both, err := frame.Join(predicted, simulated, common(predicted, simulated)...)
	if err != nil {
		return both, fmt.Errorf("perf: compare: %w", err)
	}
	for _, c := range []struct{ pred, sim, name string }{
		{"pred_misses", "sim_misses", "rel_err"},
		{"pred_misses_fully_assoc", "sim_misses", "rel_err_fully_assoc"},
		{"pred_misses_fully_assoc", "sim_misses_fully_assoc", "rel_err_model"},
	} {
		pred, err := frame.Floats(both, c.pred)
		if err != nil {
			return both, fmt.Errorf("perf: compare: %w", err)
		}
		sim, err := frame.Floats(both, c.sim)
		if err != nil {
			return both, fmt.Errorf("perf: compare: %w", err)
		}
		errs := make([]float64, len(pred))
		for i := range pred {
			errs[i] = relErr(pred[i], sim[i])
		}
		both = frame.WithFloats(both, c.name, errs)
	}
	return both, nil
}

// Overlay puts simulated misses beside predicted ones and keeps the predictions
// that have no simulation: what a figure draws as points on a curve.
func Overlay(predicted, simulated dataframe.DataFrame) (dataframe.DataFrame, error) {
	return frame.LeftJoin(predicted, simulated, common(predicted, simulated)...)
}

// common returns the columns that both tables have.
func common(a, b dataframe.DataFrame) []string {
	var names []string
	for _, name := range a.Names() {
		if slices.Contains(b.Names(), name) {
			names = append(names, name)
		}
	}
	return names
}

func relErr(pred, ref float64) float64 {
	if pred == ref {
		return 0
	}
	return (pred - ref) / ref
}

// PerUnit adds, for each of columns, the column divided by units: pred_misses
// gives pred_misses_per_cell if unit is "cell". Without columns it takes each
// column of misses that df has. units is an expression over df's columns, such as
// "n^3 * 6" for the cells and iterations of a mesh of n cells a side.
func PerUnit(df dataframe.DataFrame, unit, units string, columns ...string) (dataframe.DataFrame, error) {
	term, err := fit.ParseTerm(units)
	if err != nil {
		return df, fmt.Errorf("perf: units: %w", err)
	}
	values := make(map[string][]float64)
	for _, name := range term.Params() {
		if values[name], err = frame.Floats(df, name); err != nil {
			return df, fmt.Errorf("perf: units %q: %w", units, err)
		}
	}
	divisors := make([]float64, df.Nrow())
	for i := range divisors {
		point := make(fit.Point)
		for name, column := range values {
			point[name] = column[i]
		}
		divisors[i] = term.Eval(point)
		if !(divisors[i] > 0) || math.IsInf(divisors[i], 0) {
			return df, fmt.Errorf("perf: units %q are %g at %s", units, divisors[i], subject.Point(point))
		}
	}
	if len(columns) == 0 {
		columns = slices.DeleteFunc(
			[]string{"pred_misses", "pred_misses_low", "pred_misses_high", "pred_misses_fully_assoc", "sim_misses", "sim_misses_fully_assoc"},
			func(column string) bool { return !slices.Contains(df.Names(), column) })
	}
	for _, column := range columns {
		values, err := frame.Floats(df, column)
		if err != nil {
			return df, err
		}
		for i := range values {
			values[i] /= divisors[i]
		}
		df = frame.WithFloats(df, column+"_per_"+unit, values)
	}
	return df, nil
}

// Median returns the median of the absolute values of a column, leaving out
// missing ones: the headline of a column of relative errors. It is NaN if there
// are none.
func Median(df dataframe.DataFrame, column string) (float64, error) {
	values, err := frame.Floats(df, column)
	if err != nil {
		return math.NaN(), err
	}
	var abs []float64
	for _, v := range values {
		if !math.IsNaN(v) {
			abs = append(abs, math.Abs(v))
		}
	}
	if len(abs) == 0 {
		return math.NaN(), nil
	}
	slices.Sort(abs)
	return num.Median(abs), nil
}

// CompareTime puts simulated or measured times beside predicted ones, a row for
// each that both tables have:
//
//   - rel_err_cycles: (pred_cycles - sim_cycles) / sim_cycles, if reference is of
//     SimulateTime
//   - rel_err_time: (pred_time_sec - meas_time_sec) / meas_time_sec, if it is of
//     Measure
func CompareTime(predicted, reference dataframe.DataFrame) (dataframe.DataFrame, error) {
	both, err := frame.Join(predicted, reference, common(predicted, reference)...)
	if err != nil {
		return both, fmt.Errorf("perf: compare times: %w", err)
	}
	some := false
	for _, c := range []struct{ pred, ref, name string }{
		{"pred_cycles", "sim_cycles", "rel_err_cycles"},
		{"pred_time_sec", "meas_time_sec", "rel_err_time"},
	} {
		if !slices.Contains(reference.Names(), c.ref) {
			continue
		}
		pred, err := frame.Floats(both, c.pred)
		if err != nil {
			return both, fmt.Errorf("perf: compare times: %w", err)
		}
		ref, err := frame.Floats(both, c.ref)
		if err != nil {
			return both, fmt.Errorf("perf: compare times: %w", err)
		}
		errs := make([]float64, len(pred))
		for i := range pred {
			errs[i] = relErr(pred[i], ref[i])
		}
		both, some = frame.WithFloats(both, c.name, errs), true
	}
	if !some {
		return both, fmt.Errorf("perf: compare times: the reference has neither sim_cycles nor meas_time_sec; it has %v", reference.Names())
	}
	return both, nil
}
