package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/patterns"
	"presage/perf/predict"
	"presage/perf/report"
)

// FitOptions configures FitScaling. The zero value is the default.
type FitOptions = misses.FitOptions

// Model predicts a program's reuse-distance histograms at any problem size.
type Model = misses.Model

// FitScaling fits, for each block size of the runs, a model of every group's
// frequency and reuse-distance histogram over the problem size (2004, section
// 2.3; 2005, section 4). It takes three sizes at least and five to be worth
// trusting.
//
// Models are kept in the default store, so that a notebook cell that fits again
// finds them.
func FitScaling(ctx context.Context, runs *Runs, opt FitOptions) (*Model, error) {
	return misses.Fit(ctx, runs, opt)
}

// PredictOptions configures PredictMisses.
type PredictOptions = misses.PredictOptions

// PredictMisses predicts the misses of the model's program on a machine, at
// each point, for each cache and TLB: a table with a row for each point, level
// and scope, those with the most misses first. misses.Row describes the columns:
// misses with an interval and the method by which they were predicted, misses in a
// fully associative cache of the same size, cold misses, the miss ratio, warnings.
//
// A level that floating-point accesses bypass is not predicted, as the
// distances were collected over all accesses together: one row says so, its
// numbers missing. The runs that the model was fitted to must have the
// machine's block sizes.
//
// Unless the options have a Corrector, or choose the papers' formula, the program is
// run again at the sizes of the runs to learn its loop nests, and misses of the
// groups of references that are certified are counted in a replay at the point; see
// misses/replayed. What is learned and counted is kept in the default store, and the
// rows of each point in that of the model: see replayed.Predict.
func PredictMisses(ctx context.Context, model *Model, m *machine.Machine, points []Point, opt PredictOptions) (dataframe.DataFrame, error) {
	rows, err := replayed.Predict(ctx, model, m, points, opt)
	if err == nil {
		opt.Progress.Finish(len(points))
	}
	return table(rows, err)
}

// corrector returns c, or the default one for predictions by a method.
func corrector(ctx context.Context, model *Model, m *machine.Machine, c misses.Corrector, method predict.Method, opt replayed.Options) (misses.Corrector, error) {
	if c != nil || method == predict.MethodBinomial {
		return c, nil
	}
	return replayed.Correctors(nil, opt)(ctx, model, m)
}

// Patterns predicts the misses of a program by reuse pattern: by the scope that
// accesses a block, the scope that accessed it before, the loop that carries the
// reuse and the object. There is a row for each point, level and pattern, those with
// the most misses first; patterns.Predicted describes the columns, and
// patterns.Simulate returns the same as simulated exactly. The model's runs must have
// been profiled with the option Carriers. Misses are corrected as those of
// PredictMisses, so that patterns add up to them.
func Patterns(ctx context.Context, model *Model, m *machine.Machine, points []Point, opt patterns.PredictOptions) (dataframe.DataFrame, error) {
	var err error
	if opt.Corrector, err = corrector(ctx, model, m, opt.Corrector, opt.Method, replayed.Options{}); err != nil {
		return dataframe.DataFrame{}, err
	}
	return table(patterns.Predict(ctx, model, m, points, opt))
}

// SimulateOptions configures SimulateMisses.
type SimulateOptions = misses.SimulateOptions

// SimulateMisses runs prog at each point and simulates the machine's memory
// hierarchy exactly on its accesses: the reference that predictions are held
// against. The table has a row for each point, level and scope, those with the
// most misses first; misses.SimulatedRow describes the columns. Results are kept
// in the store.
func SimulateMisses(ctx context.Context, prog *Program, m *machine.Machine, points []Point, opt SimulateOptions) (dataframe.DataFrame, error) {
	return table(misses.Simulate(ctx, prog, m, points, opt))
}

// Query is a question about three things: a problem size, a cache, and how many
// accesses miss. Two are given, Ask answers with the third.
//
//	Points, Caches                    → misses and hit ratio
//	Points, HitRatio (or MissRatio)   → the smallest cache
//	Caches, MissRatio (or HitRatio)   → the largest problem
//
// misses.CachesOf returns the caches of a machine, to be changed and asked about.
type Query = misses.Query

// Ask answers with what the query leaves open. misses.CacheRow, misses.Smallest
// and misses.Largest describe the columns.
func Ask(ctx context.Context, model *Model, q Query) (dataframe.DataFrame, error) {
	asked, err := q.Asks()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	switch asked {
	case misses.AsksLargestProblem:
		return table(misses.LargestProblem(ctx, model, q))
	case misses.AsksSmallestCache:
		return table(misses.SmallestCache(ctx, model, q))
	}
	return table(misses.OfCaches(ctx, model, q))
}

// Validate profiles prog at the training sizes, fits models, predicts the misses
// at the sizes to be judged, and simulates them exactly there, with the machines'
// caches and with fully associative ones. The table has a row for each machine,
// point and level of the program, and of each routine (or loop) with a share of
// the misses; misses.Judgement describes the columns. A level that is not
// predicted, or without a simulated miss, has no row. Runs,
// models and simulations are kept in the store. Predictions are corrected as those of
// PredictMisses, unless caches beyond the first are indexed by physical addresses.
func Validate(ctx context.Context, prog *Program, v misses.Validation) (dataframe.DataFrame, error) {
	if v.Correctors == nil && v.Method != predict.MethodBinomial && v.PageBytes == 0 {
		v.Correctors = replayed.Correctors(v.Store, replayed.Options{Executables: v.Binaries, TrainedSizesOnly: v.TrainedSizesOnly})
	}
	return table(misses.Validate(ctx, prog, v))
}

// Study makes a report of a program in one call: it profiles prog at the training
// sizes, fits a model, predicts misses on machines at larger sizes, and holds
// predictions against exact simulation at a size between. The report has the rows of
// each step, for Frame, its figures, a page, and Doubts: what not to trust, and why.
//
//	r := perf.Must(perf.Study(ctx, prog, report.Options{Machines: machines, Train: perf.Sweep("n", 12, 16, 20, 24, 28)}))
//	perf.Frame(r.Predictions); perf.Frame(r.Judgements); perf.Frame(r.Doubts)
func Study(ctx context.Context, prog *Program, opt report.Options) (*report.Report, error) {
	return report.Make(ctx, prog, opt)
}
