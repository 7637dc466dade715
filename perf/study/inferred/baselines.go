package inferred

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"presage/perf/frame"
	"presage/perf/infer"
)

// Baseline is a row of the table of other methods: how well one predicts
// shards in a scenario, with no update.
type Baseline struct {
	Method      string  `frame:"method"`
	Scenario    string  `frame:"scenario"`
	LeftOut     string  `frame:"left_out"` // application; "" for none
	Rows        int     `frame:"rows"`
	Median      float64 `frame:"median_rel_err"`
	P90         float64 `frame:"p90_rel_err"`
	Correlation float64 `frame:"correlation"`
}

// inferTask is what each method is given: rows to learn from, and rows to
// predict.
type inferTask struct {
	scenario, left string
	train, test    *infer.Table
}

// steps is how many terms stepwise selection adds at most.
const steps = 20

// tasks are interpolation and new hardware, and if wanted each application left
// out.
func (r *runner) tasks(leftOut bool) (list []inferTask) {
	add := func(scenario, left string, train, test []Profile) {
		list = append(list, inferTask{scenario, left, r.all.Table(train, r.Variables), r.all.Table(test, r.Variables)})
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

// Baselines judges other methods on the profiles that the study judges by:
// the mean of the training rows; a regression on all variables without
// transformations or interactions; stepwise selection; and, if script is not
// empty, those of an R script, which is run by Rscript: see
// datasets/inferred/baselines.R. With leftOut they are also judged on each
// application, left out in turn, which takes them several times as long.
func (s Study) Baselines(ctx context.Context, p *Profiles, script string, leftOut bool) ([]Baseline, error) {
	r, err := s.runner(p)
	if err != nil {
		return nil, err
	}
	tasks := r.tasks(leftOut)
	var out []Baseline
	for _, t := range tasks {
		r.Progress(strings.TrimSpace("baselines: " + t.scenario + " " + t.left))
		flat := infer.Spec{Genes: slices.Repeat([]infer.Gene{infer.Linear}, len(t.train.Names))}
		chosen, err := infer.Stepwise(ctx, t.train, r.Search, steps)
		if err != nil {
			return nil, err
		}
		for _, m := range []struct {
			name string
			spec infer.Spec
		}{{"mean", infer.Spec{Genes: make([]infer.Gene, len(t.train.Names))}}, {"linear", flat}, {"stepwise", chosen.Spec}} {
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
	}
	if script == "" {
		return out, nil
	}
	r.Progress("baselines: " + script)
	more, err := runInferScript(ctx, script, tasks)
	return append(out, more...), err
}

func (t *inferTask) judged(method string, predicted []float64) Baseline {
	a := infer.Judge(predicted, t.test.Response)
	return Baseline{method, t.scenario, t.left, a.Rows, a.Median, a.P90, a.Correlation}
}

// runInferScript hands the tasks to an R script as numbered CSV files in a
// folder, whose response is the column cpi (relative to the first estimate, if
// there is one), and reads the predictions that it
// writes beside them: a column for each method.
func runInferScript(ctx context.Context, script string, tasks []inferTask) ([]Baseline, error) {
	dir, err := os.MkdirTemp("", "presage-infer-")
	if err != nil {
		return nil, fmt.Errorf("perf: infer: %w", err)
	}
	defer os.RemoveAll(dir)
	for i, t := range tasks {
		for name, table := range map[string]*infer.Table{"train": t.train, "test": t.test} {
			if err := writeInferTable(filepath.Join(dir, fmt.Sprintf("%s-%d.csv", name, i+1)), table); err != nil {
				return nil, err
			}
		}
	}
	cmd := exec.CommandContext(ctx, "Rscript", script, dir, strconv.Itoa(len(tasks)))
	text, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("perf: infer: %w (Debian: apt-get install r-base-core r-cran-randomforest r-cran-gbm)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("perf: Rscript %s: %w\n%s", script, err, bytes.TrimSpace(text))
	}
	var out []Baseline
	for i, t := range tasks {
		path := filepath.Join(dir, fmt.Sprintf("predicted-%d.csv", i+1))
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, fmt.Errorf("perf: infer: %s wrote no predictions: %w", script, err)
		}
		df, err := frame.ReadCSV(bytes.NewReader(data))
		if err != nil {
			return nil, fmt.Errorf("perf: %s: %w", path, err)
		}
		for _, method := range df.Names() {
			predicted, err := frame.Floats(df, method)
			for i, z := range t.test.Estimate {
				if i < len(predicted) {
					predicted[i] *= z
				}
			}
			if err != nil || len(predicted) != t.test.Rows() {
				return nil, fmt.Errorf("perf: infer: %s predicted %d rows of %d by %s (%w)", script, len(predicted), t.test.Rows(), method, err)
			}
			out = append(out, t.judged(strings.ReplaceAll(method, "_", " "), predicted))
		}
	}
	return out, nil
}

func writeInferTable(path string, t *infer.Table) error {
	var b bytes.Buffer
	b.WriteString(strings.Join(t.Names, ",") + ",cpi\n")
	for i, z := range t.Ratios() {
		for _, column := range t.Columns {
			b.WriteString(strconv.FormatFloat(column[i], 'g', -1, 64))
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatFloat(z, 'g', -1, 64))
		b.WriteByte('\n')
	}
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		return fmt.Errorf("perf: infer: %w", err)
	}
	return nil
}
