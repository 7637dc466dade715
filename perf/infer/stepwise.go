package infer

import (
	"cmp"
	"context"
	"slices"
)

// Stepwise is the baseline for the genetic search in 2012, section 2.4: forward
// selection, one term at a time. A step tries every missing interaction of
// powers 1, and every larger gene of each variable, and takes the one that
// lowers the mean relative error most, on validation rows as in Search. It ends
// when nothing lowers the error, or after the given number of steps (0: 100).
// Errors of the result are means.
func Stepwise(ctx context.Context, t *Table, opt SearchOptions, steps int) (Candidate, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return Candidate{}, err
	}
	if err := t.Check(); err != nil {
		return Candidate{}, err
	}
	e, err := newEvaluator(t, opt)
	if err != nil {
		return Candidate{}, err
	}
	e.summary = mean
	if steps == 0 {
		steps = 100
	}
	s := &search{evaluator: e, opt: opt, breeder: breeder{variables: len(t.Names), powers: 1}}
	best := []Candidate{{Spec: Spec{Genes: make([]Gene, len(t.Names))}}}
	if err := s.evaluate(ctx, best); err != nil {
		return Candidate{}, err
	}
	for range steps {
		list := neighbours(best[0].Spec)
		if err := s.evaluate(ctx, list); err != nil {
			return Candidate{}, err
		}
		least := slices.MinFunc(list, func(a, b Candidate) int { return cmp.Compare(a.Error, b.Error) })
		if least.Error >= best[0].Error {
			break
		}
		best[0] = least
	}
	return best[0], nil
}

// neighbours returns the specs with one more interaction, or more terms of one
// variable.
func neighbours(s Spec) (list []Candidate) {
	for v, g := range s.Genes {
		for more := g + 1; more < genes; more++ {
			next := s.Clone()
			next.Genes[v] = more
			list = append(list, Candidate{Spec: next})
		}
	}
	for i := range s.Genes {
		for j := i + 1; j < len(s.Genes); j++ {
			x := Interaction{i, j, 1, 1}
			if !slices.Contains(s.Interactions, x) {
				next := s.Clone()
				next.Interactions = append(next.Interactions, x)
				next.normal()
				list = append(list, Candidate{Spec: next})
			}
		}
	}
	return list
}
