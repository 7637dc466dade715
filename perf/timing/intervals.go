package timing

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"presage/perf/pipeline"
	"presage/perf/trace"
)

// Sampling configures a simulation of intervals of a run in place of all of it, after
// SMARTS (Wunderlich, Wenisch, Falsafi and Hoe, ISCA 2003): the run is divided into equal
// parts, and in each an interval is simulated in detail. Its mean cycles per instruction
// times the instructions of the run estimate the cycles.
//
//	run       ├───────── part ─────────┼───────── part ─────────┼──
//	              ····· ~~ ██                ····· ~~ ██
//	         history (·): contents of caches, TLBs and branch predictors
//	         lead (~): in detail, not counted        length (█): counted
//
// It departs from the paper in two points. An interval lies at random in its part, the
// same way each time, and not at the same place of each: loops whose period divides that of
// the parts would otherwise be met at the same instant always. And contents are kept up
// for the History before an interval, where the paper does it for all of the run: between
// intervals the program runs without being recorded. What was in the caches after the
// interval before is still there when the history begins.
//
// Not modelled: what happens between what is recorded. A block that was used there for the
// first time is missing later, and one that was evicted there is still found. Both fade as
// histories fill the caches; the first raises estimates of runs that are short and fit into
// them: of a conjugate gradient of 19 million instructions by 4 to 8%, with half of the run
// recorded. The bounds say nothing of it. Runs of up to half of Intervals times History, 1e9
// instructions by default, are recorded as a whole and free of it.
type Sampling struct {
	Intervals int    // how many; 0: DefaultIntervals
	Length    uint64 // instructions of an interval; 0: DefaultLength
	Lead      uint64 // instructions simulated in detail before it; 0: DefaultLead
	// History is how many instructions before these caches, TLBs and branch predictors are
	// kept up with; 0: DefaultHistory. WholeHistory keeps them up from the start of the run on.
	History uint64
	Seed    uint64 // of the places of intervals in their parts
}

// Defaults of Sampling.
const (
	DefaultIntervals = 200
	DefaultLength    = 20_000
	DefaultLead      = 10_000
	DefaultHistory   = 10_000_000
	WholeHistory     = math.MaxUint64
)

// sampledLevel is the confidence of the intervals around sampled estimates.
const sampledLevel = 0.95

func (s *Sampling) tooFew() error {
	return fmt.Errorf("perf: %d intervals to be simulated: give two or more, whose differences tell how far off the estimate may be", s.Intervals)
}

// filled returns s with defaults in place of zeros, or an error if there is no such sample
// of a run of n instructions.
func (s Sampling) filled(n uint64) (Sampling, error) {
	if s.Intervals < 0 || s.Intervals == 1 {
		return s, s.tooFew()
	}
	s.Intervals = cmp.Or(s.Intervals, DefaultIntervals)
	s.Length, s.Lead = cmp.Or(s.Length, DefaultLength), cmp.Or(s.Lead, DefaultLead)
	s.History = cmp.Or(s.History, DefaultHistory)
	if part := n / uint64(s.Intervals); part < s.Length || part-s.Length < s.Lead {
		return s, fmt.Errorf("perf: %d intervals of %d instructions, and %d before each, do not fit into a run of %d: simulate all of it, or fewer or shorter ones", s.Intervals, s.Length, s.Lead, n)
	}
	return s, nil
}

// windows returns the intervals of a run of n instructions. s is filled.
func (s *Sampling) windows(n uint64) []pipeline.Window {
	random := rand.New(rand.NewPCG(s.Seed, n))
	all := make([]pipeline.Window, s.Intervals)
	for i := range all {
		// Bounds of parts are rounded down; products of counts below 2^40 and a number of
		// intervals below 2^24 do not overflow.
		from, to := n*uint64(i)/uint64(s.Intervals), n*uint64(i+1)/uint64(s.Intervals)
		at := from + random.Uint64N(to-from-s.Length+1)
		all[i] = pipeline.Window{From: at, To: at + s.Length}
	}
	return all
}

// recorded returns the stretches of the run that the intervals need, those that touch in
// one.
func (s *Sampling) recorded(windows []pipeline.Window) []trace.Window {
	var all []trace.Window
	for _, w := range windows {
		from := w.From - min(w.From, s.Lead)
		from -= min(from, s.History)
		if k := len(all) - 1; k >= 0 && from <= all[k].To {
			all[k].To = w.To
			continue
		}
		all = append(all, trace.Window{From: from, To: w.To})
	}
	return all
}

// estimate is the time of a run as estimated from intervals of it.
type estimate struct {
	cycles, low, high float64 // of the run; between low and high with the confidence sampledLevel
	intervals         int
	share             float64 // of the run's instructions that were simulated in detail and counted
}

var errFewIntervals = errors.New("perf: the run ended before the second interval to be simulated: simulate all of it")

// estimated returns the estimate of a run of n instructions from its k intervals:
//
//	cycles = n R,  R = sum c / sum m
//
// where c and m are the cycles and instructions of an interval, whose ends are those of
// basic blocks. It lies within n (R ± t s), with the residuals d = c - R m and
//
//	s² = (1 - sum m / n) k / (2 (k-1)) sum (d(i+1) - d(i))² / (sum m)²
//
// Neighbours are compared because each part of the run has one interval only. With the
// means u(i) of parts, the expectation of (d(i+1) - d(i))² is the sum of the variances
// within the two and (u(i+1) - u(i))²: s² is too large rather than too small, but for what
// lies in the first and the last part, which have one neighbour and count half, and less so
// than the variance about the common mean, which the phases of a program widen. t is of
// Student's distribution with 2/3 (k-1) degrees of freedom, as many as such a sum of
// squares has if d is normal. Derived here.
func estimated(pieces []pipeline.Piece, n uint64) (estimate, error) {
	k := float64(len(pieces))
	if k < 2 {
		return estimate{}, errFewIntervals
	}
	var c, m float64
	for i := range pieces {
		c, m = c+float64(pieces[i].Cycles), m+float64(pieces[i].Instructions)
	}
	if m == 0 {
		return estimate{}, errors.New("perf: the intervals end before an instruction of theirs is executed: give longer ones")
	}
	ratio, squares := c/m, 0.0
	residual := func(i int) float64 { return float64(pieces[i].Cycles) - ratio*float64(pieces[i].Instructions) }
	for i := range pieces[1:] {
		d := residual(i+1) - residual(i)
		squares += d * d
	}
	whole := float64(n)
	sd := math.Sqrt(max(0, 1-m/whole)*k/(2*(k-1))*squares) / m
	half := distuv.StudentsT{Sigma: 1, Nu: max(1, 2*(k-1)/3)}.Quantile((1+sampledLevel)/2) * sd
	return estimate{cycles: ratio * whole, low: max(0, ratio-half) * whole, high: (ratio + half) * whole, intervals: len(pieces), share: m / whole}, nil
}
