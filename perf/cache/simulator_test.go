package cache

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/reuse"
	"presage/perf/trace"
)

// mixedPlan has loads and stores of integers and of floats in three groups.
func mixedPlan() *trace.Plan {
	return &trace.Plan{Refs: []trace.Ref{
		{PC: 0x10, Size: 8, Kind: trace.Load, Group: 0},
		{PC: 0x14, Size: 8, Kind: trace.Store, Group: 1},
		{PC: 0x18, Size: 8, Kind: trace.Load, Float: true, Group: 2},
		{PC: 0x1c, Size: 8, Kind: trace.Store, Float: true, Group: 2},
		{PC: 0x20, Size: 4, Kind: trace.ReadModifyWrite, Group: 0},
	}}
}

// accessOf makes an access of size bytes by reference ref.
func accessOf(ref int, addr uint64, size uint8) trace.Access {
	return trace.Tag(trace.RefID(ref), size) + trace.Access(addr)
}

// drawAccesses draws walks, random accesses and hot spots, some of them at the
// end of the address space.
func drawAccesses(t *rapid.T, refs int, most int) []trace.Access {
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	n := rapid.IntRange(0, most).Draw(t, "accesses")
	span := rapid.Uint64Range(64, 40_000).Draw(t, "span bytes")
	stride := rapid.Uint64Range(1, 300).Draw(t, "stride")
	bases := []uint64{0, 0x1234567, 0xc0_0000_0000, trace.AddrLimit - 1000}
	accesses := make([]trace.Access, 0, n+40)
	walk := uint64(0)
	for len(accesses) < n {
		base := bases[rng.IntN(len(bases))]
		for range rng.IntN(40) {
			walk += stride
			off := walk
			switch rng.IntN(4) {
			case 0:
				off = rng.Uint64()
			case 1:
				off = rng.Uint64N(200)
			}
			addr := min(base+off%span, trace.AddrLimit-1)
			accesses = append(accesses, accessOf(rng.IntN(refs), addr, 1<<rng.IntN(7)))
		}
	}
	return accesses
}

// drawLevel draws an LRU level, tiny so that it misses; sometimes large and
// fully associative, so that its blocks are found by hash.
func drawLevel(t *rapid.T, name string) Level {
	l := Level{
		Name:        name,
		BlockBytes:  1 << rapid.IntRange(2, 9).Draw(t, "log2 block"),
		BypassFloat: rapid.Bool().Draw(t, "bypass"),
	}
	if rapid.Bool().Draw(t, "fully associative") {
		l.Blocks = uint64(rapid.IntRange(1, 60).Draw(t, "blocks"))
		return l
	}
	l.Ways = rapid.IntRange(1, 20).Draw(t, "ways")
	l.Blocks = uint64(l.Ways * rapid.IntRange(1, 9).Draw(t, "sets"))
	return l
}

func simulate(t interface{ Fatal(...any) }, plan *trace.Plan, config Config, accesses []trace.Access) *Result {
	s, err := New(plan, config)
	if err != nil {
		t.Fatal(err)
	}
	for len(accesses) > 0 {
		n := min(777, len(accesses))
		s.Observe(&trace.Batch{Accesses: accesses[:n]})
		accesses = accesses[n:]
	}
	return s.Result()
}

func TestAgainstNaive(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		var config Config
		for i := range rapid.IntRange(1, 3).Draw(t, "levels") {
			l := drawLevel(t, string(rune('A'+i)))
			l.WriteThrough = rapid.Bool().Draw(t, "write-through")
			l.NoWriteAllocate = rapid.Bool().Draw(t, "no write-allocate")
			config.Levels = append(config.Levels, l)
			config.Levels[i].Inclusive = i > 0 && config.checkInclusive(i) == nil && rapid.Bool().Draw(t, "inclusive")
		}
		var tlbs []Level
		for i := range rapid.IntRange(0, 2).Draw(t, "TLBs") {
			l := drawLevel(t, string(rune('a'+i)))
			tlbs = append(tlbs, l)
			config.TLBs = append(config.TLBs, TLB{Name: l.Name, Entries: l.Blocks, EntryBytes: l.BlockBytes, Ways: l.Ways, BypassFloat: l.BypassFloat})
		}
		accesses := drawAccesses(t, len(plan.Refs), 2000)
		r := simulate(t, plan, config, accesses)
		caches, pages := newNaive(plan, config.Levels, true), newNaive(plan, tlbs, false)
		caches.observe(accesses)
		pages.observe(accesses)
		for i, want := range append(caches.levels, pages.levels...) {
			got := append(r.Levels, r.TLBs...)[i]
			if diff := cmp.Diff(want.counts, got.Groups); diff != "" {
				t.Fatalf("%s %+v: -want +got:\n%s", got.Name, want.Level, diff)
			}
			var total Counts
			for _, g := range want.counts {
				total.add(g)
			}
			if total != got.Total {
				t.Fatalf("%s: total %+v, want %+v", got.Name, got.Total, total)
			}
		}
		checkSingle(t, plan, config, accesses, r)
	})
}

