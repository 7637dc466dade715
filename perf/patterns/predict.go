package patterns

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// PredictOptions configures Predict. The zero value is the default.
type PredictOptions struct {
	// By says what scopes and sources are: loops (the default), routines or the
	// program. Carriers are loops.
	By subject.Scope
	// Listing says which patterns have a row, by their share of a level's misses.
	Listing subject.Listing
	// Method, Corrector and Coverage are those of misses.PredictOptions.
	Method    predict.Method
	Corrector misses.Corrector
	Coverage  float64
	// Prefetching adds what the machine's prefetchers leave and cover of each pattern: the
	// runs of the model are simulated with them, which the store keeps. Timing tells which
	// are late.
	Prefetching bool
	misses.Timing
	Store    *store.Store // nil: the default
	Progress progress.Func
}

// Predict predicts the misses of each pattern on a machine, at each point, for each
// cache and TLB: a row for each point, level and pattern, those with the most misses
// first. The runs that the model was fitted to must have been profiled with the
// option Carriers; otherwise the error wraps locality.ErrNoCarriers.
//
// The histograms of the patterns are modelled as those of groups are. What they
// predict divides what misses.Predict says of each loop: cold misses among the first
// accesses, the others among the reuses. So patterns add up to the loops' misses,
// whatever corrected these, and a pattern's share is the models' own. An interval
// holds what the functions of the pattern's model may be, and is at least as wide as
// that of its loop; those of rows that sum up several are the sums, wider than need
// be.
func Predict(ctx context.Context, model *misses.Model, m *machine.Machine, points []subject.Point, opt PredictOptions) ([]Predicted, error) {
	by, err := checkBy(opt.By)
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	loops, err := misses.Predict(ctx, model, m, points, misses.PredictOptions{
		By: subject.ByLoop, Method: opt.Method, Corrector: opt.Corrector, Coverage: opt.Coverage,
	})
	if err != nil {
		return nil, err
	}
	d := &divider{ctx: ctx, model: model, by: by, coverage: opt.Coverage, known: make(map[uint64]*division), libraries: librariesOf(model)}
	if d.method, err = opt.Method.Check(); err != nil {
		return nil, err
	}
	ahead, err := trainAhead(ctx, model, m, by, &opt)
	if err != nil {
		return nil, err
	}
	var rows []Predicted
	levels := predict.Levels(m)
	for len(loops) > 0 {
		n := 1 // rows of one point and level
		for n < len(loops) && loops[n].Level == loops[0].Level && subject.Point(loops[n].Point).String() == subject.Point(loops[0].Point).String() {
			n++
		}
		at := slices.IndexFunc(levels, func(l predict.Level) bool { return l.Name == loops[0].Level })
		own, err := d.level(levels[at], loops[:n])
		if err != nil {
			return nil, err
		}
		if ahead != nil {
			ahead.predict(own)
		}
		rows = append(rows, listedPredicted(own, opt.Listing)...)
		loops = loops[n:]
	}
	return rows, nil
}

// librariesOf returns the scopes that are library code in a run of the model.
func librariesOf(model *misses.Model) map[string]bool {
	all := make(map[string]bool)
	runs := model.Runs().Runs
	for i := range runs {
		if i == 0 || runs[i].Program != runs[i-1].Program {
			maps.Copy(all, runs[i].Program.LibraryScopes())
		}
	}
	return all
}

// divider divides the misses of loops by pattern.
type divider struct {
	ctx      context.Context
	model    *misses.Model
	by       subject.Scope
	method   predict.Method
	coverage float64
	known    map[uint64]*division // by block size

	libraries map[string]bool
}

// level returns the patterns of a level, given its loops.
func (d *divider) level(l predict.Level, loops []misses.Row) ([]Predicted, error) {
	blank := Predicted{Libraries: d.libraries, Used: math.NaN(), Pace: math.NaN(), Program: loops[0].Program, Point: loops[0].Point, Machine: loops[0].Machine, Level: l.Name}
	if l.BypassFloat {
		nan := math.NaN()
		blank.Scope, blank.Warning = loops[0].Scope, loops[0].Warning
		blank.Accesses, blank.Misses, blank.Low, blank.High = nan, nan, nan, nan
		return []Predicted{blank}, nil
	}
	v := d.known[l.BlockBytes]
	if v == nil {
		var err error
		if v, err = divide(d.ctx, d.model, l.BlockBytes); err != nil {
			return nil, err
		}
		d.known[l.BlockBytes] = v
	}
	point := fit.Point(blank.Point)
	if err := v.fitted.Check(point); err != nil {
		return nil, fmt.Errorf("perf: %s at %s: %w", l.Name, subject.Point(blank.Point), err)
	}
	cache := d.method.Of(l.Cache())
	ranges, err := predict.IntervalsByGroup(d.ctx, v.fitted, point, cache, predict.IntervalOptions{Level: d.coverage})
	if err != nil {
		return nil, err
	}
	at := make(map[Pattern]int)
	var rows []Predicted
	for i := range loops {
		for _, part := range v.share(&loops[i], point, cache) {
			p := v.pattern(&v.keys[part.Of], d.by, d.model)
			n, ok := at[p]
			if !ok {
				n = len(rows)
				at[p] = n
				rows = append(rows, blank)
				rows[n].Pattern = p
			}
			rows[n].add(part, &loops[i], ranges)
		}
	}
	return rows, nil
}

// add adds a part of a loop's misses to a row.
func (r *Predicted) add(part misses.Part, loop *misses.Row, ranges []predict.Interval) {
	r.Accesses += part.Accesses
	r.Misses += part.Misses
	low, high := math.NaN(), math.NaN()
	if ranges != nil {
		low, high = loop.RangeOf(part, ranges[part.Of])
	}
	r.Low += low
	r.High += high
	for w := range strings.SplitSeq(loop.Warning, "; ") {
		if !strings.Contains(r.Warning, w) {
			r.Warning = strings.TrimPrefix(r.Warning+"; "+w, "; ")
		}
	}
}

// share divides the misses of a loop among its patterns: Part.Of is an index of keys.
func (v *division) share(loop *misses.Row, point fit.Point, cache predict.Cache) []misses.Part {
	keys := v.of[loop.Scope]
	hists := make([]scaling.Histogram, len(keys))
	for i, k := range keys {
		hists[i] = v.fitted.Groups[k].Histogram(point)
	}
	parts := loop.Divide(hists, cache)
	for i := range parts {
		parts[i].Of = keys[parts[i].Of]
	}
	return parts
}
