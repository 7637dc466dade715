package locality

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"presage/perf/access"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// HottestOptions configures Hottest.
type HottestOptions struct {
	// BlockBytes is the size of memory blocks; 0: the runs' smallest.
	BlockBytes uint64
	// Limit is the most rows; 0: all groups that were executed.
	Limit int
}

// HotGroup is a group of references that was executed. References of a loop with
// similar access patterns form a group: see access.Groups.
type HotGroup struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Routine  string             `frame:"routine"` // of the group's first reference, as all up to Float
	File     string             `frame:"file"`
	Line     int                `frame:"line"`
	PC       string             `frame:"pc"`
	Kind     string             `frame:"kind"` // load, store, read-modify-write
	Size     uint8              `frame:"size_bytes"`
	Float    bool               `frame:"float"`
	Members  int                `frame:"references"`    // in the group
	Accesses uint64             `frame:"accesses"`      // by all of them
	Cold     uint64             `frame:"cold_accesses"` // among these
	// Distance is the mean reuse distance of the accesses that are not cold;
	// missing if there are none.
	Distance float64 `frame:"mean_distance_blocks"`
}

// Hottest returns the groups of references with the most accesses in the last
// run, most first.
func Hottest(runs *Runs, opt HottestOptions) ([]HotGroup, error) {
	if len(runs.Runs) == 0 {
		return nil, fmt.Errorf("perf: no runs")
	}
	run := &runs.Runs[len(runs.Runs)-1]
	first, err := run.Program.FirstRefs()
	if err != nil {
		return nil, err
	}
	res, err := run.At(cmp.Or(opt.BlockBytes, run.Reuse[0].BlockBytes))
	if err != nil {
		return nil, err
	}
	refs := run.Program.References()
	var rows []HotGroup
	for g := range res.Groups {
		if res.Groups[g].Accesses() > 0 {
			row := newHotGroup(run, &refs[first[g]], trace.GroupID(g), &res.Groups[g])
			row.Program = runs.Label()
			rows = append(rows, row)
		}
	}
	slices.SortStableFunc(rows, func(a, b HotGroup) int { return cmp.Compare(b.Accesses, a.Accesses) })
	if opt.Limit > 0 && len(rows) > opt.Limit {
		rows = rows[:opt.Limit]
	}
	return rows, nil
}

func newHotGroup(run *Run, ref *access.Reference, g trace.GroupID, h *reuse.Histogram) HotGroup {
	return HotGroup{
		Point: run.Point, Routine: ref.Routine, File: ref.File, Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)),
		Kind: ref.Kind.String(), Size: ref.Size, Float: ref.Float, Members: len(run.Program.Outline().Groups.Refs[g]),
		Accesses: h.Accesses(), Cold: h.Cold, Distance: meanDistance(h),
	}
}

func meanDistance(h *reuse.Histogram) float64 {
	sum, n := 0.0, 0.0
	for _, b := range h.Bins {
		sum += b.Mid() * float64(b.Count)
		n += float64(b.Count)
	}
	if n == 0 {
		return math.NaN()
	}
	return sum / n
}
