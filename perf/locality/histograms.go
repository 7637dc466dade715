package locality

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/access"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// HistogramOptions selects references and a block size.
type HistogramOptions struct {
	// BlockBytes is the size of memory blocks; 0: the runs' smallest.
	BlockBytes uint64
	// Routine keeps the references of one routine; empty: all.
	Routine string
	// PC keeps the one reference at an address; 0: all.
	PC uint64
}

// Bin is a bin of a reuse-distance histogram.
type Bin struct {
	Program  string             `frame:"program"`
	Point    map[string]float64 `frame:",each"`
	Block    uint64             `frame:"block_bytes"`
	Lo       uint64             `frame:"lo_blocks"`     // the least distance in the bin
	Hi       uint64             `frame:"hi_blocks"`     // the least distance beyond it
	Accesses uint64             `frame:"accesses"`      // in the bin
	Cold     uint64             `frame:"cold_accesses"` // of the whole histogram, which are in no bin
}

// ReuseHistogram returns the reuse-distance histogram of the references chosen,
// summed over them, at each point: the bins that are not empty, or one bin [0, 0)
// if all are.
func ReuseHistogram(runs *Runs, opt HistogramOptions) ([]Bin, error) {
	if len(runs.Runs) == 0 {
		return nil, fmt.Errorf("perf: no runs")
	}
	if opt.BlockBytes == 0 {
		opt.BlockBytes = runs.Runs[0].Reuse[0].BlockBytes
	}
	groups, err := runs.GroupsOf(opt)
	if err != nil {
		return nil, err
	}
	var rows []Bin
	for i := range runs.Runs {
		run := &runs.Runs[i]
		res, err := run.At(opt.BlockBytes)
		if err != nil {
			return nil, err
		}
		h := SumHistograms(res, groups[i])
		for _, b := range h.Bins {
			rows = append(rows, Bin{runs.Label(), run.Point, opt.BlockBytes, b.Lo, b.Hi, b.Count, h.Cold})
		}
		if len(h.Bins) == 0 { // an empty bin, so that the cold accesses are not lost
			rows = append(rows, Bin{runs.Label(), run.Point, opt.BlockBytes, 0, 0, 0, h.Cold})
		}
	}
	return rows, nil
}

// GroupsOf returns, for each run, the groups of its histograms whose references
// the options choose. It returns an error if they choose none.
func (r *Runs) GroupsOf(opt HistogramOptions) ([][]trace.GroupID, error) {
	c, err := r.Common()
	if err != nil {
		return nil, err
	}
	groups := make([][]trace.GroupID, len(r.Runs))
	found := false
	for g := range c.All() {
		if !opt.Chooses(c.First(g)) {
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

// Chooses reports whether the options choose a group with this first reference.
func (opt *HistogramOptions) Chooses(ref *access.Reference) bool {
	return (opt.Routine == "" || ref.Routine == opt.Routine) && (opt.PC == 0 || uint64(ref.PC) == opt.PC)
}

// SumHistograms returns the sum of the histograms of some groups. Groups beyond
// those of the result, which a plan left out, count nothing.
func SumHistograms(res *reuse.Result, groups []trace.GroupID) reuse.Histogram {
	if len(groups) == 1 && int(groups[0]) < len(res.Groups) {
		return res.Groups[groups[0]]
	}
	type edges struct{ lo, hi uint64 }
	counts := make(map[edges]uint64)
	var sum reuse.Histogram
	for _, g := range groups {
		if int(g) >= len(res.Groups) {
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
