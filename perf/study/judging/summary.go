package judging

import (
	"cmp"
	"math"
	"slices"

	"presage/perf/internal/order"
)

// SummaryRow is how far off predictions are as a whole. Errors are magnitudes of
// relative errors; shares are missing if nothing counts towards them.
type SummaryRow struct {
	Class     string  `frame:"class"`   // one of the constants Class…
	Machine   string  `frame:"machine"` // all of them in Summary
	Level     string  `frame:"level"`   // likewise; none for cycles
	Rows      int     `frame:"rows"`
	Median    float64 `frame:"rel_err_median"`
	P90       float64 `frame:"rel_err_p90"`
	Worst     float64 `frame:"rel_err_worst"`
	Within5   float64 `frame:"within_5_percent"`  // share of the rows
	Intervals float64 `frame:"in_interval"`       // share of the rows with an interval whose interval holds the truth
	HalfWidth float64 `frame:"half_width_median"` // of these intervals, relative to the prediction
	// Factor is how many times as far from the prediction, by ratio, the ends of these
	// intervals would have to be for those of a further program to hold 90%; see factor.
	Factor float64 `frame:"interval_factor"`
	// Unwarned are the rows that are off by more than Gross times, either way, and
	// have no warning.
	Unwarned int `frame:"gross_without_warning"`

	ModelMedian    float64 `frame:"rel_err_model_median"` // of the models of distances alone; missing for cycles
	ModelP90       float64 `frame:"rel_err_model_p90"`
	BaselineMedian float64 `frame:"rel_err_n3_median"`
	BaselineP90    float64 `frame:"rel_err_n3_p90"`
}

// MinMisses is the number of simulated misses from which a row counts in summaries.
const MinMisses = 1000

// Gross is the ratio of a prediction to the truth, or of the truth to the prediction,
// beyond which a prediction without a warning is a failure.
const Gross = 3

// Summary sums up the findings by class: caches of many and of few ways, TLBs, cycles.
// Rows below MinMisses do not count. A class without rows has none.
func (f *Findings) Summary() []SummaryRow {
	return summarise(f.outcomes(), func(o *outcome) SummaryRow {
		return SummaryRow{Class: o.class, Machine: "all", Level: "all"}
	})
}

// ByLevel is Summary for each level of each machine.
func (f *Findings) ByLevel() []SummaryRow {
	return summarise(f.outcomes(), func(o *outcome) SummaryRow {
		return SummaryRow{Class: o.class, Machine: o.machine, Level: o.level}
	})
}

// outcome is what summaries take from a row, of whatever it is.
type outcome struct {
	program               string
	class, machine, level string
	pred, sim, low, high  float64
	err, model, baseline  float64
	withoutStart          float64 // as MissRow.ErrWithoutStart
	warned                bool
}

// outcomes returns the rows that count.
func (f *Findings) outcomes() []outcome {
	var all []outcome
	for i := range f.Misses {
		r := &f.Misses[i]
		if r.Sim >= MinMisses {
			all = append(all, outcome{r.Program, r.Class, r.Machine, r.Level, r.Pred, r.Sim, r.Low, r.High, r.Err, r.ErrModel, r.ErrBaseline, r.ErrWithoutStart, r.Warning != ""})
		}
	}
	for i := range f.Cycles {
		r := &f.Cycles[i]
		all = append(all, outcome{
			program: r.Program, class: ClassCycles, machine: r.Machine, pred: r.Pred, sim: r.Sim, low: math.NaN(), high: math.NaN(),
			err: r.Err, model: math.NaN(), baseline: r.ErrBaseline, withoutStart: math.NaN(), warned: r.Warning != "",
		})
	}
	return all
}

// classes is the order of the classes in summaries.
var classes = []string{ClassManyWays, ClassFewWays, ClassTLB, ClassCycles}

// summarise returns a row for each value of key, by class and otherwise in the order
// in which the values come.
func summarise(all []outcome, key func(*outcome) SummaryRow) []SummaryRow {
	groups := make(map[SummaryRow][]outcome)
	var keys []SummaryRow
	for i := range all {
		k := key(&all[i])
		if _, ok := groups[k]; !ok {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], all[i])
	}
	slices.SortStableFunc(keys, func(a, b SummaryRow) int {
		return cmp.Compare(slices.Index(classes, a.Class), slices.Index(classes, b.Class))
	})
	rows := make([]SummaryRow, len(keys))
	for i, k := range keys {
		rows[i] = k
		rows[i].fill(groups[k])
	}
	return rows
}

// fill computes the figures of a row from what it sums up.
func (s *SummaryRow) fill(of []outcome) {
	s.Rows = len(of)
	errs := magnitudes(of, func(o *outcome) float64 { return o.err })
	s.Median, s.P90, s.Worst = quantile(errs, 0.5), quantile(errs, 0.9), quantile(errs, 1)
	model := magnitudes(of, func(o *outcome) float64 { return o.model })
	s.ModelMedian, s.ModelP90 = quantile(model, 0.5), quantile(model, 0.9)
	baseline := magnitudes(of, func(o *outcome) float64 { return o.baseline })
	s.BaselineMedian, s.BaselineP90 = quantile(baseline, 0.5), quantile(baseline, 0.9)
	within := 0
	for i := range of {
		o := &of[i]
		if math.Abs(o.err) <= 0.05 {
			within++
		}
		if !o.warned && gross(o.pred, o.sim) {
			s.Unwarned++
		}
	}
	s.Within5 = share(within, len(of))
	s.Intervals, s.HalfWidth, s.Factor = held(of), quantile(magnitudes(of, (*outcome).halfWidth), 0.5), factor(of)
}

// gross reports whether one of two numbers is more than Gross times the other.
func gross(a, b float64) bool { return a > Gross*b || b > Gross*a }

// magnitudes returns the magnitudes of a figure, ascending, without missing ones.
func magnitudes(of []outcome, get func(*outcome) float64) []float64 {
	var all []float64
	for i := range of {
		if v := math.Abs(get(&of[i])); !math.IsNaN(v) {
			all = append(all, v)
		}
	}
	slices.Sort(all)
	return all
}

// quantile is order.Quantile, or missing if there is no value.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	return order.Quantile(sorted, q)
}

// share returns a/b, or missing if b is 0.
func share(a, b int) float64 {
	if b == 0 {
		return math.NaN()
	}
	return float64(a) / float64(b)
}
