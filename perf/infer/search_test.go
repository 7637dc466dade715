package infer

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/order"
)

// TestFitnessIsThatOfPlainFits compares the fast evaluation, from one set of normal
// equations, with separate QR fits to the rows that the algorithm of section 3.3 names.
func TestFitnessIsThatOfPlainFits(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	table := sample(rng, 150)
	for _, opt := range []SearchOptions{{Seed: 4}, {Seed: 5, Scaling: Scaling{Log: true}, OwnWeight: 6, Powers: 2, Folds: 2}, {Seed: 6, Scaling: Scaling{Power: 2}, Ridge: 3}} {
		opt, err := opt.withDefaults()
		if err != nil {
			t.Fatal(err)
		}
		for i := range table.Response {
			table.Response[i] = math.Abs(table.Response[i]) + 0.1
		}
		e, err := newEvaluator(table, opt)
		if err != nil {
			t.Fatal(err)
		}
		var m scratch
		for range 10 {
			spec := breeder{variables: 4, powers: opt.Powers}.random(rng)
			got := e.errorsOf(spec, &m)
			for g, want := range plainErrors(t, table, spec, opt) {
				near(t, "median error", got[g], want)
			}
		}
	}
}

// plainErrors fits once for each part of a group, to all rows of the others and
// the training rows of its own, and judges by the other rows.
func plainErrors(t *testing.T, table *Table, spec Spec, opt SearchOptions) (medians []float64) {
	parts, err := split(table, opt.Folds, opt.Seed)
	if err != nil {
		t.Fatal(err)
	}
	basis, err := NewBasis(table)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range table.GroupNames() {
		var errs []float64
		for _, p := range parts {
			if p.name == name {
				errs = append(errs, partErrors(t, table, spec, opt, basis, p)...)
			}
		}
		slices.Sort(errs)
		medians = append(medians, order.Quantile(errs, 0.5))
	}
	return medians
}

func partErrors(t *testing.T, table *Table, spec Spec, opt SearchOptions, basis *Basis, p part) []float64 {
	own := func(i int) bool { return table.Group(i) == p.name }
	rows := slices.Clone(p.train)
	for i := range table.Rows() {
		if !own(i) {
			rows = append(rows, i)
		}
	}
	fitted := table.weighted(func(i int) float64 {
		if own(i) {
			return opt.OwnWeight
		}
		return 1
	}).Subset(rows)
	m, err := Fit(fitted, spec, FitOptions{Scaling: opt.Scaling, Basis: basis, Ridge: opt.Ridge})
	if err != nil {
		t.Fatal(err)
	}
	judged := table.Subset(p.valid)
	predicted, err := m.Predict(judged)
	if err != nil {
		t.Fatal(err)
	}
	return RelativeErrors(predicted, judged.Response)
}

// TestSplitIsAPartition demands that every row is validated once, by a fit that it has
// no part in.
func TestSplitIsAPartition(t *testing.T) {
	table := sample(rand.New(rand.NewPCG(23, 24)), 90)
	parts, err := split(table, 4, 1)
	if err != nil {
		t.Fatal(err)
	}
	var judged []int
	for _, p := range parts {
		judged = append(judged, p.valid...)
		for _, i := range slices.Concat(p.train, p.valid) {
			if table.Groups[i] != p.name {
				t.Errorf("row %d of %s is in %s", i, table.Groups[i], p.name)
			}
		}
		for _, i := range p.valid {
			if slices.Contains(p.train, i) {
				t.Errorf("row %d judges a fit to itself", i)
			}
		}
	}
	slices.Sort(judged)
	if len(parts) != 12 || len(judged) != 90 || len(slices.Compact(judged)) != 90 {
		t.Errorf("%d parts, %d rows judge, or some twice", len(parts), len(judged))
	}
	table.Groups[0] = "alone"
	if _, err := split(table, 4, 1); err == nil || !strings.Contains(err.Error(), `"alone"`) {
		t.Errorf("a group of one row: %v", err)
	}
}

// planted is a table of eight variables, of which the response depends on three,
// two of them by their product.
func planted(rows int) *Table {
	rng := rand.New(rand.NewPCG(25, 26))
	t := &Table{Columns: make([][]float64, 8)}
	for v := range t.Columns {
		t.Names = append(t.Names, string(rune('a'+v)))
	}
	for i := range rows {
		for v := range t.Columns {
			t.Columns[v] = append(t.Columns[v], 2*rng.Float64()-1)
		}
		a, b, c := t.Columns[0][i], t.Columns[1][i], t.Columns[2][i]
		t.Response = append(t.Response, 5+a+2*b*c-1.5*c*c+0.02*rng.NormFloat64())
		t.Groups = append(t.Groups, string(rune('p'+i%3)))
	}
	return t
}

