package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/locality"
	"presage/perf/training"
)

// ProfileOptions configures Profile. The zero value is the documented default.
type ProfileOptions = locality.ProfileOptions

// Runs are the profiles of one program at several points: of one executable,
// or of several that were compiled for a point each.
type Runs = locality.Runs

// Profile runs prog at each point and collects, for every memory reference, the
// exact reuse-distance histogram at several block sizes, in one run a point.
// Results are kept in the store, each as soon as its run has ended: an interrupted
// sweep resumes where it stopped.
//
// For a program that has its size compiled in, prog is nil and the options have
// Binaries, an executable for each point, as for SimulateMisses, SimulateTime,
// CountSweep and Validate; see locality.ProfileBinaries.
func Profile(ctx context.Context, prog *Program, points []Point, opt ProfileOptions) (*Runs, error) {
	return locality.Profile(ctx, prog, points, opt)
}

// TrainOptions configures Train: which parameter is the size, for which size
// predictions are wanted, and what may be spent.
type TrainOptions = training.Options

// Train chooses the sizes that a model is fitted to, runs prog at them, and fits the
// model, until the errors at the largest size, held out, are within those requested
// or the budget is spent. The result has the runs and the model; perf.Frame makes a
// table of its Steps and of its HeldOut errors. Train and PredictMisses take the
// place of Profile with a list of sizes, FitScaling and PredictMisses.
func Train(ctx context.Context, prog *Program, opt TrainOptions) (*training.Trained, error) {
	return training.Train(ctx, prog, opt)
}

// HistogramOptions selects references and a block size.
type HistogramOptions = locality.HistogramOptions

// ReuseHistogram returns the reuse-distance histogram of the references chosen,
// summed over them, at each point: a row for each bin that is not empty, or one
// row with the bin [0, 0) if all are. locality.Bin describes the columns.
func ReuseHistogram(runs *Runs, opt HistogramOptions) (dataframe.DataFrame, error) {
	return table(locality.ReuseHistogram(runs, opt))
}

// HottestOptions configures Hottest.
type HottestOptions = locality.HottestOptions

// Hottest returns the groups of references with the most accesses in the last
// run, most first: locality.HotGroup describes the columns.
func Hottest(runs *Runs, opt HottestOptions) (dataframe.DataFrame, error) {
	return table(locality.Hottest(runs, opt))
}
