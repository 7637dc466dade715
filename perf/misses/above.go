package misses

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"presage/perf/cache"
	"presage/perf/fit"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/reuse"
	"presage/perf/subject"
)

// A TLB behind another sees only what misses there. Pages that always hit above, such as
// that of the stack, those of counters and of the places up to which buffers are filled, are
// not used again below, grow old there and are evicted, and room is left for others:
//
//	             L1 TLB         L2 TLB
//	a page    used all the time
//	 in every   ┌──────────┐   ┌────────────────────────┐
//	 window ──▶ │ stack, … │   │ other pages            │  holds as many more as a stack
//	            └──────────┘   └────────────────────────┘  of all accesses would need for both
//
// while a page that lies above for a while is as old below as its last miss there, not as
// its last use. Where distances lie near the capacity a few pages decide: of a radix sort,
// 128 entries behind 32 miss 12679 times, and alone 35847 times. How many more pages a
// level holds is found in the runs, in blocks so small that a run touches as many as the
// program does pages at the point. It is derived here.

const (
	// leastMatter is the share of the misses by which those must differ between a level with
	// all entries of the TLBs above and one without as many for it to matter how many pages
	// these keep.
	leastMatter = 0.01
	// asNear is how much further off, in the mean of the logarithms, a number of pages is as
	// near as another: where no distance lies near the capacity, a few misses decide nothing.
	asNear = 0.01
	// leastAlike is the number of runs that have to tell.
	leastAlike = 2
)

// aroundEntries are the sizes, relative to that of the level, that are simulated: where no
// distance lies near a capacity, it says nothing.
var aroundEntries = []float64{0.75, 1, 4.0 / 3}

// levelAt tells what is known of a level at a point.
type levelAt struct{ level, point string }

// behind is a TLB of so many entries behind others in a run, and what it misses.
type behind struct {
	hist    reuse.Histogram // of all accesses, in pages
	entries uint64
	misses  float64
}

// off returns how far the misses of a level that sees all accesses and holds some pages more
// are from those of this, as histograms.offAt does.
func (b *behind) off(more int) float64 {
	got := float64(b.hist.Misses(uint64(max(1, int(b.entries)+more))))
	return math.Abs(math.Log((got + someMisses) / (b.misses + someMisses)))
}

func offOf(all []behind, more int) (sum float64) {
	for i := range all {
		sum += all[i].off(more)
	}
	return sum
}

// morePages returns how many more pages levels hold, at most so many more or less: the
// nearest to 0 of the numbers by which they are hardly further off than by any.
func morePages(all []behind, most int) int {
	least := math.Inf(1)
	for more := -most; more <= most; more++ {
		least = math.Min(least, offOf(all, more))
	}
	for n := 0; ; n++ {
		for _, more := range []int{n, -n} {
			if offOf(all, more) <= least+asNear*float64(len(all)) {
				return more
			}
		}
	}
}

// foretoldPages is morePages of several runs, the largest first; 0 if the others do not
// foretell the largest better than it would be without.
func foretoldPages(runs [][]behind, most int) int {
	if len(runs) < leastAlike {
		return 0
	}
	others := morePages(slices.Concat(runs[1:]...), most)
	if offOf(runs[0], others) >= offOf(runs[0], 0) {
		return 0
	}
	return morePages(slices.Concat(runs...), most)
}

// heldAbove is what has to be known to tell how many more pages a level behind others holds
// at a point.
type heldAbove struct {
	level   levelAt
	tlbs    []cache.TLB // the level's is the last
	most    int         // entries of the others
	touched float64     // pages at the point
	blocks  map[int]uint64
	runs    [][]behind // by size, the largest first
}

