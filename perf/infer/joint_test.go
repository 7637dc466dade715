package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/order"
)

// TestJointFitnessIsThatOfPlainFits compares the evaluation by folds of all groups with
// ridge regressions on the other folds.
func TestJointFitnessIsThatOfPlainFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 32))
	table := sample(rng, 150)
	for i := range table.Response {
		table.Response[i] = math.Abs(table.Response[i]) + 0.1
	}
	opt, err := SearchOptions{Seed: 5, Scaling: Scaling{Log: true}, Powers: 2, Ridge: 3, Joint: true}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	e, err := newEvaluator(table, opt)
	if err != nil {
		t.Fatal(err)
	}
	if len(e.fits) != opt.Folds || !slices.Equal(e.groups, table.GroupNames()) {
		t.Fatalf("%d fits of the groups %v; there are %d folds of %v", len(e.fits), e.groups, opt.Folds, table.GroupNames())
	}
	var m scratch
	for range 10 {
		spec := breeder{variables: 4, powers: opt.Powers}.random(rng)
		got := e.errorsOf(spec, &m)
		for g, want := range plainJointErrors(t, table, spec, opt) {
			near(t, "median error", got[g], want)
		}
	}
}

// plainJointErrors fits once for each fold, to the rows of all others.
func plainJointErrors(t *testing.T, table *Table, spec Spec, opt SearchOptions) (medians []float64) {
	parts, err := split(table, opt.Folds, opt.Seed)
	if err != nil {
		t.Fatal(err)
	}
	basis, err := NewBasis(table)
	if err != nil {
		t.Fatal(err)
	}
	errs := make(map[string][]float64)
	for f := range opt.Folds {
		var valid []int
		for i := f; i < len(parts); i += opt.Folds {
			valid = append(valid, parts[i].valid...)
		}
		fitted := table.Where(func(i int) bool { return !slices.Contains(valid, i) })
		m, err := Fit(fitted, spec, FitOptions{Scaling: opt.Scaling, Basis: basis, Ridge: opt.Ridge})
		if err != nil {
			t.Fatal(err)
		}
		judged := table.Subset(valid)
		predicted, err := m.Predict(judged)
		if err != nil {
			t.Fatal(err)
		}
		for i, e := range RelativeErrors(predicted, judged.Response) {
			errs[judged.Groups[i]] = append(errs[judged.Groups[i]], e)
		}
	}
	for _, name := range table.GroupNames() {
		slices.Sort(errs[name])
		medians = append(medians, order.Quantile(errs[name], 0.5))
	}
	return medians
}

// TestJointSearchKeepsItsStart demands that a search that starts from all terms ends no
// less fit, and on a response of four of them with fewer.
func TestJointSearchKeepsItsStart(t *testing.T) {
	table := planted(120)
	all := Everything(len(table.Names), 1)
	opt := SearchOptions{Population: 30, Generations: 10, Seed: 3, Joint: true, Ridge: 1, Start: Thinned(all, 30, 3)}
	found, err := Search(context.Background(), table, opt)
	if err != nil {
		t.Fatal(err)
	}
	alone := opt
	alone.Population, alone.Generations, alone.Start = 2, 0, []Spec{all, all}
	whole, err := Search(context.Background(), table, alone)
	if err != nil {
		t.Fatal(err)
	}
	best := found.Best()
	if best.Error >= whole.Best().Error {
		t.Errorf("error %g, of all terms %g", best.Error, whole.Best().Error)
	}
	if has := slices.Contains(best.Spec.Interactions, Interaction{1, 2, 1, 1}); !has || best.Spec.Genes[2] < Quadratic {
		t.Errorf("the terms of the response are not all in %s", best.Spec.Text(table.Names))
	}
	if most := found.History[0].Terms; found.History[10].Terms >= most {
		t.Errorf("%d terms, %d of the fittest at the start", found.History[10].Terms, most)
	}
}

// TestThinned demands sound specs, the first whole, of fewer and fewer terms.
func TestThinned(t *testing.T) {
	all := Everything(12, 2)
	list := Thinned(all, 40, 9)
	if len(list) != 40 || !list[0].Equal(all) {
		t.Fatalf("%d specs, or the first is not whole", len(list))
	}
	for i, s := range list {
		if err := s.Check(12); err != nil {
			t.Fatal(err)
		}
		// Standard deviations of a count of n are at most half the root of n.
		n := float64(len(all.Interactions))
		want := n * (1 - float64(i)/40)
		if got := float64(len(s.Interactions)); math.Abs(got-want) > 2.5*math.Sqrt(n) {
			t.Errorf("spec %d has %g interactions, about %g are expected", i, got, want)
		}
	}
	if again := Thinned(all, 40, 9); !again[17].Equal(list[17]) {
		t.Error("the same seed, other specs")
	}
}

func TestJointNeedsRidge(t *testing.T) {
	for _, opt := range []SearchOptions{{Joint: true}, {Joint: true, Ridge: 1, OwnWeight: 2}} {
		if _, err := Search(context.Background(), planted(30), opt); err == nil || !strings.Contains(err.Error(), "joint") {
			t.Errorf("%+v: %v", opt, err)
		}
	}
}
