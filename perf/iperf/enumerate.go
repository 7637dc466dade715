package iperf

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// maxComplete bounds the number of complete models: about ten factors with a
// few models each, and about a second of fits.
const maxComplete = 1 << 14

// Complete is a complete model: models of different factors, to be summed.
type Complete struct {
	Models []*Model // in the order of the tree
	Cost   float64
}

// Name returns the names of the models, joined by +.
func (c *Complete) Name() string {
	names := make([]string, len(c.Models))
	for i, m := range c.Models {
		names[i] = m.Name
	}
	return strings.Join(names, "+")
}

// Enumerate returns all complete models of the pruned tree (section 3.2), the
// cheapest first: each factor is left out, unless it is required, or
// represented by one of its models, or by its children.
func (l *Lattice) Enumerate() ([]Complete, error) {
	all, err := combine(l.factors)
	if err != nil {
		return nil, err
	}
	var out []Complete
	for _, models := range all {
		if len(models) == 0 {
			continue
		}
		c := Complete{Models: models}
		for _, m := range models {
			c.Cost += m.Cost
		}
		out = append(out, c)
	}
	slices.SortStableFunc(out, func(a, b Complete) int {
		return cmp.Or(cmp.Compare(a.Cost, b.Cost), cmp.Compare(len(a.Models), len(b.Models)), l.compare(a.Models, b.Models))
	})
	return out, nil
}

// compare orders combinations by the places of their models in the tree.
func (l *Lattice) compare(a, b []*Model) int {
	place := func(m *Model) int {
		return slices.IndexFunc(l.Curves, func(c Curve) bool { return c.Model == m })
	}
	return slices.CompareFunc(a, b, func(x, y *Model) int { return cmp.Compare(place(x), place(y)) })
}

// combine returns the ways to represent a list of factors; one may have no
// model at all.
func combine(factors []*Factor) ([][]*Model, error) {
	out := [][]*Model{nil}
	for _, f := range factors {
		own, err := choices(f)
		if err != nil {
			return nil, err
		}
		if len(out)*len(own) > maxComplete {
			return nil, fmt.Errorf("iperf: more than %d complete models: leave factors or models out", maxComplete)
		}
		var next [][]*Model
		for _, head := range out {
			for _, tail := range own {
				next = append(next, slices.Concat(head, tail))
			}
		}
		out = next
	}
	return out, nil
}

// choices returns the ways to represent a factor.
func choices(f *Factor) ([][]*Model, error) {
	below, err := combine(f.Children)
	if err != nil {
		return nil, err
	}
	var out [][]*Model
	if !f.Required {
		out = append(out, nil)
	}
	for _, m := range f.Models {
		out = append(out, []*Model{m})
	}
	for _, c := range below {
		if len(c) > 0 {
			out = append(out, c)
		}
	}
	return out, nil
}