// findHeldAbove finds how many more pages those of some levels that are behind others hold at the points. It
// takes two runs more of the three largest sizes, where it matters at any of them; what cannot
// be run again is left as it is.
func (m *Model) findHeldAbove(ctx context.Context, t *target, levels []predict.Level, opt PredictOptions) error {
	all, err := m.toFindAbove(ctx, t, levels, opt)
	if err != nil {
		return err
	}
	for _, run := range slices.Backward(m.refits.bySize()) {
		if err := m.refits.behindIn(ctx, run, all, t.progress); err != nil {
			if errors.Is(err, errNotRun) {
				return nil
			}
			return err
		}
	}
	for _, a := range all {
		if t.heldAbove == nil {
			t.heldAbove = make(map[levelAt]int)
		}
		t.heldAbove[a.level] = foretoldPages(a.runs, a.most)
	}
	return nil
}

// toFindAbove returns what has to be found at the points, by level and point.
func (m *Model) toFindAbove(ctx context.Context, t *target, levels []predict.Level, opt PredictOptions) (all []*heldAbove, err error) {
	if t.hardware == nil || opt.Method == predict.MethodBinomial {
		return nil, nil
	}
	tlbs := t.hardware.Hierarchy().TLBs
	for _, l := range levels {
		i := slices.IndexFunc(tlbs, func(tlb cache.TLB) bool { return tlb.Name == l.Name })
		if i < 1 || !recency(tlbs[:i+1]) || l.Sets > 1 || l.BypassFloat || m.byBlock[l.BlockBytes] == nil {
			continue
		}
		for _, point := range t.points {
			a := &heldAbove{level: levelAt{l.Name, point.String()}, tlbs: tlbs[:i+1], touched: m.footprint.Blocks(l.BlockBytes, fit.Point(point))}
			for _, above := range tlbs[:i] {
				a.most += int(above.Entries)
			}
			a.most = min(a.most, int(l.Blocks())-1)
			if !finite(a.touched) || a.touched <= 0 {
				continue
			}
			matters, err := m.matters(ctx, l, point, opt.Method, a.most)
			if err != nil {
				return nil, fmt.Errorf("perf: %s at %s: %w", t.name(l), point, err)
			}
			if a.blocks = m.refits.alikeBlocks(l.BlockBytes, a.touched); matters && len(a.blocks) >= leastAlike {
				all = append(all, a)
			}
		}
	}
	return all, nil
}

// recency reports whether all of some TLBs evict the page that was used longest ago, as
// distances have it.
func recency(tlbs []cache.TLB) bool {
	return !slices.ContainsFunc(tlbs, func(tlb cache.TLB) bool { return tlb.Replacement != cache.LRU })
}

// matters reports whether it does how many pages a level holds, within so many more or less.
func (m *Model) matters(ctx context.Context, l predict.Level, point subject.Point, by predict.Method, most int) (bool, error) {
	h, err := m.histogramsAt(ctx, l.BlockBytes, point, by)
	if err != nil {
		return false, err
	}
	var few, many float64
	for g := range h.groups {
		lo, hi := h.missesIn(g, predict.FullyAssociative(l.Blocks()-uint64(most))), h.missesIn(g, predict.FullyAssociative(l.Blocks()+uint64(most)))
		few, many = few+lo.Total(), many+hi.Total()
	}
	return few-many > leastMatter*few, nil
}

// alikeBlocks returns for each of the largest runs the largest size of blocks, a page divided
// by a power of two, of which it touches as many as are given at least. Runs of which these
// would be too small are left out.
func (r *refits) alikeBlocks(page uint64, touched float64) map[int]uint64 {
	of := make(map[int]uint64)
	for _, run := range slices.Backward(r.bySize()) {
		for b := page; b >= leastScaled && of[run] == 0 && len(of) < likeRuns && r.countsAll(run); b /= 2 {
			if r.touchedIn(run, b) >= touched {
				of[run] = b
			}
		}
	}
	return of
}

// touchedIn returns about how many blocks of a size a run touches: between the sizes that it
// was profiled with, as a power of theirs.
func (r *refits) touchedIn(run int, block uint64) float64 {
	sizes := r.runs.BlockBytes()
	i, found := slices.BinarySearch(sizes, block)
	if found || i == 0 || i == len(sizes) {
		return float64(coldOf(&r.runs.Runs[run], min(i, len(sizes)-1)))
	}
	lo, hi := float64(coldOf(&r.runs.Runs[run], i-1)), float64(coldOf(&r.runs.Runs[run], i))
	part := math.Log(float64(block)/float64(sizes[i-1])) / math.Log(float64(sizes[i])/float64(sizes[i-1]))
	return lo * math.Pow(hi/lo, part)
}

