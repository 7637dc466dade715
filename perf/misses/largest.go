package misses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/subject"
)

// maxValues bounds the values of a parameter that a search tries.
const maxValues = 10_000

// LargestProblem returns how large a problem may be without exceeding the
// query's ratio of misses in each cache: a row for each point, cache and scope,
// the smallest first. One parameter varies over all values of Query.Vary, by
// default the whole numbers from the smallest training size to eight times the
// largest; the points hold the others fixed.
//
// The ratio need not grow with the size: it falls where a part that always
// misses grows less than the whole, and jumps where a distance passes a
// capacity. So the ratio is computed at every value, and two answers are given.
func LargestProblem(ctx context.Context, model *Model, q Query) ([]Largest, error) {
	missRatio, err := q.missRatio()
	if err != nil {
		return nil, err
	}
	by, err := q.By.Check()
	if err != nil {
		return nil, err
	}
	method, err := q.Method.Check()
	if err != nil {
		return nil, err
	}
	if len(q.Caches) == 0 || q.Vary.Param == "" {
		return nil, errors.New("perf: the largest problem is asked for with caches, a ratio and the parameter to vary")
	}
	t, err := q.target(model)
	if err != nil {
		return nil, err
	}
	values, err := model.values(q.Vary)
	if err != nil {
		return nil, err
	}
	points := q.Points
	if len(points) == 0 {
		points = []subject.Point{{}}
	}
	var rows []Largest
	for _, point := range points {
		if _, fixed := point[q.Vary.Param]; fixed {
			return nil, fmt.Errorf("perf: point %q fixes %s, which is to vary", point, q.Vary.Param)
		}
		if err := model.Check(point); err != nil {
			return nil, err
		}
		for i, l := range t.levels {
			s := largestSearch{model, t, l, point, by, method, q.Vary.Param, values}
			fresh, err := s.rows(ctx, missRatio, q.Caches[i].Ways)
			if err != nil {
				return nil, err
			}
			rows = append(rows, fresh...)
		}
	}
	return rows, nil
}

// Largest is the largest problem that stays within a ratio of misses.
type Largest struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"` // the fixed parameters
	Level    string             `frame:"level"`
	Capacity uint64             `frame:"capacity_bytes"` // as CacheRow's
	Ways     uint64             `frame:"ways"`           // 0: fully associative
	Block    uint64             `frame:"block_bytes"`
	Scope    string             `frame:"scope"`
	Method   string             `frame:"method"`    // a predict.Method
	Param    string             `frame:"parameter"` // that varies
	From     float64            `frame:"search_from"`
	To       float64            `frame:"search_to"`
	Step     float64            `frame:"search_step"`
	Asked    float64            `frame:"miss_ratio"` // that is not to be exceeded
	// Largest is the largest value such that the ratio is at most Asked there and
	// at every smaller value searched; missing if it is above at the first. Ratio is
	// the ratio there, and NextRatio, above Asked, at the value after it; each is
	// missing where there is none.
	Largest   float64 `frame:"pred_largest"`
	Ratio     float64 `frame:"pred_miss_ratio"`
	NextRatio float64 `frame:"pred_next_miss_ratio"`
	// Anywhere is the largest value searched at which the ratio is at most Asked,
	// whatever it is at smaller ones.
	Anywhere float64 `frame:"pred_largest_anywhere"`
	// AtLimit: the ratio is at most Asked at all values searched, so that larger
	// problems may stay below it, too.
	AtLimit bool   `frame:"at_limit"`
	Warning string `frame:"pred_warning"`
}

// values returns the values that a parameter takes in a search.
func (m *Model) values(v Vary) ([]float64, error) {
	trained, err := m.Range(v.Param)
	if err != nil {
		return nil, err
	}
	v.From, v.To, v.Step = cmp.Or(v.From, trained[0]), cmp.Or(v.To, fit.ReachLimit*trained[1]), cmp.Or(v.Step, 1)
	if !(v.From > 0 && v.To >= v.From && v.Step > 0) || math.IsInf(v.To, 0) {
		return nil, fmt.Errorf("perf: %s cannot vary from %g to %g by %g: want 0 < from <= to and a step above 0", v.Param, v.From, v.To, v.Step)
	}
	if n := (v.To - v.From) / v.Step; n > maxValues {
		return nil, fmt.Errorf("perf: %s from %g to %g by %g has more than %d values: take a larger step", v.Param, v.From, v.To, v.Step, maxValues)
	}
	return subject.Range(v.From, v.To, v.Step), nil
}

