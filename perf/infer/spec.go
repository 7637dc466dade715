package infer

import (
	"cmp"
	"fmt"
	"slices"
)

// Gene is how a variable enters a model (2012, section 3.4).
type Gene uint8

// The genes.
const (
	Excluded  Gene = iota
	Linear         // x
	Quadratic      // x, x²
	Cubic          // x, x², x³
	Spline         // x, x², x³, (x-a)³₊, (x-b)³₊, (x-c)³₊
	genes
)

func (g Gene) String() string {
	if g < genes {
		return [genes]string{"un-used", "linear", "poly, degree 2", "poly, degree 3", "spline, 3 knots"}[g]
	}
	return fmt.Sprintf("Gene(%d)", uint8(g))
}

// Interaction is a product of two variables, I < J, each to a power from 1 to
// MaxInteractionPower. The variables need not be in the model by themselves.
type Interaction struct {
	I, J           int
	PowerI, PowerJ int
}

// MaxInteractionPower bounds the powers of variables that interact.
const MaxInteractionPower = 3

// Compare orders interactions.
func (a Interaction) Compare(b Interaction) int {
	return cmp.Or(cmp.Compare(a.I, b.I), cmp.Compare(a.J, b.J), cmp.Compare(a.PowerI, b.PowerI), cmp.Compare(a.PowerJ, b.PowerJ))
}

// Spec lists the terms of a model: the chromosome of the genetic search.
type Spec struct {
	Genes        []Gene        // by variable
	Interactions []Interaction // ascending, each once
}

// Clone returns a deep copy.
func (s Spec) Clone() Spec {
	return Spec{slices.Clone(s.Genes), slices.Clone(s.Interactions)}
}

// Equal reports whether both have the same terms.
func (s Spec) Equal(o Spec) bool {
	return slices.Equal(s.Genes, o.Genes) && slices.Equal(s.Interactions, o.Interactions)
}

// Check returns an error if s is not a spec for the given number of variables.
func (s Spec) Check(variables int) error {
	if len(s.Genes) != variables {
		return fmt.Errorf("infer: the spec has %d genes for %d variables", len(s.Genes), variables)
	}
	for v, g := range s.Genes {
		if g >= genes {
			return fmt.Errorf("infer: gene %d is %d; genes are 0 to %d", v, g, genes-1)
		}
	}
	for i, x := range s.Interactions {
		switch {
		case x.I < 0 || x.I >= x.J || x.J >= variables:
			return fmt.Errorf("infer: interaction %d is of the variables %d and %d of %d; the first must be less than the second", i, x.I, x.J, variables)
		case min(x.PowerI, x.PowerJ) < 1 || max(x.PowerI, x.PowerJ) > MaxInteractionPower:
			return fmt.Errorf("infer: interaction %d has the powers %d and %d; they are 1 to %d", i, x.PowerI, x.PowerJ, MaxInteractionPower)
		case i > 0 && s.Interactions[i-1].Compare(x) >= 0:
			return fmt.Errorf("infer: interaction %d does not follow the one before it", i)
		}
	}
	return nil
}

// normal sorts the interactions and drops repeated ones.
func (s *Spec) normal() {
	slices.SortFunc(s.Interactions, Interaction.Compare)
	s.Interactions = slices.Compact(s.Interactions)
}
