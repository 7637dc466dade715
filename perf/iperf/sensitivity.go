package iperf

import (
	"fmt"
	"math"
	"slices"
)

// Sensitivity is the contribution of one model to a complete model (section
// 4.1.2). As it comes from fits, it suggests where to look and proves nothing:
// a model whose curve resembles another's can stand in for it.
type Sensitivity struct {
	Model *Model
	Curve []float64 // seconds at each measured size: coefficients times terms

	// TimeShare is the curve's share of all predicted time. It is negative
	// where coefficients are.
	TimeShare float64

	// Alone is the evaluation of the required factors and this model, LeftOut
	// that of the complete model without it; nil if no model is left.
	Alone, LeftOut *Evaluation

	// Explained is the share of the variance of the model's curve that the
	// other models' curves can express, 0 to 1, the largest over its terms.
	// Above NearlyCollinear, its coefficient and theirs cannot be separated
	// well.
	Explained float64
}

// NearlyCollinear is the value of Explained above which a warning is due: a
// variance inflation factor of 10, the usual limit.
const NearlyCollinear = 0.9

// Collinearity returns a warning if other models can nearly stand in for this
// one, as in the report's story of the TLB whose curve is that of the CPU, or
// nil.
func (s Sensitivity) Collinearity() error {
	if s.Explained < NearlyCollinear {
		return nil
	}
	return fmt.Errorf("%s: the other factors express %.3g%% of its curve: its share of the time can be theirs, and theirs its own", s.Model.Name, 100*s.Explained)
}

// Sensitivities analyses each model of a complete model of the lattice.
func (l *Lattice) Sensitivities(e *Evaluation, times []Measurement, r Request) []Sensitivity {
	total := 0.0
	for _, p := range e.Predicted {
		total += p
	}
	var out []Sensitivity
	for _, m := range e.Models {
		s := Sensitivity{Model: m, Curve: make([]float64, len(times))}
		for j := range e.Columns {
			if e.Columns[j].Model != m {
				continue
			}
			for i, v := range e.Columns[j].Values {
				s.Curve[i] += e.Coefficients[j] * v
			}
		}
		for _, v := range s.Curve {
			s.TimeShare += v / total
		}
		s.Explained = explained(e.Columns, m)
		s.Alone = l.fitOf(e.Models, times, r, func(o *Model) bool { return o == m || l.required(o) })
		s.LeftOut = l.fitOf(e.Models, times, r, func(o *Model) bool { return o != m })
		out = append(out, s)
	}
	return out
}

// fitOf fits the models for which keep holds; nil if there are none.
func (l *Lattice) fitOf(models []*Model, times []Measurement, r Request, keep func(*Model) bool) *Evaluation {
	var c Complete
	for _, m := range models {
		if keep(m) {
			c.Models = append(c.Models, m)
			c.Cost += m.Cost
		}
	}
	if len(c.Models) == 0 {
		return nil
	}
	e := l.Fit(c, times, r)
	return &e
}

func (l *Lattice) required(m *Model) bool {
	found := false
	walk(l.factors, func(f *Factor) { found = found || f.Required && slices.Contains(f.Models, m) })
	return found
}

// explained returns the largest share of the variance of m's columns that the
// columns of other models express, together with a constant.
func explained(columns []Column, m *Model) float64 {
	largest := 0.0
	others := []Column{{Model: &Model{Name: "constant"}, Values: ones(len(columns[0].Values))}}
	for _, c := range columns {
		if c.Model != m {
			others = append(others, c)
		}
	}
	for _, c := range columns {
		if c.Model != m || variance(c.Values, nil) == 0 {
			continue
		}
		coef, _ := regress(others, c.Values, OLS)
		rest := variance(c.Values, func(i int) float64 {
			p := 0.0
			for j := range others {
				p += coef[j] * others[j].Values[i]
			}
			return p
		})
		largest = max(largest, 1-rest/variance(c.Values, nil))
	}
	return largest
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// variance returns the sum of squares of v about its mean or, if it is given,
// about a prediction.
func variance(v []float64, predicted func(i int) float64) float64 {
	mean := 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	sum := 0.0
	for i, x := range v {
		p := mean
		if predicted != nil {
			p = predicted(i)
		}
		sum += (x - p) * (x - p)
	}
	if sum <= 1e-24*float64(len(v))*math.Max(mean*mean, math.SmallestNonzeroFloat64) {
		return 0
	}
	return sum
}
