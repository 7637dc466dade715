package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/machine"
	"presage/perf/misses/replayed"
	"presage/perf/timing"
)

// ExecutionModel predicts how often every block and edge of a program is
// executed at any problem size. Its schedule is weighted by that.
type ExecutionModel = timing.ExecutionModel

// FitExecution fits a model of the frequency of each edge and each entry that was
// executed at any of the points (2004, section 3.2: "we construct models of basic
// block execution frequency using data from edge counter execution histograms").
// The counts are of one program at three points at least; see CountSweep.
func FitExecution(ctx context.Context, counts []*Counts) (*ExecutionModel, error) {
	return timing.FitExecution(ctx, counts)
}

// TimeOptions configures PredictTime.
type TimeOptions = timing.PredictOptions

// PredictTime predicts the execution time of a program on a machine at each
// point (2004, sections 2.4 and 3.2): paths with their modelled frequencies,
// scheduled for the machine's core with every access a hit in the first cache,
// and what misses add to that. model and execution are of the same program. The
// table has a row for each point and scope, the longest first;
// timing.Row describes the columns. Misses are corrected as those of PredictMisses
// unless the options have a Corrector, choose the papers' formula or FixedExposure.
func PredictTime(ctx context.Context, model *Model, execution *ExecutionModel, m *machine.Machine, points []Point, opt TimeOptions) (dataframe.DataFrame, error) {
	if !opt.FixedExposure {
		var err error
		if opt.Corrector, err = corrector(ctx, model, m, opt.Corrector, opt.Method, replayed.Options{TrainedSizesOnly: opt.TrainedSizesOnly}); err != nil {
			return dataframe.DataFrame{}, err
		}
	}
	return table(timing.Predict(ctx, model, execution, m, points, opt))
}

// SimulateTimeOptions configures SimulateTime.
type SimulateTimeOptions = timing.SimulateOptions

// SimulateTime runs prog at each point and simulates the machine's core and
// memory hierarchy on its instructions, in order or out of order: the reference
// that predicted times are held against. The table has a row for each point and
// scope, the longest first; timing.SimulatedRow describes the columns.
// Results are kept in the store.
func SimulateTime(ctx context.Context, prog *Program, m *machine.Machine, points []Point, opt SimulateTimeOptions) (dataframe.DataFrame, error) {
	return table(timing.Simulate(ctx, prog, m, points, opt))
}
