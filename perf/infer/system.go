package infer

import (
	"cmp"
	"context"
)

// System is a model in steady state, with its table and search: the inductive
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
	fit := Fit
	if opt.Joint {
		fit = Ridge
	}
	m, err := fit(t, found.Best().Spec, FitOptions{Scaling: opt.Scaling, Basis: opt.Basis, Ridge: opt.Ridge})
	if err != nil {
		return nil, err
	}
	return &System{Table: t, Search: found, Model: m, opt: opt}, nil
}

// Update adds profiles of new software or hardware and searches for another
// spec, starting from the best ones of the system's search (2012, sections 3.3
// and 3.4). Rows are weighted so that each application has the same total
// weight, and the few rows of a new one count as much as the many of others.
// opt.Generations may be smaller than for a search from scratch (0: a quarter
// of the system's), and opt.Start is ignored; Scaling and Ridge are those of
// the system.
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

// Balanced returns t with weights that give all groups the same total: rows of
// a group with half as many rows as the mean weigh twice as much.
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
