package sparse

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/spmv"
)

// spmvTuned is a row of the table of Tune.
type spmvTuned struct {
	Matrix       string  `frame:"matrix"`
	StandIn      bool    `frame:"stand_in"`
	Objective    string  `frame:"objective"`
	Strategy     string  `frame:"strategy"`
	Search       string  `frame:"search"`
	Evaluated    int     `frame:"predicted_points"`
	Verified     int     `frame:"simulated_points"`
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"`
	LineBytes    int     `frame:"line_bytes"`
	DataBytes    int     `frame:"data_bytes"`
	DataWays     int     `frame:"data_ways"`
	DataPolicy   string  `frame:"data_replacement"`
	InstrBytes   int     `frame:"instr_bytes"`
	InstrWays    int     `frame:"instr_ways"`
	InstrPolicy  string  `frame:"instr_replacement"`
	PredFlops    float64 `frame:"pred_mflop_per_sec"`
	PredWatts    float64 `frame:"pred_power_watt"`
	Flops        float64 `frame:"sim_mflop_per_sec"`
	Watts        float64 `frame:"sim_power_watt"`
	EnergyFlop   float64 `frame:"sim_energy_nj_per_flop"`
	Cycles       float64 `frame:"sim_cycles"`
	Misses       float64 `frame:"sim_misses"`
	Writebacks   float64 `frame:"sim_writebacks"`
}

// spmvVerify is how many of the best predicted points are simulated.
const spmvVerify = 12

// Tune tunes each matrix from 1×1 blocks on spmv.Baseline: its block size
// (application), its caches (architecture) and both (coordinated; 2012, section
// 5.3), for performance and for energy. The table has a row for each objective,
// strategy and search:
//
//   - search: exhaustive, over all points by the model; the best of the best
//     predicted, simulated_points of them, by simulation. greedy: one parameter
//     at a time by the model; its end simulated. simulated: of application, the
//     best of all 64 block sizes by simulation alone. none: the baseline, where tuning
//     begins, and the same with lines of 16 bytes (short lines)
//   - predicted_points: how many the model was asked about
//   - the point, its pred_ and its sim_ performance and power, and the energy
func (m *Model) Tune(ctx context.Context, matrices []*spmv.Matrix, opt Options) (dataframe.DataFrame, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []spmvTuned
	for _, matrix := range matrices {
		models := m.Models[matrix.Name]
		if models == nil {
			return dataframe.DataFrame{}, fmt.Errorf("perf: spmv: there is no model of matrix %s", matrix.Name)
		}
		t := tuning{matrix: matrix, models: models, opt: opt, fill: spmv.CountFill(matrix)}
		if err := t.all(ctx); err != nil {
			return dataframe.DataFrame{}, err
		}
		rows = append(rows, t.rows...)
	}
	return frame.Of(rows), nil
}

// tuning is the tuning of one matrix.
type tuning struct {
	matrix *spmv.Matrix
	models *spmv.Models
	opt    Options
	fill   *spmv.Fill
	rows   []spmvTuned
}

// plain is where tuning begins.
func (t *tuning) plain() spmv.Point {
	return spmv.Point{Shape: spmv.Shape{R: 1, C: 1}, Hardware: spmv.Baseline()}
}

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

func (t *tuning) tune(ctx context.Context, tuner *spmv.Tuner, strategy spmv.Strategy) error {
	exhaustive, err := tuner.Exhaustive(ctx, strategy, spmvVerify)
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

// add simulates what a search found, and adds a row for the best.
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
	row := newSpMVRow(t.matrix, "", o)
	t.rows = append(t.rows, spmvTuned{
		Matrix: row.Matrix, StandIn: row.StandIn, Objective: objective.String(), Strategy: strategy, Search: search,
		Evaluated: found.Evaluated, Verified: len(points),
		BlockRows: row.BlockRows, BlockColumns: row.BlockColumns, FillRatio: row.FillRatio, LineBytes: row.LineBytes,
		DataBytes: row.DataBytes, DataWays: row.DataWays, DataPolicy: row.DataPolicy,
		InstrBytes: row.InstrBytes, InstrWays: row.InstrWays, InstrPolicy: row.InstrPolicy,
		PredFlops: p.Mflops, PredWatts: p.Watts, Flops: row.Mflops, Watts: row.Watts, EnergyFlop: row.EnergyFlop,
		Cycles: row.Cycles, Misses: row.Misses, Writebacks: row.Writebacks,
	})
	return nil
}

