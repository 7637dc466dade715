package sharing

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"presage/perf/cache"
	"presage/perf/internal/perftest"
	"presage/perf/internal/profiletest"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// plainCores is the obvious simulation: lists of blocks, the latest last.
type plainCores struct {
	config  cache.Config
	private int
	own     [][][]uint64 // by core and level
	shared  [][]uint64
	lost    []map[[2]uint64]bool
	stats   [][]coreCounts
}

func newPlainCores(config cache.Config, private, threads int) *plainCores {
	p := &plainCores{config: config, private: private, shared: make([][]uint64, len(config.Levels)-private)}
	for range threads {
		p.own = append(p.own, make([][]uint64, private))
		p.lost = append(p.lost, make(map[[2]uint64]bool))
		p.stats = append(p.stats, make([]coreCounts, len(config.Levels)))
	}
	return p
}

func drop(list *[]uint64, block uint64) bool {
	i := slices.Index(*list, block)
	if i >= 0 {
		*list = slices.Delete(*list, i, i+1)
	}
	return i >= 0
}

// put makes a block the latest, and returns what has to leave for it.
func put(l *cache.Level, list *[]uint64, block uint64) (held bool, victim uint64, full bool) {
	held = drop(list, block)
	*list = append(*list, block)
	if held {
		return true, 0, false
	}
	ways, sets := uint64(l.Ways), l.Blocks/uint64(max(1, l.Ways))
	if ways == 0 {
		ways, sets = l.Blocks, 1
	}
	var set []uint64
	for _, b := range *list {
		if b%sets == block%sets {
			set = append(set, b)
		}
	}
	if uint64(len(set)) <= ways {
		return false, 0, false
	}
	drop(list, set[0])
	return false, set[0], true
}

func (p *plainCores) access(n int, first, last uint64, write bool) {
	size := p.config.Levels[0].BlockBytes
	for b := first / size; b <= last/size; b++ {
		p.demand(n, 0, b)
	}
	if !write {
		return
	}
	for b := first / size; b <= last/size; b++ {
		for o := range p.own {
			for i := range p.own[o] {
				if o != n && drop(&p.own[o][i], b) {
					p.lost[o][[2]uint64{uint64(i), b}] = true
				}
			}
		}
	}
}

func (p *plainCores) demand(n, i int, b uint64) {
	p.stats[n][i].Accesses++
	held, victim, full := put(&p.config.Levels[i], &p.own[n][i], b)
	if held {
		return
	}
	p.stats[n][i].Misses++
	if key := [2]uint64{uint64(i), b}; p.lost[n][key] {
		p.stats[n][i].Invalidated++
		delete(p.lost[n], key)
	}
	if i+1 < p.private {
		p.demand(n, i+1, b)
		return
	}
	p.ask(n, 0, b)
	if full {
		p.evicted(0, victim)
	}
}

// ask asks shared level k.
func (p *plainCores) ask(n, k int, b uint64) {
	if k == len(p.shared) {
		return
	}
	l, s := &p.config.Levels[p.private+k], &p.stats[n][p.private+k]
	s.Accesses++
	if held := slices.Contains(p.shared[k], b); held {
		drop(&p.shared[k], b)
		if l.Filling != cache.Exclusive {
			p.shared[k] = append(p.shared[k], b)
		}
		return
	}
	s.Misses++
	var victim uint64
	full := false
	if l.Filling == cache.OnMiss {
		_, victim, full = put(l, &p.shared[k], b)
	}
	supplied := false
	for o := range p.own {
		supplied = supplied || o != n && slices.ContainsFunc(p.own[o], func(list []uint64) bool { return slices.Contains(list, b) })
	}
	if supplied {
		s.Supplied++
	} else {
		p.ask(n, k+1, b)
	}
	if !full {
		return
	}
	above := []*[]uint64{}
	for o := range p.own {
		for i := range p.own[o] {
			above = append(above, &p.own[o][i])
		}
	}
	for i := range k {
		above = append(above, &p.shared[i])
	}
	for _, list := range above {
		if l.Inclusive {
			drop(list, victim)
		}
	}
	p.evicted(k+1, victim)
}

