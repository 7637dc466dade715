package main

import (
	"fmt"
	"io"
	"math"

	"presage/datasets/programs/internal/npb"
)

// nasTolerance is NAS's, relative to the sums.
const nasTolerance = 1e-8

// deviations is how many standard deviations a count or a sum may be off, which
// chance alone does once in 10⁹ times.
const deviations = 6

// below returns the probability that a deviate is nearer to 0 than limit.
func below(limit int) float64 { return math.Erf(float64(limit) / math.Sqrt2) }

// verify returns the first law that the result breaks. Comparisons are written so
// that NaN breaks them.
func verify(p *problem) error {
	if err := unlikely("pairs accepted", p.accepted, p.pairs, math.Pi/4); err != nil {
		return err
	}
	counted := 0
	for l, count := range p.count {
		counted += count
		outer, inner := below(l+1), below(l) // of one deviate; the square, of both
		if err := unlikely(fmt.Sprintf("count %d", l), count, p.accepted, outer*outer-inner*inner); err != nil {
			return err
		}
	}
	if counted != p.accepted {
		return fmt.Errorf("%d pairs are counted, %d were accepted", counted, p.accepted)
	}
	for _, sum := range []struct {
		name  string
		value float64
	}{{"sum_x", p.sumX}, {"sum_y", p.sumY}} {
		if most := deviations * math.Sqrt(float64(p.accepted)); !(math.Abs(sum.value) <= most) {
			return fmt.Errorf("%s is %.9g: further from 0 than %d standard deviations (%.3g)", sum.name, sum.value, deviations, most)
		}
		if want := npb.Reference("EP", p.class, sum.name); want != nil {
			if err := npb.Compare(sum.name, []float64{sum.value}, want, nasTolerance); err != nil {
				return err
			}
		}
	}
	return nil
}

// unlikely reports a count out of a number of trials that is off by more than
// chance explains. Where hardly any are expected, the limit is that of the Poisson
// distribution, whose tail is longer: a few more are allowed.
func unlikely(what string, count, trials int, probability float64) error {
	mean := float64(trials) * probability
	most := deviations*math.Sqrt(mean*(1-probability)) + deviations
	if !(math.Abs(float64(count)-mean) <= most) {
		return fmt.Errorf("%s: %d, where %.1f are expected, and at most %.1f more or less", what, count, mean, most)
	}
	return nil
}

// report prints the problem and what was found, in few enough digits that it does
// not matter whether the machine rounds x*y + z once or twice.
//
//go:noinline
func report(w io.Writer, p *problem) {
	fmt.Fprintf(w, "ep: pairs %d, accepted %d\n", p.pairs, p.accepted)
	fmt.Fprintf(w, "sums: %.9f %.9f\n", p.sumX, p.sumY)
	for l, count := range p.count {
		fmt.Fprintf(w, "count %d: %d\n", l, count)
	}
	x, y := npb.Reference("EP", p.class, "sum_x"), npb.Reference("EP", p.class, "sum_y")
	if x != nil && y != nil {
		fmt.Fprintf(w, "class %s: NAS's sums are %.9f %.9f\n", p.class, x[0], y[0])
	}
}
