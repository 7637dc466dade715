package infer

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// world is rows of applications whose response is the same function of two
// characteristics and one parameter of hardware, but for an application "odd",
// in which the parameter acts the other way round.
func world(seed uint64, rows int, applications ...string) *Table {
	rng := rand.New(rand.NewPCG(seed, 1))
	t := &Table{Names: []string{"x1", "x2", "y1"}, Columns: make([][]float64, 3)}
	for _, a := range applications {
		for range rows {
			x1, x2, y := 1+rng.Float64(), rng.Float64(), float64(int(1)<<rng.IntN(4))
			odd := 0.0
			if a == "odd" {
				odd, x1 = 1, x1+2 // seen in a characteristic
			}
			z := x1 + x2/y + odd*y
			for v, x := range []float64{x1, x2, y} {
				t.Columns[v] = append(t.Columns[v], x)
			}
			t.Response = append(t.Response, z*(1+0.01*rng.NormFloat64()))
			t.Groups = append(t.Groups, a)
		}
	}
	return t
}

// judged returns how s predicts profiles.
func judged(t *testing.T, s *System, profiles *Table) Accuracy {
	t.Helper()
	p, err := s.Model.Predict(profiles)
	if err != nil {
		t.Fatal(err)
	}
	return Judge(p, profiles.Response)
}

// TestUpdating checks the inductive scheme: an application like the others is predicted
// well; a different one is not, until the system is updated with a few profiles.
func TestUpdating(t *testing.T) {
	ctx := context.Background()
	opt := SearchOptions{Population: 40, Generations: 12, Seed: 3, Powers: 2}
	s, err := NewSystem(ctx, world(1, 120, "a", "b", "c"), opt)
	if err != nil {
		t.Fatal(err)
	}
	like := judged(t, s, world(2, 20, "d"))
	if like.Median > 0.03 {
		t.Errorf("an application like the others: %+v", like)
	}
	profiles := world(3, 20, "odd")
	odd := judged(t, s, profiles)
	if odd.Median < 0.2 {
		t.Errorf("an odd application: %+v", odd)
	}
	opt.Generations = 0 // a quarter
	next, err := s.Update(ctx, profiles, opt)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(next.Search.History) - 1; n != 3 {
		t.Errorf("%d generations", n)
	}
	after := judged(t, next, world(4, 200, "odd"))
	if after.Median > 0.05 {
		t.Errorf("after the update: %+v", after)
	}
	if others := judged(t, next, world(5, 100, "a", "b")); others.Median > 0.10 {
		t.Errorf("the others after the update: %+v", others)
	}
	if s.Table.Rows() != 360 || next.Table.Rows() != 380 || s.Table.Weights != nil {
		t.Error("the system before the update was modified")
	}
}

func TestBalancedGroupsWeighTheSame(t *testing.T) {
	table := world(6, 30, "a", "b").Where(func(i int) bool { return i < 40 })
	sums := make(map[string]float64)
	total := 0.0
	b := table.Balanced()
	for i, w := range b.Weights {
		sums[b.Group(i)] += w
		total += w
	}
	if math.Abs(sums["a"]-20) > 1e-12 || math.Abs(sums["b"]-20) > 1e-12 || math.Abs(total-40) > 1e-12 {
		t.Errorf("sums of weights %v, of all %g", sums, total)
	}
}

// TestStepwise demands that stepwise selection finds terms that show individually.
func TestStepwise(t *testing.T) {
	c, err := Stepwise(context.Background(), planted(300), SearchOptions{Seed: 1}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if c.Spec.Genes[0] == Excluded || c.Spec.Genes[2] < Quadratic || !slices.Contains(c.Spec.Interactions, Interaction{1, 2, 1, 1}) || c.Error > 0.004 {
		t.Errorf("error %g, %s", c.Error, c.Spec.Text(planted(1).Names))
	}
}
