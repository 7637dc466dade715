package misses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/fit"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// Query is a question about three things: a problem size, a cache, and how many
// accesses miss. Two are given, the third is the answer.
//
//	Points, Caches                    → misses and hit ratio: OfCaches
//	Points, HitRatio (or MissRatio)   → the smallest cache: SmallestCache
//	Caches, MissRatio (or HitRatio)   → the largest problem: LargestProblem
type Query struct {
	// By is what rows are about.
	By subject.Scope
	// Listing says which scopes have a row, by their share of a cache's misses. It
	// is for misses alone: other answers do not add up.
	Listing subject.Listing

	// Points are the problem sizes. For the largest problem they lack the
	// parameter that is asked for, and may be left out if there is no other.
	Points []subject.Point
	// Caches are the caches and TLBs. For the smallest cache their capacities
	// are what is asked for, and are not regarded.
	Caches []CacheSize
	// HitRatio is to be reached, MissRatio not to be exceeded: one of them, above 0
	// and up to 1, or neither. Ratios are to all accesses of
	// the scope, not only to those that reach the cache.
	HitRatio, MissRatio float64

	// Vary is the parameter that is asked for in the largest problem.
	Vary Vary

	// Method is how misses of set-associative caches follow from histograms, as in
	// PredictOptions; Corrector, too, which corrects answers about misses alone.
	Method    predict.Method
	Corrector Corrector

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

// Asked is what a query asks for.
type Asked int

// The questions.
const (
	AsksMisses Asked = iota
	AsksSmallestCache
	AsksLargestProblem
)

// Asks returns what the query leaves open. It returns an error unless two of size,
// cache and ratio are given.
func (q *Query) Asks() (Asked, error) {
	ratio := q.HitRatio != 0 || q.MissRatio != 0
	switch {
	case q.Vary.Param != "" && ratio && len(q.Caches) > 0:
		return AsksLargestProblem, nil
	case q.Vary.Param != "":
		return 0, errors.New("perf: the largest problem takes caches and a ratio")
	case ratio && len(q.Points) > 0 && len(q.Caches) > 0:
		return AsksSmallestCache, nil
	case !ratio && len(q.Points) > 0 && len(q.Caches) > 0:
		return AsksMisses, nil
	}
	return 0, errors.New("perf: a query takes two of size, cache and ratio: points and caches, " +
		"points and a ratio (with the ways and blocks of the caches), or caches and a ratio (with the parameter to vary)")
}

// CacheRow is the misses of a scope in a cache, as predicted at a point: as in Row,
// but for the first fields.
type CacheRow struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Level    string             `frame:"level"`          // the cache's name
	Capacity uint64             `frame:"capacity_bytes"` // of an exclusive cache of a machine, with those above: see CachesOf
	Ways     uint64             `frame:"ways"`           // 0: fully associative
	Block    uint64             `frame:"block_bytes"`
	Scope    string             `frame:"scope"`
	Accesses float64            `frame:"pred_accesses"`
	Method   string             `frame:"method"` // as in Row
	Misses   float64            `frame:"pred_misses"`
	Low      float64            `frame:"pred_misses_low"`
	High     float64            `frame:"pred_misses_high"`
	Cold     float64            `frame:"pred_cold_misses"`
	Ratio    float64            `frame:"pred_miss_ratio"`
	Hits     float64            `frame:"pred_hit_ratio"` // 1 - Ratio
	Doubtful float64            `frame:"pred_doubtful_share"`
	Warning  string             `frame:"pred_warning"`
}

// OfCaches returns the misses in each cache of a query at each of its points: a
// row for each point, cache and scope, those with the most misses first. They are
// found as in Predict. The answers to the other questions are, too, but for pages
// beyond the sizes profiled: those that are scaled with the size hold for one cache and one size alone, so the
// functions of groups take their place, which a warning says.
func OfCaches(ctx context.Context, model *Model, q Query) ([]CacheRow, error) {
	if len(q.Points) == 0 || len(q.Caches) == 0 || q.HitRatio != 0 || q.MissRatio != 0 || q.Vary != (Vary{}) {
		return nil, errors.New("perf: misses are asked for with points and caches alone")
	}
	t, err := q.target(model)
	if err != nil {
		return nil, err
	}
	predicted, err := model.predict(ctx, t, q.Points, PredictOptions{By: q.By, Listing: q.Listing, Method: q.Method, Corrector: q.Corrector, Coverage: q.Coverage})
	if err != nil {
		return nil, err
	}
	rows := make([]CacheRow, len(predicted))
	for i, p := range predicted {
		ways := p.at.Ways
		if p.at.Sets == 1 {
			ways = 0
		}
		rows[i] = CacheRow{
			p.Program, p.Point, p.Level, p.at.Blocks() * p.at.BlockBytes, ways, p.at.BlockBytes, p.Scope,
			p.Accesses, p.Method, p.Misses, p.Low, p.High, p.Cold, p.Ratio, 1 - p.Ratio, p.Doubtful, p.Warning,
		}
	}
	return rows, nil
}