// behindIn simulates in a run what has to be found of it: the last TLBs, in blocks of a size
// and with as large a share of what is touched as they have pages of what the program touches,
// and a little more and less.
func (r *refits) behindIn(ctx context.Context, run int, all []*heldAbove, report progress.Func) error {
	var sizes []uint64
	for _, a := range all {
		if block := a.blocks[run]; block > 0 {
			sizes = append(sizes, block)
		}
	}
	if sizes == nil {
		return nil
	}
	if err := r.collect(ctx, run, sizes, report); err != nil {
		return err
	}
	var configs []cache.Config
	for _, a := range all {
		if block := a.blocks[run]; block > 0 {
			own, around := a.around(block, r.allIn(run, block))
			configs, a.runs = append(configs, around...), append(a.runs, own)
		}
	}
	sims, err := simulateTogether(ctx, &r.runs.Runs[run], configs, subject.RunOptions{Store: r.store, Progress: r.again(report, "simulating", run)})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return r.couldNotRun(err)
	}
	for _, a := range all {
		if a.blocks[run] == 0 {
			continue
		}
		for k := range a.runs[len(a.runs)-1] {
			tlbs := sims[k].Result.TLBs
			for _, g := range tlbs[len(tlbs)-1].Groups {
				a.runs[len(a.runs)-1][k].misses += float64(g.Misses)
			}
		}
		sims = sims[len(aroundEntries):]
	}
	return nil
}

// allIn returns the histogram of all accesses of a run in blocks of a size that was collected.
func (r *refits) allIn(run int, block uint64) (sum reuse.Histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range r.classes[furtherKey{run, block}] {
		sum = sum.Plus(&h)
	}
	return sum
}

// around returns the last TLB in blocks of a size, with several numbers of entries, and the
// hierarchies to simulate for them.
func (a *heldAbove) around(block uint64, hist reuse.Histogram) (own []behind, configs []cache.Config) {
	last := len(a.tlbs) - 1
	for _, times := range aroundEntries {
		tlbs := slices.Clone(a.tlbs)
		for i := range tlbs {
			tlbs[i].EntryBytes = max(1, tlbs[i].EntryBytes*block/a.tlbs[last].EntryBytes)
		}
		entries := uint64(math.Max(1, math.Round(times*float64(tlbs[last].Entries)*float64(hist.Cold)/a.touched)))
		tlbs[last].Entries, tlbs[last].Ways = entries, 0
		own, configs = append(own, behind{hist: hist, entries: entries}), append(configs, cache.Config{TLBs: tlbs})
	}
	return own, configs
}

// withHeldAbove returns a level of as many more pages as it holds at a point, and how many
// these are.
func (t *target) withHeldAbove(l predict.Level, point subject.Point) (predict.Level, int) {
	more := t.heldAbove[levelAt{l.Name, point.String()}]
	l.Ways = uint64(int(l.Ways) + more)
	return l, more
}

// asIs returns the level that the machine has in place of one of withHeldAbove.
func (t *target) asIs(l predict.Level, point subject.Point) predict.Level {
	l.Ways = uint64(int(l.Ways) - t.heldAbove[levelAt{l.Name, point.String()}])
	return l
}

// saysAbove adds a warning of how many more pages a level holds, unless a Corrector knew
// all of its misses better.
func (e *estimate) saysAbove(more int) {
	if e.more = more; more == 0 || e.corrected != nil && !slices.Contains(e.corrected, false) {
		return
	}
	number, what := more, "more"
	if more < 0 {
		number, what = -more, "fewer"
	}
	e.warnings = append(e.warnings, fmt.Sprintf("%d pages %s than it has entries: so many the level held in the runs, as another TLB is before it", number, what))
}
