package infer

import (
	"fmt"
	"math"
)

// Factor is a function of one scaled variable z: z^Power, or, if Knot is not 0,
// (z-knot)³₊ of the inflection with that number, counted from 1. Outside [-1,
// 1], the range of the training rows, the function continues along its tangent:
// an extrapolated cubic soon has nothing to do with the data.
type Factor struct {
	Variable, Power, Knot int
}

// Term is a product of two factors, or if B's Power is 0 and it has no Knot, A
// alone; without both, the constant 1.
type Term struct{ A, B Factor }

func (f Factor) none() bool { return f.Power == 0 && f.Knot == 0 }

// Terms returns the terms of a spec: the constant first, then those of the
// variables, then the interactions. If terms depend on each other, a fit drops
// the later ones.
func (b *Basis) Terms(s Spec) []Term {
	terms := []Term{{}}
	for v, g := range s.Genes {
		if b.Scales[v].Constant() {
			continue
		}
		for p := 1; p <= min(int(g), int(Cubic)); p++ {
			terms = append(terms, Term{A: Factor{Variable: v, Power: p}})
		}
		if g == Spline {
			for k := range b.Scales[v].Knots {
				terms = append(terms, Term{A: Factor{Variable: v, Knot: k + 1}})
			}
		}
	}
	for _, x := range s.Interactions {
		if !b.Scales[x.I].Constant() && !b.Scales[x.J].Constant() {
			terms = append(terms, Term{Factor{Variable: x.I, Power: x.PowerI}, Factor{Variable: x.J, Power: x.PowerJ}})
		}
	}
	return terms
}

// Basis is the scales of all variables.
type Basis struct{ Scales []Scale }

// NewBasis makes the scales of a table's variables from its rows.
func NewBasis(t *Table) (*Basis, error) {
	if err := t.Check(); err != nil {
		return nil, err
	}
	b := new(Basis)
	for v, name := range t.Names {
		powers := ladder
		if t.Plain != nil && t.Plain[v] {
			powers = ladder[:1]
		}
		b.Scales = append(b.Scales, newScale(name, t.Columns[v], powers))
	}
	return b, nil
}

// check reports whether the variables of t are those of b.
func (b *Basis) check(t *Table) error {
	if len(t.Names) != len(b.Scales) {
		return fmt.Errorf("infer: %w: %d variables, the model has %d", ErrData, len(t.Names), len(b.Scales))
	}
	for v, name := range t.Names {
		if name != b.Scales[v].Name {
			return fmt.Errorf("infer: %w: variable %d is %s, in the model it is %s", ErrData, v, name, b.Scales[v].Name)
		}
	}
	return nil
}

// units returns the scaled variables of a table, by variable.
func (b *Basis) units(t *Table) ([][]float64, error) {
	units := make([][]float64, len(t.Columns))
	for v, column := range t.Columns {
		units[v] = make([]float64, len(column))
		for i, x := range column {
			u, err := b.Scales[v].Unit(x)
			if err != nil {
				return nil, fmt.Errorf("row %d: %w", i, err)
			}
			units[v][i] = u
		}
	}
	return units, nil
}

// column evaluates a term on scaled variables, into dst.
func (b *Basis) column(dst []float64, term Term, units [][]float64) {
	for i := range dst {
		dst[i] = 1
	}
	for _, f := range []Factor{term.A, term.B} {
		if f.none() {
			continue
		}
		knot := 0.0
		if f.Knot > 0 {
			knot = b.Scales[f.Variable].Knots[f.Knot-1]
		}
		for i, z := range units[f.Variable] {
			dst[i] *= f.value(z, knot)
		}
	}
}

// value returns the factor at z, and beyond [-1, 1] its tangent.
func (f Factor) value(z, knot float64) float64 {
	in := math.Max(-1, math.Min(1, z))
	if f.Knot > 0 {
		d := math.Max(in-knot, 0)
		return d * d * (d + 3*(z-in))
	}
	switch f.Power {
	case 1:
		return z
	case 2:
		return in * (in + 2*(z-in))
	}
	return in * in * (in + 3*(z-in))
}
