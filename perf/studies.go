package perf

import (
	"context"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/spmv"
	"presage/perf/study/inferred"
	"presage/perf/study/sparse"
)

// PredictCPIOptions say how PredictCPI surveys a program. The zero value is how the
// recorded model was made.
type PredictCPIOptions = inferred.PredictCPIOptions

// CPIPredictions is what PredictCPI found, with a row in Table for each
// architecture:
//
//   - architecture: its index in the list asked for; then its parameters, by name
//   - core_cpi, branch_cpi, l1i_miss_cpi, l1d_miss_cpi, l2_miss_cpi: what each limit
//     would cost by itself, in cycles per instruction; sum_cpi: their sum, which the
//     model corrects
//   - outside_shards: how many shards lie outside the data that the model was
//     fitted to
//   - pred_cpi; and sim_cpi, if it was simulated
type CPIPredictions struct {
	Table    dataframe.DataFrame
	Warnings []string // why predictions are doubtful
}

// PredictCPI predicts a program's cycles per instruction on out-of-order
// processors of Table 2 of Wu and Lee (MICRO 2012), by one model of software and
// hardware that was inferred from simulations of other programs:
// inferred.LoadModel returns the recorded one. The program runs twice, and again
// if it is to be simulated; the store keeps the results.
func PredictCPI(ctx context.Context, prog *Program, m *infer.Model, architectures []infer.Architecture, opt PredictCPIOptions) (*CPIPredictions, error) {
	found, err := inferred.PredictCPI(ctx, prog, m, architectures, opt)
	if err != nil {
		return nil, err
	}
	return &CPIPredictions{CPITable(found.Rows), found.Warnings}, nil
}

// CPITable returns rows that inferred.PredictCPI predicted as a table, without the
// column sim_cpi if none was simulated.
func CPITable(rows []inferred.CPIPrediction) dataframe.DataFrame {
	df := frame.Of(rows)
	if slices.ContainsFunc(rows, func(r inferred.CPIPrediction) bool { return r.Simulated > 0 }) {
		return df
	}
	return df.Drop("sim_cpi")
}

// MatrixTuning is what TuneMatrix found.
type MatrixTuning struct {
	// Tuned has a row for each objective (performance or energy), strategy
	// (application: the block size; architecture: the caches; coordinated: both;
	// baseline: where tuning begins) and search:
	//
	//   - predicted_points, simulated_points: how many the search looked at
	//   - the best point: block_rows, block_columns, fill_ratio, line_bytes and the
	//     data and instruction caches
	//   - pred_mflop_per_sec, pred_power_watt: by the models
	//   - sim_mflop_per_sec, sim_power_watt, sim_energy_nj_per_flop, sim_cycles,
	//     sim_misses, sim_writebacks: by simulation
	Tuned dataframe.DataFrame

	// Accuracy has the errors of the models on samples that they were not fitted
	// to: medians and 90th percentiles of absolute relative errors.
	Accuracy dataframe.DataFrame
}

// TuneMatrix finds the best block size and caches for the product of a sparse
// matrix with a vector (Wu and Lee, MICRO 2012, section 5): it simulates a sample
// of them, fits models to the sample, searches the models, and simulates the best.
// The store keeps simulations. sparse.Advise recommends a block size on the machine
// at hand. The zero options are the paper's study.
func TuneMatrix(ctx context.Context, m *spmv.Matrix, opt sparse.Options) (*MatrixTuning, error) {
	found, err := sparse.Tune(ctx, m, opt)
	if err != nil {
		return nil, err
	}
	return &MatrixTuning{frame.Of(found.Rows), frame.Of(found.Accuracy)}, nil
}
