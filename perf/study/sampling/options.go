package sampling

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/bbv"
	"presage/perf/machine"
	"presage/perf/phase"
	"presage/perf/subject"
)

// Options say what is studied of one run of a program, after "How SimPoint Can
// Improve MetaSim Tracer" (2005). Progress reports each part of the study by name,
// before it begins; their number is not known beforehand.
type Options struct {
	subject.RunOptions
	Machine *machine.Machine // whose caches are simulated
	// Intervals are the lengths of SimPoint's intervals that are compared, in
	// instructions, ascending, each a multiple of the one before, with
	// bbv.DefaultInterval among them; nil: 2e5, 1e6, 1e7. Lengths below the default
	// that give more than 150,000 intervals are left out.
	Intervals []uint64
	// Ks are the numbers of points that are compared at the default interval; nil:
	// 1, 2, 4, 8 (the paper's), 12, 16, 24, 32, 50, 100.
	Ks []int
	// Percents are the shares of the run in periodic samples; nil: 10 and 1, as in
	// the paper.
	Percents []float64
	// Repeats is the number of runs of which the times of the untraced run and of
	// the default sample are medians (see phase.Overhead); 0: 3. -1, for History: no
	// times, and only the points that SimPoint's score chooses.
	Repeats int
	// Seeds is the number of seeds that the default clustering is compared over; 0: 4.
	Seeds int
}

const maxIntervals = 150_000

func (o *Options) fill() error {
	if o.Machine == nil {
		return errors.New("perf: metasim: no machine")
	}
	if len(o.Intervals) == 0 {
		o.Intervals = []uint64{200_000, bbv.DefaultInterval, 10_000_000}
	}
	if len(o.Ks) == 0 {
		o.Ks = []int{1, 2, 4, 8, 12, 16, 24, 32, 50, 100}
	}
	if len(o.Percents) == 0 {
		o.Percents = []float64{10, 1}
	}
	if o.Repeats == 0 {
		o.Repeats = phase.DefaultRepeats
	}
	if o.Seeds == 0 {
		o.Seeds = 4
	}
	if !slices.Contains(o.Intervals, bbv.DefaultInterval) {
		return fmt.Errorf("perf: metasim: intervals of %d instructions: the default, %d, is not among them", o.Intervals, bbv.DefaultInterval)
	}
	for i, n := range o.Intervals {
		if n == 0 || i > 0 && n%o.Intervals[i-1] != 0 {
			return fmt.Errorf("perf: metasim: intervals of %d instructions: each has to be a multiple of the one before", o.Intervals)
		}
	}
	return nil
}

// Run studies one run of prog. What takes long is kept in the store: a study that
// was interrupted resumes where it stopped.
func (o Options) Run(ctx context.Context, prog *subject.Program, point subject.Point) (*Findings, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	s := &study{Options: o, report: o.Progress}
	s.Progress = nil // the parts tell more than the runs
	if err := s.collect(ctx, prog, point); err != nil {
		return nil, err
	}
	if err := s.ahead(ctx); err != nil {
		return nil, err
	}
	for _, part := range []func(context.Context) error{s.full, s.guided, s.periodic, s.sweep, s.stability} {
		if err := part(ctx); err != nil {
			return nil, err
		}
	}
	s.report.Finish(s.parts)
	return s.findings(prog)
}
