package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/cache"
	"presage/perf/frame"
	"presage/perf/spmv"
	"presage/perf/store"
)

// Model holds the models of each matrix of a table of SpMVSamples, fitted to
// its rows of the role train.
type Model struct {
	Matrices []string
	Models   map[string]*spmv.Models

	samples dataframe.DataFrame
	rows    []sample
}

// sample is a row of the table as a model sees it.
type sample struct {
	matrix, role string
	seen         spmv.Observation
}

// FitSpMV fits models to a table of SpMVSamples: of each matrix one for
// performance and one for power, whose terms a genetic search chooses by the
// training samples alone. What it chose is kept in the default store.
func FitSpMV(ctx context.Context, samples dataframe.DataFrame, opt spmv.ModelOptions) (*Model, error) {
	st, err := store.Default()
	if err != nil {
		return nil, err
	}
	return fitSpMV(ctx, samples, opt, st)
}

func fitSpMV(ctx context.Context, samples dataframe.DataFrame, opt spmv.ModelOptions, st *store.Store) (*Model, error) {
	rows, err := sampleRows(samples)
	if err != nil {
		return nil, err
	}
	m := &Model{Models: make(map[string]*spmv.Models), samples: samples, rows: rows}
	train := make(map[string][]spmv.Observation)
	for _, r := range rows {
		if !slices.Contains(m.Matrices, r.matrix) {
			m.Matrices = append(m.Matrices, r.matrix)
		}
		if r.role == "train" {
			train[r.matrix] = append(train[r.matrix], r.seen)
		}
	}
	for _, name := range m.Matrices {
		if len(train[name]) == 0 {
			return nil, fmt.Errorf("perf: spmv: matrix %s has no samples of the role train", name)
		}
		key, err := store.NewKey("spmv-specs", specsVersion, struct {
			Train []spmv.Observation
			Opt   spmv.ModelOptions
		}{train[name], opt})
		if err != nil {
			return nil, err
		}
		specs, err := store.Memo(st, key, func() (spmv.Specs, error) { // a damaged entry is found anew
			return spmv.SearchSpecs(ctx, train[name], opt)
		})
		if err != nil {
			return nil, fmt.Errorf("perf: matrix %s: %w", name, err)
		}
		if m.Models[name], err = spmv.FitModels(train[name], specs.Value); err != nil {
			return nil, fmt.Errorf("perf: matrix %s: %w", name, err)
		}
	}
	return m, nil
}

// specsVersion is part of the key of stored terms: raise it when the search
// changes.
const specsVersion = 2

// sampleRows reads the rows of a table of SpMVSamples.
func sampleRows(df dataframe.DataFrame) ([]sample, error) {
	n := df.Nrow()
	number := make(map[string][]float64)
	for _, name := range []string{
		"block_rows", "block_columns", "fill_ratio", "line_bytes", "data_bytes", "data_ways", "instr_bytes", "instr_ways",
		"sim_mflop_per_sec", "sim_power_watt",
	} {
		values, err := frame.Floats(df, name)
		if err != nil {
			return nil, err
		}
		number[name] = values
	}
	text := make(map[string][]string)
	for _, name := range []string{"matrix", "role", "data_replacement", "instr_replacement"} {
		values, err := frame.Strings(df, name)
		if err != nil {
			return nil, err
		}
		text[name] = values
	}
	rows := make([]sample, n)
	for i := range rows {
		is := func(name string) int { return int(number[name][i]) }
		data, err := replacementOf(text["data_replacement"][i])
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: row %d: %w", i+1, err)
		}
		instr, err := replacementOf(text["instr_replacement"][i])
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: row %d: %w", i+1, err)
		}
		p := spmv.Point{
			Shape: spmv.Shape{R: is("block_rows"), C: is("block_columns")},
			Hardware: spmv.Hardware{
				LineBytes: is("line_bytes"),
				DataBytes: is("data_bytes"), DataWays: is("data_ways"), DataPolicy: data,
				InstrBytes: is("instr_bytes"), InstrWays: is("instr_ways"), InstrPolicy: instr,
			},
		}
		if err := p.Shape.Check(); err != nil {
			return nil, fmt.Errorf("perf: row %d: %w", i+1, err)
		}
		if err := p.Hardware.Check(); err != nil {
			return nil, fmt.Errorf("perf: row %d: %w", i+1, err)
		}
		rows[i] = sample{text["matrix"][i], text["role"][i], spmv.Observation{
			Point: p, FillRatio: number["fill_ratio"][i], Mflops: number["sim_mflop_per_sec"][i], Watts: number["sim_power_watt"][i],
		}}
	}
	return rows, nil
}

func replacementOf(name string) (cache.Replacement, error) {
	for _, r := range []cache.Replacement{cache.LRU, cache.NMRU, cache.Random} {
		if r.String() == name {
			return r, nil
		}
	}
	return 0, fmt.Errorf("replacement %q: want LRU, NMRU or random", name)
}

