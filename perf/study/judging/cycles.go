package judging

import (
	"context"
	"errors"
	"fmt"

	"presage/perf/anatomy"
	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/timing"
)

// CycleRow holds the cycles of a whole program that were predicted on a machine
// against those that were simulated.
type CycleRow struct {
	Program  string  `frame:"program"`
	Language string  `frame:"language"`
	Kind     string  `frame:"kind"`
	Half     string  `frame:"half"`
	N        float64 `frame:"n"`
	Growth   float64 `frame:"growth"` // n / the largest training size
	Machine  string  `frame:"machine"`

	Instructions     float64 `frame:"sim_instructions"`
	PredInstructions float64 `frame:"pred_instructions"`
	Sim              float64 `frame:"sim_cycles"`
	Pred             float64 `frame:"pred_cycles"`
	Schedule         float64 `frame:"pred_schedule_cycles"` // of Pred, if all accesses hit in the first cache
	Branch           float64 `frame:"pred_branch_wait_cycles"`
	Warning          string  `frame:"pred_warning"`
	Err              float64 `frame:"rel_err"` // of Pred against Sim

	Baseline    float64 `frame:"pred_cycles_n3"` // simulated at the largest training size, times Growth³
	ErrBaseline float64 `frame:"rel_err_n3"`     // of Baseline against Sim
}

// cycles returns the rows of all machines.
func (j *judge) cycles(ctx context.Context, exe *executables, model *misses.Model) ([]CycleRow, error) {
	if exe.one == nil {
		return nil, errors.New("times are predicted for one executable, and this program has one for each size")
	}
	counts, err := anatomy.CountSweep(ctx, exe.one, points(j.program.Train), exe.running(j.step("counts")))
	if err != nil {
		return nil, err
	}
	execution, err := timing.FitExecution(ctx, counts)
	if err != nil {
		return nil, err
	}
	var rows []CycleRow
	for _, m := range j.Machines {
		fresh, err := j.cyclesOn(ctx, exe, model, execution, m)
		if err != nil {
			return nil, fmt.Errorf("on %s: %w", m.Name, err)
		}
		rows = append(rows, fresh...)
	}
	return rows, nil
}

// timed returns the sizes at which cycles are simulated.
func (j *judge) timed() []int { return append([]int{j.program.LargestTrained()}, j.program.Time...) }

func (j *judge) cyclesOn(ctx context.Context, exe *executables, model *misses.Model, execution *timing.ExecutionModel, m *machine.Machine) ([]CycleRow, error) {
	p := j.program
	corrector, err := j.corrector(ctx, exe, model, m)
	if err != nil {
		return nil, err
	}
	predicted, err := timing.Predict(ctx, model, execution, m, points(p.Time), timing.PredictOptions{Corrector: corrector})
	if err != nil {
		return nil, err
	}
	simulated, err := timing.Simulate(ctx, exe.one, m, points(j.timed()), timing.SimulateOptions{RunOptions: exe.running(j.step("cycles on " + m.Name))})
	if err != nil {
		return nil, err
	}
	return j.cycleRows(predicted, simulated), nil
}

// cycleRows puts predictions beside simulations at the same sizes and at the largest
// training size.
func (j *judge) cycleRows(predicted []timing.Row, simulated []timing.SimulatedRow) []CycleRow {
	at := make(map[float64]*timing.SimulatedRow)
	for i := range simulated {
		at[simulated[i].Point[sizeName]] = &simulated[i]
	}
	largest := float64(j.program.LargestTrained())
	var rows []CycleRow
	for i := range predicted {
		p := &predicted[i]
		n := p.Point[sizeName]
		s, base := at[n], at[largest]
		if s == nil || base == nil {
			continue
		}
		row := CycleRow{
			Program: j.program.Name, Language: j.program.Language(), Kind: string(j.program.Kind), Half: string(j.program.Half),
			N: n, Growth: n / largest, Machine: p.Machine,
			Instructions: s.Instructions, PredInstructions: p.Instructions, Sim: s.Cycles, Pred: p.Cycles,
			Schedule: p.Schedule, Branch: p.Branch, Warning: p.Warning, Err: num.RelErr(p.Cycles, s.Cycles),
			Baseline: cubed(base.Cycles, n/largest),
		}
		row.ErrBaseline = num.RelErr(row.Baseline, row.Sim)
		rows = append(rows, row)
	}
	return rows
}
