package infer

import (
	"fmt"
	"slices"
	"strings"
)

// Text returns the spec with the names of its variables, for people:
//
//	width spline, rob linear; width-rob, width²-l2
func (s Spec) Text(names []string) string {
	var main, pairs []string
	for v, g := range s.Genes {
		if g != Excluded {
			main = append(main, names[v]+" "+g.String())
		}
	}
	for _, x := range s.Interactions {
		pairs = append(pairs, superscript(names[x.I], x.PowerI)+"-"+superscript(names[x.J], x.PowerJ))
	}
	return strings.Join(main, ", ") + "; " + strings.Join(pairs, ", ")
}

// Text returns the term as people write it; variables stand for their scaled
// values.
func (b *Basis) Text(t Term) string {
	if t.A.none() {
		return "1"
	}
	s := b.factorText(t.A)
	if !t.B.none() {
		s += "·" + b.factorText(t.B)
	}
	return s
}

func (b *Basis) factorText(f Factor) string {
	name := b.Scales[f.Variable].Name
	if f.Knot > 0 {
		return fmt.Sprintf("(%s - %.3g)³₊", name, b.Scales[f.Variable].Knots[f.Knot-1])
	}
	return superscript(name, f.Power)
}

// weighted returns t with the weight of each row multiplied by factor(row).
func (t *Table) weighted(factor func(row int) float64) *Table {
	s := *t
	s.Weights = slices.Clone(orAll(t.Weights, 1, t.Rows()))
	for i := range s.Weights {
		s.Weights[i] *= factor(i)
	}
	return &s
}

func superscript(name string, power int) string {
	return name + []string{"", "", "²", "³"}[power]
}