// checkSingle compares the misses that Access tells of with the counts of r, and
// their blocks with those of a set of all missed before.
func checkSingle(t *rapid.T, plan *trace.Plan, config Config, accesses []trace.Access, r *Result) {
	s, err := New(plan, config)
	if err != nil {
		t.Fatal(err)
	}
	levels := append(r.Levels, r.TLBs...)
	var sizes []uint64
	for _, l := range config.Levels {
		sizes = append(sizes, l.BlockBytes)
	}
	for _, l := range config.TLBs {
		sizes = append(sizes, l.EntryBytes)
	}
	misses := make([][]uint64, len(levels))
	cold := make([]map[uint64]bool, len(levels))
	for i := range misses {
		misses[i], cold[i] = make([]uint64, plan.Groups()), make(map[uint64]bool)
	}
	largest := slices.Max(sizes)
	held := make([]map[uint64]bool, len(levels)) // without invalidations
	for i := range held {
		held[i] = make(map[uint64]bool)
	}
	inclusive := slices.ContainsFunc(config.Levels, func(l Level) bool { return l.Inclusive || l.Filling != OnMiss })
	for _, a := range accesses {
		for _, m := range s.Access(a) {
			if !inclusive && (held[m.Level][m.Block] || m.Evicts && (!m.Fetched || !held[m.Level][m.Victim])) {
				t.Fatalf("%+v: the block is held or the victim is not", m)
			}
			if m.Fetched {
				held[m.Level][m.Block] = true
			}
			if m.Evicts {
				delete(held[m.Level], m.Victim)
			}
			misses[m.Level][plan.Refs[a.Ref()].Group]++
			cold[m.Level][m.Block] = true
			if at := m.Block * sizes[m.Level]; at/largest < a.Addr()/largest || at/largest > a.Last()/largest {
				t.Fatalf("access to %#x missed block %#x of level %d", a.Addr(), m.Block, m.Level)
			}
		}
	}
	for i, l := range levels {
		blocks := uint64(0)
		if i < len(config.Levels) {
			blocks = config.Levels[i].Blocks
		} else {
			blocks = config.TLBs[i-len(config.Levels)].Entries
		}
		if !inclusive && uint64(len(held[i])) > blocks {
			t.Fatalf("%s: holds %d blocks of %d", l.Name, len(held[i]), blocks)
		}
		total := uint64(0)
		for g, n := range misses[i] {
			total += l.Groups[g].Cold
			if n != l.Groups[g].Misses {
				t.Fatalf("%s: %d single misses of group %d, want %d", l.Name, n, g, l.Groups[g].Misses)
			}
		}
		if uint64(len(cold[i])) != total {
			t.Fatalf("%s: %d different blocks missed, want %d", l.Name, len(cold[i]), total)
		}
	}
	if diff := cmp.Diff(r, s.Result()); diff != "" {
		t.Fatalf("-batches +single accesses:\n%s", diff)
	}
}

// TestInclusive: under an inclusive level hardly larger than the one above,
// invalidations constantly remove blocks from the middle of sets. As the lower
// level holds every block of the upper one, no write-back of L1 ever passes L2.
func TestInclusive(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		ways := rapid.SampledFrom([]int{2, 3, 4, 8, 20}).Draw(t, "ways")
		levels := []Level{
			{Name: "L1", Blocks: uint64(ways), BlockBytes: 32, Ways: ways},
			{Name: "L2", Blocks: uint64(ways), BlockBytes: 32 << rapid.IntRange(0, 1).Draw(t, "log2 ratio"), Ways: 1, Inclusive: true},
		}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		var accesses []trace.Access
		for range 2000 {
			accesses = append(accesses, accessOf(rng.IntN(5), rng.Uint64N(uint64(3*ways))*32, 8))
		}
		r := simulate(t, plan, Config{Levels: levels}, accesses)
		n := newNaive(plan, levels, true)
		n.observe(accesses)
		for i, want := range n.levels {
			if diff := cmp.Diff(want.counts, r.Levels[i].Groups); diff != "" {
				t.Fatalf("%s: -want +got:\n%s", want.Name, diff)
			}
		}
		if got := r.Levels[1].Total.PassedWrites; got != 0 {
			t.Fatalf("%d write-backs of L1 are of blocks that L2 does not hold", got)
		}
	})
}

// TestReuseDistance: a fully associative LRU cache misses as often as reuse
// distances say, group by group, at capacities that are bin edges.
func TestReuseDistance(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		blockBytes := uint64(1) << rapid.IntRange(0, 15).Draw(t, "log2 block")
		accesses := drawAccesses(t, len(plan.Refs), 4000)
		c, err := reuse.New(plan, reuse.Options{BlockBytes: blockBytes})
		if err != nil {
			t.Fatal(err)
		}
		c.Observe(&trace.Batch{Accesses: accesses})
		distances := c.Result()
		for _, capacity := range []uint64{1, 2, 5, 16, 17, 64, 255, 512, 1000, 1 << 20} {
			l := LevelResult{}
			if rapid.Bool().Draw(t, "TLB") {
				l = simulate(t, plan, Config{TLBs: []TLB{{Name: "T", Entries: capacity, EntryBytes: blockBytes}}}, accesses).TLBs[0]
			} else {
				l = simulate(t, plan, Config{Levels: []Level{{Name: "L", Blocks: capacity, BlockBytes: blockBytes}}}, accesses).Levels[0]
			}
			for g, h := range distances.Groups {
				if n := l.Groups[g]; n.Misses != h.Misses(capacity) || n.Accesses != h.Accesses() || n.Cold != h.Cold {
					t.Fatalf("%d blocks of %d bytes, group %d: %+v, but distances give %d accesses, %d misses, %d cold",
						capacity, blockBytes, g, n, h.Accesses(), h.Misses(capacity), h.Cold)
				}
			}
		}
	})
}

