package spmv

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// Objective is the objective of tuning.
type Objective uint8

const (
	// Fastest maximises Mflop/s, as in 2012.
	Fastest Objective = iota
	// Frugal minimises the energy per flop.
	Frugal
)

func (o Objective) String() string {
	if o == Frugal {
		return "energy"
	}
	return "performance"
}

// worth returns a number that is larger for better observations.
func (o Objective) worth(p *Observation) float64 {
	if o == Frugal {
		return p.Mflops / p.Watts // flops for a unit of energy
	}
	return p.Mflops
}

// Strategy is the set of parameters to tune (2012, section 5.3, Coordinated
// Optimization).
type Strategy uint8

const (
	// Application tunes the block size, on given caches.
	Application Strategy = iota
	// Architecture tunes the caches, for blocks of 1×1.
	Architecture
	// Coordinated tunes both.
	Coordinated
)

func (s Strategy) String() string {
	return [...]string{"application", "architecture", "coordinated"}[s]
}

// Tuner searches the space of block sizes and caches of one matrix, from a
// starting point, by its models, which take microseconds for each point.
type Tuner struct {
	Models    *Models
	FillRatio func(Shape) float64
	From      Point
	Objective Objective
}

// shapes and hardware return the choices of a strategy.
func (t *Tuner) shapes(s Strategy) []Shape {
	if s == Architecture {
		return []Shape{t.From.Shape}
	}
	return Shapes()
}

func (t *Tuner) hardware(s Strategy) []Hardware {
	if s == Application {
		return []Hardware{t.From.Hardware}
	}
	var all []Hardware
	AllHardware(func(h Hardware) {
		if t.Objective == Frugal || h.sameInstr(t.From.Hardware) {
			all = append(all, h)
		}
	})
	return all
}

// Found is the result of a search.
type Found struct {
	Best      []Observation // as predicted, the best first
	Evaluated int           // points predicted
}

// Exhaustive predicts all points of a strategy and returns the best, keep of
// them. If performance is the objective, instruction caches stay as they are:
// any of them holds a whole kernel.
func (t *Tuner) Exhaustive(ctx context.Context, s Strategy, keep int) (*Found, error) {
	if keep < 1 {
		return nil, fmt.Errorf("spmv: %d points to keep, want at least 1", keep)
	}
	hardware := t.hardware(s)
	found := new(Found)
	for _, shape := range t.shapes(s) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		points := make([]Observation, len(hardware))
		for i, h := range hardware {
			points[i] = Observation{Point: Point{shape, h}, FillRatio: t.FillRatio(shape)}
		}
		predicted, err := t.Models.Predict(points)
		if err != nil {
			return nil, err
		}
		found.Evaluated += len(predicted)
		found.Best = t.best(append(found.Best, predicted...), keep)
	}
	return found, nil
}

// best returns the best of points.
func (t *Tuner) best(points []Observation, keep int) []Observation {
	slices.SortStableFunc(points, func(a, b Observation) int {
		return cmp.Compare(t.Objective.worth(&b), t.Objective.worth(&a))
	})
	return points[:min(keep, len(points))]
}

// Greedy climbs from t.From: it changes the parameter that gains most, to the
// value predicted best, until none gains.
func (t *Tuner) Greedy(ctx context.Context, s Strategy) (*Found, error) {
	at := []Observation{{Point: t.From, FillRatio: t.FillRatio(t.From.Shape)}}
	predicted, err := t.Models.Predict(at)
	if err != nil {
		return nil, err
	}
	here := predicted[0]
	found := &Found{Evaluated: 1}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var next []Observation
		for _, p := range t.neighbourhood(here.Point, s) {
			next = append(next, Observation{Point: p, FillRatio: t.FillRatio(p.Shape)})
		}
		if next, err = t.Models.Predict(next); err != nil {
			return nil, err
		}
		found.Evaluated += len(next)
		best := here
		for i := range next {
			if t.Objective.worth(&next[i]) > t.Objective.worth(&best) {
				best = next[i]
			}
		}
		if best == here {
			found.Best = []Observation{here}
			return found, nil
		}
		here = best
	}
}

// neighbourhood returns the points that differ from p in one parameter that the
// strategy may change.
func (t *Tuner) neighbourhood(p Point, s Strategy) []Point {
	var all []Point
	with := func(change func(*Point)) {
		q := p
		if change(&q); q != p {
			all = append(all, q)
		}
	}
	if s != Architecture {
		for n := 1; n <= MaxBlock; n++ {
			with(func(q *Point) { q.Shape.R = n })
			with(func(q *Point) { q.Shape.C = n })
		}
	}
	if s == Application {
		return all
	}
	for _, v := range lineLevels {
		with(func(q *Point) { q.Hardware.LineBytes = v })
	}
	for _, v := range dataLevels {
		with(func(q *Point) { q.Hardware.DataBytes = v })
	}
	for _, v := range wayLevels {
		with(func(q *Point) { q.Hardware.DataWays = v })
	}
	for _, v := range policyLevels {
		with(func(q *Point) { q.Hardware.DataPolicy = v })
	}
	if t.Objective == Fastest { // see Exhaustive
		return all
	}
	for _, v := range instrLevels {
		with(func(q *Point) { q.Hardware.InstrBytes = v })
	}
	for _, v := range wayLevels {
		with(func(q *Point) { q.Hardware.InstrWays = v })
	}
	for _, v := range policyLevels {
		with(func(q *Point) { q.Hardware.InstrPolicy = v })
	}
	return all
}
