package growth

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/anatomy"
	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/subject"
	"presage/perf/timing"
)

// Study says what is found out about a program: how far off its predicted misses
// are (Validation), and curves of misses and of time over its size, as in Figures
// 6 and 7 of Marin and Mellor-Crummey (2004).
type Study struct {
	misses.Validation
	Curve []subject.Point // sizes of the curves, which are predicted
	Times []subject.Point // sizes at which execution is simulated; among those of Curve
}

// Findings are the tables of a study.
type Findings struct {
	// Misses is the table of Validate.
	Misses dataframe.DataFrame
	// Curves is the table of PredictMisses for the whole program at the sizes of
	// the curve, without intervals.
	Curves dataframe.DataFrame
	// Times is the table of PredictTime for the whole program at the sizes of the
	// curve, with further columns:
	//
	//   - pred_fixed_cycles: predicted with the fixed shares of latencies of the
	//     paper (TimeOptions.FixedExposure)
	//   - those of SimulateTime, missing where nothing was simulated
	Times dataframe.DataFrame
}

// Investigate makes a study of prog. All that takes long is kept in the store: a
// study that was interrupted goes on where it was.
func Investigate(ctx context.Context, prog *subject.Program, s Study) (*Findings, error) {
	if len(s.Curve) == 0 {
		return nil, errors.New("perf: study: no sizes for the curves")
	}
	for _, p := range s.Times {
		if !contains(s.Curve, p) {
			return nil, fmt.Errorf("perf: study: time is simulated at %v, which is not on the curve", p)
		}
	}
	if err := s.Check(); err != nil {
		return nil, err
	}
	for _, m := range s.Machines { // before anything takes long
		if _, err := timing.NewTimer(m, timing.TimeOptions{}); err != nil {
			return nil, err
		}
	}
	model, err := s.Model(ctx, prog)
	if err != nil {
		return nil, err
	}
	f := new(Findings)
	if f.Misses, err = s.Judged(ctx, prog, model); err != nil {
		return nil, err
	}
	counts, err := anatomy.CountSweep(ctx, prog, s.Train, s.RunOptions)
	if err != nil {
		return nil, err
	}
	execution, err := timing.FitExecution(ctx, counts)
	if err != nil {
		return nil, err
	}
	for i, m := range s.Machines {
		curves, err := misses.PredictMisses(model, m, s.Curve, misses.PredictOptions{Coverage: -1})
		if err != nil {
			return nil, err
		}
		times, err := s.times(ctx, prog, model, execution, m)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			f.Curves, f.Times = curves, times
			continue
		}
		f.Curves, f.Times = f.Curves.Concat(curves), f.Times.Concat(times)
	}
	return f, errors.Join(f.Curves.Error(), f.Times.Error())
}

func contains(points []subject.Point, p subject.Point) bool {
	for _, q := range points {
		if q.String() == p.String() {
			return true
		}
	}
	return false
}

// times predicts and simulates execution on one machine.
func (s *Study) times(ctx context.Context, prog *subject.Program, model *misses.Model, execution *timing.ExecutionModel, m *machine.Machine) (dataframe.DataFrame, error) {
	df, err := timing.PredictTime(ctx, model, execution, m, s.Curve, timing.TimeOptions{})
	if err != nil {
		return df, err
	}
	fixed, err := timing.PredictTime(ctx, model, execution, m, s.Curve, timing.TimeOptions{FixedExposure: true})
	if err != nil {
		return df, err
	}
	cycles, err := frame.Floats(fixed, "pred_cycles") // rows are in the order of the points in both
	if err != nil {
		return df, err
	}
	df = frame.WithFloats(df, "pred_fixed_cycles", cycles)
	if len(s.Times) == 0 {
		return df, nil
	}
	sim, err := timing.SimulateTime(ctx, prog, m, s.Times, timing.SimulateTimeOptions{RunOptions: s.RunOptions})
	if err != nil {
		return df, err
	}
	return misses.Overlay(df, sim)
}
