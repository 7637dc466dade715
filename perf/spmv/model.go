package spmv

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/cache"
	"presage/perf/infer"
)

// variables of the models: those of 2012, Table 5, in its order and with its
// names, policies as two indicators each.
var variables = []string{
	"brow", "bcol", "fR",
	"lsize", "dsize", "dways", "dNMRU", "dRND", "isize", "iways", "iNMRU", "iRND",
}

// Models predict performance and power of products with one matrix.
type Models struct {
	Performance *infer.Model // Mflop/s, without operations on filled zeros
	Power       *infer.Model // W
}

// row returns the variables of a point.
func row(p Point, fillRatio float64) []float64 {
	is := func(a, b cache.Replacement) float64 {
		if a == b {
			return 1
		}
		return 0
	}
	h := &p.Hardware
	return []float64{
		float64(p.Shape.R), float64(p.Shape.C), fillRatio,
		float64(h.LineBytes), float64(h.DataBytes), float64(h.DataWays), is(h.DataPolicy, cache.NMRU), is(h.DataPolicy, cache.Random),
		float64(h.InstrBytes), float64(h.InstrWays), is(h.InstrPolicy, cache.NMRU), is(h.InstrPolicy, cache.Random),
	}
}

// Observation is a product with known performance and power.
type Observation struct {
	Point         Point
	FillRatio     float64
	Mflops, Watts float64
}

// table returns observations with one of their responses.
func table(all []Observation, response func(*Observation) float64) *infer.Table {
	t := &infer.Table{Names: variables, Columns: make([][]float64, len(variables))}
	for i := range all {
		for v, x := range row(all[i].Point, all[i].FillRatio) {
			t.Columns[v] = append(t.Columns[v], x)
		}
		t.Response = append(t.Response, response(&all[i]))
	}
	return t
}

func mflops(o *Observation) float64 { return o.Mflops }
func watts(o *Observation) float64  { return o.Watts }

// Specs are the terms of the models of one matrix.
type Specs struct{ Performance, Power infer.Spec }

// ModelOptions configures the search for terms. The zero value has the
// defaults.
type ModelOptions struct {
	Population, Generations int // of a search; 0: 60 and 40
	Searches                int // each with other rows held back; 0: 3
	Seed                    uint64
}

// start returns the initial spec of a search, beside random ones, derived from
// the sum of core time and misses. The entries of a block share an index and
// the elements of x, so rows, columns and the line size interact.
func start() infer.Spec {
	genes := []infer.Gene{
		infer.Cubic, infer.Cubic, infer.Cubic,
		infer.Cubic, infer.Cubic, infer.Quadratic, infer.Linear, infer.Linear,
		infer.Quadratic, infer.Linear, infer.Excluded, infer.Excluded,
	}
	s := infer.Spec{Genes: genes}
	for i := range 6 {
		for j := i + 1; j < 6; j++ {
			s.Interactions = append(s.Interactions, infer.Interaction{I: i, J: j, PowerI: 1, PowerJ: 1})
		}
	}
	return s
}

// SearchSpecs finds the terms of both models from training observations, by the
// genetic search of package infer. Responses are logarithms: fill and block
// size multiply the time rather than add to it. A single search judges its
// candidates repeatedly by the same held-back rows and overfits to them. So
// there are several, and cross-validation on the training observations chooses
// among their results and their start.
func SearchSpecs(ctx context.Context, train []Observation, opt ModelOptions) (Specs, error) {
	opt.Population, opt.Generations = cmp.Or(opt.Population, 60), cmp.Or(opt.Generations, 40)
	opt.Searches = cmp.Or(opt.Searches, 3)
	var out Specs
	for _, m := range []struct {
		response func(*Observation) float64
		spec     *infer.Spec
	}{{mflops, &out.Performance}, {watts, &out.Power}} {
		t := table(train, m.response)
		specs := []infer.Spec{start()}
		for i := range opt.Searches {
			state, err := infer.Search(ctx, t, infer.SearchOptions{
				Population: opt.Population, Generations: opt.Generations, Seed: opt.Seed + uint64(i),
				Powers: 2, Scaling: infer.Scaling{Log: true}, Start: specs[:1], Workers: 1,
			})
			if err != nil {
				return out, fmt.Errorf("spmv: %w", err)
			}
			specs = append(specs, state.Best().Spec)
		}
		best, least := 0, math.Inf(1)
		for i, s := range specs {
			e, err := crossValidate(t, s)
			if err != nil {
				return out, err
			}
			if e < least {
				best, least = i, e
			}
		}
		*m.spec = specs[best]
	}
	return out, nil
}

// folds is the number of parts of the training rows, each of which is predicted
// from the others.
const folds = 5

// crossValidate returns the mean of the median and the 90th percentile of the
// absolute relative errors on held-out rows.
func crossValidate(t *infer.Table, s infer.Spec) (float64, error) {
	basis, err := infer.NewBasis(t)
	if err != nil {
		return 0, fmt.Errorf("spmv: %w", err)
	}
	var errs []float64
	for fold := range folds {
		m, err := infer.Fit(t.Where(func(row int) bool { return row%folds != fold }), s, infer.FitOptions{Scaling: infer.Scaling{Log: true}, Basis: basis})
		if err != nil {
			return 0, fmt.Errorf("spmv: %w", err)
		}
		left := t.Where(func(row int) bool { return row%folds == fold })
		predicted, err := m.Predict(left)
		if err != nil {
			return 0, fmt.Errorf("spmv: %w", err)
		}
		for i, p := range predicted {
			errs = append(errs, math.Abs(p/left.Response[i]-1))
		}
	}
	slices.Sort(errs)
	return (errs[len(errs)/2] + errs[len(errs)*9/10]) / 2, nil
}

// FitModels fits the models of the given terms.
func FitModels(train []Observation, specs Specs) (*Models, error) {
	m := new(Models)
	for _, f := range []struct {
		response func(*Observation) float64
		spec     infer.Spec
		model    **infer.Model
	}{{mflops, specs.Performance, &m.Performance}, {watts, specs.Power, &m.Power}} {
		fitted, err := infer.Fit(table(train, f.response), f.spec, infer.FitOptions{Scaling: infer.Scaling{Log: true}})
		if err != nil {
			return nil, fmt.Errorf("spmv: %w", err)
		}
		*f.model = fitted
	}
	return m, nil
}

// Predict returns observations with the performance and power that the models
// predict.
func (m *Models) Predict(all []Observation) ([]Observation, error) {
	t := table(all, func(*Observation) float64 { return math.NaN() })
	speed, err := m.Performance.Predict(t)
	if err != nil {
		return nil, fmt.Errorf("spmv: %w", err)
	}
	power, err := m.Power.Predict(t)
	if err != nil {
		return nil, fmt.Errorf("spmv: %w", err)
	}
	out := make([]Observation, len(all))
	for i := range all {
		out[i] = Observation{all[i].Point, all[i].FillRatio, speed[i], power[i]}
	}
	return out, nil
}
