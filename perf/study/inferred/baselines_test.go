package inferred

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presage/perf/infer"
	"presage/perf/internal/oracle"
)

func TestBaselines(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	oracle.Need(t, "Rscript")
	script := filepath.Join(t.TempDir(), "mean.R")
	// A method that predicts the constant of least relative residuals, as the
	// baseline does.
	text := `a <- commandArgs(TRUE); for (i in 1:as.integer(a[2])) { d <- read.csv(file.path(a[1], paste0("train-", i, ".csv")))
		e <- read.csv(file.path(a[1], paste0("test-", i, ".csv")))
		write.csv(data.frame(the_mean = rep(sum(1/d$cpi)/sum(1/d$cpi^2), nrow(e))), file.path(a[1], paste0("predicted-", i, ".csv")), row.names = FALSE) }`
	if err := os.WriteFile(script, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	rows, err := smallStudy().Baselines(context.Background(), inventedProfiles(), BaselineOptions{Script: script, LeftOut: true})
	if err != nil {
		t.Fatal(err)
	}
	by := make(map[string]Baseline)
	for _, r := range rows {
		by[r.Method+" "+r.Scenario+" "+r.LeftOut] = r
	}
	if len(by) != len(rows) || len(rows) != (2+3)*4 {
		t.Fatalf("%d rows: %+v", len(rows), rows)
	}
	for _, task := range []string{"interpolation ", "new software q"} {
		mean, again := by["mean "+task], by["the mean "+task]
		if math.Abs(mean.Median-again.Median) > 1e-9 || mean.Rows != again.Rows {
			t.Errorf("%s: %+v here, %+v by R", task, mean, again)
		}
		if s := by["stepwise "+task]; s.Median > mean.Median {
			t.Errorf("%s: stepwise selection is worse than the mean: %+v, %+v", task, s, mean)
		}
	}
}

// TestPredictionsOfScripts: what is wrong with a script's predictions is an error
// that says what, and names the method.
func TestPredictionsOfScripts(t *testing.T) {
	of := task{scenario: Interpolation, test: &infer.Table{Response: []float64{2, 3}, Estimate: []float64{2, 4}}}
	path := filepath.Join(t.TempDir(), "predicted-1.csv")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := of.predictedBy("s.R", path); err == nil || !strings.Contains(err.Error(), "s.R wrote no predictions") {
		t.Errorf("no file: error %v", err)
	}
	for text, want := range map[string]string{
		"the_mean\nmany\n1\n":         `predictions of s.R by the_mean: frame: column "the_mean"`,
		"the_mean\n1\n":               "s.R predicted 1 rows of 2 by the_mean",
		"the_mean\n1\n1\n1\n":         "s.R predicted 3 rows of 2 by the_mean",
		"good,the_mean\n1,a\n1,b\n":   "predictions of s.R by the_mean",
		"the_mean,the_mean\n1,1\n1,1": "the_mean",
	} {
		write(text)
		rows, err := of.predictedBy("s.R", path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "%!") || len(rows) > 0 {
			t.Errorf("%q: %d rows, error %v, want one that says %q", text, len(rows), err, want)
		}
	}
	write("the_mean,exact\n1.5,1\n0.75,0.75\n")
	rows, err := of.predictedBy("s.R", path)
	if err != nil || len(rows) != 2 || rows[0].Method != "the mean" || rows[0].Median != 0.25 || rows[1].Median != 0 || rows[1].Rows != 2 {
		t.Errorf("predictions relative to estimates: %+v, error %v", rows, err)
	}
}
