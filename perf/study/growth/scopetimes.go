package growth

import (
	"context"
	"errors"
	"fmt"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/subject"
	"presage/perf/timing"
)

// LeastShare is the share of a program's cycles at which a routine or loop has a row
// of its own.
const LeastShare = 0.01

// ScopeTime is the time of a program, routine or loop on a machine, predicted and
// simulated at a point. A routine's time is without that of routines it calls, a loop's
// without that of loops inside it; what a routine does in none of its loops has a row of
// a loop that bears the routine's name. So the rows of each kind add up to the
// program's.
//
// A scope is the same in both if it has the same path in the program (cfg.Scope.Path).
// One that was only predicted or only simulated has a row, too: what is missing of it
// counts as no cycles, and Note says so.
type ScopeTime struct {
	Program  string        `frame:"program"`
	Point    subject.Point `frame:",each"`
	Growth   float64       `frame:"growth"` // the largest ratio of a parameter to its largest training value
	Machine  string        `frame:"machine"`
	Of       string        `frame:"of"`    // program, routine or loop
	Scope    string        `frame:"scope"` // subject.OtherScopes: those with less than LeastShare, predicted and simulated
	Share    float64       `frame:"share"` // of the program's simulated cycles
	PredInst float64       `frame:"pred_instructions"`
	SimInst  float64       `frame:"sim_instructions"`
	Pred     float64       `frame:"pred_cycles"`
	Sim      float64       `frame:"sim_cycles"`
	Err      float64       `frame:"rel_err"` // of Pred against Sim
	// Of Pred: the schedule with what the walk takes beyond it, mispredicted branches, and
	// misses at all levels (timing.Row).
	Executed float64 `frame:"pred_execution_cycles"`
	Branch   float64 `frame:"pred_branch_wait_cycles"`
	Missed   float64 `frame:"pred_miss_wait_cycles"`
	// Base is the largest size up to the training sizes' largest, and smaller than this
	// one, at which the scope was simulated; Cubed is what it takes there, times the cube
	// of the ratio of the sizes. They are missing if there is no such size, if there are
	// several parameters, and of scopes that are summed up.
	Base        float64 `frame:"n3_from"`
	Cubed       float64 `frame:"pred_cycles_n3"`
	ErrCubed    float64 `frame:"rel_err_n3"`
	Note        string  `frame:"note"` // scopes that were only predicted or only simulated; empty if there are none
	PredWarning string  `frame:"pred_warning"`
	SimWarning  string  `frame:"sim_time_warning"`
}

// OnlyTimes is Run without misses, for which caches are simulated by themselves: of what
// it finds, OnMachine.Simulated and Scopes are there, and with opt.Curve Times and Fixed.
// opt.Judge and opt.Large are not used.
func (opt Options) OnlyTimes(ctx context.Context, prog *subject.Program) (*Findings, error) {
	if len(opt.Machines) == 0 || len(opt.Train) == 0 || len(opt.Times) == 0 {
		return nil, errors.New("perf: study: times alone need a machine, training sizes and sizes at which time is simulated")
	}
	if len(opt.Curve) > 0 {
		if err := opt.checkTimes(); err != nil {
			return nil, err
		}
	}
	for _, m := range opt.Machines {
		if err := timing.CheckMachine(m); err != nil {
			return nil, err
		}
	}
	opt.Judge, opt.Large = nil, nil
	if err := opt.runAll(ctx, prog); err != nil {
		return nil, err
	}
	model, err := opt.Model(ctx, prog)
	if err != nil {
		return nil, err
	}
	execution, err := opt.execution(ctx, prog)
	if err != nil {
		return nil, err
	}
	f := &Findings{Program: prog}
	for _, m := range opt.Machines {
		var on OnMachine
		if err := opt.times(ctx, &on, m, prog, model, execution); err != nil {
			return nil, err
		}
		f.On = append(f.On, on)
	}
	return f, nil
}

// scopeTimes returns the rows of one machine.
func (opt *Options) scopeTimes(ctx context.Context, m *machine.Machine, prog *subject.Program, model *misses.Model, execution *timing.ExecutionModel) ([]ScopeTime, error) {
	var all []ScopeTime
	for _, by := range []subject.Scope{subject.ByProgram, subject.ByRoutine, subject.ByLoop} {
		predicted, err := timing.Predict(ctx, model, execution, m, opt.Times, timing.PredictOptions{By: by, Exclusive: true, Method: opt.Method})
		if err != nil {
			return nil, err
		}
		simulated, err := timing.Simulate(ctx, prog, m, opt.Times, timing.SimulateOptions{RunOptions: opt.RunOptions, By: by, Exclusive: true})
		if err != nil {
			return nil, err
		}
		rows := beside(by, predicted, simulated)
		cube(rows, opt.Train)
		all = append(all, rows...)
	}
	if err := adds(all); err != nil {
		return nil, fmt.Errorf("perf: study: %s on %s: %w", prog.Name, m.Name, err)
	}
	for i := range all {
		all[i].Growth = growth(all[i].Point, opt.Train)
	}
	return listed(all), nil
}
