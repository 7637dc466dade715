package misses

import (
	"context"
	"errors"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/subject"
)

// Validation says what Validate holds against what.
type Validation struct {
	subject.RunOptions
	Machines []*machine.Machine
	Train    []subject.Point // sizes that models are fitted to
	Judge    []subject.Point // sizes that they are judged at
	// Large are sizes that they are judged at, too, without the simulation of
	// fully associative caches, which takes most of the time there: rows of these
	// sizes have no rel_err_model and no cause.
	Large []subject.Point
	// By are the scopes that are judged; nil: ByProgram and ByRoutine.
	By  []subject.Scope
	Fit FitOptions // how models are fitted; the store is that of RunOptions
	// PageBytes is that of SimulateOptions.
	PageBytes uint64
	// MinShare leaves out routines and loops with less than this share of a
	// level's simulated misses; 0: 0.02, negative: none is left out.
	MinShare float64
}

// DefaultMinShare is the share of the misses at which a routine or loop is worth
// a judgement of its own.
const DefaultMinShare = 0.02

// Causes of an error, as Validate names them.
const (
	// CauseConflicts: the models are right about a fully associative cache, and
	// the addresses are not spread over the sets as chance would.
	CauseConflicts = "conflicts"
	// CauseCapacity: the simulated misses lie between those predicted for a cache
	// a fifth smaller and one a quarter larger: many distances are close to the
	// capacity.
	CauseCapacity = "distances near the capacity"
	// CauseModel: neither; a function extrapolates badly.
	CauseModel = "model"
)

// validationRow is a row of the table of Validate.
type validationRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Growth   float64            `frame:"growth"`
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Of       string             `frame:"of"`
	Scope    string             `frame:"scope"`
	Share    float64            `frame:"share"`
	Pred     float64            `frame:"pred_misses"`
	PredFull float64            `frame:"pred_misses_fully_assoc"`
	Sim      float64            `frame:"sim_misses"`
	SimFull  float64            `frame:"sim_misses_fully_assoc"`
	Err      float64            `frame:"rel_err"`
	ErrFull  float64            `frame:"rel_err_fully_assoc"`
	ErrModel float64            `frame:"rel_err_model"`
	Cause    string             `frame:"cause"`
}

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
func Validate(ctx context.Context, prog *subject.Program, v Validation) (dataframe.DataFrame, error) {
	if err := v.Check(); err != nil {
		return dataframe.DataFrame{}, err
	}
	model, err := v.Model(ctx, prog)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	return v.Judged(ctx, prog, model)
}

func (v *Validation) Check() error {
	if len(v.Machines) == 0 || len(v.Judge)+len(v.Large) == 0 {
		return errors.New("perf: validate: no machine, or no size to judge at")
	}
	for _, by := range v.By {
		if _, err := by.Check(); err != nil {
			return err
		}
	}
	return nil
}

// Model fits models for the blocks of all machines.
func (v *Validation) Model(ctx context.Context, prog *subject.Program) (*Model, error) {
	opt := locality.ProfileOptions{RunOptions: v.RunOptions, Stack: true}
	for _, m := range v.Machines {
		opt.BlockBytes = append(opt.BlockBytes, m.BlockBytes()...)
	}
	runs, err := locality.Profile(ctx, prog, v.Train, opt)
	if err != nil {
		return nil, err
	}
	v.Fit.Store = v.Store
	return FitScaling(ctx, runs, v.Fit)
}

// Judged is the table of Validate, of a model that there is.
func (v *Validation) Judged(ctx context.Context, prog *subject.Program, model *Model) (dataframe.DataFrame, error) {
	scopes := v.By
	if scopes == nil {
		scopes = []subject.Scope{subject.ByProgram, subject.ByRoutine}
	}
	var rows []validationRow
	for _, m := range v.Machines {
		for _, by := range scopes {
			for i, points := range [][]subject.Point{v.Judge, v.Large} {
				if len(points) == 0 {
					continue
				}
				fresh, err := v.judge(ctx, prog, model, m, by, points, i == 0)
				if err != nil {
					return dataframe.DataFrame{}, err
				}
				rows = append(rows, fresh...)
			}
		}
	}
	return frame.Of(rows), nil
}

// judge holds the model against one machine's simulation; full: with fully
// associative caches, too.
func (v *Validation) judge(ctx context.Context, prog *subject.Program, model *Model, m *machine.Machine, by subject.Scope, points []subject.Point, full bool) ([]validationRow, error) {
	pred, err := PredictMisses(model, m, points, PredictOptions{By: by, Coverage: -1})
	if err != nil {
		return nil, err
	}
	sim, err := SimulateMisses(ctx, prog, m, points, SimulateOptions{RunOptions: v.RunOptions, By: by, FullyAssociative: full, PageBytes: v.PageBytes})
	if err != nil {
		return nil, err
	}
	both, err := Compare(pred, sim)
	if err != nil {
		return nil, err
	}
	rows, err := validationRows(both, model.Points[0].Names())
	if err != nil {
		return nil, err
	}
	setShares(rows)
	var kept []validationRow
	for _, r := range rows {
		if math.IsNaN(r.Pred) || r.Sim == 0 || by != subject.ByProgram && r.Share < v.minShare() {
			continue
		}
		r.Program, r.Machine, r.Of, r.Growth = model.Program, m.Name, string(by), model.growth(r.Point)
		if r.Cause, err = model.cause(m, by, &r); err != nil {
			return nil, err
		}
		kept = append(kept, r)
	}
	return kept, nil
}

