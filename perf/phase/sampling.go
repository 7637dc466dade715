package phase

import (
	"context"
	"errors"
	"fmt"
	"math"

	"presage/perf/metasim"
	"presage/perf/simpoint"
)

// Sampling says which parts of a run are simulated. The zero value takes the
// points that SimPoint chooses with its defaults, on the intervals at hand.
type Sampling struct {
	Name string // in tables; "": made from the other fields

	Full    bool    // the whole run
	Percent float64 // above 0: this share of the run, in regular periods (2005, section 2)
	Periods int     // of these; 0: metasim.DefaultPeriods

	// Otherwise SimPoint chooses, with the options SimPoint, unless Points are given.
	SimPoint simpoint.Options
	Points   []simpoint.Point
	// Labels, with Points, are the clusters of all intervals (simpoint.Result). With
	// metasim.WarmHistory, misses within histories then count for the points of
	// their clusters (metasim.Sample.Stratify), as they do where SimPoint chooses.
	Labels []int

	// Warmup says what caches hold when a stretch begins; by default they are
	// warmed up with metasim.DefaultWarmLength instructions, and with
	// metasim.WarmHistory by HistoryShare of the run, or as much of it as has
	// HistoryAccesses, divided among the stretches.
	Warmup     metasim.Warmup
	WarmLength uint64
}

// By default, HistoryShare of a run at most warms caches up by history, and no more than
// what has HistoryAccesses an instruction of the run: recording and simulating an access
// costs 5 to 25 ns, an instruction of an untraced run 0.2 to 0.6 ns. It is to keep runs
// below twice the time of untraced ones.
const (
	HistoryShare    = 0.1
	HistoryAccesses = 0.0125
)

// Title returns the name of the sample in tables.
func (s *Sampling) Title() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Full:
		return "full"
	case s.Percent > 0:
		return fmt.Sprintf("periodic %g%%", s.Percent)
	}
	return "simpoint"
}

// WarmupTitle returns the name of the warm-up in tables; empty for the whole run.
func (s *Sampling) WarmupTitle() string {
	if s.Full {
		return ""
	}
	return s.Warmup.String()
}

// how returns the options of the simulation of a sample of p.
func (s *Sampling) how(p *Intervals, sample *metasim.Sample) metasim.SimulateOptions {
	o := metasim.SimulateOptions{Warmup: s.Warmup, WarmLength: s.WarmLength}
	if o.Warmup == metasim.WarmHistory && o.WarmLength == 0 {
		share := min(HistoryShare, HistoryAccesses*float64(p.Instructions)/max(1, float64(p.accesses())))
		o.WarmLength = uint64(share*float64(p.Instructions))/uint64(max(1, len(sample.Stretches))) + 1
	}
	return o
}

// stretches are the parts of a run that are simulated.
type stretches struct {
	sample   metasim.Sample
	mismatch float64 // of SimPoint's choice; NaN if it did not choose
	warnings []string
}

// stretches returns the parts of the run p.
func (s *Sampling) stretches(ctx context.Context, p *Intervals) (out stretches, err error) {
	out.mismatch = math.NaN()
	switch {
	case s.Full && s.Percent != 0:
		return out, errors.New("perf: sampling: all of the run or a percentage, not both")
	case s.Full:
		out.sample = metasim.Full()
	case s.Percent != 0:
		out.sample, err = metasim.Periodic(p.Instructions, s.Percent, s.Periods)
	case s.Points != nil:
		out.sample, err = s.guided(p, s.Points, s.Labels)
	default:
		r, err := simpoint.Pick(ctx, p.Vectors, s.SimPoint)
		if err != nil {
			return out, err
		}
		out.mismatch, out.warnings = r.Mismatch, errorTexts(r.Warnings)
		out.sample, err = s.guided(p, r.Points, r.Labels)
		return out, err
	}
	return out, err
}

// guided returns the sample of points, and of what is like them in their histories if
// the clusters of intervals are known.
func (s *Sampling) guided(p *Intervals, points []simpoint.Point, labels []int) (metasim.Sample, error) {
	sample, err := metasim.Guided(p.Vectors, points)
	if err != nil || labels == nil || s.Warmup != metasim.WarmHistory {
		return sample, err
	}
	return sample.Stratify(p.Vectors, labels, points, s.how(p, &sample).WarmLength)
}