// evicted offers a block to shared level k.
func (p *plainCores) evicted(k int, b uint64) {
	if k == len(p.shared) || p.config.Levels[p.private+k].Filling == cache.OnMiss {
		return
	}
	if _, victim, full := put(&p.config.Levels[p.private+k], &p.shared[k], b); full {
		p.evicted(k+1, victim)
	}
}

// TestCoresAgainstPlain: random accesses of a few threads, in turns, in hierarchies of all
// kinds.
func TestCoresAgainstPlain(t *testing.T) {
	plan := &trace.Plan{Refs: []trace.Ref{{PC: 4, Size: 8, Kind: trace.Load}, {PC: 8, Size: 8, Kind: trace.Store}}}
	seen := coreCounts{}
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		threads, private := rapid.IntRange(1, 3).Draw(t, "threads"), rapid.IntRange(1, 2).Draw(t, "private")
		var config cache.Config
		blocks := uint64(4)
		for i := range private + rapid.IntRange(1, 2).Draw(t, "shared") {
			l := cache.Level{Name: string(rune('A' + i)), BlockBytes: 16, Blocks: blocks << rng.IntN(2), Ways: rng.IntN(3)}
			blocks = 2 * l.Blocks
			if i >= private {
				l.Filling = cache.Filling(rng.IntN(3))
				l.Inclusive = l.Filling == cache.OnMiss && rng.IntN(2) == 0 && !slices.ContainsFunc(config.Levels, func(l cache.Level) bool { return l.Filling != cache.OnMiss })
			}
			config.Levels = append(config.Levels, l)
		}
		if config.Check() != nil {
			t.Skip("levels that do not go together")
		}
		c, err := newCores(plan, config, private)
		if err != nil {
			t.Fatal(err)
		}
		p := newPlainCores(config, private, threads)
		for range 40 { // each thread once, with some accesses
			turns := make([][]trace.Access, threads)
			for n := range turns {
				for range 1 + rng.IntN(20) {
					turns[n] = append(turns[n], trace.Tag(trace.RefID(rng.IntN(2)), 8)+trace.Access(rng.Uint64N(40*16)))
				}
				c.Observe(&trace.Batch{Thread: int32(n), Accesses: turns[n]})
			}
			for i := range 20 {
				for n := range turns {
					if i < len(turns[n]) {
						a := turns[n][i]
						p.access(n, a.Addr(), a.Last(), a.Ref() == 1)
					}
				}
			}
			if threads == 1 {
				c.flush()
			}
		}
		got := c.result()
		for n := range threads {
			for i := range config.Levels {
				g, w := got.Threads[n].Levels[i], p.stats[n][i]
				if g != w {
					t.Fatalf("%+v: thread %d, level %d: %+v, want %+v", config.Levels, n, i, g, w)
				}
				if threads == 1 && (g.Misses != got.Threads[n].Alone[i] || g.Invalidated+g.Supplied > 0) {
					t.Fatalf("%+v: one thread, level %d: %+v, and alone %d misses", config.Levels, i, g, got.Threads[n].Alone[i])
				}
				seen.Invalidated, seen.Supplied = seen.Invalidated+g.Invalidated, seen.Supplied+g.Supplied
			}
		}
	})
	if seen.Invalidated == 0 || seen.Supplied == 0 {
		t.Errorf("%+v: nothing to compare", seen)
	}
}

// composedTolerance is for misses of threads without data in common: what a thread fills in
// a time is an average over all its times of that length.
const composedTolerance = 0.05

