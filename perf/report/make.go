package report

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/misses/replayed"
	"presage/perf/subject"
)

// Options configures Make. Machines and Train are needed.
type Options struct {
	subject.RunOptions
	Machines []*machine.Machine
	// Train are the sizes that are profiled and that models are fitted to.
	Train []subject.Point
	// Predict are the sizes to predict; nil: twice and four times the largest of
	// Train, where one parameter varies.
	Predict []subject.Point
	// Judge are the sizes that are simulated exactly; nil: one and a half times the
	// largest of Train, where one parameter varies. Empty, not nil: none.
	Judge []subject.Point
	// Fit is how models are fitted; its store is that of RunOptions.
	Fit misses.FitOptions
	// Distances predicts from reuse distances alone: nothing is replayed.
	Distances bool
	// TrainedSizesOnly is that of misses.PredictOptions.
	TrainedSizesOnly bool
	// Commands are printed in the page as what makes it again.
	Commands []string
}

// Report is what Make found.
type Report struct {
	Program     string
	Param       string // that the figures are over
	Runs        *locality.Runs
	Model       *misses.Model
	Predictions []misses.Row       // by program, at Predict
	Routines    []misses.Row       // those with most misses, at the largest of Predict
	Judgements  []misses.Judgement // by program and routine, at Judge
	Curves      []CurveRow
	Doubts      []Doubt // the gravest first

	opt Options
}

// CurveRow is a point of the curves of the page: misses by the model, from reuse
// distances alone, and simulated ones where there are any.
type CurveRow struct {
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Point   map[string]float64 `frame:",each"`
	Misses  float64            `frame:"pred_misses"`
	Sim     float64            `frame:"sim_misses"`
}

// limits of what is computed and shown.
const (
	curvePoints = 21
	maxRoutines = 8
)

// Make profiles prog at the training sizes, fits a model, predicts its misses on the
// machines, and simulates the sizes to judge. Runs, models and simulations are kept in
// the store. prog is nil if the options have Binaries, one for each size of Train and
// Judge.
func Make(ctx context.Context, prog *subject.Program, opt Options) (*Report, error) {
	if len(opt.Machines) == 0 {
		return nil, errors.New("report: no machine: name one at least")
	}
	if len(opt.Train) < locality.MinSizes {
		return nil, fmt.Errorf("report: %d sizes to profile: a model takes %d at least, and five to be worth trusting", len(opt.Train), locality.MinSizes)
	}
	r := &Report{opt: opt, Param: varying(opt.Train)}
	if r.opt.Predict == nil {
		r.opt.Predict = r.larger(2, 4)
	}
	if r.opt.Judge == nil && len(opt.Binaries) == 0 {
		r.opt.Judge = r.larger(1.5)
	}
	if len(r.opt.Predict) == 0 {
		return nil, errors.New("report: no size to predict: where several parameters vary, name the sizes")
	}
	v := misses.Validation{RunOptions: opt.RunOptions, Machines: opt.Machines, Train: opt.Train, Judge: r.opt.Judge, Fit: opt.Fit}
	if !opt.Distances {
		v.Correctors = replayed.Correctors(opt.Store, replayed.Options{TrainedSizesOnly: opt.TrainedSizesOnly, Progress: opt.Progress})
	}
	var err error
	if r.Model, err = v.Model(ctx, prog); err != nil {
		return nil, err
	}
	r.Runs, r.Program = r.Model.Runs(), r.Model.Program
	if len(r.opt.Judge) > 0 {
		if r.Judgements, err = v.Judged(ctx, prog, r.Model); err != nil {
			return nil, err
		}
	}
	for _, m := range opt.Machines {
		if err := r.predict(ctx, m, &v); err != nil {
			return nil, err
		}
	}
	r.Doubts = r.doubts()
	return r, nil
}

// varying returns the parameter that varies; that with the most values if several do.
func varying(points []subject.Point) string {
	best, most := "", 0
	for _, name := range points[0].Names() {
		values := make(map[float64]bool)
		for _, p := range points {
			values[p[name]] = true
		}
		if len(values) > most {
			best, most = name, len(values)
		}
	}
	return best
}

// larger returns the largest training point with its parameter multiplied; none if
// other parameters vary, too.
func (r *Report) larger(by ...float64) []subject.Point {
	largest := r.opt.Train[0]
	for _, p := range r.opt.Train {
		for name, v := range p {
			if name != r.Param && v != largest[name] {
				return []subject.Point{}
			}
		}
		if p[r.Param] > largest[r.Param] {
			largest = p
		}
	}
	var all []subject.Point
	for _, k := range by {
		p := maps.Clone(largest)
		p[r.Param] = subject.Round(k * largest[r.Param])
		if largest[r.Param] == math.Trunc(largest[r.Param]) {
			p[r.Param] = math.Round(p[r.Param])
		}
		all = append(all, p)
	}
	return all
}

// predict adds the predictions for a machine.
func (r *Report) predict(ctx context.Context, m *machine.Machine, v *misses.Validation) error {
	opt := misses.PredictOptions{Progress: r.opt.Progress}
	if v.Correctors != nil {
		var err error
		if opt.Corrector, err = v.Correctors(ctx, r.Model, m); err != nil {
			return err
		}
	}
	rows, err := misses.Predict(ctx, r.Model, m, r.opt.Predict, opt)
	if err != nil {
		return err
	}
	r.Predictions = append(r.Predictions, rows...)
	opt.By, opt.Listing = subject.ByRoutine, subject.Listing{Limit: maxRoutines}
	if rows, err = misses.Predict(ctx, r.Model, m, r.opt.Predict[len(r.opt.Predict)-1:], opt); err != nil {
		return err
	}
	r.Routines = append(r.Routines, rows...)
	return r.curve(ctx, m)
}

// curve adds the model's misses over the parameter, and simulated ones.
func (r *Report) curve(ctx context.Context, m *machine.Machine) error {
	points := r.axis()
	rows, err := misses.Predict(ctx, r.Model, m, points, misses.PredictOptions{Coverage: -1, Progress: r.opt.Progress})
	if err != nil {
		return err
	}
	for _, row := range rows {
		c := CurveRow{Machine: row.Machine, Level: row.Level, Point: row.Point, Misses: row.Misses, Sim: math.NaN()}
		for i := range r.Judgements {
			j := &r.Judgements[i]
			if j.Of == string(subject.ByProgram) && j.Machine == row.Machine && j.Level == row.Level && maps.Equal(j.Point, row.Point) {
				c.Sim = j.Sim
			}
		}
		r.Curves = append(r.Curves, c)
	}
	return nil
}

// axis returns the points of curves: from the smallest training size to the largest
// size predicted, and those that were simulated.
func (r *Report) axis() []subject.Point {
	largest := r.opt.Predict[len(r.opt.Predict)-1]
	lo, hi := math.Inf(1), largest[r.Param]
	for _, p := range r.opt.Train {
		lo = min(lo, p[r.Param])
	}
	var points []subject.Point
	seen := make(map[float64]bool)
	add := func(x float64) {
		if !seen[x] {
			seen[x] = true
			p := maps.Clone(largest)
			p[r.Param] = x
			points = append(points, p)
		}
	}
	whole := lo == math.Trunc(lo) && hi == math.Trunc(hi)
	for i := range curvePoints {
		x := subject.Round(lo * math.Pow(hi/lo, float64(i)/(curvePoints-1)))
		if whole {
			x = math.Round(x)
		}
		add(x)
	}
	for _, p := range r.opt.Judge {
		add(p[r.Param])
	}
	return points
}
