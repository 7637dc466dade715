package infer

import (
	"context"
	"math"
	"slices"
)

// Stepwise is the baseline that 2012, section 2.4, holds the genetic search
// against: forward selection, one term at a time. A step tries every variable,
// and every interaction of powers 1, that the spec does not have, moves each
// variable up by one gene, and takes what lowers the fitness' mean error most.
// It ends when nothing lowers it, or after steps steps (0: 100).
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
		least, at := best[0].Error, -1
		for i, c := range list {
			if c.Error < least {
				least, at = c.Error, i
			}
		}
		if at < 0 || math.IsNaN(least) {
			break
		}
		best[0] = list[at]
	}
	return best[0], nil
}

// neighbours returns the specs with one term more.
func neighbours(s Spec) (list []Candidate) {
	for v, g := range s.Genes {
		if g < Spline {
			next := s.Clone()
			next.Genes[v]++
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
