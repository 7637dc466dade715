package cache

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
	"presage/perf/trace/tracetest"
)

// TestFillsAndDistinct holds the list of fills and the numbers of blocks by set
// against caches of slices.
func TestFillsAndDistinct(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Levels: []Level{
			{Name: "L1", Blocks: 16, BlockBytes: 32, Ways: rapid.SampledFrom([]int{0, 1, 2, 4}).Draw(t, "ways 1")},
			{Name: "L2", Blocks: 48, BlockBytes: 64, Ways: rapid.SampledFrom([]int{1, 3, 4}).Draw(t, "ways 2")},
		}}
		s, err := New(plan, config)
		if err != nil {
			t.Fatal(err)
		}
		oracle := newNaive(plan, config.Levels, true)
		s.LogFills()
		firsts := make(map[First]int)
		for range 3 {
			accesses := drawAccesses(t, len(plan.Refs), 60)
			for i := range accesses {
				free := make([]map[uint64]int, 2) // places, by set, before the access
				for l, level := range oracle.levels {
					free[l] = make(map[uint64]int)
					for set := range level.Blocks / uint64(level.ways()) {
						free[l][set] = level.ways() - len(level.sets[set])
					}
				}
				s.Observe(&trace.Batch{Accesses: accesses[i : i+1]})
				oracle.observe(accesses[i : i+1])
				filled := make([]map[uint64]int, 2)
				for l, level := range oracle.levels {
					filled[l] = make(map[uint64]int)
					for set, was := range free[l] {
						if n := was - (level.ways() - len(level.sets[set])); n > 0 {
							filled[l][set] = n
						}
					}
				}
				for _, f := range s.Fills() {
					if f.Group != plan.Refs[accesses[i].Ref()].Group {
						t.Fatalf("access %d: a fill of group %d", i, f.Group)
					}
					filled[f.Level][uint64(f.Set)]--
				}
				for l := range filled {
					for set, n := range filled[l] {
						if n != 0 {
							t.Fatalf("access %d: %d fills of set %d of level %d are missing", i, n, set, l)
						}
					}
				}
			}
			for l, level := range oracle.levels {
				want := make([]uint32, level.Blocks/uint64(level.ways()))
				for block := range level.ever {
					want[level.set(block)]++
				}
				for set, n := range s.Distinct(l) {
					if n != want[set] {
						t.Fatalf("level %d: %d blocks of set %d, want %d", l, n, set, want[set])
					}
				}
			}
			for _, f := range s.Firsts() {
				firsts[f]++
			}
			s.Flush()
			for _, level := range oracle.levels {
				clear(level.sets)
			}
		}
		checkFirsts(t, s, firsts)
	})
}

// checkFirsts: there is one first miss for each block that was ever requested from a level,
// of the group that has it among its cold misses.
func checkFirsts(t *rapid.T, s *Simulator, firsts map[First]int) {
	cold := make(map[First]uint64) // by level and group
	blocks := make(map[First]bool) // by level and block
	for f, n := range firsts {
		if n != 1 {
			t.Fatalf("%d times %+v", n, f)
		}
		cold[First{Level: f.Level, Group: f.Group}]++
		blocks[First{Level: f.Level, Block: f.Block}] = true
	}
	for l, level := range s.Result().Levels {
		for g, c := range level.Groups {
			if n := cold[First{Level: l, Group: trace.GroupID(g)}]; n != c.Cold {
				t.Fatalf("level %d, group %d: %d first misses, %d cold", l, g, n, c.Cold)
			}
		}
		s.Blocks(l, func(block uint64) {
			if !blocks[First{Level: l, Block: block}] {
				t.Fatalf("level %d: no first miss on block %d", l, block)
			}
			delete(blocks, First{Level: l, Block: block})
		})
	}
	if len(blocks) > 0 {
		t.Fatalf("first misses on other blocks: %v", blocks)
	}
}

// TestWarmedIsHeld: what fits the second level is held after Warm, in whatever form
// the run comes, and no block was passed over.
func TestWarmedIsHeld(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{Levels: []Level{
			{Name: "L1", Blocks: 8, BlockBytes: 64, Ways: 2},
			{Name: "L2", Blocks: 1 << 16, BlockBytes: 64},
		}, TLBs: []TLB{{Name: "TLB", Entries: 4096, EntryBytes: 4096}}}
		batches, expanded := tracetest.Rows(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), plan)
		for form, list := range map[string][]*trace.Batch{"runs": batches, "accesses": expanded} {
			s, err := New(plan, config)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range list {
				s.Warm(b)
			}
			if n := s.Result().Levels[0].Total.Misses; n != 0 {
				t.Fatalf("%s: %d misses of the first level, which stays as it is", form, n)
			}
			before := s.Result()
			for _, b := range expanded {
				s.Observe(b)
			}
			after := s.Result()
			if n := after.Levels[1].Total.Misses - before.Levels[1].Total.Misses; n != 0 {
				t.Fatalf("%s: %d blocks were not warmed up", form, n)
			}
			if n := after.TLBs[0].Total.Misses - before.TLBs[0].Total.Misses; n != 0 {
				t.Fatalf("%s: %d pages were not warmed up", form, n)
			}
		}
	})
}

