package infer

import (
	"math/rand/v2"
	"slices"
)

// Probabilities of the operators (2012, section 3.4). The paper does not say
// per what; here they apply to each variable and each interaction, so that a
// child differs from its parents in a few places.
const (
	crossover = 0.125
	mutation  = 0.05
)

// breeder makes chromosomes.
type breeder struct {
	variables, powers int
	hierarchical      bool // see SearchOptions.Hierarchical
}

// normal makes a spec one that the search may have.
func (b breeder) normal(s *Spec) {
	if b.hierarchical {
		s.Interactions = slices.DeleteFunc(s.Interactions, func(x Interaction) bool {
			return s.Genes[x.I] == Excluded || s.Genes[x.J] == Excluded
		})
	}
	s.normal()
}

// manyInteractions bounds those of a random chromosome, by variable.
const manyInteractions = 3

// random returns a chromosome with random genes and interactions.
func (b breeder) random(rng *rand.Rand) Spec {
	s := Spec{Genes: make([]Gene, b.variables)}
	for v := range s.Genes {
		s.Genes[v] = Gene(rng.IntN(int(genes)))
	}
	if b.variables > 1 {
		for range rng.IntN(manyInteractions*b.variables + 1) {
			s.Interactions = append(s.Interactions, b.interaction(rng, rng.IntN(b.variables), -1))
		}
	}
	b.normal(&s)
	return s
}

// interaction returns an interaction of variable i with j, or with a random
// variable if j is not a different one.
func (b breeder) interaction(rng *rand.Rand, i, j int) Interaction {
	for j < 0 || j == i {
		j = rng.IntN(b.variables)
	}
	return Interaction{min(i, j), max(i, j), 1 + rng.IntN(b.powers), 1 + rng.IntN(b.powers)}
}

// child returns parent with some genes and interactions exchanged for those of
// other, and some mutated. It differs from parent unless many attempts made no
// difference.
func (b breeder) child(rng *rand.Rand, parent, other Spec) Spec {
	var s Spec
	for range 1000 {
		s = parent.Clone()
		b.exchangeVariables(rng, s, other)
		b.exchangeInteractions(rng, &s, other)
		b.createInteractions(rng, &s, parent, other)
		b.mutateInteractions(rng, &s)
		b.mutateVariables(rng, s)
		b.normal(&s)
		if !s.Equal(parent) {
			break
		}
	}
	return s
}

// exchangeVariables is C1: it takes a variable's gene from the other
// chromosome.
func (b breeder) exchangeVariables(rng *rand.Rand, s, other Spec) {
	for v := range s.Genes {
		if rng.Float64() < crossover {
			s.Genes[v] = other.Genes[v]
		}
	}
}

// exchangeInteractions is C2: it removes an interaction and adds one of the
// other chromosome's. The two lists are traversed separately, so that a child
// of parents with few and many interactions has a number in between, on
// average.
func (b breeder) exchangeInteractions(rng *rand.Rand, s *Spec, other Spec) {
	s.Interactions = slices.DeleteFunc(s.Interactions, func(Interaction) bool { return rng.Float64() < crossover })
	for _, x := range other.Interactions {
		if rng.Float64() < crossover {
			s.Interactions = append(s.Interactions, x)
		}
	}
}

// createInteractions is C3: it makes a variable of one chromosome interact with
// one of the other, at most once: with a chance for each variable, interactions
// would grow without bound.
func (b breeder) createInteractions(rng *rand.Rand, s *Spec, parent, other Spec) {
	mine, others := included(parent), included(other)
	if b.variables < 2 || len(mine) == 0 || len(others) == 0 || rng.Float64() >= crossover {
		return
	}
	s.Interactions = append(s.Interactions, b.interaction(rng, mine[rng.IntN(len(mine))], others[rng.IntN(len(others))]))
}

// mutateInteractions is M1: it drops an interaction, changes one of its
// variables, or adds a random one.
func (b breeder) mutateInteractions(rng *rand.Rand, s *Spec) {
	if b.variables < 2 {
		return
	}
	if rng.Float64() < mutation { // so that a list that is empty can grow
		s.Interactions = append(s.Interactions, b.interaction(rng, rng.IntN(b.variables), -1))
	}
	var list []Interaction
	for _, x := range s.Interactions {
		if rng.Float64() >= mutation {
			list = append(list, x)
			continue
		}
		stays := x.I
		if rng.IntN(2) == 0 {
			stays = x.J
		}
		switch rng.IntN(3) {
		case 0:
		case 1:
			list = append(list, b.interaction(rng, stays, -1))
		case 2:
			list = append(list, x, b.interaction(rng, rng.IntN(b.variables), -1))
		}
	}
	s.Interactions = list
}

// mutateVariables is M2: it gives a variable another gene.
func (b breeder) mutateVariables(rng *rand.Rand, s Spec) {
	for v := range s.Genes {
		if rng.Float64() < mutation {
			s.Genes[v] = (s.Genes[v] + 1 + Gene(rng.IntN(int(genes)-1))) % genes
		}
	}
}

// included returns the variables with a gene in s.
func included(s Spec) []int {
	var list []int
	for v, g := range s.Genes {
		if g != Excluded {
			list = append(list, v)
		}
	}
	return list
}
