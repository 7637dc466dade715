package iperf

import (
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/internal/order"
)

// Measurement is the time of one problem size.
type Measurement struct {
	Point fit.Point
	Time  float64   // seconds, above 0
	Runs  []float64 // the times of single runs, if they are known
}

// NewMeasurement returns a measurement with the 80% average of the runs as its
// time: the mean without the smallest and the largest run (the report's
// appendix A.4, which has ten runs). It panics with fewer than three runs.
func NewMeasurement(p fit.Point, runs []float64) Measurement {
	if len(runs) < 3 {
		panic("iperf: an average without the smallest and largest run needs three")
	}
	sorted := slices.Sorted(slices.Values(runs))
	sum := 0.0
	for _, t := range sorted[1 : len(sorted)-1] {
		sum += t
	}
	return Measurement{Point: p, Time: sum / float64(len(sorted)-2), Runs: slices.Clone(runs)}
}

// Evaluation is a complete model, fitted.
type Evaluation struct {
	Complete
	Method       Method
	Columns      []Column
	Coefficients []float64 // of the columns, in seconds
	Collinear    []Collinear

	Predicted []float64 // seconds, at each measured size
	AbsErr    []float64 // |predicted - measured|, seconds
	RelErr    []float64 // AbsErr / measured

	Share float64 // of the sizes within the request's error
	RMS   float64 // root mean square of the errors that the method minimises

	iterationSeconds float64 // that the formulas were given
}

// Within returns the share of the sizes predicted within an absolute error in
// seconds.
func (e *Evaluation) Within(absErr float64) float64 { return within(e.AbsErr, absErr) }

// WithinRel returns the share of the sizes predicted within a relative error.
func (e *Evaluation) WithinRel(relErr float64) float64 { return within(e.RelErr, relErr) }

func within(errors []float64, limit float64) float64 {
	n := 0
	for _, e := range errors {
		if e <= limit {
			n++
		}
	}
	return float64(n) / float64(len(errors))
}

// Predict returns the model's time at a problem size, which may be outside the
// measured ones.
func (e *Evaluation) Predict(k *Kernel, s *System, p fit.Point) (float64, error) {
	if s.IterationSeconds == 0 {
		with := *s
		with.IterationSeconds = e.iterationSeconds
		s = &with
	}
	sc, err := newScope(k, s, p)
	if err != nil {
		return 0, err
	}
	sum, c := 0.0, 0
	for _, m := range e.Models {
		terms, err := m.evalAt(sc)
		if err != nil {
			return 0, fmt.Errorf("iperf: %w", err)
		}
		for _, t := range terms {
			sum += e.Coefficients[c] * t
			c++
		}
	}
	return sum, nil
}

// Options configures a search. The zero Options search everything.
type Options struct {
	// Without names models of the database to leave out.
	Without []string
}

// Answer is the result of a search.
type Answer struct {
	Request    Request
	Lattice    *Lattice
	Candidates []Evaluation // all complete models, the cheapest first

	Model   *Evaluation // the best of the candidates; nil if there is no model
	NoModel *NoModel    // the reasons if there is no model

	Warnings []error
}

// Search finds the best complete model of a kernel's times on a system, or the
// reasons why there is none (sections 3.2 and 3.3).
func Search(ctx context.Context, times []Measurement, k *Kernel, s *System, db *Database, r Request, opt Options) (*Answer, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	if err := checkTimes(times); err != nil {
		return nil, err
	}
	if len(opt.Without) > 0 {
		for _, name := range opt.Without {
			if db.Model(name) == nil {
				return nil, fmt.Errorf("iperf: no model %q to leave out", name)
			}
		}
		db = db.Without(opt.Without...)
	}
	s, err := timed(s, k, times)
	if err != nil {
		return nil, err
	}
	l, err := Preselect(db, k, s, points(times))
	if err != nil {
		return nil, err
	}
	complete, err := l.Enumerate()
	if err != nil {
		return nil, err
	}
	a := &Answer{Request: r, Lattice: l, Warnings: slices.Clone(l.Warnings)}
	for _, c := range complete {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		e := l.Fit(c, times, r)
		e.iterationSeconds = s.IterationSeconds
		a.Candidates = append(a.Candidates, e)
	}
	if len(a.Candidates) == 0 {
		return nil, fmt.Errorf("iperf: no factor is left for kernel %q on %s: %v", k.Name, s.Name, l.Pruned)
	}
	a.choose(times)
	return a, nil
}