func TestSearchFindsPlantedTerms(t *testing.T) {
	s, err := Search(context.Background(), planted(300), SearchOptions{Population: 60, Generations: 25, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	best := s.Best().Spec
	if best.Genes[0] == Excluded || best.Genes[2] < Quadratic || !slices.Contains(best.Interactions, Interaction{1, 2, 1, 1}) {
		t.Errorf("a, c² and b-c are not all in %s", best.Text(planted(1).Names))
	}
	// The median of the absolute value of the noise is 0.6745 of 0.02, of a
	// response around 5.
	if got := s.Best().Error; got > 0.004 {
		t.Errorf("error %g, noise alone makes 0.003", got)
	}
	if first, last := s.History[0], s.History[len(s.History)-1]; last.Number != 25 || last.Best >= first.Best || last.Median > first.Median/5 {
		t.Errorf("from %+v to %+v", first, last)
	}
	for i := 1; i < len(s.History); i++ {
		if s.History[i].Best > s.History[i-1].Best {
			t.Errorf("generation %d is worse than the one before: the elite was lost", i)
		}
	}
}

// TestSearchIsDeterministic demands that the result depends on the seed alone: not on
// the number of workers, nor on an interruption.
func TestSearchIsDeterministic(t *testing.T) {
	table := planted(90)
	opt := SearchOptions{Population: 20, Generations: 6, Seed: 7, Workers: 1}
	want, err := Search(context.Background(), table, opt)
	if err != nil {
		t.Fatal(err)
	}
	opt.Workers = 4
	got, err := Search(context.Background(), table, opt)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("four workers come to something else than one (error %v)", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var saved []byte
	opt.Save = func(s *State) (err error) {
		if len(s.History) == 3 {
			cancel()
		}
		saved, err = json.Marshal(s)
		return err
	}
	if _, err := Search(ctx, table, opt); err == nil {
		t.Fatal("cancelled, and no error")
	}
	opt.Save, opt.Resume = nil, new(State)
	if err := json.Unmarshal(saved, opt.Resume); err != nil || len(opt.Resume.History) != 3 {
		t.Fatalf("saved %d generations, error %v", len(opt.Resume.History), err)
	}
	got, err = Search(context.Background(), table, opt)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("resumed, the search comes to something else (error %v)", err)
	}
	opt.Seed, opt.Resume = 8, nil
	if got, err = Search(context.Background(), table, opt); err != nil || reflect.DeepEqual(got, want) {
		t.Errorf("another seed, the same search (error %v)", err)
	}
}

// TestSearchStarts demands that a start with the true spec is never lost.
func TestSearchStarts(t *testing.T) {
	truth := Spec{Genes: []Gene{1, 0, 2, 0, 0, 0, 0, 0}, Interactions: []Interaction{{1, 2, 1, 1}}}
	s, err := Search(context.Background(), planted(200), SearchOptions{Population: 10, Generations: 1, Start: []Spec{truth}})
	if err != nil {
		t.Fatal(err)
	}
	if s.Best().Error > 0.005 {
		t.Errorf("error %g", s.Best().Error)
	}
}

func TestChildrenAreSound(t *testing.T) {
	rng := rand.New(rand.NewPCG(27, 28))
	for _, b := range []breeder{{1, 1, false}, {2, 1, false}, {26, 3, false}, {26, 3, true}} {
		p, q := b.random(rng), b.random(rng)
		for range 300 {
			c := b.child(rng, p, q)
			if err := c.Check(b.variables); err != nil {
				t.Fatal(err)
			}
			if c.Equal(p) {
				t.Error("a child is its parent")
			}
			for _, x := range c.Interactions {
				if b.hierarchical && (c.Genes[x.I] == Excluded || c.Genes[x.J] == Excluded) {
					t.Errorf("variables %d and %d interact, and one is in no term by itself", x.I, x.J)
				}
			}
			p, q = q, c
		}
	}
}

func TestBadSearches(t *testing.T) {
	zero := planted(30)
	zero.Response[4] = 0
	for _, c := range []struct {
		table *Table
		opt   SearchOptions
		want  string
	}{
		{planted(30), SearchOptions{Population: 1}, "two candidates"},
		{planted(30), SearchOptions{Elite: 1}, "between 0 and 1"},
		{planted(30), SearchOptions{Powers: 4}, "1 to 3"},
		{planted(30), SearchOptions{Folds: 1}, "two at least"},
		{planted(30), SearchOptions{OwnWeight: -1}, "not positive"},
		{planted(2), SearchOptions{}, "two are needed"},
		{zero, SearchOptions{}, "row 4"},
		{planted(30), SearchOptions{Resume: &State{Groups: []string{"x"}}}, "cannot go on"},
	} {
		if _, err := Search(context.Background(), c.table, c.opt); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q: got %v", c.want, err)
		}
	}
}
