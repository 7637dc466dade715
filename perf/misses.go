package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/machine"
	"presage/perf/misses"
)

// Accuracy sums up the errors of a table of Compare or Validate, for each
// combination of the values of some columns (none: over all rows):
//
//   - of: the values of these columns
//   - error: rel_err, rel_err_fully_assoc or rel_err_model, as in Compare
//   - rows: how many rows have it
//   - median_abs, p90_abs, worst_abs: of its absolute value
//   - mean_abs_to_1: its mean, errors above 1 counted as 1, so that a few counts
//     that should be nearly zero do not decide it
func Accuracy(df dataframe.DataFrame, by ...string) (dataframe.DataFrame, error) {
	return misses.Accuracy(df, by...)
}

// CacheSize is a cache or a TLB by its size alone, for questions about caches
// that no machine has.
type CacheSize = misses.CacheSize

// Compare puts simulated misses beside predicted ones, a row for each that both
// tables have, with relative errors (predicted - simulated) / simulated:
//
//   - rel_err: of pred_misses, against sim_misses
//   - rel_err_fully_assoc: of pred_misses_fully_assoc, against sim_misses: what
//     is lost by leaving conflicts out
//   - rel_err_model: of pred_misses_fully_assoc, against
//     sim_misses_fully_assoc: the error of the models alone; missing where that
//     was not simulated
//
// An error relative to no misses at all is infinite, or 0 if none were
// predicted either.
func Compare(predicted dataframe.DataFrame, simulated dataframe.DataFrame) (dataframe.DataFrame, error) {
	return misses.Compare(predicted, simulated)
}

// Overlay puts simulated misses beside predicted ones and keeps the predictions
// that have no simulation: what a figure draws as points on a curve.
func Overlay(predicted dataframe.DataFrame, simulated dataframe.DataFrame) (dataframe.DataFrame, error) {
	return misses.Overlay(predicted, simulated)
}

// PerUnit adds, for each of columns, the column divided by units: pred_misses
// gives pred_misses_per_cell if unit is "cell". Without columns it takes each
// column of misses that df has. units is an expression over df's columns, such as
// "n^3 * 6" for the cells and iterations of a mesh of n cells a side.
func PerUnit(df dataframe.DataFrame, unit string, units string, columns ...string) (dataframe.DataFrame, error) {
	return misses.PerUnit(df, unit, units, columns...)
}

// Median returns the median of the absolute values of a column, leaving out
// missing ones: the headline of a column of relative errors. It is NaN if there
// are none.
func Median(df dataframe.DataFrame, column string) (float64, error) {
	return misses.Median(df, column)
}

// CompareTime puts simulated or measured times beside predicted ones, a row for
// each that both tables have:
//
//   - rel_err_cycles: (pred_cycles - sim_cycles) / sim_cycles, if reference is of
//     SimulateTime
//   - rel_err_time: (pred_time_sec - meas_time_sec) / meas_time_sec, if it is of
//     Measure
func CompareTime(predicted dataframe.DataFrame, reference dataframe.DataFrame) (dataframe.DataFrame, error) {
	return misses.CompareTime(predicted, reference)
}

// DistanceOptions say which distribution of distances is wanted.
type DistanceOptions = misses.DistanceOptions

// Distances returns the predicted distribution of reuse distances at each point:
// a row for each point, scope and bin of the model, by ascending distance, the
// scopes with the most accesses first. Bins of a scope's groups at the same
// distance are one.
//
//   - block_bytes: size of memory blocks
//   - distance_blocks: average reuse distance of the bin
//   - pred_accesses: in the bin; pred_cold_accesses: of the whole scope, which
//     are in no bin
//   - pred_hit_ratio: of the smallest fully associative cache that holds the
//     bin's distance and all below, to all accesses of the scope
//
// A scope that has cold accesses alone has one row, its distance missing.
func Distances(model *Model, points []Point, opt DistanceOptions) (dataframe.DataFrame, error) {
	return misses.Distances(model, points, opt)
}

// FitOptions say how models are fitted. The zero value is the default
// throughout.
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
	return misses.FitScaling(ctx, runs, opt)
}

