package judging

import (
	"math"

	"presage/perf/predict"
)

// halfWidth returns half the width of a row's interval, relative to the prediction;
// missing if it has none.
func (o *outcome) halfWidth() float64 { return (o.high - o.low) / 2 / math.Max(1, o.pred) }

// held returns the share of the rows with an interval whose interval holds the truth.
func held(of []outcome) float64 {
	intervals, inside := 0, 0
	for i := range of {
		o := &of[i]
		if !o.bounded() {
			continue
		}
		intervals++
		if o.low <= o.sim && o.sim <= o.high {
			inside++
		}
	}
	return share(inside, intervals)
}

// bounded reports whether a row has an interval.
func (o *outcome) bounded() bool { return !math.IsNaN(o.low) && !math.IsNaN(o.high) }

// reached returns where the truth is on the way from the prediction, 0, to the end of the
// interval on that side, 1, by ratios of misses, each with one more, as intervals of few
// misses end at none; missing if there is no interval.
func (o *outcome) reached() float64 {
	end := o.high
	if o.sim < o.pred {
		end = o.low
	}
	off, width := math.Abs(math.Log((o.sim+1)/(o.pred+1))), math.Abs(math.Log((end+1)/(o.pred+1)))
	switch {
	case !o.bounded():
		return math.NaN()
	case off == 0:
		return 0
	}
	return off / width
}

// factor returns how many times as far the ends of intervals would have to be for
// predict.DefaultLevel of the rows of a further program to be inside: a quantile of how
// far the truth is, as in conformal prediction. Rows of a program are alike, so that it
// is the k programs that count, and the quantile is of a level (1+1/k) times as high, as
// for k observations (Dunn, Wasserman and Ramdas, "Distribution-Free Prediction Sets for
// Two-Layer Hierarchical Models", arXiv:1809.07441; rows are pooled, as programs have
// about as many each).
func factor(of []outcome) float64 {
	level := predict.DefaultLevel * (1 + 1/float64(len(programsOf(of))))
	return quantile(magnitudes(of, (*outcome).reached), math.Min(1, level))
}

// programsOf returns the programs that outcomes are of.
func programsOf(of []outcome) map[string]bool {
	programs := make(map[string]bool)
	for i := range of {
		programs[of[i].program] = true
	}
	return programs
}
