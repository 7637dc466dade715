package timing

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"presage/perf/anatomy"
	"presage/perf/fit"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/sched"
	"presage/perf/subject"
)

// PredictOptions configures Predict and Schedule.
type PredictOptions struct {
	// By is ByProgram, ByRoutine or ByLoop.
	By subject.Scope
	// Exclusive makes rows add up to the program's time. By loop, a loop's time is
	// without that of the loops inside it, and what a routine does in none of its loops
	// has a row that bears the routine's name, as in tables of misses. What belongs to
	// no known routine has one that bears the program's.
	Exclusive bool
	// Listing says which scopes have a row, by their share of the cycles of all
	// rows. Loops that have none are in no other row, except in those of loops
	// around them, unless rows are exclusive.
	Listing subject.Listing

	// Method and Corrector are those of misses.PredictOptions.
	Method    predict.Method
	Corrector misses.Corrector
	// TrainedSizesOnly is that of misses.PredictOptions, for perf.PredictTime.
	TrainedSizesOnly bool

	// Reschedule puts instructions into the best order found for the core, as a
	// compiler for it could; otherwise the core executes the binary as it is.
	Reschedule bool
	// Pessimistic assumes that memory references depend on each other unless their
	// formulas exclude it.
	Pessimistic bool

	// FixedExposure charges each miss the share of its latency that the machine's
	// description states, the papers' formula (2004, section 3.2). The default walks
	// through the program by its frequencies and executes the walk on the simulated core,
	// with and without misses and mispredicted branches (see package synth and
	// sched.PredictBranches): what they add is what the core does not overlap. Loads
	// that walk through memory block by block find what the description says
	// prefetching leaves.
	//
	// For several executables, and for cores that cannot be simulated, misses cost what
	// a formula says (see predict.Work.WaitOverlapped).
	FixedExposure bool
}

// Row is the time of a scope on a machine, as predicted at a point. A routine's
// time is without that of the routines it calls, a loop's with the loops inside
// it unless PredictOptions.Exclusive is set.
type Row struct {
	Program      string             `frame:"program"`
	Point        map[string]float64 `frame:",each"`
	Machine      string             `frame:"machine"`
	Scope        string             `frame:"scope"`
	Instructions float64            `frame:"pred_instructions"`    // executed
	Schedule     float64            `frame:"pred_schedule_cycles"` // if all accesses hit in the first cache
	// Flow is what a walk through all paths and routines takes beyond Schedule, which
	// has each path by itself; it is negative where they overlap. It is 0 for
	// rescheduled code.
	Flow   float64 `frame:"pred_flow_cycles,optional"` // recorded tables may lack it
	Branch float64 `frame:"pred_branch_wait_cycles"`   // that mispredicted branches add
	// Waits are the cycles that misses of a cache or TLB add, by the name of the
	// column, pred_<level>_wait_cycles.
	Waits   map[string]float64 `frame:",each"`
	Cycles  float64            `frame:"pred_cycles"`   // the sum
	Seconds float64            `frame:"pred_time_sec"` // by the core's frequency; missing if that is not known
	CPI     float64            `frame:"pred_cpi"`      // cycles for each instruction
	Limit   string             `frame:"pred_limit"`    // what limits the schedule of the path that takes most of it
	// Warning lists latencies that are not known and cost nothing, and classes of
	// instructions that the core does not describe.
	Warning string `frame:"pred_warning"`
}

// Predict predicts the execution time of a program on a machine at each point
// (2004, sections 2.4 and 3.2): paths with their modelled frequencies, scheduled
// for the machine's core with every access a hit in the first cache, and what
// misses add to that. model and execution are of the same program. The largest run of at
// most mostWatched instructions is simulated, if the store has no such result: it tells how
// well branches that depend on data are predicted. There is a row for each point and scope,
// those that take longest first.
func Predict(ctx context.Context, model *misses.Model, execution *ExecutionModel, m *machine.Machine, points []subject.Point, opt PredictOptions) ([]Row, error) {
	if err := execution.suits(model); err != nil {
		return nil, err
	}
	t, err := newTimer(m, opt)
	if err != nil {
		return nil, err
	}
	if execution.binaries != nil {
		return t.predictBinaries(ctx, model, execution.binaries, points)
	}
	if err := t.watchBranches(ctx, model, execution); err != nil {
		return nil, err
	}
	in := placesOf(execution.structure)
	var rows []Row
	for _, point := range points {
		if err := model.Check(point); err != nil {
			return nil, err
		}
		missed, err := t.misses(ctx, model, in, point)
		if err != nil {
			return nil, err
		}
		frequencies, err := execution.at(point)
		if err != nil {
			return nil, err
		}
		fresh, err := t.rows(ctx, execution.structure, frequencies, &missed, Row{
			Program: model.Program, Point: point, Machine: m.Name, Warning: strings.Join(append(missed.doubts, execution.doubts(point)...), "; "),
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, fresh...)
	}
	return rows, nil
}

// suits returns an error unless both models are of one program.
func (m *ExecutionModel) suits(model *misses.Model) error {
	prog := model.Executable()
	switch {
	case (prog == nil) != (m.binaries != nil):
		return fmt.Errorf("perf: one of the models, of %s and of %s, is of several executables: fit both to the same runs", model.Program, m.Program)
	case prog != nil && prog.File.SHA256 != m.structure.Graph.File.SHA256 || prog == nil && model.Program != m.Program:
		return fmt.Errorf("perf: the models are of two programs, %s and %s", model.Program, m.Program)
	}
	return nil
}

// predictBinaries is Predict for several executables.
func (t *timer) predictBinaries(ctx context.Context, model *misses.Model, b *binaries, points []subject.Point) ([]Row, error) {
	takes, err := t.align(ctx, b)
	if err != nil {
		return nil, err
	}
	in := placesIn(b.alignment)
	var rows []Row
	for _, point := range points {
		if err := model.Check(point); err != nil {
			return nil, err
		}
		if err := checkPoint(takes.model, point); err != nil {
			return nil, err
		}
		missed, err := t.misses(ctx, model, in, point)
		if err != nil {
			return nil, err
		}
		times := takes.at(t, fit.Point(point))
		t.waits(times, missed.byScope)
		rows = append(rows, t.listed(in, times, Row{
			Program: model.Program, Point: point, Machine: t.machine.Name,
			Warning: strings.Join(slices.Concat(t.warnings, missed.doubts, takes.doubts(fit.Point(point))), "; "),
		})...)
	}
	return rows, nil
}

// Schedule predicts how long what was counted in a run takes on a machine if
// every access hits in the first cache: as Predict does, without waits.
func Schedule(ctx context.Context, c *anatomy.Counts, m *machine.Machine, opt PredictOptions) ([]Row, error) {
	t, err := newTimer(m, opt)
	if err != nil {
		return nil, err
	}
	t.penalties, t.warnings, t.bare = nil, nil, true
	return t.rows(ctx, c.Structure(), sched.Counted(c.Recovered), nil, Row{Program: c.Program.Name, Point: c.Point, Machine: m.Name})
}

// CheckMachine returns an error if times cannot be predicted on a machine, such as
// one without a description of its core.
func CheckMachine(m *machine.Machine) error {
	_, err := newTimer(m, PredictOptions{})
	return err
}