func (a *Answer) choose(times []Measurement) {
	candidates := make([]Candidate, len(a.Candidates))
	for i := range a.Candidates {
		candidates[i] = Candidate{a.Candidates[i].Cost, a.Candidates[i].Share}
	}
	i := Select(candidates, a.Request)
	if i < 0 {
		a.NoModel = a.explain(times)
		return
	}
	a.Model = &a.Candidates[i]
	for _, c := range a.Model.Collinear {
		a.Warnings = append(a.Warnings, fmt.Errorf("model %s: %v", a.Model.Name(), c))
	}
	if n := len(a.Model.Columns); len(times) < 2*n {
		a.Warnings = append(a.Warnings, fmt.Errorf("model %s: %d coefficients from %d times", a.Model.Name(), n, len(times)))
	}
}

// timed returns the system with the time of an iteration: the median, over the
// measured sizes, of the time divided by the iterations of the innermost loop.
func timed(s *System, k *Kernel, times []Measurement) (*System, error) {
	if s.IterationSeconds > 0 {
		return s, nil
	}
	var each []float64
	for _, m := range times {
		nest, err := k.At(m.Point)
		if err != nil {
			return nil, err
		}
		if n := nest.Iterations(len(nest.Trips) - 1); n > 0 {
			each = append(each, m.Time/n)
		}
	}
	if len(each) == 0 {
		return s, nil
	}
	slices.Sort(each)
	out := *s
	out.IterationSeconds = order.Median(each)
	return &out, nil
}

// Times in seconds that can be: from a thousandth of a picosecond to thirty thousand
// years. The squares of others, and their reciprocals, overflow the sums of a fit.
const shortest, longest = 1e-15, 1e12

func checkTimes(times []Measurement) error {
	if len(times) < 3 {
		return fmt.Errorf("iperf: %d measured sizes are too few to fit a model", len(times))
	}
	for _, m := range times {
		if !(m.Time >= shortest && m.Time <= longest) {
			return fmt.Errorf("iperf: the time at %s is %g s, want %g to %g", pointText(m.Point), m.Time, shortest, longest)
		}
		for _, t := range m.Runs {
			if !(t >= 0 && t <= longest) {
				return fmt.Errorf("iperf: a run at %s took %g s, which cannot be", pointText(m.Point), t)
			}
		}
	}
	return nil
}

func points(times []Measurement) []fit.Point {
	out := make([]fit.Point, len(times))
	for i, m := range times {
		out[i] = m.Point
	}
	return out
}

// Fit fits a complete model of the lattice to times at the lattice's points, in
// their order, and evaluates it against a request. It panics if their number
// differs.
func (l *Lattice) Fit(c Complete, times []Measurement, r Request) Evaluation {
	if len(times) != len(l.Points) {
		panic("iperf: as many times as sizes are needed")
	}
	e := Evaluation{Complete: c, Method: r.Method()}
	for _, m := range c.Models {
		for t, v := range l.curve(m).Terms {
			e.Columns = append(e.Columns, Column{Model: m, Term: t, Values: v})
		}
	}
	y := make([]float64, len(times))
	for i, m := range times {
		y[i] = m.Time
	}
	e.Coefficients, e.Collinear = regress(e.Columns, y, e.Method)
	squares := 0.0
	for i, t := range y {
		p := 0.0
		for j := range e.Columns {
			p += e.Coefficients[j] * e.Columns[j].Values[i]
		}
		e.Predicted = append(e.Predicted, p)
		e.AbsErr = append(e.AbsErr, math.Abs(p-t))
		e.RelErr = append(e.RelErr, math.Abs(p-t)/t)
		if e.Method == WLS {
			squares += e.RelErr[i] * e.RelErr[i]
		} else {
			squares += e.AbsErr[i] * e.AbsErr[i]
		}
	}
	e.RMS = math.Sqrt(squares / float64(len(y)))
	e.Share = within(e.errors(), r.limit())
	return e
}

// errors returns the errors that the method minimises.
func (e *Evaluation) errors() []float64 {
	if e.Method == WLS {
		return e.RelErr
	}
	return e.AbsErr
}
