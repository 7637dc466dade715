package metasim

import (
	"maps"
	"math"
	"slices"

	"presage/perf/cache"
	"presage/perf/engine"
)

// resolve takes back the misses of each stretch, and of what is like it, that
// WarmHistory does not take for misses, and sets those of each level that the run has
// once.
func (t *tracker) resolve(out *engine.Outcome) {
	held := make([][]float64, len(t.base)) // by level and set: the share that is held
	t.once = make([]uint64, len(held))
	for l := range held {
		ways := t.sim.Ways(l)
		for _, distinct := range t.sim.Distinct(l) {
			held[l] = append(held[l], min(1, float64(ways)/float64(max(1, distinct))))
			if uint64(distinct) <= ways {
				t.once[l] += uint64(distinct)
			}
		}
	}
	known := t.pages
	known.learn(out)
	for l := range t.once {
		if known.at[l] {
			t.once[l] = known.blocks(t.sim, l)
		}
	}
	left, likeLeft := make([]float64, len(held)), make([]float64, len(held))
	for i := range t.pieces {
		p := &t.pieces[i]
		began := p.segment // of its history
		for !t.segments[began].fresh {
			began--
		}
		t.takeFirsts(p, known, began)
		rest := left
		if t.segments[p.segment].like >= 0 {
			rest = likeLeft
		} else {
			clear(rest)
		}
		t.takeBack(p, known, began, held, rest)
	}
}

// takeFirsts takes back the misses of a piece that are the first accesses of the run to
// their blocks, as they are among those that the run has once.
func (t *tracker) takeFirsts(p *piece, known *pages, began int) {
	at := positions(p.blocks)
	for _, f := range p.firsts {
		if known.fresh(f.Level, f.Block, began) {
			p.blocks[at[t.block[f.Group]]].Misses[f.Level]--
		}
	}
}

// takeBack takes back other misses of a piece: of each fill the share that its set holds.
// left is by level what rounding leaves to the blocks that follow.
func (t *tracker) takeBack(p *piece, known *pages, began int, held [][]float64, left []float64) {
	type cell struct{ block, level int }
	hits := make(map[cell]float64)
	for _, f := range p.fills {
		if !known.fresh(f.Level, f.Block, began) {
			hits[cell{t.block[f.Group], f.Level}] += held[f.Level][f.Set]
		}
	}
	for _, c := range p.blocks {
		for l := range c.Misses {
			want := left[l] + hits[cell{c.Block, l}]
			taken := min(math.Floor(want), float64(c.Misses[l]))
			left[l] = want - taken
			c.Misses[l] -= uint64(taken)
		}
	}
}

// positions returns the index of each block.
func positions(blocks []Counts) map[int]int {
	at := make(map[int]int, len(blocks))
	for i, c := range blocks {
		at[c.Block] = i
	}
	return at
}

// pages knows which pages the run touched, and when.
type pages struct {
	before map[uint64]int    // windows that had begun, by page: see engine.PageRun
	at     []bool            // levels at which that counts
	shift  []uint            // by level: log2 of the blocks in a page
	start  []map[uint64]bool // by level: pages that the run's start accessed
}

// newPages returns what is known of the pages of a run, of which more is known at its end
// (learn). It counts at levels that histories simulate, if their blocks are no larger than
// pages, all accesses go through them, and nothing brings blocks before they are asked for.
func newPages(config *cache.Config) *pages {
	type level struct {
		bytes uint64
		all   bool // of the accesses go through it
	}
	var levels []level
	for _, l := range config.Levels {
		levels = append(levels, level{l.BlockBytes, !l.BypassFloat && config.Prefetching == nil})
	}
	for _, l := range config.TLBs {
		levels = append(levels, level{l.EntryBytes, !l.BypassFloat})
	}
	k := &pages{before: make(map[uint64]int), at: make([]bool, len(levels)), shift: make([]uint, len(levels)), start: make([]map[uint64]bool, len(levels))}
	for i, l := range levels {
		k.at[i] = i > 0 && l.all && l.bytes <= engine.PageBytes
		for k.at[i] && l.bytes<<k.shift[i] < engine.PageBytes {
			k.shift[i]++
		}
	}
	return k
}

// begin notes which pages were accessed at the run's start.
func (k *pages) begin(sim *cache.Simulator) {
	for l := range k.at {
		if !k.at[l] {
			continue
		}
		seen := make(map[uint64]bool)
		sim.Blocks(l, func(block uint64) { seen[block>>k.shift[l]] = true })
		k.start[l] = seen
	}
}

// learn notes which pages the run touched.
func (k *pages) learn(out *engine.Outcome) {
	for l := range k.at {
		k.at[l] = k.at[l] && out.Pages != nil
	}
	for _, r := range out.Pages {
		for i := range r.Count {
			k.before[r.First+i] = r.Before
		}
	}
}

// fresh reports whether a block's page was touched for the first time after a window
// began.
func (k *pages) fresh(level int, block uint64, window int) bool {
	return k.at[level] && k.before[block>>k.shift[level]] > window
}

// blocks returns the number of blocks of a level in all of the run. Those of pages that the
// run's start came to, which is simulated, are known: there, a program touches a little of
// each of many pages. Of other pages less may be known than is touched, or nothing: each
// has as many blocks at least as the median of those of which something is known.
func (k *pages) blocks(sim *cache.Simulator, level int) uint64 {
	start := k.start[level]
	all := uint64(0)
	later := make(map[uint64]int)
	sim.Blocks(level, func(block uint64) {
		all++
		if page := block >> k.shift[level]; k.touched(page) && !start[page] {
			later[page]++
		}
	})
	median := 1 << k.shift[level]
	if counts := slices.Sorted(maps.Values(later)); len(counts) > 0 {
		median = counts[len(counts)/2]
	}
	for page := range k.before {
		if !start[page] {
			all += uint64(max(0, median-later[page]))
		}
	}
	return all
}

func (k *pages) touched(page uint64) bool {
	_, ok := k.before[page]
	return ok
}
