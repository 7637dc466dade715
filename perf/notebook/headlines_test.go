package notebook

import (
	"math"
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
		Report("study", "make it", []Headline{{Metric: "m", Value: value, Unit: "nJ", Goal: "<=0.05", Missed: true}})
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
	if len(all) != 1 || all[0].Study != "study" || all[0].Metric != "m" || all[0].Value != 1.0/3 ||
		all[0].Unit != "nJ" || all[0].Goal != "<=0.05" || all[0].Command != "make it" {
		t.Errorf("recorded %+v", all)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0", 1: "1", 0.5293225: "0.529", 0.0092904: "0.00929", -0.02954: "-0.0295", 12.345: "12.3",
		3322.2087: "3322", 123456789: "123456789", 2.5e12: "2.5e+12", math.Inf(1): "+Inf",
	} {
		if got := number(v); got != want {
			t.Errorf("number(%v) = %s, want %s", v, got, want)
		}
	}
}