// target returns the query's caches with their capacities.
func (q *Query) target(m *Model) (*target, error) {
	t := new(target)
	for _, c := range q.Caches {
		l, err := c.level(m)
		if err != nil {
			return nil, err
		}
		t.levels = append(t.levels, l)
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
	by       predict.Method
	warnings []string
}

// scopedAt evaluates the model for a level's block size: for any cache with such blocks.
func (m *Model) scopedAt(ctx context.Context, t *target, l predict.Level, point subject.Point, of scopedOptions) (*scoped, error) {
	if _, err := m.fittedFor(t, l); err != nil {
		return nil, err
	}
	method, err := of.method.Check()
	if err != nil {
		return nil, err
	}
	h, alone, err := m.anyCache(ctx, l.BlockBytes, point, method)
	if err != nil {
		return nil, fmt.Errorf("perf: %s: %w", t.name(l), err)
	}
	s, err := m.scoped(h, scopedOptions{of.by, method})
	if err != nil {
		return nil, notFinite(t, l, point)
	}
	s.warnings = slices.Concat(s.warnings, l.NotModelled, alone)
	return s, nil
}

// anyCache returns what is known of blocks at a point, whatever their cache is: as
// histogramsAt, but for scaled pages. These hold at one point, where they are spread by
// what they may be off; the functions of groups take their place, and are warned of.
func (m *Model) anyCache(ctx context.Context, blockBytes uint64, point subject.Point, by predict.Method) (*histograms, []string, error) {
	if param := m.beyondRuns(point, by); param != "" {
		if keys := m.loopKeys(param, blockBytes, point); len(keys) > 0 && keys[0].scaled() {
			h, err := m.evaluate(blockBytes, point, by)
			return h, []string{groupsAlone}, err
		}
	}
	h, err := m.histogramsAt(ctx, blockBytes, point, by)
	return h, nil, err
}

// collectCaches collects what anyCache takes, in one further run of each size.
func (m *Model) collectCaches(ctx context.Context, caches []CacheSize, points []subject.Point, by predict.Method) error {
	var levels []predict.Level
	for _, c := range caches {
		if b := cmp.Or(c.BlockBytes, m.smallestBlock()); !scaling.OfPages(b) {
			levels = append(levels, predict.Level{BlockBytes: b, BypassFloat: c.bypassFloat})
		}
	}
	return m.collectByLoop(ctx, levels, points, by, nil)
}

// scoped sums histograms by scope. It returns an error if some are not finite.
func (m *Model) scoped(h *histograms, of scopedOptions) (*scoped, error) {
	scopes := m.Scopes(of.by)
	n := len(scopes.Names)
	s := &scoped{names: scopes.Names, hists: make([]scaling.Histogram, n), accesses: make([]float64, n), by: of.method}
	accesses := h.accesses
	if h.model != m.byBlock[m.smallestBlock()] {
		accesses = m.accesses(subject.Point(h.at))
	}
	for g, n := range accesses {
		if !finite(n) {
			return nil, errNotFinite
		}
		s.accesses[scopes.Of[g]] += n
	}
	bins := make([]int, n)
	for part := range h.groups {
		bins[scopes.Of[h.group(part)]] += len(h.groups[part].Bins)
	}
	for i, n := range bins {
		s.hists[i].Bins = make([]scaling.WeightedBin, 0, n)
	}
	for part := range h.groups {
		own := &h.groups[part]
		if !finite(own.Accesses()) {
			return nil, errNotFinite
		}
		to := &s.hists[scopes.Of[h.group(part)]]
		to.Cold += own.Cold
		to.Bins = append(to.Bins, own.Bins...)
	}
	s.warnings = slices.Concat(fit.WarningTexts(h.warnings), m.about)
	return s, nil
}

// errNotFinite is of histograms that are infinite or no numbers.
var errNotFinite = errors.New("no finite value")

// scopedOptions say by which scopes histograms are summed, and how misses follow.
type scopedOptions struct {
	by     subject.Scope
	method predict.Method
}

// misses returns the misses of a scope.
func (s *scoped) misses(i int, c predict.Cache) float64 {
	return predict.OfHistogram(&s.hists[i], s.by.Of(c)).Total()
}
