package perf

import (
	"testing"

	"presage/perf/study/inferred"
)

// TestCPITable: the column of simulated CPI is there if one was.
func TestCPITable(t *testing.T) {
	rows := []inferred.CPIPrediction{{Predicted: 1}, {Architecture: 1, Predicted: 2}}
	for last, simulated := range map[string]float64{"pred_cpi": 0, "sim_cpi": 1.5} {
		rows[1].Simulated = simulated
		if names := CPITable(rows).Names(); names[len(names)-1] != last {
			t.Errorf("simulated %g: columns %v", simulated, names)
		}
	}
}