// TestComposed: three threads walk, jump at random and jump near what they accessed before,
// each in blocks of its own; what the distances of each by itself predict for a cache that
// all share is what is simulated.
func TestComposed(t *testing.T) {
	plan := &trace.Plan{Refs: []trace.Ref{{Size: 8, Kind: trace.Load}}}
	for _, blocks := range []uint64{512, 1024, 2048, 4096} {
		config := cache.Config{Levels: []cache.Level{{Name: "L1", BlockBytes: 64, Blocks: 8}, {Name: "L2", BlockBytes: 64, Blocks: blocks}}}
		c, err := newCores(plan, config, 1)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(blocks, 3))
		at := [3]uint64{}
		for range 100 {
			for n := range at {
				b := trace.Batch{Thread: int32(n)}
				for range 2000 {
					switch n {
					case 0:
						at[n] = (at[n] + 1) % 900
					case 1:
						at[n] = rng.Uint64N(1500)
					case 2:
						at[n] = uint64(float64(2500) * math.Pow(rng.Float64(), 3))
					}
					b.Accesses = append(b.Accesses, trace.Tag(0, 8)+trace.Access(uint64(n)<<30+64*at[n]))
				}
				c.Observe(&b)
			}
		}
		found := c.result()
		m := profiletest.Machine(t, "golden-cove")
		m.Caches = m.Caches[:2]
		m.Caches[0].Level, m.Caches[1].Level = config.Levels[0], config.Levels[1]
		all := 0.0
		for _, r := range found.rows(m, 1, CacheRow{}) {
			if !r.Shared {
				continue
			}
			t.Logf("%d blocks, thread %d: %g misses, composed %g, alone %g", blocks, r.Thread, r.Misses, r.Composed, r.Alone)
			if math.Abs(r.Composed-r.Misses) > composedTolerance*200_000 {
				t.Errorf("%d blocks, thread %d: %g misses, composed %g", blocks, r.Thread, r.Misses, r.Composed)
			}
			if r.Common != 0 || r.Alone > r.Misses {
				t.Errorf("%+v", r)
			}
			all += r.Misses - r.Distances
		}
		if math.Abs(all) > 0.01*600_000 { // the private caches reorder what the shared one sees
			t.Errorf("%d blocks: %g misses more than by the distances of all together", blocks, all)
		}
	}
}

// TestCachesOfThreads: four threads that take turns to count in neighbouring words lose the
// block before every turn but their first; a block apart they do not.
func TestCachesOfThreads(t *testing.T) {
	prog := perftest.Built("planted")(t)
	const n = 50
	invalidated := make(map[float64]float64)
	for _, mend := range []float64{3, 4} {
		rows, err := SimulateCaches(t.Context(), prog, profiletest.Machine(t, "zen4"), []subject.Point{{"n": n, "mend": mend}}, CacheOptions{RunOptions: subject.RunOptions{Store: store.Open(t.TempDir())}})
		if err != nil {
			t.Fatal(err)
		}
		levels := make(map[string]int)
		for _, r := range rows {
			levels[r.Level]++
			if r.Level == "L1" {
				invalidated[mend] += r.Invalidated
			}
			if r.Shared != (r.Level == "L3") || r.Misses > r.Accesses {
				t.Errorf("%+v", r)
			}
		}
		if levels["L1"] < 4 || levels["L3"] != levels["L1"] {
			t.Errorf("rows by level: %v", levels)
		}
	}
	// Most are of the runtime, whose threads wake each other.
	if more := invalidated[3] - invalidated[4]; more < 4*(n-1)*3/4 || more > 4*(n-1)*2 {
		t.Errorf("%g misses after invalidations, mended %g, want %d fewer", invalidated[3], invalidated[4], 4*(n-1))
	}
	if _, err := SimulateCaches(t.Context(), prog, profiletest.Machine(t, "zen4"), []subject.Point{{"n": n}}, CacheOptions{Shared: "L1"}); err == nil {
		t.Error("a shared first level: no error")
	}
}
