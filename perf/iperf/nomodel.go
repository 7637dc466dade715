package iperf

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"presage/perf/fit"
)

// NoModel states that no model meets a request, with evidence for each of the
// three reasons of section 3.3.
type NoModel struct {
	Request Request
	Best    *Evaluation // the candidate with the largest share
	// Achievable is the smallest error that a candidate keeps at the requested
	// share of sizes, and AchievableBy is that candidate.
	Achievable   float64
	AchievableBy *Evaluation

	Reasons []Reason // all three; those that hold come first
	Noise   Noise
	Peaks   []Peak // sizes at which the best model is far off, the worst first
}

// Cause is one of the three reasons for the absence of a model.
type Cause string

const (
	// Noisy: the times vary so much that even the true ones would not meet the
	// request.
	Noisy Cause = "noise"
	// TooTight: the residuals show no pattern; a larger error admits a model.
	TooTight Cause = "request too tight"
	// MissingFactor: the residuals have a pattern. A factor is missing, or one
	// of its models is too coarse there.
	MissingFactor Cause = "missing factor"
)

// Reason is a cause with the evidence for or against it.
type Reason struct {
	Cause    Cause
	Holds    bool
	Evidence string
}

// Noise is the variation of repeated runs.
type Noise struct {
	Sizes int // with at least two runs
	// Share is the share of sizes at which the true time would be within the
	// request's error: an upper bound for every model.
	Share float64
	// Sigma is the pooled standard deviation of single runs: in seconds, or
	// relative for a relative request.
	Sigma float64
	// LackOfFit is the probability of residuals as large as those of the best
	// model if it were true and only noise remained (the F test of lack of fit
	// against pure error); 1 if it is not known.
	LackOfFit float64
}

// Peak is a size at which the best model is far off.
type Peak struct {
	Point    fit.Point
	Residual float64 // measured - predicted: seconds, or relative
	Spreads  float64 // Residual in robust standard deviations of all residuals
}

const (
	// significance is the probability below which chance is rejected.
	significance = 1e-3
	// peakSpreads is the number of robust standard deviations of a peak. Of
	// sets of 100 normal residuals, one in 17,000 has one beyond 5.
	peakSpreads = 5
	// madToSigma converts a median absolute deviation into a standard
	// deviation, for normal errors.
	madToSigma = 1.4826
)

// explain returns the reasons why no candidate meets the request.
func (a *Answer) explain(times []Measurement) *NoModel {
	n := &NoModel{Request: a.Request, Achievable: math.Inf(1)}
	for i := range a.Candidates {
		c := &a.Candidates[i]
		if n.Best == nil || c.Share > n.Best.Share+rounding || c.Share > n.Best.Share-rounding && c.RMS < n.Best.RMS {
			n.Best = c
		}
		if q := errorOfShare(c.errors(), a.Request.Share); n.AchievableBy == nil || q < n.Achievable {
			n.Achievable, n.AchievableBy = q, c
		}
	}
	residuals := n.Best.residuals(times)
	n.Noise = n.noise(times, residuals)
	n.Peaks = peaks(times, residuals)
	n.judge(residuals)
	return n
}

// errorOfShare returns the smallest error that at least the given share of the
// errors does not exceed.
func errorOfShare(errors []float64, share float64) float64 {
	s := slices.Sorted(slices.Values(errors))
	k := int(math.Ceil(share*float64(len(s)) - rounding))
	return s[max(k, 1)-1]
}

// residuals returns measured minus predicted times, relative for WLS.
func (e *Evaluation) residuals(times []Measurement) []float64 {
	out := make([]float64, len(times))
	for i, m := range times {
		out[i] = m.Time - e.Predicted[i]
		if e.Method == WLS {
			out[i] /= m.Time
		}
	}
	return out
}

// noise compares the spread of repeated runs with the request and with the
// residuals.
func (n *NoModel) noise(times []Measurement, residuals []float64) Noise {
	out := Noise{LackOfFit: 1}
	pure, pureFreedom, lack := 0.0, 0.0, 0.0
	for i, m := range times {
		if len(m.Runs) < 2 {
			continue
		}
		variance := stat.Variance(m.Runs, nil)
		if n.Request.RelErr > 0 {
			variance /= m.Time * m.Time
		}
		runs := float64(len(m.Runs))
		out.Sizes++
		pure += variance * (runs - 1)
		pureFreedom += runs - 1
		lack += runs * residuals[i] * residuals[i]
		mean := distuv.Normal{Mu: 0, Sigma: math.Sqrt(variance / runs)}
		if mean.Sigma == 0 {
			out.Share++
		} else {
			out.Share += 1 - 2*mean.CDF(-n.Request.limit())
		}
	}
	if out.Sizes == 0 {
		return out
	}
	out.Share /= float64(out.Sizes)
	out.Sigma = math.Sqrt(pure / pureFreedom)
	freedom := float64(out.Sizes - len(n.Best.Columns) + len(n.Best.Collinear))
	if freedom > 0 && out.Sigma > 0 {
		f := (lack / freedom) / (out.Sigma * out.Sigma)
		out.LackOfFit = distuv.F{D1: freedom, D2: pureFreedom}.Survival(f)
	}
	return out
}

