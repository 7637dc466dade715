package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/internal/order"
	"presage/perf/spmv"
	"presage/perf/store"
)

// Model holds a model of performance and one of power for each matrix.
type Model struct {
	Matrices []string // in the order of their samples
	Models   map[string]*spmv.Models

	samples []Sample
	seen    []spmv.Observation // of each sample
}

// FitOptions say how models are fitted.
type FitOptions struct {
	spmv.ModelOptions
	Store *store.Store // keeps the terms of the models; nil: the default store
}

// Fit fits models to the samples of each matrix that have the role Train: one for
// performance and one for power, whose terms a genetic search chooses.
func Fit(ctx context.Context, samples []Sample, opt FitOptions) (*Model, error) {
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	m := &Model{Models: make(map[string]*spmv.Models), samples: samples}
	train := make(map[string][]spmv.Observation)
	for i := range samples {
		s := &samples[i]
		seen, err := s.observation()
		if err != nil {
			return nil, fmt.Errorf("perf: spmv: row %d: %w", i+1, err)
		}
		m.seen = append(m.seen, seen)
		if !slices.Contains(m.Matrices, s.Matrix) {
			m.Matrices = append(m.Matrices, s.Matrix)
		}
		if s.Role == Train {
			train[s.Matrix] = append(train[s.Matrix], seen)
		}
	}
	for _, name := range m.Matrices {
		if len(train[name]) == 0 {
			return nil, fmt.Errorf("perf: spmv: matrix %s has no samples of the role train", name)
		}
		if m.Models[name], err = fitMatrix(ctx, train[name], opt.ModelOptions, st); err != nil {
			return nil, fmt.Errorf("perf: matrix %s: %w", name, err)
		}
	}
	return m, nil
}

// fitMatrix fits the models of a matrix, with terms from the store if it has them.
func fitMatrix(ctx context.Context, train []spmv.Observation, opt spmv.ModelOptions, st *store.Store) (*spmv.Models, error) {
	key, err := store.NewKey("spmv-specs", specsVersion, struct {
		Train []spmv.Observation
		Opt   spmv.ModelOptions
	}{train, opt})
	if err != nil {
		return nil, err
	}
	specs, err := store.Memo(st, key, func() (spmv.Specs, error) { // a damaged entry is found anew
		return spmv.SearchSpecs(ctx, train, opt)
	})
	if err != nil {
		return nil, err
	}
	return spmv.FitModels(train, specs.Value)
}

// specsVersion is part of the key of stored terms: raise it when the search
// changes.
const specsVersion = 2

// Prediction is a sample beside the model's prediction. Errors are relative to the
// simulation.
type Prediction struct {
	Sample
	PredMflops  float64 `frame:"pred_mflop_per_sec"`
	MflopsError float64 `frame:"mflop_rel_err"`
	PredWatts   float64 `frame:"pred_power_watt"`
	WattsError  float64 `frame:"power_rel_err"`
}

// Predictions predicts all samples that the model was fitted to or is judged by.
func (m *Model) Predictions() ([]Prediction, error) {
	rows := make([]Prediction, len(m.samples))
	for _, name := range m.Matrices {
		var at []int
		var seen []spmv.Observation
		for i := range m.samples {
			if m.samples[i].Matrix == name {
				at, seen = append(at, i), append(seen, m.seen[i])
			}
		}
		predicted, err := m.Models[name].Predict(seen)
		if err != nil {
			return nil, err
		}
		for k, i := range at {
			p := &predicted[k]
			rows[i] = Prediction{m.samples[i], p.Mflops, p.Mflops/seen[k].Mflops - 1, p.Watts, p.Watts/seen[k].Watts - 1}
		}
	}
	return rows, nil
}

// AccuracyRow sums up the absolute relative errors of predictions for a matrix:
// medians and 90th percentiles.
type AccuracyRow struct {
	Matrix       string  `frame:"matrix"`
	Rows         int     `frame:"samples"`
	MflopsMedian float64 `frame:"mflop_median_abs_rel_err"`
	MflopsHigh   float64 `frame:"mflop_p90_abs_rel_err"`
	WattsMedian  float64 `frame:"power_median_abs_rel_err"`
	WattsHigh    float64 `frame:"power_p90_abs_rel_err"`
}

// Accuracy sums up the predictions of a role for each matrix.
func Accuracy(predictions []Prediction, role string) []AccuracyRow {
	var matrices []string
	speed, power := make(map[string][]float64), make(map[string][]float64)
	for i := range predictions {
		p := &predictions[i]
		if p.Role != role {
			continue
		}
		if speed[p.Matrix] == nil {
			matrices = append(matrices, p.Matrix)
		}
		speed[p.Matrix] = append(speed[p.Matrix], math.Abs(p.MflopsError))
		power[p.Matrix] = append(power[p.Matrix], math.Abs(p.WattsError))
	}
	var rows []AccuracyRow
	for _, name := range matrices {
		s, p := speed[name], power[name]
		slices.Sort(s)
		slices.Sort(p)
		rows = append(rows, AccuracyRow{name, len(s), order.Quantile(s, 0.5), order.Quantile(s, 0.9), order.Quantile(p, 0.5), order.Quantile(p, 0.9)})
	}
	return rows
}

// BestShape compares block sizes of a matrix on the baseline's caches.
type BestShape struct {
	Matrix     string  `frame:"matrix"`
	Best       string  `frame:"sim_best"`  // the fastest, simulated
	Predicted  string  `frame:"pred_best"` // the one that the model takes for it
	Plain      float64 `frame:"sim_1x1_mflop_per_sec"`
	BestMflops float64 `frame:"sim_best_mflop_per_sec"`
	PredMflops float64 `frame:"sim_pred_best_mflop_per_sec"`
	Ratio      float64 `frame:"pred_best_over_best"`
}

// BestShapes returns, for each matrix, the block size that is the fastest on the
// baseline's caches by simulation, and the one that is by prediction.
func (m *Model) BestShapes() ([]BestShape, error) {
	var rows []BestShape
	for _, name := range m.Matrices {
		var seen []spmv.Observation
		for i := range m.samples {
			if s := &m.samples[i]; s.Matrix == name && s.Role == Baseline {
				seen = append(seen, m.seen[i])
			}
		}
		if len(seen) != len(spmv.Shapes()) {
			return nil, fmt.Errorf("perf: spmv: matrix %s has %d samples of the role baseline, want all %d block sizes", name, len(seen), len(spmv.Shapes()))
		}
		predicted, err := m.Models[name].Predict(seen)
		if err != nil {
			return nil, err
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
		rows = append(rows, BestShape{
			name, seen[best].Point.Shape.String(), seen[taken].Point.Shape.String(),
			seen[0].Mflops, seen[best].Mflops, seen[taken].Mflops, seen[taken].Mflops / seen[best].Mflops,
		})
	}
	return rows, nil
}
