package judging

import (
	"context"
	"math"
	"slices"
	"strings"

	"presage/perf/internal/num"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/predict"
)

// MissRow holds the misses of a whole program that were predicted at a level of a
// machine against those that were simulated.
type MissRow struct {
	Program  string  `frame:"program"`
	Language string  `frame:"language"`
	Kind     string  `frame:"kind"`
	Half     string  `frame:"half"`
	N        float64 `frame:"n"`
	Growth   float64 `frame:"growth"` // n / the largest training size
	Machine  string  `frame:"machine"`
	Level    string  `frame:"level"`
	Class    string  `frame:"class"` // of the level: one of the constants Class…

	SimAccesses  float64 `frame:"sim_accesses"`
	PredAccesses float64 `frame:"pred_accesses"`
	Sim          float64 `frame:"sim_misses"`
	Pred         float64 `frame:"pred_misses"`
	Low          float64 `frame:"pred_misses_low"`
	High         float64 `frame:"pred_misses_high"`
	Doubtful     float64 `frame:"pred_doubtful_share"` // of Pred, as misses.Row.Doubtful
	Method       string  `frame:"pred_method"`         // as misses.Row.Method
	Warning      string  `frame:"pred_warning"`
	Err          float64 `frame:"rel_err"` // of Pred against Sim

	// WithoutStart is Pred if models stood where MethodStart corrects them.
	WithoutStart    float64 `frame:"pred_misses_without_start"`
	ErrWithoutStart float64 `frame:"rel_err_without_start"` // of WithoutStart against Sim

	Baseline    float64 `frame:"pred_misses_n3"` // simulated at the largest training size, times Growth³
	ErrBaseline float64 `frame:"rel_err_n3"`     // of Baseline against Sim

	SimFull  float64 `frame:"sim_misses_fully_assoc"`
	PredFull float64 `frame:"pred_misses_fully_assoc"`
	ErrModel float64 `frame:"rel_err_model"` // of PredFull against SimFull: the models of distances alone
}

// The classes of what is judged, for which accuracy is summed up.
const (
	ClassManyWays = "caches, 4 ways and more"
	ClassFewWays  = "caches, fewer than 4 ways"
	ClassTLB      = "TLBs"
	ClassCycles   = "cycles"
)

// fewWays is the number of ways below which a cache belongs to ClassFewWays.
const fewWays = 4

// misses returns the rows of one machine. A level that floating-point accesses bypass
// is not predicted, and has none.
func (j *judge) misses(ctx context.Context, exe *executables, model *misses.Model, m *machine.Machine) ([]MissRow, error) {
	p := j.program
	opt := misses.PredictOptions{Coverage: j.Coverage, Progress: j.step("prediction on " + m.Name)}
	var err error
	if opt.Corrector, err = j.corrector(ctx, exe, model, m); err != nil {
		return nil, err
	}
	predicted, err := misses.Predict(ctx, model, m, points(p.Judge), opt)
	if err != nil {
		return nil, err
	}
	without, err := j.withoutStart(ctx, exe, model, m, predicted, opt)
	if err != nil {
		return nil, err
	}
	sim := j.simulating(exe, m)
	prog, at, run := exe.sweep(j.simulated(), sim.RunOptions)
	sim.RunOptions = run
	simulated, err := misses.Simulate(ctx, prog, m, at, sim)
	if err != nil {
		return nil, err
	}
	return j.missRows(m, predicted, without, simulated), nil
}

// corrector returns what corrects the misses of a machine: the same for misses and for
// cycles.
func (j *judge) corrector(ctx context.Context, exe *executables, model *misses.Model, m *machine.Machine) (misses.Corrector, error) {
	if j.PageBytes != 0 { // a replay is at the program's own addresses
		return nil, nil
	}
	if c, ok := j.correctors[m]; ok {
		return c, nil
	}
	c, err := replayed.Correctors(j.Store, j.replaying(exe, m))(ctx, model, m)
	if err != nil {
		return nil, err
	}
	if j.correctors == nil {
		j.correctors = make(map[*machine.Machine]misses.Corrector)
	}
	j.correctors[m] = c
	return c, nil
}

