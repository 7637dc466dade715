package misses

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// Query is a question about three things: a problem size, a cache, and how many
// accesses miss. Two are given, Ask answers with the third.
//
//	Points, Caches                    → misses and hit ratio: Misses
//	Points, HitRatio (or MissRatio)   → the smallest cache: SmallestCache
//	Caches, MissRatio (or HitRatio)   → the largest problem: LargestProblem
type Query struct {
	// By is what rows are about.
	By subject.Scope

	// Points are the problem sizes. For the largest problem they lack the
	// parameter that is asked for, and may be left out if there is no other.
	Points []subject.Point
	// Caches are the caches and TLBs. For the smallest cache their capacities
	// are what is asked for, and are not regarded.
	Caches []CacheSize
	// HitRatio is what is to be reached, MissRatio what is not to be exceeded:
	// one of them, above 0 and up to 1, or neither. Ratios are to all accesses of
	// the scope, not only to those that come as far as the cache.
	HitRatio, MissRatio float64

	// Vary is the parameter that is asked for in the largest problem.
	Vary Vary

	// Coverage of intervals of misses: see PredictOptions.
	Coverage float64
}

// Vary is a parameter and the values From, From+Step, … up to To that it takes
// in a search.
type Vary struct {
	Param string
	From  float64 // 0: the smallest value that the model was fitted to
	To    float64 // 0: fit.ReachLimit times the largest
	Step  float64 // 0: 1
}

// Ask answers with what the query leaves open.
func Ask(ctx context.Context, model *Model, q Query) (dataframe.DataFrame, error) {
	ratio := q.HitRatio != 0 || q.MissRatio != 0
	switch {
	case q.Vary.Param != "" && ratio && len(q.Caches) > 0:
		return LargestProblem(ctx, model, q)
	case q.Vary.Param != "":
		return dataframe.DataFrame{}, errors.New("perf: the largest problem takes caches and a ratio")
	case ratio && len(q.Points) > 0 && len(q.Caches) > 0:
		return SmallestCache(model, q)
	case !ratio && len(q.Points) > 0 && len(q.Caches) > 0:
		return Misses(model, q)
	}
	return dataframe.DataFrame{}, errors.New("perf: a query takes two of size, cache and ratio: points and caches, " +
		"points and a ratio (with the ways and blocks of the caches), or caches and a ratio (with the parameter to vary)")
}

// Misses returns the misses in each cache at each point: a row for each point,
// cache and scope, those with the most misses first, with the columns of
// PredictMisses and
//
//   - level: the cache's name; capacity_bytes, ways (0: fully associative),
//     block_bytes
//   - pred_hit_ratio: 1 - pred_miss_ratio
func Misses(model *Model, q Query) (dataframe.DataFrame, error) {
	type row struct {
		Program  string             `frame:"program"`
		Point    map[string]float64 `frame:",each"`
		Level    string             `frame:"level"`
		Capacity uint64             `frame:"capacity_bytes"`
		Ways     uint64             `frame:"ways"`
		Block    uint64             `frame:"block_bytes"`
		Scope    string             `frame:"scope"`
		Accesses float64            `frame:"pred_accesses"`
		Misses   float64            `frame:"pred_misses"`
		Low      float64            `frame:"pred_misses_low"`
		High     float64            `frame:"pred_misses_high"`
		Cold     float64            `frame:"pred_cold_misses"`
		Ratio    float64            `frame:"pred_miss_ratio"`
		Hits     float64            `frame:"pred_hit_ratio"`
		Doubtful float64            `frame:"pred_doubtful_share"`
		Warning  string             `frame:"pred_warning"`
	}
	if len(q.Points) == 0 || len(q.Caches) == 0 || q.HitRatio != 0 || q.MissRatio != 0 || q.Vary != (Vary{}) {
		return dataframe.DataFrame{}, errors.New("perf: misses are asked for with points and caches alone")
	}
	t, err := q.target(model)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	predicted, err := model.predict(t, q.Points, PredictOptions{By: q.By, Coverage: q.Coverage})
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	rows := make([]row, len(predicted))
	for i, p := range predicted {
		ways := p.at.Ways
		if p.at.Sets == 1 {
			ways = 0
		}
		rows[i] = row{
			p.Program, p.Point, p.Level, p.at.Blocks() * p.at.BlockBytes, ways, p.at.BlockBytes, p.Scope,
			p.Accesses, p.Misses, p.Low, p.High, p.Cold, p.Ratio, 1 - p.Ratio, p.Doubtful, p.Warning,
		}
	}
	return frame.Of(rows), nil
}

// target returns the query's caches with their capacities.
func (q *Query) target(m *Model) (*Target, error) {
	t := &Target{}
	for _, c := range q.Caches {
		l, err := c.level(m)
		if err != nil {
			return nil, err
		}
		t.Levels = append(t.Levels, l)
		t.blockBytes = append(t.blockBytes, l.BlockBytes)
		t.machine = c.machine
	}
	for _, c := range q.Caches {
		if c.machine != t.machine {
			t.machine = ""
		}
	}
	return t, nil
}

// missRatio returns the ratio of misses that may be. Exactly one of the query's
// ratios must be given.
func (q *Query) missRatio() (float64, error) {
	if (q.HitRatio != 0) == (q.MissRatio != 0) {
		return 0, errors.New("perf: give a hit ratio or a miss ratio, above 0, and not both")
	}
	for _, v := range []float64{q.HitRatio, q.MissRatio} {
		if !(v >= 0 && v <= 1) {
			return 0, fmt.Errorf("perf: ratio %g is not above 0 and at most 1", v)
		}
	}
	if q.HitRatio != 0 {
		return 1 - q.HitRatio, nil
	}
	return q.MissRatio, nil
}

// scoped is what predictions for one block size at one point are made of, by
// scope.
type scoped struct {
	names    []string
	hists    []scaling.Histogram
	accesses []float64
	warnings []string
}

// scoped evaluates the model for a level's block size.
func (m *Model) scoped(t *Target, l predict.Level, point subject.Point, by subject.Scope) (*scoped, error) {
	fitted, err := m.fittedFor(t, l)
	if err != nil {
		return nil, err
	}
	if err := fitted.Check(fit.Point(point)); err != nil {
		return nil, fmt.Errorf("perf: %s: %w", t.Of(l), err)
	}
	names, scopeOf := m.Scopes(by)
	s := &scoped{names: names, hists: make([]scaling.Histogram, len(names)), accesses: make([]float64, len(names))}
	for g, n := range m.Accesses(point) {
		h := fitted.Groups[g].Histogram(fit.Point(point))
		if !finite(h.Accesses()) || !finite(n) {
			return nil, fmt.Errorf("perf: %s at %s: the model has no finite value there", t.Of(l), point)
		}
		to := &s.hists[scopeOf[g]]
		to.Cold += h.Cold
		to.Bins = append(to.Bins, h.Bins...)
		s.accesses[scopeOf[g]] += n
	}
	s.warnings = append(fit.WarningTexts(fitted.Doubts(fit.Point(point))), l.NotModelled...)
	return s, nil
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// misses returns the misses of a scope.
func (s *scoped) misses(i int, c predict.Cache) float64 {
	return predict.OfHistogram(&s.hists[i], c).Total()
}
