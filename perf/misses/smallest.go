package misses

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"

	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/subject"
)

// SmallestCache returns the smallest cache of each kind that reaches the query's
// ratio at each point, a row for each point, cache and scope, the largest first.
// A kind is the ways and the block size of one of the query's caches. A fully
// associative cache has any number of blocks; a set-associative one has a power
// of two of sets, since that is how they are built.
func SmallestCache(ctx context.Context, model *Model, q Query) ([]Smallest, error) {
	if len(q.Points) == 0 || len(q.Caches) == 0 || q.Vary != (Vary{}) {
		return nil, errors.New("perf: the smallest cache is asked for with points, a ratio, and the ways and block sizes of caches")
	}
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
	for _, point := range q.Points {
		if err := model.Check(point); err != nil {
			return nil, err
		}
	}
	if err := model.collectCaches(ctx, q.Caches, q.Points, method); err != nil {
		return nil, err
	}
	var rows []Smallest
	for _, point := range q.Points {
		for _, c := range q.Caches {
			fresh, err := model.smallest(ctx, c, point, scopedOptions{by, method}, missRatio)
			if err != nil {
				return nil, err
			}
			rows = append(rows, fresh...)
		}
	}
	return rows, nil
}

// Smallest is the smallest cache of a kind that reaches a ratio.
type Smallest struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Level   string             `frame:"level"` // the cache's name
	Ways    uint64             `frame:"ways"`  // 0: fully associative
	Block   uint64             `frame:"block_bytes"`
	Scope   string             `frame:"scope"`
	Method  string             `frame:"method"`    // a predict.Method
	Asked   float64            `frame:"hit_ratio"` // that is to be reached
	// Of the smallest cache; missing if none reaches the ratio, which Warning then
	// says.
	Capacity float64 `frame:"pred_capacity_bytes"`
	Blocks   float64 `frame:"pred_blocks"`
	Sets     float64 `frame:"pred_sets"`
	Hits     float64 `frame:"pred_hit_ratio"`
	Smaller  float64 `frame:"pred_hit_ratio_smaller"` // of the next smaller cache (a block less, or half the sets); missing if there is none
	Most     float64 `frame:"pred_hit_ratio_most"`    // of any cache, because of cold misses
	Warning  string  `frame:"pred_warning"`
}

// smallest answers for one kind of cache at one point.
func (m *Model) smallest(ctx context.Context, c CacheSize, point subject.Point, of scopedOptions, missRatio float64) ([]Smallest, error) {
	c.BlockBytes = cmp.Or(c.BlockBytes, m.smallestBlock())
	if c.Name == "" {
		c.Capacity = 0 // it is not this one that the row is about
	}
	l := predict.Level{Name: c.String(), BlockBytes: c.BlockBytes, BypassFloat: c.bypassFloat, NotModelled: c.notModelled}
	blank := Smallest{Program: m.Program, Point: point, Level: l.Name, Ways: c.Ways, Block: c.BlockBytes, Asked: 1 - missRatio, Method: string(of.method)}
	nan := math.NaN()
	blank.Capacity, blank.Blocks, blank.Sets, blank.Hits, blank.Smaller, blank.Most = nan, nan, nan, nan, nan, nan
	if l.BypassFloat {
		blank.Scope, blank.Warning = m.Program, bypassed
		return []Smallest{blank}, nil
	}
	s, err := m.scopedAt(ctx, &target{machine: c.machine, levels: []predict.Level{l}, blockBytes: []uint64{l.BlockBytes}}, l, point, of)
	if err != nil {
		return nil, err
	}
	rows := make([]Smallest, len(s.names))
	for i, name := range s.names {
		row := blank
		row.Scope, row.Most = name, 1-num.Ratio(s.hists[i].Cold, s.accesses[i])
		warnings := s.warnings
		found, err := predict.Smallest(&s.hists[i], c.Ways, missRatio*s.accesses[i], s.by)
		switch {
		case errors.Is(err, predict.ErrUnreachable):
			warnings = append(slices.Clip(warnings), err.Error())
		case err != nil:
			return nil, err
		default:
			row.Blocks, row.Sets = float64(found.Blocks()), float64(found.Sets)
			row.Capacity = row.Blocks * float64(l.BlockBytes)
			row.Hits, row.Smaller = s.hitRatio(i, found), nan
			if smaller, ok := nextSmaller(found, c.Ways); ok {
				row.Smaller = s.hitRatio(i, smaller)
			}
		}
		row.Warning = strings.Join(warnings, "; ")
		rows[i] = row
	}
	slices.SortStableFunc(rows, func(a, b Smallest) int { return cmp.Compare(b.rank(), a.rank()) })
	return rows, nil
}

// rank orders rows: what no cache reaches is larger than any.
func (r *Smallest) rank() float64 {
	if math.IsNaN(r.Capacity) {
		return math.Inf(1)
	}
	return r.Capacity
}

func (s *scoped) hitRatio(i int, c predict.Cache) float64 {
	return 1 - num.Ratio(s.misses(i, c), s.accesses[i])
}

// nextSmaller returns the next smaller cache of the same kind.
func nextSmaller(c predict.Cache, ways uint64) (predict.Cache, bool) {
	if ways == 0 {
		return predict.FullyAssociative(c.Ways - 1), c.Ways > 1
	}
	return predict.Cache{Sets: c.Sets / 2, Ways: ways}, c.Sets > 1
}
