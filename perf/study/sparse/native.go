package sparse

import (
	"context"

	"presage/perf/spmv"
)

// NativeRow is the speed of a matrix in blocks of a size on the machine at hand,
// measured, and predicted from the speed of a dense matrix in the same blocks.
type NativeRow struct {
	Matrix       string  `frame:"matrix"`
	StandIn      bool    `frame:"stand_in"`
	BlockRows    int     `frame:"block_rows"`
	BlockColumns int     `frame:"block_columns"`
	FillRatio    float64 `frame:"fill_ratio"`
	Estimate     float64 `frame:"est_fill_ratio"` // from a share of the rows
	Mflops       float64 `frame:"meas_mflop_per_sec"`
	Spread       float64 `frame:"meas_spread"`        // of the time, between passes
	PredMflops   float64 `frame:"pred_mflop_per_sec"` // of the dense matrix, divided by Estimate
}

// Native times the 64 kernels natively for each matrix and predicts their times as
// OSKI does: from those of a dense matrix in the same blocks, and a sampled
// estimate of the fill ratios.
func Native(ctx context.Context, matrices []*spmv.Matrix, opt Options) ([]NativeRow, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}
	opt.report("dense", "native", 0, len(matrices)+1)
	dense, err := spmv.DenseProfile(ctx, opt.Timing)
	if err != nil {
		return nil, err
	}
	var rows []NativeRow
	for i, m := range matrices {
		opt.report(m.Name, "native", i+1, len(matrices)+1)
		exact := spmv.CountFill(m)
		estimate, err := spmv.SampleFill(m, opt.Share, opt.Seed)
		if err != nil {
			return nil, err
		}
		timed, err := spmv.Time(ctx, m, opt.Timing)
		if err != nil {
			return nil, err
		}
		for k, t := range timed {
			rows = append(rows, NativeRow{
				m.Name, m.StandIn, t.Shape.R, t.Shape.C, exact.Ratio(t.Shape), estimate.Ratio(t.Shape),
				t.Mflops(m.NonZeros()), t.Spread, dense[k].Mflops(spmv.DenseEntries) / estimate.Ratio(t.Shape),
			})
		}
	}
	return rows, nil
}

// NativeBest compares block sizes of a matrix on the machine at hand.
type NativeBest struct {
	Matrix     string  `frame:"matrix"`
	Best       string  `frame:"meas_best"` // the fastest, measured
	Predicted  string  `frame:"pred_best"` // the one that is predicted to be
	Plain      float64 `frame:"meas_1x1_mflop_per_sec"`
	BestMflops float64 `frame:"meas_best_mflop_per_sec"`
	PredMflops float64 `frame:"meas_pred_best_mflop_per_sec"`
	Ratio      float64 `frame:"pred_best_over_best"`
	Gain       float64 `frame:"pred_best_over_1x1"`
}

// NativeChoice compares, for each matrix of native, whose rows are consecutive and
// start with 1×1, the fastest block size with the one predicted to be fastest.
func NativeChoice(native []NativeRow) []NativeBest {
	shape := func(i int) string { return spmv.Shape{R: native[i].BlockRows, C: native[i].BlockColumns}.String() }
	var rows []NativeBest
	for at := 0; at < len(native); {
		first, best, taken := at, at, at
		for ; at < len(native) && native[at].Matrix == native[first].Matrix; at++ {
			if native[at].Mflops > native[best].Mflops {
				best = at
			}
			if native[at].PredMflops > native[taken].PredMflops {
				taken = at
			}
		}
		plain, most, chosen := native[first].Mflops, native[best].Mflops, native[taken].Mflops
		rows = append(rows, NativeBest{native[first].Matrix, shape(best), shape(taken), plain, most, chosen, chosen / most, chosen / plain})
	}
	return rows
}
