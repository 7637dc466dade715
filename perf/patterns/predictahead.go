package patterns

import (
	"context"
	"math"
	"strings"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// trainedAhead is what prefetchers did for the patterns of a run.
type trainedAhead struct {
	at      subject.Point
	levels  map[string][]Simulated
	assumed []string
}

// aheadPredictor predicts what prefetchers do for patterns.
type aheadPredictor struct {
	runs    []trainedAhead
	largest int
}

// trainAhead simulates the runs of the model with prefetchers; nil if that is not asked
// for.
func trainAhead(ctx context.Context, model *misses.Model, m *machine.Machine, by subject.Scope, opt *PredictOptions) (*aheadPredictor, error) {
	if !opt.Prefetching {
		return nil, nil
	}
	p := new(aheadPredictor)
	runs := model.Runs().Runs
	for i := range runs {
		run := &runs[i]
		if err := run.Repeatable(opt.Store); err != nil {
			return nil, err
		}
		kinds, err := locality.ClassificationOf(run.Program)
		if err != nil {
			return nil, err
		}
		first, err := run.Program.FirstRefs()
		if err != nil {
			return nil, err
		}
		simulate := SimulateOptions{RunOptions: subject.RunOptions{Store: opt.Store, Progress: opt.Progress}, Prefetching: true, Timing: opt.Timing}
		loaded := subject.Loaded{Program: run.Program, Inputs: run.Recorded.Inputs}
		config, assumed, err := simulate.prefetched(ctx, m, loaded)
		if err != nil {
			return nil, err
		}
		step := subject.Step{Options: &simulate.RunOptions, Point: run.Point, Done: i, Total: len(runs)}
		res, err := simulateStep(ctx, loaded, step, kinds, m.Hierarchy(), config)
		if err != nil {
			return nil, err
		}
		r := simulated{
			prog: run.Program, first: first, program: model.Program, point: run.Point, machine: m.Name, by: by,
			origins: model.Executable() == nil, result: res, ahead: true, timing: opt.Timing, clock: clockOf(config),
		}
		t := trainedAhead{run.Point, make(map[string][]Simulated), assumed}
		for k := range res.Levels {
			t.levels[res.Levels[k].Name] = r.rows(&res.Levels[k])
		}
		p.runs = append(p.runs, t)
		if scaling.CompareSizes(fit.Point(run.Point), fit.Point(runs[p.largest].Point)) > 0 {
			p.largest = i
		}
	}
	return p, nil
}

// predict sets what prefetchers do for the rows of a level. The share of a pattern's
// misses that they leave is modelled over the size from the runs; what is summed up of a
// scope has that of all patterns of the scope that have no row of their own, and a pattern
// that missed in no run is taken as left.
func (p *aheadPredictor) predict(rows []Predicted) {
	own := make(map[Pattern]bool)
	for i := range rows {
		own[rows[i].Pattern] = true
	}
	for i := range rows {
		row := &rows[i]
		trained := make([]misses.PrefetchedRun, len(p.runs))
		for k := range p.runs {
			sum := p.runs[k].of(row, own)
			trained[k] = misses.PrefetchedRun{
				At: p.runs[k].at, Without: sum.Misses,
				Left: sum.Prefetched.Left, Late: sum.Prefetched.Late, Covered: sum.Prefetched.Covered, Waits: sum.Prefetched.Wait,
			}
			if k == p.largest {
				row.Used = math.NaN()
				if sum.fetched > 0 {
					row.Used = sum.used / sum.fetched
				}
				row.Pace = num.Ratio(sum.paced, sum.Accesses)
			}
		}
		each, missed := misses.PrefetchedAt(trained, row.Point)
		if !missed {
			each = misses.PrefetchedRun{Left: 1}
		}
		row.Prefetched = Prefetched{each.Left, each.Late, each.Covered, each.Waits}.Times(row.Misses)
		row.Columns = make(map[string]float64) // filled once they are summed up
		for _, w := range p.runs[0].assumed {
			if !strings.Contains(row.Warning, w) {
				row.Warning = strings.TrimPrefix(row.Warning+"; "+w, "; ")
			}
		}
	}
}

// of sums what a run has of a row's pattern.
func (t *trainedAhead) of(row *Predicted, own map[Pattern]bool) (sum Simulated) {
	rest := row.Object == OtherPatterns
	for i := range t.levels[row.Level] {
		s := &t.levels[row.Level][i]
		if s.Pattern == row.Pattern || rest && s.Scope == row.Scope && !own[s.Pattern] {
			sum.Misses += s.Misses
			sum.Accesses += s.Accesses
			sum.paced += s.paced
			sum.used += s.used
			sum.fetched += s.fetched
			sum.Prefetched = sum.Prefetched.Plus(s.Prefetched)
		}
	}
	return sum
}