// replaying returns the options of what corrects the misses of a machine.
func (j *judge) replaying(exe *executables, m *machine.Machine) replayed.Options {
	return replayed.Options{Executables: exe.compiled(j.program.Judge), TrainedSizesOnly: j.TrainedSizesOnly, Progress: j.step("prediction on " + m.Name)}
}

// withoutStart returns the predictions without what the starts of runs say of what is not
// replayed: the same rows, if none says anything.
func (j *judge) withoutStart(ctx context.Context, exe *executables, model *misses.Model, m *machine.Machine, predicted []misses.Row, opt misses.PredictOptions) ([]misses.Row, error) {
	if !slices.ContainsFunc(predicted, func(r misses.Row) bool { return strings.Contains(r.Method, replayed.MethodStart) }) {
		return predicted, nil
	}
	replaying := j.replaying(exe, m)
	replaying.WithoutStart = true
	var err error
	if opt.Corrector, err = replayed.Correctors(j.Store, replaying)(ctx, model, m); err != nil {
		return nil, err
	}
	return misses.Predict(ctx, model, m, points(j.program.Judge), opt)
}

// simulated returns the sizes at which misses are simulated.
func (j *judge) simulated() []int {
	return append([]int{j.program.LargestTrained()}, j.program.Judge...)
}

// simulating returns the options of simulations of misses.
func (j *judge) simulating(exe *executables, m *machine.Machine) misses.SimulateOptions {
	return misses.SimulateOptions{RunOptions: exe.running(j.step("misses on " + m.Name)), FullyAssociative: true, PageBytes: j.PageBytes}
}

// place is a level at a size.
type place struct {
	n     float64
	level string
}

// missRows puts predictions, and those without the starts of runs, beside simulations at the
// same sizes and at the largest training size.
func (j *judge) missRows(m *machine.Machine, predicted, without []misses.Row, simulated []misses.SimulatedRow) []MissRow {
	bare := make(map[place]float64)
	for i := range without {
		bare[place{without[i].Point[sizeName], without[i].Level}] = without[i].Misses
	}
	at := make(map[place]*misses.SimulatedRow)
	for i := range simulated {
		s := &simulated[i]
		at[place{s.Point[sizeName], s.Level}] = s
	}
	largest := float64(j.program.LargestTrained())
	classes := classesOf(m)
	var rows []MissRow
	for i := range predicted {
		p := &predicted[i]
		n := p.Point[sizeName]
		s, base := at[place{n, p.Level}], at[place{largest, p.Level}]
		if s == nil || base == nil || math.IsNaN(p.Misses) {
			continue
		}
		growth := n / largest
		row := MissRow{
			Program: j.program.Name, Language: j.program.Language(), Kind: string(j.program.Kind), Half: string(j.program.Half),
			N: n, Growth: growth, Machine: m.Name, Level: p.Level, Class: classes[p.Level],
			SimAccesses: s.Accesses, PredAccesses: p.Accesses, Sim: s.Misses, Pred: p.Misses, Low: p.Low, High: p.High,
			Doubtful: p.Doubtful, Method: p.Method, Warning: p.Warning, Err: num.RelErr(p.Misses, s.Misses),
			Baseline: cubed(base.Misses, growth), SimFull: s.Full, PredFull: p.FullyAssoc, ErrModel: num.RelErr(p.FullyAssoc, s.Full),
		}
		row.WithoutStart = bare[place{n, p.Level}]
		row.ErrWithoutStart = num.RelErr(row.WithoutStart, row.Sim)
		row.ErrBaseline = num.RelErr(row.Baseline, row.Sim)
		rows = append(rows, row)
	}
	return rows
}

// cubed returns the baseline: what there was, grown with the cube of the size.
func cubed(was, growth float64) float64 { return was * growth * growth * growth }

// classesOf returns the classes of a machine's levels by name.
func classesOf(m *machine.Machine) map[string]string {
	classes := make(map[string]string)
	for i, l := range predict.Levels(m) {
		class := ClassManyWays
		switch {
		case i >= len(m.Caches):
			class = ClassTLB
		case l.Sets > 1 && l.Ways < fewWays:
			class = ClassFewWays
		}
		classes[l.Name] = class
	}
	return classes
}