// Predictions returns the table that the models were fitted to with further
// columns: pred_mflop_per_sec, pred_power_watt, and their errors,
// mflop_rel_err and power_rel_err.
func (m *Model) Predictions() (dataframe.DataFrame, error) {
	speed, power := make([]float64, len(m.rows)), make([]float64, len(m.rows))
	speedErr, powerErr := make([]float64, len(m.rows)), make([]float64, len(m.rows))
	for _, name := range m.Matrices {
		var at []int
		var seen []spmv.Observation
		for i, r := range m.rows {
			if r.matrix == name {
				at, seen = append(at, i), append(seen, r.seen)
			}
		}
		predicted, err := m.Models[name].Predict(seen)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for k, i := range at {
			speed[i], power[i] = predicted[k].Mflops, predicted[k].Watts
			speedErr[i], powerErr[i] = speed[i]/seen[k].Mflops-1, power[i]/seen[k].Watts-1
		}
	}
	df := frame.WithFloats(m.samples, "pred_mflop_per_sec", speed)
	df = frame.WithFloats(df, "mflop_rel_err", speedErr)
	df = frame.WithFloats(df, "pred_power_watt", power)
	return frame.WithFloats(df, "power_rel_err", powerErr), nil
}

// Accuracy sums up a table of Predictions for the rows of a role, a row a
// matrix: the median and the 90th percentile of the absolute relative errors of
// performance and of power.
func Accuracy(predictions dataframe.DataFrame, role string) (dataframe.DataFrame, error) {
	type row struct {
		Matrix      string  `frame:"matrix"`
		Rows        int     `frame:"samples"`
		SpeedMedian float64 `frame:"mflop_median_abs_rel_err"`
		SpeedHigh   float64 `frame:"mflop_p90_abs_rel_err"`
		PowerMedian float64 `frame:"power_median_abs_rel_err"`
		PowerHigh   float64 `frame:"power_p90_abs_rel_err"`
	}
	df, err := frame.Where(predictions, "role", role)
	if err != nil {
		return df, err
	}
	matrix, err := frame.Strings(df, "matrix")
	if err != nil {
		return df, err
	}
	speed, err := frame.Floats(df, "mflop_rel_err")
	if err != nil {
		return df, err
	}
	power, err := frame.Floats(df, "power_rel_err")
	if err != nil {
		return df, err
	}
	var rows []row
	for at := 0; at < len(matrix); {
		var s, p []float64
		name := matrix[at]
		for ; at < len(matrix) && matrix[at] == name; at++ {
			s, p = append(s, math.Abs(speed[at])), append(p, math.Abs(power[at]))
		}
		slices.Sort(s)
		slices.Sort(p)
		rows = append(rows, row{name, len(s), quantile(s, 0.5), quantile(s, 0.9), quantile(p, 0.5), quantile(p, 0.9)})
	}
	return frame.Of(rows), nil
}

// BestShapes says, for each matrix, which block size is the fastest on the
// baseline's caches by simulation of all 64, which the model takes for it, and
// how fast that is in comparison.
func (m *Model) BestShapes() (dataframe.DataFrame, error) {
	type row struct {
		Matrix    string  `frame:"matrix"`
		Best      string  `frame:"sim_best"`
		Predicted string  `frame:"pred_best"`
		Plain     float64 `frame:"sim_1x1_mflop_per_sec"`
		BestFlops float64 `frame:"sim_best_mflop_per_sec"`
		PredFlops float64 `frame:"sim_pred_best_mflop_per_sec"`
		Ratio     float64 `frame:"pred_best_over_best"`
	}
	var rows []row
	for _, name := range m.Matrices {
		var seen []spmv.Observation
		for _, r := range m.rows {
			if r.matrix == name && r.role == "baseline" {
				seen = append(seen, r.seen)
			}
		}
		if len(seen) != len(spmv.Shapes()) {
			return dataframe.DataFrame{}, fmt.Errorf("perf: spmv: matrix %s has %d samples of the role baseline, want all %d block sizes", name, len(seen), len(spmv.Shapes()))
		}
		predicted, err := m.Models[name].Predict(seen)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		best, taken := 0, 0
		for i := range seen {
			if seen[i].Mflops > seen[best].Mflops {
				best = i
			}
			if predicted[i].Mflops > predicted[taken].Mflops {
				taken = i
			}
		}
		rows = append(rows, row{
			name, seen[best].Point.Shape.String(), seen[taken].Point.Shape.String(),
			seen[0].Mflops, seen[best].Mflops, seen[taken].Mflops, seen[taken].Mflops / seen[best].Mflops,
		})
	}
	return frame.Of(rows), nil
}

// quantile returns the q-quantile of sorted values, between neighbours in
// proportion.
func quantile(sorted []float64, q float64) float64 {
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
