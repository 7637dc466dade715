package perf

import (
	"context"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/study/inferred"
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
