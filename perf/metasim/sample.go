package metasim

import (
	"cmp"
	"fmt"
	"math/big"
	"slices"

	"presage/perf/bbv"
	"presage/perf/simpoint"
	"presage/perf/trace"
)

// Sample is a choice of stretches of a run to simulate.
type Sample struct {
	Name      string
	Stretches []Stretch // ascending and disjoint
	Combine   Combine   // how their hit rates are combined
	Strata    []Stratum // ascending and disjoint parts of histories that count by ByHistory; see Stratify
}

// Stretch is a window of a run with a weight.
type Stretch struct {
	trace.Window
	Weight float64 // share of the run that it represents; weights of a sample add up to 1
}

// Combine is a rule for combining a block's hit rates over the stretches.
type Combine uint8

const (
	// ByStretch is the weighted mean of the block's hit rates in the stretches
	// where it is executed: equation (4) of the paper. In a stretch where the
	// block is not executed the equation's hit rate is undefined; here the
	// weights of the other stretches are scaled to add up to 1.
	ByStretch Combine = iota
	// ByAccess divides the sum of hits by the sum of accesses, with each stretch
	// scaled to the share of the run that it represents, so that a stretch's
	// influence is proportional to the block's accesses in it. If weights are
	// proportional to lengths, it is the ratio of the plain sums.
	ByAccess
	// ByHistory is ByAccess where, at all levels but the first, a stretch has the
	// accesses and misses of all that is like it as well (Sample.Strata).
	ByHistory
)

// Full returns the sample that is the whole run.
func Full() Sample {
	const end = 1 << 62 // beyond the end of any run
	return Sample{Name: "full", Stretches: []Stretch{{trace.Window{From: 0, To: end}, 1}}, Combine: ByAccess}
}

// Amounts are the amounts of the paper's equations (1) to (3), in instructions.
type Amounts struct {
	Forward uint64 // fwd_amt: skipped at the beginning
	On, Off uint64 // on_amt and off_amt: simulated and skipped in each period
}

// AmountsOf returns the amounts for a run of n instructions of which percent are
// simulated in p periods, truncated to whole instructions:
//
//	fwd_amt = n/10                                 (1)
//	on_amt  = (n - fwd_amt) X/100 / p              (2)
//	off_amt = (n - fwd_amt) (100-X)/100 / p        (3)
func AmountsOf(n uint64, percent float64, p int) (Amounts, error) {
	x := new(big.Rat)
	if x.SetFloat64(percent) == nil || !(percent > 0 && percent <= 100) {
		return Amounts{}, fmt.Errorf("metasim: %g percent to be simulated: want above 0 and at most 100", percent)
	}
	if p < 1 {
		return Amounts{}, fmt.Errorf("metasim: %d periods: want at least one", p)
	}
	a := Amounts{Forward: n / 10}
	rest := new(big.Rat).SetFrac(new(big.Int).SetUint64(n-a.Forward), big.NewInt(100*int64(p)))
	whole := func(share *big.Rat) uint64 {
		v := share.Mul(share, rest)
		return new(big.Int).Quo(v.Num(), v.Denom()).Uint64()
	}
	a.Off = whole(new(big.Rat).Sub(big.NewRat(100, 1), x))
	a.On = whole(x)
	if a.On == 0 {
		return Amounts{}, fmt.Errorf("metasim: %g%% of %d instructions in %d periods is less than one instruction a period; take fewer periods", percent, n, p)
	}
	return a, nil
}

// DefaultPeriods is the default number of periods. The paper does not state its
// own.
const DefaultPeriods = 100

// Periodic returns a sample of percent of a run of n instructions, in regularly
// spaced periods after a tenth that is skipped (section 2 of the paper). Each
// period begins with its simulated part. periods of 0: DefaultPeriods.
func Periodic(n uint64, percent float64, periods int) (Sample, error) {
	if periods == 0 {
		periods = DefaultPeriods
	}
	a, err := AmountsOf(n, percent, periods)
	if err != nil {
		return Sample{}, err
	}
	s := Sample{Name: fmt.Sprintf("periodic %g%%", percent), Combine: ByAccess}
	at := a.Forward
	for range periods {
		s.Stretches = append(s.Stretches, Stretch{trace.Window{From: at, To: at + a.On}, 1 / float64(periods)})
		at += a.On + a.Off
	}
	return s, nil
}

// Guided returns the sample of the intervals that SimPoint chose, with their
// weights.
func Guided(v *bbv.Vectors, points []simpoint.Point) (Sample, error) {
	s := Sample{Name: fmt.Sprintf("simpoint %d", len(points)), Combine: ByStretch}
	for _, p := range points {
		if p.Interval < 0 || p.Interval >= v.Len() {
			return Sample{}, fmt.Errorf("metasim: a point at interval %d of %d: are the points of other vectors?", p.Interval, v.Len())
		}
		from := v.Starts[p.Interval]
		s.Stretches = append(s.Stretches, Stretch{trace.Window{From: from, To: from + v.Lengths[p.Interval]}, p.Weight})
	}
	sortStretches(s.Stretches)
	return s, s.check()
}

func sortStretches(list []Stretch) {
	slices.SortFunc(list, func(a, b Stretch) int { return cmp.Compare(a.From, b.From) })
}

func (s *Sample) check() error {
	if len(s.Stretches) == 0 {
		return fmt.Errorf("metasim: sample %q has no stretches", s.Name)
	}
	var last uint64
	for i, p := range s.Stretches {
		if p.From < last || p.To <= p.From || !(p.Weight >= 0) {
			return fmt.Errorf("metasim: stretch %d of sample %q, [%d, %d) of weight %g, is empty or out of order", i, s.Name, p.From, p.To, p.Weight)
		}
		last = p.To
	}
	last = 0
	for _, p := range s.Strata {
		if p.From < last || p.To <= p.From || p.Like < 0 || p.Like >= len(s.Stretches) {
			return fmt.Errorf("metasim: part [%d, %d) of a history in sample %q, like stretch %d of %d, is empty or out of order", p.From, p.To, s.Name, p.Like, len(s.Stretches))
		}
		last = p.To
	}
	if s.Combine > ByHistory {
		return fmt.Errorf("metasim: sample %q has an unknown Combine", s.Name)
	}
	return nil
}