// TestWarmSimulatesTLBs: TLBs miss in Warm what they miss in Observe, small ones that crowd
// included.
func TestWarmSimulatesTLBs(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			Levels: []Level{{Name: "L1", Blocks: 8, BlockBytes: 64, Ways: 2}, {Name: "L2", Blocks: 64, BlockBytes: 64, Ways: 4}},
			TLBs:   []TLB{{Name: "TLB", Entries: 8, EntryBytes: 256, Ways: rapid.SampledFrom([]int{1, 2, 4, 0}).Draw(t, "ways")}},
		}
		batches, _ := tracetest.Rows(rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1)), plan)
		var results [2][]LevelResult
		for i := range results {
			s, err := New(plan, config)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range batches {
				[]func(*trace.Batch){s.Warm, s.Observe}[i](b)
			}
			results[i] = s.Result().TLBs
			for g := range results[i][0].Groups {
				results[i][0].Groups[g].Accesses = 0
			}
			results[i][0].Total.Accesses = 0
		}
		if diff := cmp.Diff(results[0], results[1]); diff != "" || results[0][0].Total.Misses == 0 {
			t.Fatalf("-Warm +Observe:\n%s", diff)
		}
	})
}

// TestWarmIsNearlyObserve: misses of the second level after Warm are about those after
// Observe, where it is too small for the accesses, too.
func TestWarmIsNearlyObserve(t *testing.T) {
	plan := mixedPlan()
	config := Config{Levels: []Level{{Name: "L1", Blocks: 64, BlockBytes: 64, Ways: 4}, {Name: "L2", Blocks: 1024, BlockBytes: 64, Ways: 4}}}
	rng := rand.New(rand.NewPCG(4, 2))
	var history, stretch []trace.Access
	for i := range 60_000 {
		// A walk over three times the cache, and a hot half of it.
		addr := uint64(i*8) % (3 << 16)
		if i%2 == 0 {
			addr = 1<<20 + rng.Uint64N(1<<15)&^7
		}
		if i < 50_000 {
			history = append(history, accessOf(0, addr, 8))
		} else {
			stretch = append(stretch, accessOf(0, addr, 8))
		}
	}
	misses := func(prepare func(*Simulator, *trace.Batch)) float64 {
		s, err := New(plan, config)
		if err != nil {
			t.Fatal(err)
		}
		prepare(s, &trace.Batch{Accesses: history})
		before := s.Result().Levels[1].Total.Misses
		s.Observe(&trace.Batch{Accesses: stretch})
		return float64(s.Result().Levels[1].Total.Misses - before)
	}
	warm, exact := misses((*Simulator).Warm), misses((*Simulator).Observe)
	cold := misses(func(*Simulator, *trace.Batch) {})
	if exact < 100 || cold < 1.3*exact {
		t.Fatalf("%g misses with the whole history, %g without: no test", exact, cold)
	}
	// L1 starts empty after Warm, and holds a sixteenth of what L2 does.
	if warm < 0.97*exact || warm > 1.03*exact {
		t.Errorf("%g misses after Warm, %g with the whole history, %g without", warm, exact, cold)
	}
}

// TestMissesAreThoseOfResult: misses of groups by level, of caches and TLBs, read in
// passing.
func TestMissesAreThoseOfResult(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		config := Config{
			Levels: []Level{{Name: "L1", Blocks: 16, BlockBytes: 32, Ways: 2}, {Name: "L2", Blocks: 48, BlockBytes: 64, Ways: 3}},
			TLBs:   []TLB{{Name: "TLB", Entries: 4, EntryBytes: 256}},
		}
		s, err := New(plan, config)
		if err != nil {
			t.Fatal(err)
		}
		s.Observe(&trace.Batch{Accesses: drawAccesses(t, len(plan.Refs), 200)})
		r := s.Result()
		for l, level := range append(r.Levels, r.TLBs...) {
			got := s.Misses([]uint64{7}, l)
			if len(got) != len(level.Groups) {
				t.Fatalf("%s: %d groups of %d", level.Name, len(got), len(level.Groups))
			}
			for g := range got {
				if got[g] != level.Groups[g].Misses {
					t.Fatalf("%s, group %d: %d misses, the result has %d", level.Name, g, got[g], level.Groups[g].Misses)
				}
			}
		}
	})
}

// TestFillsOfCrowdedSets: rows that crowd sets of two ways miss as often with a list of
// fills as without, and it has the fills of the same accesses one by one.
func TestFillsOfCrowdedSets(t *testing.T) {
	plan := &trace.Plan{Refs: make([]trace.Ref, 3)}
	config := Config{Levels: []Level{{Name: "L1", BlockBytes: 64, Ways: 2, Blocks: 64}}}
	loop := trace.Loop{Count: 40}
	for i := range plan.Refs {
		plan.Refs[i] = trace.Ref{PC: trace.PC(i), Size: 8, Group: trace.GroupID(i)}
		loop.Strides = append(loop.Strides, trace.Stride{First: trace.Tag(trace.RefID(i), 8) | trace.Access(1<<20+i<<14+[]int{32, 0, 64}[i]), Step: 8})
	}
	var results [2]*Result
	var fills [2][]Fill
	for i := range results {
		s, err := New(plan, config)
		if err != nil {
			t.Fatal(err)
		}
		l := trace.Loop{Count: loop.Count, Strides: slices.Clone(loop.Strides)}
		for row := range 20 {
			if row == 10 {
				s.Flush()
				s.LogFills()
			}
			b, plain := new(trace.Batch), new(trace.Batch)
			b.AddRun(l)
			b.Expand(plain)
			s.Observe([]*trace.Batch{plain, b}[i])
			for k := range l.Strides {
				l.Strides[k].First += 320
			}
		}
		results[i], fills[i] = s.Result(), s.Fills()
	}
	if diff := cmp.Diff(results[0], results[1]); diff != "" {
		t.Errorf("-without runs +with:\n%s", diff)
	}
	if diff := cmp.Diff(fills[0], fills[1]); diff != "" || len(fills[0]) == 0 {
		t.Errorf("%d fills; -without runs +with:\n%s", len(fills[0]), diff)
	}
}
