package misses

import (
	"context"
	"errors"
	"math"
	"slices"

	"presage/perf/campaign"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/predict"
	"presage/perf/store"
	"presage/perf/subject"
)

// Validation configures Validate: which predictions it compares with which
// simulations.
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
	By []subject.Scope
	// Method is how misses of set-associative caches follow from histograms, as in
	// PredictOptions.
	Method predict.Method
	// Correctors returns what corrects the predictions of a model for a machine; nil:
	// nothing does. See PredictOptions.Corrector.
	Correctors func(ctx context.Context, model *Model, on *machine.Machine) (Corrector, error)
	// TrainedSizesOnly is that of PredictOptions: of Correctors, if these are nil and
	// come by default.
	TrainedSizesOnly bool
	Fit              FitOptions // how models are fitted; the store is that of RunOptions
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

// Judgement is a prediction beside its simulation.
type Judgement struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Growth   float64            `frame:"growth"` // the largest ratio of a parameter to its largest training value
	Machine  string             `frame:"machine"`
	Level    string             `frame:"level"`
	Of       string             `frame:"of"`     // program, routine or loop
	Scope    string             `frame:"scope"`  // which
	Share    float64            `frame:"share"`  // of the level's simulated misses at the point, from 0 to 1
	Method   string             `frame:"method"` // of Pred, as in Row
	Pred     float64            `frame:"pred_misses"`
	PredFull float64            `frame:"pred_misses_fully_assoc"`
	Sim      float64            `frame:"sim_misses"`
	SimFull  float64            `frame:"sim_misses_fully_assoc"` // missing if it was not simulated
	Err      float64            `frame:"rel_err"`                // of Pred against Sim
	ErrFull  float64            `frame:"rel_err_fully_assoc"`    // of PredFull against Sim: what is lost by leaving conflicts out
	ErrModel float64            `frame:"rel_err_model"`          // of PredFull against SimFull: the models alone
	// Cause explains the larger part of an Err beyond 5%: one of the constants
	// Cause…; otherwise it is empty.
	Cause string `frame:"cause"`
}

// Validate profiles prog at the training sizes, fits models, predicts the misses
// at the sizes to be judged, and simulates them exactly there, with the machines'
// caches and with fully associative ones. There is a row for each machine, point
// and level of the program, and of each routine (or loop) with a share of the
// misses. A level that is not predicted, or without a simulated miss, has no row.
//
// Runs, models and simulations are kept in the store.
//
// prog is nil if the options have Binaries, one for each size.
func Validate(ctx context.Context, prog *subject.Program, v Validation) ([]Judgement, error) {
	if err := v.Check(); err != nil {
		return nil, err
	}
	if v.Campaign != nil {
		jobs, err := v.Jobs(ctx, prog)
		if err != nil {
			return nil, err
		}
		if err := v.Campaign.Run(ctx, v.Store, jobs, v.Progress); err != nil {
			return nil, err
		}
	}
	model, err := v.Model(ctx, prog)
	if err != nil {
		return nil, err
	}
	return v.Judged(ctx, prog, model)
}

// Check returns an error if there is nothing to judge, or a scope is unknown.
func (v *Validation) Check() error {
	if len(v.Machines) == 0 || len(v.Judge)+len(v.Large) == 0 {
		return errors.New("perf: validate: no machine, or no size to judge at")
	}
	if _, err := v.Method.Check(); err != nil {
		return err
	}
	for _, by := range v.By {
		if _, err := by.Check(); err != nil {
			return err
		}
	}
	return nil
}

// profiling returns the options of the profiles, with the block sizes of all machines.
func (v *Validation) profiling() locality.ProfileOptions {
	opt := locality.ProfileOptions{RunOptions: v.RunOptions}
	for _, m := range v.Machines {
		opt.BlockBytes = append(opt.BlockBytes, m.BlockBytes()...)
	}
	return opt
}

