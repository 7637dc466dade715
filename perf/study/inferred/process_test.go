package inferred

import (
	"math"
	"slices"
	"testing"

	"presage/perf/infer"
	"presage/perf/shard"
)

// TestProcessInPlaceOfASearch: a process searches for nothing, judges the same rows,
// and 20 profiles of an application tell it more than none.
func TestProcessInPlaceOfASearch(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the package below has tests of its own")
	}
	same := func(a, b Prediction) bool {
		a.Predicted, b.Predicted = 0, 0
		return a == b
	}
	rows := runStudy(t, Options{Variables: Portable, Profiles: 8}, inventedProfiles()).Predictions
	for _, set := range []Set{Portable, Histograms, Counted} {
		f := runStudy(t, Options{Variables: set, Process: true, Profiles: 8}, inventedProfiles())
		if len(f.Generations) != 0 || len(f.Specs) != 0 || f.Model != nil {
			t.Errorf("%s: %d generations, %d specs, the model %v", set, len(f.Generations), len(f.Specs), f.Model)
		}
		if !slices.EqualFunc(f.Predictions, rows, same) {
			t.Errorf("%s: %d predictions, not of the same rows as %d by regression", set, len(f.Predictions), len(rows))
		}
		errs := make(map[int]float64)
		for _, p := range f.Predictions {
			if p.Scenario == NewSoftware {
				errs[p.Profiles] += math.Abs(p.Predicted/p.Simulated - 1)
			}
		}
		if !(errs[8] < errs[0]) {
			t.Errorf("%s: errors add up to %.2f after an update and %.2f before", set, errs[8], errs[0])
		}
	}
}

// TestCountedNeedsNoSimulation: limits, which come from the pipeline model, do not
// enter the variables of Portable, Histograms and Counted, nor the estimate.
func TestCountedNeedsNoSimulation(t *testing.T) {
	p, simulated := inventedProfiles(), inventedProfiles()
	for i := range simulated.Shards {
		for name := range simulated.Shards[i].Limits {
			simulated.Shards[i].Limits[name] = math.NaN()
		}
	}
	for _, set := range []Set{Portable, Histograms, Counted} {
		a, b := p.Table(p.Profiles, set), simulated.Table(p.Profiles, set)
		if err := b.Check(); err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		for v := range a.Columns {
			if !slices.Equal(a.Columns[v], b.Columns[v]) {
				t.Errorf("%s: %s comes from simulations", set, a.Names[v])
			}
		}
		if !slices.Equal(a.Estimate, b.Estimate) || (a.Estimate == nil) != (set == Portable) {
			t.Errorf("%s: the estimate comes from simulations, or there is none", set)
		}
	}
}

// TestCountedByHand works out what the counts of one shard say of one architecture.
func TestCountedByHand(t *testing.T) {
	h := map[string]float64{
		"dcache_kib": 32, "icache_kib": 32, "l2_kib": 256, "l1_ways": 1, "l2_latency_cycles": 10, "mshrs": 4, "width_instructions": 4, "ports": 1,
		"int_alus": 1, "int_muls": 1, "float_alus": 2, "float_muls": 1,
	}
	s := &Shard{Instructions: 1000, Characteristics: map[string]float64{"int_alu": 0.3, "control": 0.2, "memory": 0.4, "float_alu": 0.6, "taken": 0.1}}
	misses := map[caches]Misses{
		{shard.Data.String(), 512}:  {One: 100, Two: 1},
		{shard.Code.String(), 512}:  {One: 20, Two: 1},
		{shard.Both.String(), 2048}: {One: 1, Two: 8},
	}
	c := (&placement{shard: s, misses: misses, hardware: h}).counted()
	want := counted{data: 0.1, code: 0.02, both: 0.008, core: 0.5}
	want.alone = 0.5 + 0.02*10 + 0.1*10 + 0.008*memoryCycles
	want.overlapped = 0.5 + 0.02*10 + (0.1*10+0.008*memoryCycles)/4
	if got := c.values(); !slices.EqualFunc(got, want.values(), func(a, b float64) bool { return math.Abs(a-b) < 1e-12 }) {
		t.Errorf("%v, want %v", got, want.values())
	}
	if names := Variables(Counted); len(c.values()) != len(meetings) || len(names) != len(Variables(Portable))+len(meetings) ||
		slices.Index(names, infer.HardwareSpace()[0].Name) != slices.Index(Variables(Portable), infer.HardwareSpace()[0].Name) {
		t.Errorf("variables %v", names)
	}
}