// TestMoreWays: at a fixed number of sets, an LRU cache with more ways holds
// all that one with fewer does.
func TestMoreWays(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		accesses := drawAccesses(t, len(plan.Refs), 3000)
		sets := rapid.IntRange(1, 16).Draw(t, "sets")
		misses := uint64(math.MaxUint64)
		for _, ways := range []int{1, 2, 3, 4, 8, 16, 17, 40} {
			l := Level{Name: "L", Blocks: uint64(sets * ways), BlockBytes: 32, Ways: ways}
			n := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels[0].Total.Misses
			if n > misses {
				t.Fatalf("%d sets of %d ways: misses rise from %d to %d", sets, ways, misses, n)
			}
			misses = n
		}
	})
}

// TestStoresDoNotMatter: with allocation on writes and no inclusion, misses are
// those of the same addresses read.
func TestStoresDoNotMatter(t *testing.T) {
	plan, reads := mixedPlan(), mixedPlan()
	for i := range reads.Refs {
		reads.Refs[i].Kind = trace.Load
	}
	rapid.Check(t, func(t *rapid.T) {
		var config Config
		for i := range 3 {
			l := drawLevel(t, string(rune('A'+i)))
			l.Replacement = Replacement(rapid.IntRange(0, 2).Draw(t, "policy"))
			l.WriteThrough = rapid.Bool().Draw(t, "write-through")
			config.Levels = append(config.Levels, l)
		}
		accesses := drawAccesses(t, len(plan.Refs), 2000)
		a, b := simulate(t, plan, config, accesses), simulate(t, reads, config, accesses)
		for i := range a.Levels {
			for g := range a.Levels[i].Groups {
				x, y := a.Levels[i].Groups[g], b.Levels[i].Groups[g]
				x.Writebacks, x.PassedWrites = 0, 0
				if x != y {
					t.Fatalf("level %d group %d: %+v with stores, %+v without", i, g, x, y)
				}
			}
		}
	})
}

func TestNewRefuses(t *testing.T) {
	ok := Level{Name: "L1", Blocks: 1024, BlockBytes: 32, Ways: 2}
	with := func(change func(*Level)) []Level {
		l := ok
		change(&l)
		return []Level{l}
	}
	tests := []struct {
		want   string
		config Config
	}{
		{"neither levels nor TLBs", Config{}},
		{"has no name", Config{Levels: with(func(l *Level) { l.Name = "" })}},
		{"names must differ", Config{Levels: []Level{ok, ok}}},
		{"names must differ", Config{Levels: []Level{ok}, TLBs: []TLB{{Name: "L1", Entries: 8, EntryBytes: 4096}}}},
		{"blocks of 48 bytes", Config{Levels: with(func(l *Level) { l.BlockBytes = 48 })}},
		{"blocks of 0 bytes", Config{Levels: with(func(l *Level) { l.BlockBytes = 0 })}},
		{"has 0 blocks", Config{Levels: with(func(l *Level) { l.Blocks = 0 })}},
		{"has -1 ways", Config{Levels: with(func(l *Level) { l.Ways = -1 })}},
		{"has 2048 ways", Config{Levels: with(func(l *Level) { l.Ways = 2048 })}},
		{"not a multiple of its 3 ways", Config{Levels: with(func(l *Level) { l.Ways = 3 })}},
		{"Replacement(9)", Config{Levels: with(func(l *Level) { l.Replacement = 9 })}},
		{"no level above it", Config{Levels: with(func(l *Level) { l.Inclusive = true })}},
		{"whose blocks are larger", Config{Levels: []Level{ok, {Name: "L2", Blocks: 4096, BlockBytes: 16, Inclusive: true}}}},
		{"pass by it", Config{Levels: []Level{ok, {Name: "L2", Blocks: 4096, BlockBytes: 64, Inclusive: true, BypassFloat: true}}}},
		{`TLB 1 ("T") has 0 blocks`, Config{TLBs: []TLB{{Name: "T", EntryBytes: 4096}}}},
	}
	for _, tt := range tests {
		if _, err := New(mixedPlan(), tt.config); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New error = %v, want one with %q", err, tt.want)
		}
	}
	if _, err := New(nil, Config{Levels: []Level{ok}}); err == nil || !strings.Contains(err.Error(), "no plan") {
		t.Errorf("New without a plan: %v", err)
	}
}
