package infer

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
)

// System is a model in steady state, with what it was made from: the inductive
// hypothesis of 2012, section 3.2. It is not modified; Update returns another.
type System struct {
	Table  *Table
	Search *State
	Model  *Model

	opt SearchOptions
}

// NewSystem searches for a spec and fits it to all rows of a table.
func NewSystem(ctx context.Context, t *Table, opt SearchOptions) (*System, error) {
	found, err := Search(ctx, t, opt)
	if err != nil {
		return nil, err
	}
	return newSystem(t, found, opt)
}

func newSystem(t *Table, found *State, opt SearchOptions) (*System, error) {
	m, err := Fit(t, found.Best().Spec, FitOptions{Scaling: opt.Scaling, Basis: opt.Basis, Ridge: opt.Ridge})
	if err != nil {
		return nil, err
	}
	return &System{Table: t, Search: found, Model: m, opt: opt}, nil
}

// Limit is the median error up to which a model is taken to be accurate enough
// for decisions, whatever its error on other applications: the lower end of what
// 2012, section 3.2, calls sufficient (10 to 15%).
const Limit = 0.10

// Check is how a system stands up to profiles that it was not made from.
type Check struct {
	Accuracy
	Worst float64 // median error of the application that the search did worst on

	// Update tells that the error is neither below Limit nor competitive with
	// the worst application's: the model should be updated.
	Update bool
}

// Check predicts a few new profiles, and tells whether the model has to be
// updated for them (2012, section 3.3).
func (s *System) Check(profiles *Table) (Check, error) {
	p, err := s.Model.Predict(profiles)
	if err != nil {
		return Check{}, err
	}
	c := Check{Accuracy: Judge(p, profiles.Response), Worst: slices.Max(s.Search.Best().Errors)}
	c.Update = c.Median > max(Limit, c.Worst)
	return c, nil
}

// Update adds profiles of new software, or hardware, and looks for another spec,
// beginning with the best ones of the system's search (2012, sections 3.3 and
// 3.4). So that the few rows of an application that is new count like the many
// of others, rows are weighted: those of each application add up to the same.
// Of opt, Generations may be fewer than those of a search from nothing (0: a
// quarter of the system's), and Start is ignored; the response is scaled, and
// coefficients are shrunk, as they were.
func (s *System) Update(ctx context.Context, profiles *Table, opt SearchOptions) (*System, error) {
	all, err := s.Table.Join(profiles)
	if err != nil {
		return nil, err
	}
	was, err := s.opt.withDefaults()
	if err != nil {
		return nil, err
	}
	opt.Generations = cmp.Or(opt.Generations, (was.Generations+3)/4)
	opt.Ridge = was.Ridge
	opt.Scaling, opt.Resume, opt.Start = was.Scaling, nil, nil
	for _, c := range s.Search.Population[:max(1, len(s.Search.Population)/2)] {
		opt.Start = append(opt.Start, c.Spec)
	}
	weighted := all.Balanced()
	found, err := Search(ctx, weighted, opt)
	if err != nil {
		return nil, err
	}
	return newSystem(weighted, found, opt)
}

// Balanced returns t with weights by which all groups count the same: rows of a
// group that has half as many as the mean weigh twice as much.
func (t *Table) Balanced() *Table {
	rows := make(map[string]int)
	for i := range t.Rows() {
		rows[t.Group(i)]++
	}
	mean := float64(t.Rows()) / float64(len(rows))
	s := *t
	s.Weights = make([]float64, t.Rows())
	for i := range s.Weights {
		s.Weights[i] = mean / float64(rows[t.Group(i)])
	}
	return &s
}

// Draw returns n of the given rows at random, ascending, and the others. It
// panics if there are fewer.
func Draw(rng *rand.Rand, rows []int, n int) (drawn, others []int) {
	if n > len(rows) {
		panic(fmt.Sprintf("infer: Draw of %d of %d rows", n, len(rows)))
	}
	for i, at := range rng.Perm(len(rows)) {
		if i < n {
			drawn = append(drawn, rows[at])
		} else {
			others = append(others, rows[at])
		}
	}
	slices.Sort(drawn)
	slices.Sort(others)
	return drawn, others
}
