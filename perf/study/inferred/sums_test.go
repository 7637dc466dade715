package inferred

import (
	"math"
	"testing"
)

// TestSumsAreOfTheSameRows: the mean of a program's shards is the program's.
func TestSumsAreOfTheSameRows(t *testing.T) {
	p, list := inventedProfiles(), smallFindings(t, LimitSet).Predictions
	sums, err := p.Sums(list, LimitSet)
	if err != nil {
		t.Fatal(err)
	}
	if len(sums) != len(list) || len(list) == 0 {
		t.Fatalf("%d sums of %d predictions", len(sums), len(list))
	}
	type key struct {
		scenario, variant     string
		architecture, updated int
	}
	total, shards := make(map[key]float64), make(map[key]float64)
	for i, s := range sums {
		if s.Simulated != list[i].Simulated || s.Shard != list[i].Shard || !(s.Predicted > 0) {
			t.Fatalf("row %d: %+v of %+v", i, s, list[i])
		}
		if k := (key{s.Scenario, s.Variant, s.Architecture, s.Profiles}); s.Shard >= 0 {
			total[k] += s.Predicted
			shards[k]++
		}
	}
	programs := 0
	for _, s := range sums {
		k := key{s.Scenario, s.Variant, s.Architecture, s.Profiles}
		if s.Shard >= 0 || shards[k] == 0 {
			continue
		}
		programs++
		if mean := total[k] / shards[k]; math.Abs(s.Predicted/mean-1) > 1e-12 {
			t.Errorf("%+v: the mean of its shards is %g", s, mean)
		}
	}
	if programs == 0 {
		t.Error("no program was compared with its shards")
	}
	if counts, err := p.Sums(list, Counted); err != nil || counts[0].Predicted == sums[0].Predicted || !(counts[0].Predicted > 0) {
		t.Errorf("by counts: %+v, error %v", counts[:1], err)
	}
	if _, err := p.Sums(list, Portable); err == nil {
		t.Error("sums of variables without an estimate")
	}
	none := list[0]
	none.Architecture = 99999
	if _, err := p.Sums([]Prediction{none}, LimitSet); err == nil {
		t.Error("no profile judges the row, and no error")
	}
}