// PredictOptions say what PredictMisses tells.
type PredictOptions = misses.PredictOptions

// PredictMisses predicts the misses of the model's program on a machine, at
// each point, for each cache and TLB: a table with a row for each point, level
// and scope, those with the most misses first, and these columns.
//
//   - pred_accesses: all accesses of the scope
//   - pred_misses: misses in the set-associative cache (2005, section 5.2)
//   - pred_misses_low, pred_misses_high: interval that holds the misses with the
//     probability of the options, so far as the residuals of the fitted functions
//     tell; predict.Intervals says how and how often it does
//   - pred_misses_fully_assoc: misses in a fully associative one of the same
//     size (2005, section 5.1); the same for a fully associative TLB
//   - pred_cold_misses: those that are first accesses to a block
//   - pred_miss_ratio: pred_misses / pred_accesses
//   - pred_doubtful_share: the share of pred_misses that comes from functions
//     that fit their data badly, from 0 to 1
//   - pred_warning: why the row is doubtful: far extrapolation, or a policy of
//     the machine that is not modelled
//
// A level that floating-point accesses bypass is not predicted, as the
// distances were collected over all accesses together: one row says so, its
// numbers missing. The runs that the model was fitted to must have the
// machine's block sizes.
func PredictMisses(model *Model, m *machine.Machine, points []Point, opt PredictOptions) (dataframe.DataFrame, error) {
	return misses.PredictMisses(model, m, points, opt)
}

// Query is a question about three things: a problem size, a cache, and how many
// accesses miss. Two are given, Ask answers with the third.
//
//	Points, Caches                    → misses and hit ratio: Misses
//	Points, HitRatio (or MissRatio)   → the smallest cache: SmallestCache
//	Caches, MissRatio (or HitRatio)   → the largest problem: LargestProblem
type Query = misses.Query

// Vary is a parameter and the values From, From+Step, … up to To that it takes
// in a search.
type Vary = misses.Vary

// Ask answers with what the query leaves open.
func Ask(ctx context.Context, model *Model, q Query) (dataframe.DataFrame, error) {
	return misses.Ask(ctx, model, q)
}

// SimulateOptions say how a program is simulated and what the table tells.
type SimulateOptions = misses.SimulateOptions

// SimulateMisses runs prog at each point and simulates the machine's memory
// hierarchy exactly on its accesses: the reference that predictions are held
// against. The table has a row for each point, level and scope, those with the
// most misses first, and these columns.
//
//   - sim_accesses: all accesses of the scope, also those that a level never
//     sees because they hit above it
//   - sim_misses: misses at the level
//   - sim_misses_fully_assoc: misses if all caches were fully associative;
//     missing unless asked for
//   - sim_cold_misses: those of sim_misses that were the first access to the block there
//   - sim_miss_ratio: sim_misses / sim_accesses
//   - sim_warning: why the row is doubtful, such as a system call that is not
//     emulated
//
// Results are kept in the store.
func SimulateMisses(ctx context.Context, prog *Program, m *machine.Machine, points []Point, opt SimulateOptions) (dataframe.DataFrame, error) {
	return misses.SimulateMisses(ctx, prog, m, points, opt)
}

// Validation says what Validate holds against what.
type Validation = misses.Validation

// Validate profiles prog at the training sizes, fits models, predicts the misses
// at the sizes to be judged, and simulates them exactly there, with the machines'
// caches and with fully associative ones. The table has a row for each machine,
// point and level of the program, and of each routine (or loop) with a share of
// the misses:
//
//   - of: program, routine or loop; scope: which
//   - growth: the largest ratio of a parameter to its largest training value
//   - share: of the level's simulated misses, at the point
//   - pred_misses, sim_misses and the errors: as in Compare
//   - cause: what explains the larger part of a rel_err beyond 5%, one of the
//     constants Cause…; otherwise empty
//
// A level that is not predicted, or without a simulated miss, has no row. The
// profiles record the traffic of the stack, since the simulation sees it. Runs,
// models and simulations are kept in the store.
func Validate(ctx context.Context, prog *Program, v Validation) (dataframe.DataFrame, error) {
	return misses.Validate(ctx, prog, v)
}
