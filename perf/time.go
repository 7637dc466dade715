package perf

import (
	"context"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/machine"
	"presage/perf/timing"
)

// ExecutionModel predicts how often every block and edge of a program is
// executed at any problem size: what its schedule is weighted by.
type ExecutionModel = timing.ExecutionModel

// FitExecution fits a model of the frequency of each edge and each entry that was
// executed at any of the points (2004, section 3.2: "we construct models of basic
// block execution frequency using data from edge counter execution histograms").
// The counts are of one program at three points at least; see CountSweep.
func FitExecution(ctx context.Context, counts []*Counts) (*ExecutionModel, error) {
	return timing.FitExecution(ctx, counts)
}

// TimeOptions say how execution times are predicted and what the table tells.
type TimeOptions = timing.TimeOptions

// PredictTime predicts the execution time of a program on a machine at each
// point (2004, sections 2.4 and 3.2): paths with their modelled frequencies,
// scheduled for the machine's core with every access a hit in the first cache,
// and what misses add to that. model and execution are of the same program. The
// table has a row for each point and scope, those that take longest first:
//
//   - pred_instructions: executed
//   - pred_schedule_cycles: if all accesses hit
//   - pred_branch_wait_cycles: that wrong predictions of branches add
//   - pred_<level>_wait_cycles: that misses of a cache or TLB add
//   - pred_cycles: the sum; pred_time_sec: by the core's frequency, missing if
//     that is not known; pred_cpi: cycles for each instruction
//   - pred_limit: what limits the schedule of the path that takes most of it
//   - pred_warning: latencies that are not known and cost nothing, classes of
//     instructions that the core does not describe
//
// A routine's time is without that of the routines it calls, a loop's with the
// loops inside it.
func PredictTime(ctx context.Context, model *Model, execution *ExecutionModel, m *machine.Machine, points []Point, opt TimeOptions) (dataframe.DataFrame, error) {
	return timing.PredictTime(ctx, model, execution, m, points, opt)
}

// SimulateTimeOptions say how time is simulated and what the table tells.
type SimulateTimeOptions = timing.SimulateTimeOptions

// SimulateTime runs prog at each point and simulates the machine's core and
// memory hierarchy on its instructions, in order or out of order: the reference
// that predicted times are held against. The table has a row for each point and
// scope, those that take longest first:
//
//   - sim_instructions, sim_cycles, sim_cpi; sim_time_sec by the core's
//     frequency, missing if that is not known
//   - sim_mispredicts: transfers of control; of the program
//   - sim_<part>_cycles: what the oldest instruction waited for, of the program:
//     base, branch, icache, frontend, latency, structural, TLB, and the level of
//     the hierarchy that answered; the parts add up to sim_cycles
//   - sim_time_warning: what was assumed that the description does not say
//
// A routine's time is without that of the routines it calls. What is of the
// program is missing in other rows. Results are kept in the store.
func SimulateTime(ctx context.Context, prog *Program, m *machine.Machine, points []Point, opt SimulateTimeOptions) (dataframe.DataFrame, error) {
	return timing.SimulateTime(ctx, prog, m, points, opt)
}
