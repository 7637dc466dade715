package misses

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"

	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/subject"
)

// DistanceOptions configures Distances.
type DistanceOptions struct {
	By subject.Scope
	// BlockBytes is the size of memory blocks; 0: the smallest that the runs were
	// profiled with.
	BlockBytes uint64
}

// Distances returns the predicted distribution of reuse distances at each point:
// a row for each point, scope and bin of the model, by ascending distance, the
// scopes with the most accesses first. Bins of a scope's groups at the same
// distance are one.
//
// A scope that has cold accesses alone has one row, its distance missing.
func Distances(ctx context.Context, model *Model, points []subject.Point, opt DistanceOptions) ([]DistanceBin, error) {
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	blockBytes := cmp.Or(opt.BlockBytes, model.smallestBlock())
	l := predict.Level{Name: "a histogram", BlockBytes: blockBytes}
	var rows []DistanceBin
	for _, point := range points {
		if err := model.Check(point); err != nil {
			return nil, err
		}
		s, err := model.scopedAt(ctx, &target{levels: []predict.Level{l}, blockBytes: []uint64{blockBytes}}, l, point, scopedOptions{by: by})
		if err != nil {
			return nil, err
		}
		order := make([]int, len(s.names))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(s.accesses[b], s.accesses[a]) })
		for _, i := range order {
			rows = append(rows, s.distances(i, DistanceBin{
				Program: model.Program, Point: point, Scope: s.names[i], Block: blockBytes,
				Cold: s.hists[i].Cold, Warning: strings.Join(s.warnings, "; "),
			})...)
		}
	}
	return rows, nil
}

// DistanceBin is a bin of a predicted distribution of reuse distances.
type DistanceBin struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Scope    string             `frame:"scope"`
	Block    uint64             `frame:"block_bytes"`
	Distance float64            `frame:"distance_blocks"`    // average of the bin
	Accesses float64            `frame:"pred_accesses"`      // in the bin
	Cold     float64            `frame:"pred_cold_accesses"` // of the whole scope, which are in no bin
	// Hits is the hit ratio, to all accesses of the scope, of the smallest fully
	// associative cache that holds the bin's distance and all below.
	Hits    float64 `frame:"pred_hit_ratio"`
	Warning string  `frame:"pred_warning"`
}

// distances returns the rows of a scope, each beginning as blank does.
func (s *scoped) distances(i int, blank DistanceBin) []DistanceBin {
	h := &s.hists[i]
	byDistance := make(map[float64]float64)
	for _, b := range h.Bins {
		if b.Count > 0 {
			byDistance[b.Distance] += b.Count
		}
	}
	if len(byDistance) == 0 {
		blank.Distance = math.NaN()
		return []DistanceBin{blank}
	}
	var rows []DistanceBin
	distances := slices.Sorted(maps.Keys(byDistance))
	misses, next := h.Accesses(), 0
	for _, distance := range distances {
		row := blank
		row.Distance, row.Accesses = distance, byDistance[distance]
		// The cache of whole blocks holds what is less than a block farther, too.
		for next < len(distances) && distances[next] < math.Floor(distance)+1 {
			misses -= byDistance[distances[next]]
			next++
		}
		row.Hits = 1 - num.Ratio(math.Max(misses, h.Cold), s.accesses[i])
		rows = append(rows, row)
	}
	return rows
}
