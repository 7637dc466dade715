package notebook

import (
	"os"
	"path/filepath"
	"testing"

	"presage/perf/study/record"
)

// Headlines are recorded where the project records its own results, and nowhere
// else.
func TestReportRecords(t *testing.T) {
	root := t.TempDir()
	for _, dir := range []string{"notebooks", "datasets"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(root, "notebooks"))
	file := filepath.Join(root, "datasets", "headlines.csv")
	report := func(value float64) {
		Report("study", "make it", []Headline{{
			Metric: "m", Value: value, Unit: "nJ", Goal: "<=0.05", Missed: true,
			Beside: []Headline{{Metric: "another way", Errors: []float64{-value, 2 * value}}},
		}})
	}
	t.Setenv("PRESAGE_RECORD", "")
	report(0.25)
	if _, err := os.Stat(file); err == nil {
		t.Fatal("recorded without being asked to")
	}
	t.Setenv("PRESAGE_RECORD", "1")
	report(0.25)
	report(1.0 / 3)
	all, err := record.Headlines(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[1].Beside != "m" || all[1].Worst != 2.0/3 || all[1].Rows != 2 || all[1].Unit != record.Relative {
		t.Errorf("recorded %+v", all)
	}
	if all[0].Study != "study" || all[0].Metric != "m" || all[0].Value != 1.0/3 ||
		all[0].Unit != "nJ" || all[0].Goal != "<=0.05" || all[0].Command != "make it" {
		t.Errorf("recorded %+v", all)
	}
}
