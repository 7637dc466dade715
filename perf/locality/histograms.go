package locality

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/frame"
	"presage/perf/reuse"
)

// Frame returns a row for each run: what it executed and how many blocks of
// each size it touched.
//
//   - instructions: executed
//   - accesses: executions of memory references that were recorded
//   - stack_accesses: those that were left out, being traffic of the calling
//     convention and of register allocation
//   - footprint_bytes: distinct memory of the smallest block size
func (r *Runs) Frame() dataframe.DataFrame {
	type row struct {
		Program      string             `frame:"program"`
		Point        map[string]float64 `frame:",each"`
		Instructions uint64             `frame:"instructions"`
		Accesses     uint64             `frame:"accesses"`
		Stack        uint64             `frame:"stack_accesses"`
		Footprint    uint64             `frame:"footprint_bytes"`
	}
	var rows []row
	for _, run := range r.Runs {
		rows = append(rows, row{
			r.Label(), run.Point, run.Instructions, run.Accesses, run.Stack,
			run.Reuse[0].Blocks * run.Reuse[0].BlockBytes,
		})
	}
	return frame.Of(rows)
}

// At returns the result for a block size.
func (run *Run) At(blockBytes uint64) (*reuse.Result, error) {
	var have []uint64
	for _, res := range run.Reuse {
		if res.BlockBytes == blockBytes {
			return res, nil
		}
		have = append(have, res.BlockBytes)
	}
	return nil, fmt.Errorf("perf: no reuse distances for blocks of %d bytes; the runs have %v", blockBytes, have)
}

// Hottest returns the groups of references with the most accesses in the last
// run, at most limit of them (0: all that were executed), most first. References
// of a loop with similar access patterns form a group: see access.Groups.
//
//   - routine, file, line, pc: where the group's first reference is
//   - kind (load, store, read-modify-write), size_bytes, float: of that one
//   - references: in the group
//   - accesses, and cold_accesses among them
//   - mean_distance_blocks: of the accesses that are not cold, for blocks of
//     blockBytes; missing if there are none
func Hottest(runs *Runs, blockBytes uint64, limit int) (dataframe.DataFrame, error) {
	type row struct {
		Program  string             `frame:"program"`
		Point    map[string]float64 `frame:",each"`
		Routine  string             `frame:"routine"`
		File     string             `frame:"file"`
		Line     int                `frame:"line"`
		PC       string             `frame:"pc"`
		Kind     string             `frame:"kind"`
		Size     uint8              `frame:"size_bytes"`
		Float    bool               `frame:"float"`
		Members  int                `frame:"references"`
		Accesses uint64             `frame:"accesses"`
		Cold     uint64             `frame:"cold_accesses"`
		Distance float64            `frame:"mean_distance_blocks"`
	}
	if len(runs.Runs) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no runs")
	}
	run := &runs.Runs[len(runs.Runs)-1]
	refs, err := run.Program.References()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	first, err := run.Program.FirstRefs()
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	res, err := run.At(blockBytes)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []row
	for g := range res.Groups {
		h := &res.Groups[g]
		if h.Accesses() == 0 {
			continue
		}
		ref := &refs[first[g]]
		rows = append(rows, row{
			Program: runs.Label(), Point: run.Point,
			Routine: ref.Routine, File: ref.File, Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)),
			Kind: ref.Kind.String(), Size: ref.Size, Float: ref.Float, Members: len(run.Program.Structure().Groups.Refs[g]),
			Accesses: h.Accesses(), Cold: h.Cold, Distance: meanDistance(h),
		})
	}
	slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(b.Accesses, a.Accesses) })
	if limit > 0 && len(rows) > limit {
		rows = rows[:limit]
	}
	return frame.Of(rows), nil
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