func (v *Validation) minShare() float64 {
	if v.MinShare == 0 {
		return DefaultMinShare
	}
	return v.MinShare
}

// validationRows takes over what Compare's table holds.
func validationRows(df dataframe.DataFrame, params []string) ([]validationRow, error) {
	rows := make([]validationRow, df.Nrow())
	levels, errL := frame.Strings(df, "level")
	scopes, errS := frame.Strings(df, "scope")
	if err := errors.Join(errL, errS); err != nil {
		return nil, err
	}
	for i := range rows {
		rows[i].Level, rows[i].Scope, rows[i].Point = levels[i], scopes[i], subject.Point{}
	}
	for _, name := range params {
		err := fill(df, name, rows, func(r *validationRow, x float64) { r.Point[name] = x })
		if err != nil {
			return nil, err
		}
	}
	return rows, errors.Join(
		fill(df, "pred_misses", rows, func(r *validationRow, x float64) { r.Pred = x }),
		fill(df, "pred_misses_fully_assoc", rows, func(r *validationRow, x float64) { r.PredFull = x }),
		fill(df, "sim_misses", rows, func(r *validationRow, x float64) { r.Sim = x }),
		fill(df, "sim_misses_fully_assoc", rows, func(r *validationRow, x float64) { r.SimFull = x }),
		fill(df, "rel_err", rows, func(r *validationRow, x float64) { r.Err = x }),
		fill(df, "rel_err_fully_assoc", rows, func(r *validationRow, x float64) { r.ErrFull = x }),
		fill(df, "rel_err_model", rows, func(r *validationRow, x float64) { r.ErrModel = x }),
	)
}

// fill hands a column's numbers to the rows.
func fill(df dataframe.DataFrame, column string, rows []validationRow, set func(*validationRow, float64)) error {
	values, err := frame.Floats(df, column)
	for i := range values {
		set(&rows[i], values[i])
	}
	return err
}

// setShares sets each row's share of the simulated misses at its point and
// level.
func setShares(rows []validationRow) {
	key := func(r *validationRow) string { return subject.Point(r.Point).String() + " " + r.Level }
	total := make(map[string]float64)
	for i := range rows {
		total[key(&rows[i])] += rows[i].Sim
	}
	for i := range rows {
		rows[i].Share = num.Ratio(rows[i].Sim, total[key(&rows[i])])
	}
}

// growth returns the largest ratio of a parameter to its largest training value.
func (m *Model) growth(p subject.Point) float64 {
	most := 0.0
	for name, x := range p {
		most = max(most, x/m.Range(name)[1])
	}
	return most
}

const (
	worthACause = 0.05 // relative error from which its cause is told
	nearby      = 1.25 // ratio of a capacity to one that is close to it
)

// cause tells what explains the larger part of a row's error.
func (m *Model) cause(mach *machine.Machine, by subject.Scope, r *validationRow) (string, error) {
	if math.Abs(r.Err) <= worthACause || math.IsNaN(r.SimFull) {
		return "", nil
	}
	i := slices.IndexFunc(predict.Levels(mach), func(l predict.Level) bool { return l.Name == r.Level })
	l := predict.Levels(mach)[i]
	if l.Sets > 1 && byConflicts(r) {
		return CauseConflicts, nil
	}
	blocks := float64(l.Blocks())
	most, err := m.fullyAssociative(l, by, r, uint64(blocks/nearby))
	if err != nil {
		return "", err
	}
	least, err := m.fullyAssociative(l, by, r, uint64(blocks*nearby))
	if err != nil {
		return "", err
	}
	if least <= r.SimFull && r.SimFull <= most {
		return CauseCapacity, nil
	}
	return CauseModel, nil
}

// byConflicts reports whether the models are nearer to a fully associative cache
// than half the error, on a scale of ratios.
func byConflicts(r *validationRow) bool {
	if r.PredFull == r.SimFull {
		return true
	}
	if r.Pred <= 0 || r.Sim <= 0 || r.PredFull <= 0 || r.SimFull <= 0 {
		return false
	}
	return math.Abs(math.Log(r.PredFull/r.SimFull)) <= math.Abs(math.Log(r.Pred/r.Sim))/2
}

// fullyAssociative predicts the misses of a row's scope in a fully associative
// cache of another capacity.
func (m *Model) fullyAssociative(l predict.Level, by subject.Scope, r *validationRow, blocks uint64) (float64, error) {
	p, err := predict.At(m.byBlock[l.BlockBytes], fit.Point(r.Point), predict.FullyAssociative(blocks))
	if err != nil {
		return 0, err
	}
	names, of := m.Scopes(by)
	sum := 0.0
	for g := range p.Groups {
		if names[of[g]] == r.Scope {
			sum += p.Groups[g].Total()
		}
	}
	return sum, nil
}