// Native times the 64 kernels natively for each matrix and predicts their
// times from those of a dense matrix in the same blocks and a sampled estimate of
// the fill ratios, as OSKI does. The table has a row for each block size:
//
//   - fill_ratio; est_fill_ratio, from a share of the rows
//   - meas_mflop_per_sec, and meas_spread, between passes, of the time
//   - pred_mflop_per_sec: that of the dense matrix divided by est_fill_ratio
func Native(ctx context.Context, matrices []*spmv.Matrix, opt Options, timing spmv.TimeOptions) (dataframe.DataFrame, error) {
	type row struct {
		Matrix       string  `frame:"matrix"`
		StandIn      bool    `frame:"stand_in"`
		BlockRows    int     `frame:"block_rows"`
		BlockColumns int     `frame:"block_columns"`
		FillRatio    float64 `frame:"fill_ratio"`
		Estimate     float64 `frame:"est_fill_ratio"`
		Flops        float64 `frame:"meas_mflop_per_sec"`
		Spread       float64 `frame:"meas_spread"`
		PredFlops    float64 `frame:"pred_mflop_per_sec"`
	}
	opt, err := opt.withDefaults()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	opt.Progress("dense", "native", 0, len(matrices)+1)
	dense, err := spmv.DenseProfile(ctx, timing)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []row
	for i, m := range matrices {
		opt.Progress(m.Name, "native", i+1, len(matrices)+1)
		exact := spmv.CountFill(m)
		estimate, err := spmv.SampleFill(m, opt.Share, opt.Seed)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		timed, err := spmv.Time(ctx, m, timing)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		for k, t := range timed {
			rows = append(rows, row{
				m.Name, m.StandIn, t.Shape.R, t.Shape.C, exact.Ratio(t.Shape), estimate.Ratio(t.Shape),
				t.Mflops(m.NonZeros()), t.Spread, dense[k].Mflops(spmv.DenseEntries) / estimate.Ratio(t.Shape),
			})
		}
	}
	return frame.Of(rows), nil
}

// NativeChoice sums up a table of SpMVNative, a row a matrix: the block size
// that was fastest, the one that is predicted to be, and how fast the latter is in
// comparison with the former and with 1×1.
func NativeChoice(native dataframe.DataFrame) (dataframe.DataFrame, error) {
	type row struct {
		Matrix    string  `frame:"matrix"`
		Best      string  `frame:"meas_best"`
		Predicted string  `frame:"pred_best"`
		Plain     float64 `frame:"meas_1x1_mflop_per_sec"`
		BestFlops float64 `frame:"meas_best_mflop_per_sec"`
		PredFlops float64 `frame:"meas_pred_best_mflop_per_sec"`
		Ratio     float64 `frame:"pred_best_over_best"`
		Gain      float64 `frame:"pred_best_over_1x1"`
	}
	matrix, err := frame.Strings(native, "matrix")
	if err != nil {
		return native, err
	}
	var columns [4][]float64
	for i, name := range []string{"block_rows", "block_columns", "meas_mflop_per_sec", "pred_mflop_per_sec"} {
		if columns[i], err = frame.Floats(native, name); err != nil {
			return native, err
		}
	}
	shape := func(i int) string { return spmv.Shape{R: int(columns[0][i]), C: int(columns[1][i])}.String() }
	meas, pred := columns[2], columns[3]
	var rows []row
	for at := 0; at < len(matrix); {
		first, best, taken := at, at, at
		for ; at < len(matrix) && matrix[at] == matrix[first]; at++ {
			if meas[at] > meas[best] {
				best = at
			}
			if pred[at] > pred[taken] {
				taken = at
			}
		}
		rows = append(rows, row{
			matrix[first], shape(best), shape(taken), meas[first], meas[best], meas[taken],
			meas[taken] / meas[best], meas[taken] / meas[first],
		})
	}
	return frame.Of(rows), nil
}
