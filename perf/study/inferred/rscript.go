package inferred

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"presage/perf/frame"
	"presage/perf/infer"
	"presage/perf/internal/child"
)

// runScript hands tasks to an R script as numbered CSV files in a folder, whose
// response is the column cpi (relative to the estimate that models correct, if
// there is one), and judges the predictions that it writes beside them.
func runScript(ctx context.Context, script string, tasks []task) ([]Baseline, error) {
	dir, err := os.MkdirTemp("", "presage-infer-")
	if err != nil {
		return nil, fmt.Errorf("perf: infer: %w", err)
	}
	defer os.RemoveAll(dir)
	for i, t := range tasks {
		for name, table := range map[string]*infer.Table{"train": t.train, "test": t.test} {
			if err := writeTask(filepath.Join(dir, fmt.Sprintf("%s-%d.csv", name, i+1)), table); err != nil {
				return nil, err
			}
		}
	}
	cmd := child.Command(ctx, "Rscript", script, dir, strconv.Itoa(len(tasks)))
	text, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return nil, fmt.Errorf("perf: infer: %w", ctx.Err())
	}
	if errors.Is(err, exec.ErrNotFound) {
		return nil, fmt.Errorf("perf: infer: %w (Debian: apt-get install r-base-core r-cran-randomforest r-cran-gbm)", err)
	}
	if err != nil {
		return nil, fmt.Errorf("perf: Rscript %s: %w\n%s", script, err, bytes.TrimSpace(text))
	}
	var out []Baseline
	for i, t := range tasks {
		rows, err := t.predictedBy(script, filepath.Join(dir, fmt.Sprintf("predicted-%d.csv", i+1)))
		if err != nil {
			return nil, err
		}
		out = append(out, rows...)
	}
	return out, nil
}

// predictedBy judges the predictions of a script, a CSV file with a column for each
// method.
func (t *task) predictedBy(script, path string) ([]Baseline, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("perf: infer: %s wrote no predictions: %w", script, err)
	}
	df, err := frame.ReadCSV(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", path, err)
	}
	var out []Baseline
	for _, method := range df.Names() {
		predicted, err := frame.Floats(df, method)
		if err != nil {
			return nil, fmt.Errorf("perf: infer: predictions of %s by %s: %w", script, method, err)
		}
		if len(predicted) != t.test.Rows() {
			return nil, fmt.Errorf("perf: infer: %s predicted %d rows of %d by %s", script, len(predicted), t.test.Rows(), method)
		}
		for i, z := range t.test.Estimate {
			predicted[i] *= z
		}
		out = append(out, t.judged(strings.ReplaceAll(method, "_", " "), predicted))
	}
	return out, nil
}

// writeTask writes a table as CSV, a column for each variable and the response
// last.
func writeTask(path string, t *infer.Table) error {
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
