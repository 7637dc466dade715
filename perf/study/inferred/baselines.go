package inferred

import (
	"context"
	"slices"
	"strings"

	"presage/perf/infer"
	"presage/perf/progress"
)

// Baseline is how well another method predicts shards in a scenario, without an
// update. Errors are |predicted - simulated| / simulated.
type Baseline struct {
	Method      string  `frame:"method"`
	Scenario    string  `frame:"scenario"`
	LeftOut     string  `frame:"left_out"` // application; "" for none
	Rows        int     `frame:"rows"`
	Median      float64 `frame:"median_rel_err"`
	P90         float64 `frame:"p90_rel_err"`
	Correlation float64 `frame:"correlation"` // of predicted and simulated CPI
}

// BaselineOptions say which other methods are judged, and where.
type BaselineOptions struct {
	// Script is an R script of further methods, run by Rscript: see
	// datasets/inferred/baselines.R. "" for none.
	Script string

	// LeftOut also judges by each application left out in turn, which takes
	// several times as long.
	LeftOut bool
}

// task is what a method is given: rows to learn from, and rows to predict.
type task struct {
	scenario, left string
	train, test    *infer.Table
}

// steps bounds the terms that stepwise selection adds.
const steps = 20

// tasks returns interpolation and new hardware, and with leftOut each application
// left out.
func (r *runner) tasks(leftOut bool) (list []task) {
	add := func(scenario, left string, train, test []Profile) {
		list = append(list, task{scenario, left, r.all.Table(train, r.Variables), r.all.Table(test, r.Variables)})
	}
	train := r.choose(everyShard, Train)
	add(Interpolation, "", train, r.choose(r.known, Check))
	add(NewHardware, "", train, r.choose(r.known, New))
	if !leftOut {
		return list
	}
	for _, a := range r.all.Applications() {
		is := func(s *Shard) bool { return s.Application == a }
		others := r.choose(func(s *Shard) bool { return !is(s) }, Train)
		add(NewSoftware, a, others, r.choose(is, Check))
	}
	return list
}

// Baselines judges other methods on the profiles that Run judges by: the mean of
// the training rows; a regression on all variables without transformations or
// interactions; stepwise selection; and those of an R script.
func (o Options) Baselines(ctx context.Context, p *Profiles, opt BaselineOptions) ([]Baseline, error) {
	r, err := o.runner(p)
	if err != nil {
		return nil, err
	}
	tasks := r.tasks(opt.LeftOut)
	var out []Baseline
	for _, t := range tasks {
		r.Progress.Report(progress.Report{Task: strings.TrimSpace("baselines: " + t.scenario + " " + t.left)})
		rows, err := r.baselines(ctx, t)
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	if opt.Script == "" {
		return out, nil
	}
	r.Progress.Report(progress.Report{Task: "baselines: " + opt.Script})
	more, err := runScript(ctx, opt.Script, tasks)
	if err != nil {
		return nil, err
	}
	return append(out, more...), nil
}

// baselines judges the methods that need no script on a task.
func (r *runner) baselines(ctx context.Context, t task) ([]Baseline, error) {
	chosen, err := infer.Stepwise(ctx, t.train, r.Search, steps)
	if err != nil {
		return nil, err
	}
	variables := len(t.train.Names)
	var out []Baseline
	for _, m := range []struct {
		name string
		spec infer.Spec
	}{
		{"mean", infer.Spec{Genes: make([]infer.Gene, variables)}},
		{"linear", infer.Spec{Genes: slices.Repeat([]infer.Gene{infer.Linear}, variables)}},
		{"stepwise", chosen.Spec},
	} {
		model, err := infer.Fit(t.train, m.spec, infer.FitOptions{Scaling: r.Search.Scaling, Ridge: r.Search.Ridge})
		if err != nil {
			return nil, err
		}
		predicted, err := model.Predict(t.test)
		if err != nil {
			return nil, err
		}
		out = append(out, t.judged(m.name, predicted))
	}
	return out, nil
}

// judged returns the row of a method that predicted the test rows.
func (t *task) judged(method string, predicted []float64) Baseline {
	a := infer.Judge(predicted, t.test.Response)
	return Baseline{method, t.scenario, t.left, a.Rows, a.Median, a.P90, a.Correlation}
}