// largestSearch is the search for one cache with the other parameters fixed.
type largestSearch struct {
	model  *Model
	target *target
	level  predict.Level
	point  subject.Point
	by     subject.Scope
	method predict.Method
	param  string
	values []float64
}

func (s *largestSearch) rows(ctx context.Context, missRatio float64, ways uint64) ([]Largest, error) {
	nan, last := math.NaN(), len(s.values)-1
	blank := Largest{
		Program: s.model.Program, Point: s.point, Level: s.level.Name,
		Capacity: s.level.Blocks() * s.level.BlockBytes, Ways: ways, Block: s.level.BlockBytes,
		Method: string(s.method), Param: s.param, From: s.values[0], To: s.values[last], Step: nan, Asked: missRatio,
		Largest: nan, Ratio: nan, NextRatio: nan, Anywhere: nan,
	}
	if last > 0 {
		blank.Step = subject.Round(s.values[1] - s.values[0])
	}
	if s.level.BypassFloat {
		blank.Scope, blank.Warning = s.model.Program, bypassed
		return []Largest{blank}, nil
	}
	found, err := s.evaluate(ctx)
	if err != nil {
		return nil, err
	}
	rows := make([]Largest, len(found.names))
	for i, name := range found.names {
		row := blank
		row.Scope = name
		ratios := found.ratios[i]
		reach := predict.Within(ratios, missRatio)
		at := reach.UpTo
		if at >= 0 {
			row.Largest, row.Ratio = s.values[at], ratios[at]
		}
		if row.AtLimit = at == last; !row.AtLimit {
			row.NextRatio = ratios[at+1]
		}
		if reach.Anywhere >= 0 {
			row.Anywhere = s.values[reach.Anywhere]
		}
		row.Warning = strings.Join(s.warnings(reach, found.doubts), "; ")
		rows[i] = row
	}
	slices.SortStableFunc(rows, func(a, b Largest) int { return cmp.Compare(a.rank(), b.rank()) })
	return rows, nil
}

// rank orders rows: what exceeds the ratio at once comes first.
func (r *Largest) rank() float64 {
	if math.IsNaN(r.Largest) {
		return math.Inf(-1)
	}
	return r.Largest
}

// warnings returns the doubts about the values that an answer rests on, and
// whether the search ended before the limit was exceeded.
func (s *largestSearch) warnings(reach predict.Reach, doubts [][]string) []string {
	var out []string
	last := len(s.values) - 1
	if at := max(reach.UpTo, reach.Anywhere); at >= 0 {
		out = append(out, doubts[at]...)
	}
	switch {
	case reach.Anywhere < 0:
		out = append(out, fmt.Sprintf("the ratio is exceeded everywhere from %s = %g to %g", s.param, s.values[0], s.values[last]))
	case reach.UpTo < 0:
		out = append(out, fmt.Sprintf("the ratio is exceeded at %s = %g, and not at some larger values", s.param, s.values[0]))
	case reach.UpTo == last:
		out = append(out, fmt.Sprintf("the search ends at %s = %g, where the ratio is not yet exceeded", s.param, s.values[last]))
	case reach.Anywhere > reach.UpTo:
		out = append(out, "the ratio is exceeded in between, and not at some larger values")
	}
	return out
}

// searched is what the model predicts at each value of a search.
type searched struct {
	names  []string    // of the scopes
	ratios [][]float64 // of misses, by scope and value
	doubts [][]string  // by value
}

func (s *largestSearch) evaluate(ctx context.Context) (searched, error) {
	var out searched
	for _, v := range s.values {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		point := subject.Point{s.param: v}
		maps.Copy(point, s.point)
		here, err := s.model.scopedAt(ctx, s.target, s.level, point, scopedOptions{s.by, s.method})
		if err != nil {
			return out, err
		}
		if out.names == nil {
			out.names, out.ratios = here.names, make([][]float64, len(here.names))
		}
		for i := range out.names {
			out.ratios[i] = append(out.ratios[i], num.Ratio(here.misses(i, s.level.Cache()), here.accesses[i]))
		}
		out.doubts = append(out.doubts, here.warnings)
	}
	return out, nil
}
