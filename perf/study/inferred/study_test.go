package inferred

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presage/perf/infer"
)

// scenarioRow is what names a prediction.
type scenarioRow struct {
	scenario, variant             string
	shard, architecture, profiles int
}

func predictionsOf(f *Findings) map[scenarioRow][]float64 {
	all := make(map[scenarioRow][]float64)
	for _, r := range f.Predictions {
		k := scenarioRow{r.Scenario, r.Variant, r.Shard, r.Architecture, r.Profiles}
		all[k] = append(all[k], r.Predicted) // variants are left out by input and by level
	}
	return all
}

// TestValidationIsNeverSeen changes the profiles that judge, and those of unseen
// applications: searches, the model and all predictions stay, but for those of
// models that were updated with these profiles.
func TestValidationIsNeverSeen(t *testing.T) {
	for _, set := range []Set{Portable, Histograms, Counted, Paper, LimitSet} {
		t.Run(string(set), func(t *testing.T) {
			want := smallFindings(t, set)
			p := inventedProfiles()
			for i := range p.Profiles {
				if q := &p.Profiles[i]; q.Use != Train {
					q.Cycles = q.Cycles*uint64(1+i%7) + 12345
				}
			}
			o := smallStudy()
			o.Variables = set
			got := runStudy(t, o, p)
			if !reflect.DeepEqual(steadyOf(got), steadyOf(want)) || !reflect.DeepEqual(got.Specs, want.Specs) || !reflect.DeepEqual(got.Model, want.Model) {
				t.Error("a search or a model depends on profiles that judge it")
			}
			after, before := predictionsOf(got), predictionsOf(want)
			for k := range before {
				if updated := k.scenario == Unseen && k.profiles > 0; reflect.DeepEqual(after[k], before[k]) == updated {
					t.Errorf("%+v: %v, and %v where other profiles judge", k, before[k], after[k])
				}
			}
			if len(want.Predictions) == 0 || reflect.DeepEqual(got.Predictions, want.Predictions) {
				t.Error("the changed profiles are not among those that judge")
			}
		})
	}
}

// steadyOf returns the generations of all searches but updates with profiles of an
// unseen application.
func steadyOf(f *Findings) (list []Generation) {
	for _, g := range f.Generations {
		if !strings.HasSuffix(g.Search, " of "+inventedUnseen) {
			list = append(list, g)
		}
	}
	return list
}

// TestChoosingAndJudgingAreApart: profiles to choose by judge nothing, and the other
// way round.
func TestChoosingAndJudgingAreApart(t *testing.T) {
	p := inventedProfiles()
	use := make(map[string]string) // of a variant on an architecture
	for _, q := range p.Profiles {
		use[fmt.Sprint(q.Variant, q.Architecture)] = q.Use
	}
	for _, choosing := range []bool{false, true} {
		found := smallFindings(t, Paper)
		if choosing {
			o := smallStudy()
			o.Choosing = true
			found = runStudy(t, o, p)
		}
		scenarios := make(map[string]int)
		for _, r := range found.Predictions {
			scenarios[r.Scenario]++
			if u := use[fmt.Sprint(r.Variant, r.Architecture)]; (u == Choose) != choosing {
				t.Fatalf("choosing %v: judged by a profile of use %s", choosing, u)
			}
			if fresh := p.Hardware[r.Architecture].Fresh; r.Scenario == Interpolation && fresh || r.Scenario == NewHardware && !fresh {
				t.Fatalf("%s on an architecture that is new: %v", r.Scenario, fresh)
			}
		}
		if want := 6 - map[bool]int{true: 1}[choosing]; len(scenarios) != want {
			t.Errorf("choosing %v: scenarios %v", choosing, scenarios)
		}
	}
}

// TestLeftOutSoftwareIsNotSeen: a model without an application does not depend on
// any of its profiles before an update, and does after one.
func TestLeftOutSoftwareIsNotSeen(t *testing.T) {
	p := inventedProfiles()
	before := predictionsOf(smallFindings(t, Paper))
	shards := p.shards()
	for i := range p.Profiles {
		if q := &p.Profiles[i]; shards[shardKey{q.Variant, q.Shard}].Application == "r" {
			q.Cycles *= uint64(2 + i%3)
		}
	}
	changed := 0
	for k, values := range predictionsOf(runStudy(t, smallStudy(), p)) {
		if !strings.HasPrefix(k.variant, "r-") || k.scenario != NewSoftware && k.scenario != NewBoth {
			continue
		}
		same := slices.Equal(values, before[k])
		if k.profiles == 0 && !same {
			t.Errorf("%+v depends on profiles of r", k)
		}
		if k.profiles > 0 && !same {
			changed++
		}
	}
	if changed == 0 {
		t.Error("updates do not depend on the profiles that they are made with")
	}
}

// TestStudyOfInvention recovers the invented formula. Its noise is 1%, so half of all
// rows have at most 0.67%.
func TestStudyOfInvention(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector; the packages below have tests of their own goroutines")
	}
	p := inventedProfiles()
	o := Options{Variables: Paper, Search: infer.SearchOptions{Population: 60, Generations: 15, Powers: 1}, Profiles: 8}
	r, err := o.runner(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.steady(context.Background()); err != nil {
		t.Fatal(err)
	}
	a := judgedOf(r.out.Predictions, Interpolation, 0)
	if a.Rows != 12*3*2 || a.Median > 0.03 || a.Correlation < 0.98 {
		t.Errorf("interpolation: %+v", a)
	}
	// The mean of two shards is that of their times.
	rows := make(map[string][]float64)
	for _, q := range r.out.Predictions {
		if q.Scenario == Interpolation {
			key := fmt.Sprint(q.Variant, q.Architecture, q.Shard >= 0)
			rows[key] = append(rows[key], q.Simulated)
		}
	}
	for key, values := range rows {
		if shards, ok := rows[strings.TrimSuffix(key, "false")+"true"]; ok && len(values) == 1 && math.Abs(values[0]-(shards[0]+shards[1])/2) > 1e-12 {
			t.Errorf("%s: %v of shards %v", key, values, shards)
		}
	}
}

func judgedOf(predictions []Prediction, scenario string, profiles int) infer.Accuracy {
	var predicted, simulated []float64
	for _, q := range predictions {
		if q.Scenario == scenario && q.Profiles == profiles && q.Shard >= 0 {
			predicted, simulated = append(predicted, q.Predicted), append(simulated, q.Simulated)
		}
	}
	return infer.Judge(predicted, simulated)
}
