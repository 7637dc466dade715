package perf

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/go-gota/gota/dataframe"

	"presage/perf/access"
	"presage/perf/fit"
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
			r.name(), run.Point, run.Instructions, run.Accesses, run.Stack,
			run.Reuse[0].Blocks * run.Reuse[0].BlockBytes,
		})
	}
	return frame.Of(rows)
}

// at returns the result for a block size.
func (run *Run) at(blockBytes uint64) (*reuse.Result, error) {
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
	res, err := run.at(blockBytes)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []row
	for g := range res.Groups {
		h := &res.Groups[g]
		if h.Accesses() == 0 {
			continue
		}
		ref := &refs[run.Program.first[g]]
		rows = append(rows, row{
			Program: runs.name(), Point: run.Point,
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
	groups, err := runs.groupsOf(opt)
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	var rows []row
	for i := range runs.Runs {
		run := &runs.Runs[i]
		res, err := run.at(opt.BlockBytes)
		if err != nil {
			return dataframe.DataFrame{}, err
		}
		h := sumHistograms(res, groups[i])
		for _, b := range h.Bins {
			rows = append(rows, row{runs.name(), run.Point, opt.BlockBytes, b.Lo, b.Hi, b.Count, h.Cold})
		}
		if len(h.Bins) == 0 { // an empty bin, so that the cold accesses are not lost
			rows = append(rows, row{runs.name(), run.Point, opt.BlockBytes, 0, 0, 0, h.Cold})
		}
	}
	return frame.Of(rows), nil
}

// groupsOf returns the groups that the options choose, for each run.
func (r *Runs) groupsOf(opt HistogramOptions) ([][]int, error) {
	c, err := r.common()
	if err != nil {
		return nil, err
	}
	groups := make([][]int, len(r.Runs))
	found := false
	for g := range c.members {
		if !opt.chooses(&c.refs[c.members[g][0]]) {
			continue
		}
		found = true
		for i := range groups {
			groups[i] = append(groups[i], c.ofRun(i, g)...)
		}
	}
	if !found {
		return nil, fmt.Errorf("perf: %s has no memory reference in routine %q at pc %#x", r.name(), opt.Routine, opt.PC)
	}
	return groups, nil
}

// chooses reports whether a group with this first reference is wanted.
func (opt *HistogramOptions) chooses(ref *access.Reference) bool {
	return (opt.Routine == "" || ref.Routine == opt.Routine) && (opt.PC == 0 || uint64(ref.PC) == opt.PC)
}

func sumHistograms(res *reuse.Result, groups []int) reuse.Histogram {
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

// Bins returns the model's bins for the references that the options choose: a
// row for each reference and bin, by ascending distance, a last row for its
// cold accesses.
//
//   - program, reference, block_bytes
//   - bin: constant, distance or cold
//   - distance_blocks: formula of the average reuse distance; empty for cold
//   - accesses: formula of the frequency
//   - share: of the reference's accesses, at the last training point
//   - loo_err: relative leave-one-out error of the distance's formula
func (m *Model) Bins(opt HistogramOptions) (dataframe.DataFrame, error) {
	type row struct {
		Program   string  `frame:"program"`
		Reference string  `frame:"reference"`
		Block     uint64  `frame:"block_bytes"`
		Bin       string  `frame:"bin"`
		Distance  string  `frame:"distance_blocks"`
		Accesses  string  `frame:"accesses"`
		Share     float64 `frame:"share"`
		Err       float64 `frame:"loo_err"`
	}
	if opt.BlockBytes == 0 {
		opt.BlockBytes = sortedKeys(m.byBlock)[0]
	}
	fitted := m.byBlock[opt.BlockBytes]
	if fitted == nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no model for blocks of %d bytes; there are %v", opt.BlockBytes, sortedKeys(m.byBlock))
	}
	var rows []row
	for g := range fitted.Groups {
		ref := &m.refs[m.members[g][0]]
		if !opt.chooses(ref) {
			continue
		}
		group := &fitted.Groups[g]
		last := fit.Point(m.Points[len(m.Points)-1])
		hist := group.Histogram(last)
		total := hist.Accesses()
		for b := range group.Bins {
			bin := &group.Bins[b]
			kind := "distance"
			if bin.Constant {
				kind = "constant"
			}
			rows = append(rows, row{
				m.Program, ref.String(), opt.BlockBytes, kind, bin.Distance.String(), bin.Frequency.String(),
				ratio(hist.Bins[b].Count, total), bin.Distance.LOO,
			})
		}
		rows = append(rows, row{m.Program, ref.String(), opt.BlockBytes, "cold", "", group.Cold.String(), ratio(hist.Cold, total), group.Cold.LOO})
	}
	if len(rows) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no modelled reference in routine %q at pc %#x", opt.Routine, opt.PC)
	}
	return frame.Of(rows), nil
}

// Residuals returns how far the model's functions for the references that the
// options choose are from what they were fitted to: a row for each function
// and training point at which it has data.
//
//   - program, reference, block_bytes, the point
//   - bin: its number, from 0 by ascending distance; -1 for the cold accesses
//   - quantity: distance_blocks or accesses
//   - value: of the function
//   - residual: data less function; rel_residual: divided by the data
func (m *Model) Residuals(opt HistogramOptions) (dataframe.DataFrame, error) {
	if opt.BlockBytes == 0 {
		opt.BlockBytes = sortedKeys(m.byBlock)[0]
	}
	fitted := m.byBlock[opt.BlockBytes]
	if fitted == nil {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no model for blocks of %d bytes; there are %v", opt.BlockBytes, sortedKeys(m.byBlock))
	}
	var rows []residualRow
	for g := range fitted.Groups {
		ref := &m.refs[m.members[g][0]]
		if !opt.chooses(ref) {
			continue
		}
		row := residualRow{Program: m.Program, Reference: ref.String(), Block: opt.BlockBytes}
		for b := range fitted.Groups[g].Bins {
			bin := &fitted.Groups[g].Bins[b]
			row.Bin = b
			rows = m.residuals(rows, row, "distance_blocks", &bin.Distance)
			rows = m.residuals(rows, row, "accesses", &bin.Frequency)
		}
		row.Bin = -1
		rows = m.residuals(rows, row, "accesses", &fitted.Groups[g].Cold)
	}
	if len(rows) == 0 {
		return dataframe.DataFrame{}, fmt.Errorf("perf: no modelled reference in routine %q at pc %#x", opt.Routine, opt.PC)
	}
	return frame.Of(rows), nil
}

type residualRow struct {
	Program   string             `frame:"program"`
	Reference string             `frame:"reference"`
	Block     uint64             `frame:"block_bytes"`
	Point     map[string]float64 `frame:",each"`
	Bin       int                `frame:"bin"`
	Quantity  string             `frame:"quantity"`
	Value     float64            `frame:"value"`
	Residual  float64            `frame:"residual"`
	Relative  float64            `frame:"rel_residual"`
}

// residuals adds a row for each point. A function that was fitted to a part of
// the points, where its bin holds accesses, does not say which: it is left out.
func (m *Model) residuals(rows []residualRow, row residualRow, quantity string, f *fit.Func) []residualRow {
	if len(f.Residuals) != len(m.Points) {
		return rows
	}
	for i, p := range m.Points {
		row.Point, row.Quantity = p, quantity
		row.Value, row.Residual = f.Eval(fit.Point(p)), f.Residuals[i]
		row.Relative = ratio(row.Residual, row.Value+row.Residual)
		rows = append(rows, row)
	}
	return rows
}
