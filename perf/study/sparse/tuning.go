package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/spmv"
)

// Tuned is the best that a search found for a matrix.
type Tuned struct {
	Matrix    string `frame:"matrix"`
	StandIn   bool   `frame:"stand_in"`
	Objective string `frame:"objective"` // performance or energy

	// Strategy is what was tuned: application (block size), architecture (caches)
	// or coordinated (both). baseline is where tuning begins, short lines the same
	// with lines of 16 bytes.
	Strategy string `frame:"strategy"`

	// Search is exhaustive, over all points by the model, of which the best
	// predicted were simulated; greedy, one parameter at a time by the model;
	// simulated, over all block sizes by simulation alone; or none.
	Search string `frame:"search"`

	Evaluated int `frame:"predicted_points"`
	Simulated int `frame:"simulated_points"`
	Place
	PredMflops float64 `frame:"pred_mflop_per_sec"`
	PredWatts  float64 `frame:"pred_power_watt"`
	Speed
	Misses     float64 `frame:"sim_misses"` // of data
	Writebacks float64 `frame:"sim_writebacks"`
}

// verified is how many of the best predicted points are simulated.
const verified = 12

// Tune tunes each matrix from 1×1 blocks on spmv.Baseline: its block size
// (application), its caches (architecture) and both (coordinated; 2012, section
// 5.3), for the objectives of opt: a row for each objective, strategy and search.
func (m *Model) Tune(ctx context.Context, matrices []*spmv.Matrix, opt Options) ([]Tuned, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	var rows []Tuned
	for _, matrix := range matrices {
		models := m.Models[matrix.Name]
		if models == nil {
			return nil, fmt.Errorf("perf: spmv: there is no model of matrix %s", matrix.Name)
		}
		t := tuning{matrix: matrix, models: models, opt: opt, fill: spmv.CountFill(matrix)}
		if err := t.all(ctx); err != nil {
			return nil, err
		}
		rows = append(rows, t.rows...)
	}
	return rows, nil
}

// Tuning is what Tune found for one matrix.
type Tuning struct {
	Rows     []Tuned
	Accuracy []AccuracyRow // of the models, on samples of the role Validate
}

// Tune simulates samples of a matrix, fits models to them, and tunes the matrix as
// Model.Tune does.
func Tune(ctx context.Context, m *spmv.Matrix, opt Options) (*Tuning, error) {
	samples, err := Samples(ctx, []*spmv.Matrix{m}, opt)
	if err != nil {
		return nil, err
	}
	model, err := Fit(ctx, samples, FitOptions{Store: opt.Store})
	if err != nil {
		return nil, err
	}
	predictions, err := model.Predictions()
	if err != nil {
		return nil, err
	}
	rows, err := model.Tune(ctx, []*spmv.Matrix{m}, opt)
	if err != nil {
		return nil, err
	}
	return &Tuning{rows, Accuracy(predictions, Validate)}, nil
}

// tuning is the tuning of a matrix under way.
type tuning struct {
	matrix *spmv.Matrix
	models *spmv.Models
	opt    Options
	fill   *spmv.Fill
	rows   []Tuned
}

// plain returns where tuning begins.
func (t *tuning) plain() spmv.Point {
	return spmv.Point{Shape: spmv.Shape{R: 1, C: 1}, Hardware: spmv.Baseline()}
}

// all tunes for all objectives by all strategies.
func (t *tuning) all(ctx context.Context) error {
	begin := &spmv.Found{Best: []spmv.Observation{{Point: t.plain(), FillRatio: 1}}}
	var err error
	if begin.Best, err = t.models.Predict(begin.Best); err != nil {
		return err
	}
	short := &spmv.Found{Best: slices.Clone(begin.Best)}
	short.Best[0].Point.Hardware.LineBytes = 16
	if short.Best, err = t.models.Predict(short.Best); err != nil {
		return err
	}
	for _, objective := range t.opt.Objectives {
		if err := t.add(ctx, objective, "baseline", "none", begin); err != nil {
			return err
		}
		if err := t.add(ctx, objective, "short lines", "none", short); err != nil {
			return err
		}
		tuner := &spmv.Tuner{Models: t.models, FillRatio: t.fill.Ratio, From: t.plain(), Objective: objective}
		for _, strategy := range []spmv.Strategy{spmv.Application, spmv.Architecture, spmv.Coordinated} {
			if err := t.tune(ctx, tuner, strategy); err != nil {
				return err
			}
		}
	}
	return nil
}

// tune tunes by a strategy, with each search.
func (t *tuning) tune(ctx context.Context, tuner *spmv.Tuner, strategy spmv.Strategy) error {
	exhaustive, err := tuner.Exhaustive(ctx, strategy, verified)
	if err != nil {
		return err
	}
	if err := t.add(ctx, tuner.Objective, strategy.String(), "exhaustive", exhaustive); err != nil {
		return err
	}
	greedy, err := tuner.Greedy(ctx, strategy)
	if err != nil {
		return err
	}
	if err := t.add(ctx, tuner.Objective, strategy.String(), "greedy", greedy); err != nil {
		return err
	}
	if strategy != spmv.Application {
		return nil
	}
	all := new(spmv.Found)
	for _, s := range spmv.Shapes() {
		all.Best = append(all.Best, spmv.Observation{Point: spmv.Point{Shape: s, Hardware: tuner.From.Hardware}, FillRatio: t.fill.Ratio(s)})
	}
	if all.Best, err = t.models.Predict(all.Best); err != nil {
		return err
	}
	return t.add(ctx, tuner.Objective, strategy.String(), "simulated", all)
}

// add simulates what a search found, and appends a row for the best.
func (t *tuning) add(ctx context.Context, objective spmv.Objective, strategy, search string, found *spmv.Found) error {
	points := make([]spmv.Point, len(found.Best))
	for i := range points {
		points[i] = found.Best[i].Point
	}
	outcomes, err := simulate(ctx, t.matrix, points, t.opt, strategy+" "+search)
	if err != nil {
		return err
	}
	best, worth := 0, math.Inf(-1)
	for i := range outcomes {
		w := outcomes[i].Mflops
		if objective == spmv.Frugal {
			w = -outcomes[i].JoulesFlop
		}
		if w > worth {
			best, worth = i, w
		}
	}
	o, p := &outcomes[best], &found.Best[best]
	t.rows = append(t.rows, Tuned{
		Matrix: t.matrix.Name, StandIn: t.matrix.StandIn, Objective: objective.String(), Strategy: strategy, Search: search,
		Evaluated: found.Evaluated, Simulated: len(points), Place: placeOf(o), PredMflops: p.Mflops, PredWatts: p.Watts,
		Speed: speedOf(o), Misses: o.DataMisses, Writebacks: o.Writebacks,
	})
	return nil
}