// simulating returns the options of the simulations of Judge or, if not full, Large.
func (v *Validation) simulating(by subject.Scope, full bool) SimulateOptions {
	return SimulateOptions{RunOptions: v.RunOptions, By: by, FullyAssociative: full, PageBytes: v.PageBytes}
}

// Jobs returns the jobs of all runs that Validate needs, those of the simulations, too:
// none depends on another's result. It sets the store, if there is none.
func (v *Validation) Jobs(ctx context.Context, prog *subject.Program) ([]campaign.Job, error) {
	var err error
	if v.Store, err = store.OrDefault(v.Store); err != nil {
		return nil, err
	}
	jobs, err := locality.Jobs(ctx, prog, v.Train, v.profiling())
	if err != nil {
		return nil, err
	}
	for _, m := range v.Machines {
		for _, part := range v.parts() {
			fresh, err := SimulationJobs(ctx, prog, m, part.points, v.simulating("", part.full))
			if err != nil {
				return nil, err
			}
			jobs = append(jobs, fresh...)
		}
	}
	return jobs, nil
}

// judged is some points to judge at.
type judged struct {
	points []subject.Point
	full   bool // with fully associative caches
}

// parts returns the points to judge at.
func (v *Validation) parts() []judged { return []judged{{v.Judge, true}, {v.Large, false}} }

// Model profiles prog at the training sizes and fits a model for the block sizes
// of all machines.
func (v *Validation) Model(ctx context.Context, prog *subject.Program) (*Model, error) {
	runs, err := locality.Profile(ctx, prog, v.Train, v.profiling())
	if err != nil {
		return nil, err
	}
	v.Fit.Store = v.Store
	return Fit(ctx, runs, v.Fit)
}

// Judged returns the rows of Validate for a model that Model returned.
func (v *Validation) Judged(ctx context.Context, prog *subject.Program, model *Model) ([]Judgement, error) {
	scopes := v.By
	if scopes == nil {
		scopes = []subject.Scope{subject.ByProgram, subject.ByRoutine}
	}
	var rows []Judgement
	for _, m := range v.Machines {
		var corrector Corrector
		if v.Correctors != nil {
			var err error
			if corrector, err = v.Correctors(ctx, model, m); err != nil {
				return nil, err
			}
		}
		for _, by := range scopes {
			for _, part := range v.parts() {
				if len(part.points) == 0 {
					continue
				}
				j := judge{prog: prog, model: model, machine: m, by: by, minShare: v.minShare(), method: v.Method, corrector: corrector}
				fresh, err := j.rows(ctx, part.points, v.simulating(by, part.full))
				if err != nil {
					return nil, err
				}
				rows = append(rows, fresh...)
			}
		}
	}
	return rows, nil
}

// judge compares a model with simulations of one machine.
type judge struct {
	prog      *subject.Program // nil: see RunOptions.Binaries
	model     *Model
	machine   *machine.Machine
	by        subject.Scope
	minShare  float64
	method    predict.Method
	corrector Corrector
}

func (j *judge) rows(ctx context.Context, points []subject.Point, opt SimulateOptions) ([]Judgement, error) {
	predicted, err := Predict(ctx, j.model, j.machine, points, PredictOptions{By: j.by, Method: j.method, Corrector: j.corrector, Coverage: -1, Progress: opt.Progress})
	if err != nil {
		return nil, err
	}
	simulated, err := Simulate(ctx, j.prog, j.machine, points, opt)
	if err != nil {
		return nil, err
	}
	rows := compare(predicted, simulated)
	setShares(rows)
	var kept []Judgement
	for _, r := range rows {
		if math.IsNaN(r.Pred) || r.Sim == 0 || j.by != subject.ByProgram && r.Share < j.minShare {
			continue
		}
		r.Of = string(j.by)
		if r.Growth, err = j.model.growth(r.Point); err != nil {
			return nil, err
		}
		if r.Cause, err = j.cause(ctx, &r); err != nil {
			return nil, err
		}
		kept = append(kept, r)
	}
	return kept, nil
}

