package sparse

import (
	"slices"
	"strings"
	"testing"

	"presage/perf/frame"
)

// TestAverages averages made-up samples by line and by fill ratio.
func TestAverages(t *testing.T) {
	of := func(matrix, role string, line int, fill, mflops float64) Sample {
		return Sample{Matrix: matrix, Role: role, Place: Place{LineBytes: line, FillRatio: fill, DataPolicy: "random"}, Speed: Speed{Mflops: mflops}}
	}
	samples := []Sample{
		of("m", Train, 32, 1, 10), of("m", Train, 16, 1.5, 20), of("m", Validate, 16, 2, 40), of("m", Baseline, 16, 1, 1000),
		of("m", Train, 32, 1.2, 30), of("n", Train, 16, 1, 1000),
	}
	samples[1].DataPolicy = "LRU"
	for _, c := range []struct {
		parameter string
		edges     []float64
		want      []Average
	}{
		{"line_bytes", nil, []Average{{"16", 2, 30}, {"32", 2, 20}}},
		{"fill_ratio", []float64{1, 1.2, 2, 3}, []Average{{"1–1.2", 1, 10}, {"1.2–2", 2, 25}, {"2–3", 1, 40}}},
		{"data_replacement", nil, []Average{{"LRU", 1, 20}, {"random", 3, 80. / 3}}},
	} {
		if got, err := Averages(samples, "m", c.parameter, c.edges...); err != nil || !slices.Equal(got, c.want) {
			t.Errorf("by %s: %+v, error %v", c.parameter, got, err)
		}
	}
	if _, err := Averages(samples, "m", "fill_ratio", 1, 1.3); err == nil || !strings.Contains(err.Error(), "outside the edges") {
		t.Errorf("outside the edges: error %v", err)
	}
	if _, err := Averages(samples, "m", "fill_ratio", 1); err == nil || !strings.Contains(err.Error(), "at least two") {
		t.Errorf("one edge: error %v", err)
	}
	if _, err := Averages(samples, "x", "line_bytes"); err == nil {
		t.Error("a matrix that is not there is averaged")
	}
	if _, err := Averages(samples, "m", "weight"); err == nil || !strings.Contains(err.Error(), `"weight"`) {
		t.Errorf("a parameter that there is not: error %v", err)
	}
}

// TestParametersAreColumns: every column of Place is a parameter, and no other.
func TestParametersAreColumns(t *testing.T) {
	columns := frame.Of([]Place{{}}).Names()
	for _, name := range columns {
		if numeric[name] == nil && policies[name] == nil {
			t.Errorf("column %s is no parameter", name)
		}
	}
	if len(numeric)+len(policies) != len(columns) {
		t.Errorf("%d parameters, %d columns", len(numeric)+len(policies), len(columns))
	}
}
