package inferred

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"presage/perf/frame"
)

// TestDifferences compares characteristics of an application with those of the
// others, by hand.
func TestDifferences(t *testing.T) {
	p := new(Profiles)
	for i, a := range []string{"p", "p", "q", "q"} {
		p.Profiles = append(p.Profiles, Profile{Variant: a, Shard: i, Use: Train})
		p.Shards = append(p.Shards, Shard{Application: a, Variant: a, Shard: i, Characteristics: map[string]float64{"memory": []float64{1, 3, 5, 7}[i]}})
	}
	var got []float64
	for _, d := range Differences(p) {
		if d.Name == "memory" {
			got = append(got, d.Difference)
		}
	}
	if sd := math.Sqrt(20. / 3); len(got) != 2 || math.Abs(got[0]+4/sd) > 1e-12 || math.Abs(got[1]-4/sd) > 1e-12 {
		t.Errorf("%v", got)
	}
}

// TestErrors: errors stand beside the predictions, in the last column.
func TestErrors(t *testing.T) {
	predictions := []Prediction{{Scenario: Interpolation, Shard: -1, Simulated: 2, Predicted: 1.5}, {Scenario: NewBoth, Simulated: 4, Predicted: 5}}
	rows := Errors(predictions)
	df := frame.Of(rows)
	names := df.Names()
	if len(rows) != 2 || rows[0].Error != 0.25 || rows[1].Error != 0.25 || rows[1].Prediction != predictions[1] || names[0] != "scenario" || names[len(names)-1] != "abs_rel_err" {
		t.Errorf("%+v, columns %v", rows, names)
	}
}

// TestAccuracy: shards and programs apart, all applications together first.
func TestAccuracy(t *testing.T) {
	rows := Accuracy([]Prediction{
		{Scenario: Interpolation, Application: "p", Shard: 0, Simulated: 2, Predicted: 1},
		{Scenario: Interpolation, Application: "q", Shard: 0, Simulated: 2, Predicted: 1.8},
		{Scenario: Interpolation, Application: "p", Shard: -1, Simulated: 1, Predicted: 1},
		{Scenario: Interpolation, Application: "p", Profiles: 8, Shard: 0, Simulated: 1, Predicted: 1.25},
	})
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprintf("%s %s %d: %d, %.2f", r.Of, r.Application, r.Profiles, r.Rows, r.Median))
	}
	want := []string{"shards all 0: 2, 0.30", "shards p 0: 1, 0.50", "shards q 0: 1, 0.10", "programs all 0: 1, 0.00", "programs p 0: 1, 0.00", "shards all 8: 1, 0.25", "shards p 8: 1, 0.25"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