// place is what a prediction and a simulation have in common.
type place struct{ point, level, scope string }

// compare puts simulations beside the predictions of the same point, level and
// scope, in the order of the predictions. Both are of one program and machine.
func compare(predicted []Row, simulated []SimulatedRow) []Judgement {
	at := make(map[place]*SimulatedRow)
	for i := range simulated {
		s := &simulated[i]
		at[place{subject.Point(s.Point).String(), s.Level, s.Scope}] = s
	}
	var rows []Judgement
	for _, p := range predicted {
		s := at[place{subject.Point(p.Point).String(), p.Level, p.Scope}]
		if s == nil {
			continue
		}
		rows = append(rows, Judgement{
			Program: p.Program, Point: p.Point, Machine: p.Machine, Level: p.Level, Scope: p.Scope, Method: p.Method,
			Pred: p.Misses, PredFull: p.FullyAssoc, Sim: s.Misses, SimFull: s.Full,
			Err: num.RelErr(p.Misses, s.Misses), ErrFull: num.RelErr(p.FullyAssoc, s.Misses), ErrModel: num.RelErr(p.FullyAssoc, s.Full),
		})
	}
	return rows
}

func (v *Validation) minShare() float64 {
	if v.MinShare == 0 {
		return DefaultMinShare
	}
	return v.MinShare
}

// setShares sets each row's share of the simulated misses at its point and
// level.
func setShares(rows []Judgement) {
	key := func(r *Judgement) string { return subject.Point(r.Point).String() + " " + r.Level }
	total := make(map[string]float64)
	for i := range rows {
		total[key(&rows[i])] += rows[i].Sim
	}
	for i := range rows {
		rows[i].Share = num.Ratio(rows[i].Sim, total[key(&rows[i])])
	}
}

// growth returns the largest ratio of a parameter to its largest training value.
func (m *Model) growth(p subject.Point) (float64, error) {
	most := 0.0
	for name, x := range p {
		trained, err := m.Range(name)
		if err != nil {
			return 0, err
		}
		most = max(most, x/trained[1])
	}
	return most, nil
}

const (
	worthACause = 0.05 // relative error from which its cause is told
	nearby      = 1.25 // ratio of a capacity to one that is close to it
)

// cause returns what explains the larger part of a row's error.
func (j *judge) cause(ctx context.Context, r *Judgement) (string, error) {
	if math.Abs(r.Err) <= worthACause || math.IsNaN(r.SimFull) {
		return "", nil
	}
	levels := predict.Levels(j.machine)
	l := levels[slices.IndexFunc(levels, func(l predict.Level) bool { return l.Name == r.Level })]
	if l.Sets > 1 && byConflicts(r) {
		return CauseConflicts, nil
	}
	blocks := float64(l.Blocks())
	most, err := j.fullyAssociative(ctx, l, r, uint64(blocks/nearby))
	if err != nil {
		return "", err
	}
	least, err := j.fullyAssociative(ctx, l, r, uint64(blocks*nearby))
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
func byConflicts(r *Judgement) bool {
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
func (j *judge) fullyAssociative(ctx context.Context, l predict.Level, r *Judgement, blocks uint64) (float64, error) {
	method, err := j.method.Check()
	if err != nil {
		return 0, err
	}
	h, err := j.model.histogramsAt(ctx, l.BlockBytes, r.Point, method)
	if err != nil {
		return 0, err
	}
	scopes := j.model.Scopes(j.by)
	sum := 0.0
	for g := range h.groups {
		if scopes.Names[scopes.Of[h.group(g)]] == r.Scope {
			m := h.missesIn(g, predict.FullyAssociative(blocks))
			sum += m.Total()
		}
	}
	return sum, nil
}
