package misses

import (
	"context"

	"presage/perf/cfg"
	"presage/perf/locality"
	"presage/perf/scaling"
)

// nearBlocks is the distance in blocks up to which an access is to a block that its
// iteration has just used: a few streams lie between.
const nearBlocks = 8

// joinTurns joins groups of a loop that take turns at entering lines. An unrolled copy goes
// through a line with eight references, say, and the first of them in each line misses,
// which one by where the data begin at a size:
//
//	n                  24     32     40     48
//	load at +0       2304                        accesses that enter lines
//	        +16             4096
//	        +32                    6400
//	        +48                           9216
//
// None by itself is a function of the size, and their sum is: the same as with the
// accesses of groups that exchange them. It returns a list of units for each join.
func (j *joiner) joinTurns(ctx context.Context, entered [][]float64) ([][]int, error) {
	t := joiner{shared: j.shared, runs: j.runs, sizes: j.sizes, options: j.options, total: make([]float64, len(j.sizes))}
	series := make([]scaling.Series, len(j.units))
	for u := range j.units {
		for r, n := range entered[u] {
			t.total[r] += n
		}
		counts := entered[u]
		if j.units[u].with > 0 {
			counts = make([]float64, len(j.sizes)) // it stays with what it has been joined with
		}
		t.units = append(t.units, unit{group: j.units[u].group, at: j.units[u].at, counts: counts})
		series[u].Counts = counts
	}
	misfits, err := t.misfits(ctx, series)
	if err != nil {
		return nil, err
	}
	for u := range t.units {
		t.units[u].misfit = misfits[u]
	}
	var loops []locality.Place
	rough := make(map[locality.Place][]int)
	for _, u := range t.rough() {
		p := t.units[u].at
		if rough[p] == nil {
			loops = append(loops, p)
		}
		rough[p] = append(rough[p], u)
	}
	for _, p := range loops {
		if j.shared.KindOf(p) != cfg.LoopScope {
			continue
		}
		if _, err := t.joinAt(ctx, rough[p]); err != nil {
			return nil, err
		}
	}
	return t.lists(), nil
}

// entering returns how many accesses of each unit, in each run, enter a line that was not
// used shortly before: of the largest size that is no page's.
func (j *joiner) entering() [][]float64 {
	b := 0
	for i, bytes := range j.runs.BlockBytes() {
		if !scaling.OfPages(bytes) {
			b = i
		}
	}
	out := make([][]float64, len(j.units))
	share(len(out), func(u int) {
		out[u] = make([]float64, len(j.runs.Runs))
		for r := range out[u] {
			h := locality.SumHistograms(j.runs.Runs[r].Reuse[b], j.shared.OfRun(r, j.units[u].group))
			out[u][r] = float64(h.Misses(nearBlocks))
		}
	})
	return out
}