// peaks returns the sizes with residuals far beyond the others.
func peaks(times []Measurement, residuals []float64) []Peak {
	spread := robustSpread(residuals)
	var out []Peak
	for i, r := range residuals {
		if s := r / spread; math.Abs(s) > peakSpreads {
			out = append(out, Peak{times[i].Point, r, s})
		}
	}
	slices.SortStableFunc(out, func(a, b Peak) int { return cmp.Compare(math.Abs(b.Residual), math.Abs(a.Residual)) })
	return out
}

// robustSpread returns the standard deviation of normal residuals with the same
// median absolute value; the smallest positive number if that is 0.
func robustSpread(residuals []float64) float64 {
	abs := make([]float64, len(residuals))
	for i, r := range residuals {
		abs[i] = math.Abs(r)
	}
	slices.Sort(abs)
	return max(madToSigma*abs[len(abs)/2], math.SmallestNonzeroFloat64)
}

// waves returns the number of runs of equal sign among residuals in the order
// of the sizes, and the probability of at most that number by chance (Wald and
// Wolfowitz).
func waves(residuals []float64) (runs int, chance float64) {
	var up, down float64
	last := 0.0
	for _, r := range residuals {
		if r == 0 {
			continue
		}
		if r > 0 {
			up++
		} else {
			down++
		}
		if last == 0 || (r > 0) != (last > 0) {
			runs++
		}
		last = r
	}
	total := up + down
	if up == 0 || down == 0 || total < 10 {
		return runs, 1
	}
	mean := 2*up*down/total + 1
	sigma := math.Sqrt((mean - 1) * (mean - 2) / (total - 1))
	return runs, distuv.Normal{Mu: mean, Sigma: sigma}.CDF(float64(runs))
}

func (n *NoModel) judge(residuals []float64) {
	unit := n.Request.unit()
	noisy := Reason{Cause: Noisy, Evidence: "not known: the times come without repeated runs"}
	if n.Noise.Sizes > 0 {
		noisy.Holds = n.Noise.Share < n.Request.Share-rounding
		noisy.Evidence = fmt.Sprintf("from repeated runs at %d sizes, the true times would be met at %.3g%% of them; a run varies by %.3g%s (standard deviation)",
			n.Noise.Sizes, 100*n.Noise.Share, n.Noise.Sigma, unit)
	}
	missing := Reason{Cause: MissingFactor}
	var signs []string
	if n.Noise.Sizes > 0 && n.Noise.LackOfFit < significance {
		signs = append(signs, fmt.Sprintf("residuals exceed what repeated runs allow (probability %.2g)", n.Noise.LackOfFit))
	}
	if len(n.Peaks) > 0 {
		signs = append(signs, "the best model is far off at "+peakText(n.Peaks, unit))
	}
	if runs, chance := waves(residuals); chance < significance {
		signs = append(signs, fmt.Sprintf("residuals keep their sign over neighbouring sizes: %d changes among %d (probability %.2g)", runs-1, len(residuals), chance))
	}
	missing.Holds = len(signs) > 0
	missing.Evidence = strings.Join(signs, "; ")
	if !missing.Holds {
		missing.Evidence = "the residuals of the best model show neither peaks nor waves"
	}
	tight := Reason{Cause: TooTight, Holds: !missing.Holds && !noisy.Holds}
	tight.Evidence = fmt.Sprintf("the best model, %s, has %.3g%% within %.3g%s; %s has %g%% within %.3g%s",
		n.Best.Name(), 100*n.Best.Share, n.Request.limit(), unit, n.AchievableBy.Name(), 100*n.Request.Share, n.Achievable, unit)
	n.Reasons = []Reason{noisy, missing, tight}
	slices.SortStableFunc(n.Reasons, func(a, b Reason) int { return cmp.Compare(truth(b.Holds), truth(a.Holds)) })
}

// unit returns the unit of errors of the request's kind.
func (r Request) unit() string {
	if r.RelErr > 0 {
		return " (relative)"
	}
	return " s"
}

// peakText names the worst peaks.
func peakText(peaks []Peak, unit string) string {
	const most = 8
	var parts []string
	for i, p := range peaks {
		if i == most {
			parts = append(parts, fmt.Sprintf("%d more", len(peaks)-most))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%+.3g%s)", pointText(p.Point), p.Residual, unit))
	}
	return strings.Join(parts, ", ")
}

// String lists the causes that hold, with their evidence, and then the others.
func (n *NoModel) String() string {
	var s strings.Builder
	fmt.Fprintf(&s, "no model for %v", n.Request)
	for _, r := range n.Reasons {
		verdict := "no sign of"
		if r.Holds {
			verdict = "likely"
		}
		fmt.Fprintf(&s, "\n%s %s: %s", verdict, r.Cause, r.Evidence)
	}
	return s.String()
}