// HistogramOptions say which reuse-distance histogram is wanted.
type HistogramOptions struct {
	// BlockBytes is the size of memory blocks; 0: the runs' smallest.
	BlockBytes uint64
	// Routine keeps the references of one routine; empty: all.
	Routine string
	// PC keeps the one reference at an address; 0: all.
	PC uint64
}

// ReuseHistogram returns the reuse-distance histogram of the references chosen,
// summed over them, at each point: a row for each bin that is not empty, or
// one row with the bin [0, 0) if all are.
//
//   - block_bytes: size of memory blocks
//   - lo_blocks, hi_blocks: the bin holds distances from lo up to but not
//     including hi
//   - accesses: in the bin
//   - cold_accesses: those of the whole histogram, which are in no bin
func ReuseHistogram(runs *Runs, opt HistogramOptions) (dataframe.DataFrame, error) {
	type row struct {
		Program  string             `frame:"program"`
		Point    map[string]float64 `frame:",each"`
		Block    uint64             `frame:"block_bytes"`
		Lo       uint64             `frame:"lo_blocks"`
		Hi       uint64             `frame:"hi_blocks"`
		Accesses uint64             `frame:"accesses"`
		Cold     uint64             `frame:"cold_accesses"`
	}
	if len(runs.Runs) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no runs")
	}
	if opt.BlockBytes == 0 {
		opt.BlockBytes = runs.Runs[0].Reuse[0].BlockBytes
	}
	groups, err := runs.GroupsOf(opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []row
	for i := range runs.Runs {
		run := &runs.Runs[i]
		res, err := run.At(opt.BlockBytes)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		h := SumHistograms(res, groups[i])
		for _, b := range h.Bins {
			rows = append(rows, row{runs.Label(), run.Point, opt.BlockBytes, b.Lo, b.Hi, b.Count, h.Cold})
		}
		if len(h.Bins) == 0 { // an empty bin, so that the cold accesses are not lost
			rows = append(rows, row{runs.Label(), run.Point, opt.BlockBytes, 0, 0, 0, h.Cold})
		}
	}
	return frame.Of(rows), nil
}

// GroupsOf returns the groups that the options choose, for each run.
func (r *Runs) GroupsOf(opt HistogramOptions) ([][]int, error) {
	c, err := r.Common()
	if err != nil {
		return nil, err
	}
	groups := make([][]int, len(r.Runs))
	found := false
	for g := range c.Members {
		if !opt.Chooses(&c.Refs[c.Members[g][0]]) {
			continue
		}
		found = true
		for i := range groups {
			groups[i] = append(groups[i], c.OfRun(i, g)...)
		}
	}
	if !found {
		return nil, fmt.Errorf("perf: %s has no memory reference in routine %q at pc %#x", r.Label(), opt.Routine, opt.PC)
	}
	return groups, nil
}

// Chooses reports whether a group with this first reference is wanted.
func (opt *HistogramOptions) Chooses(ref *access.Reference) bool {
	return (opt.Routine == "" || ref.Routine == opt.Routine) && (opt.PC == 0 || uint64(ref.PC) == opt.PC)
}

func SumHistograms(res *reuse.Result, groups []int) reuse.Histogram {
	if len(groups) == 1 && groups[0] < len(res.Groups) {
		return res.Groups[groups[0]]
	}
	type edges struct{ lo, hi uint64 }
	counts := make(map[edges]uint64)
	var sum reuse.Histogram
	for _, g := range groups {
		if g >= len(res.Groups) { // left out of the plan
			continue
		}
		sum.Cold += res.Groups[g].Cold
		for _, b := range res.Groups[g].Bins {
			counts[edges{b.Lo, b.Hi}] += b.Count
		}
	}
	for e, n := range counts {
		sum.Bins = append(sum.Bins, reuse.Bin{Lo: e.lo, Hi: e.hi, Count: n})
	}
	slices.SortFunc(sum.Bins, func(a, b reuse.Bin) int { return cmp.Compare(a.Lo, b.Lo) })
	return sum
}
