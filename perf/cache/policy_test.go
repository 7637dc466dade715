package cache

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"presage/perf/trace"
)

// TestTwoWayNMRU: of two blocks, the one not used last is the one used longest
// ago, so that NMRU is LRU; and with one way there is no choice at all.
func TestTwoWayNMRU(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		accesses := drawAccesses(t, len(plan.Refs), 2000)
		l := Level{Name: "L", Blocks: 16, BlockBytes: 16, Ways: rapid.IntRange(1, 2).Draw(t, "ways")}
		want := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels
		l.Replacement = NMRU
		got := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%d ways: -LRU +NMRU:\n%s", l.Ways, diff)
		}
	})
}

// TestCyclicSweep: a sweep round N blocks always misses in an LRU cache of
// C < N. Under random replacement a block survives the M misses of a round
// with probability (1-1/C)^M, so that M = N·(1-(1-1/C)^M); under NMRU the same
// holds with C-1 candidates (derived here; survivals taken as independent).
func TestCyclicSweep(t *testing.T) {
	const rounds = 400
	plan := mixedPlan()
	for _, c := range []uint64{16, 256} { // by search, and by hash
		n := 2 * c
		tolerance := max(0.02, 1/float64(c)) // what taking survivals as independent costs
		var accesses []trace.Access
		for range rounds {
			for b := range n {
				accesses = append(accesses, accessOf(0, b*64, 8))
			}
		}
		for _, policy := range []Replacement{LRU, NMRU, Random} {
			config := Config{Levels: []Level{{Name: "L", Blocks: c, BlockBytes: 64, Replacement: policy}}, Seed: 7}
			total := simulate(t, plan, config, accesses).Levels[0].Total
			candidates := float64(c)
			if policy == NMRU {
				candidates--
			}
			want := 1.0
			for range 200 {
				if policy != LRU {
					want = 1 - math.Pow(1-1/candidates, want*float64(n))
				}
			}
			got := float64(total.Misses) / float64(total.Accesses)
			if math.Abs(got-want) > tolerance {
				t.Errorf("%v, %d blocks: miss ratio %.4f, want %.4f", policy, c, got, want)
			}
			again := simulate(t, plan, config, accesses).Levels[0].Total
			if again != total {
				t.Errorf("%v: the same seed gives %+v, then %+v", policy, total, again)
			}
			config.Seed++
			if other := simulate(t, plan, config, accesses).Levels[0].Total; policy != LRU && other == total {
				t.Errorf("%v: another seed gives the same %+v", policy, total)
			}
		}
	}
}

// TestNMRUKeepsLatest: the block accessed just before a miss stays, in sets
// found by search and by hash; under Random it sometimes goes.
func TestNMRUKeepsLatest(t *testing.T) {
	plan := mixedPlan()
	for _, blocks := range []uint64{3, 20} {
		var accesses []trace.Access
		rng := rand.New(rand.NewPCG(5, 6))
		const pairs = 5000
		for i := range uint64(pairs) {
			latest := rng.Uint64N(4 * blocks)
			accesses = append(accesses, accessOf(0, latest*64, 8), accessOf(1, (1000+i)*64, 8), accessOf(2, latest*64, 8))
		}
		for policy, kept := range map[Replacement]bool{LRU: true, NMRU: true, Random: false} {
			l := Level{Name: "L", Blocks: blocks, BlockBytes: 64, Replacement: policy}
			groups := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels[0].Groups
			if groups[1].Misses != pairs {
				t.Fatalf("%v: %d of %d new blocks miss", policy, groups[1].Misses, pairs)
			}
			if got := groups[2].Misses == 0; got != kept {
				t.Errorf("%v, %d blocks: %d misses right after", policy, blocks, groups[2].Misses)
			}
		}
	}
}

// TestFits demands that a working set that fits the cache misses once per block,
// under every policy.
func TestFits(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		policy := Replacement(rapid.IntRange(0, 2).Draw(t, "policy"))
		ways := rapid.SampledFrom([]int{0, 1, 4, 20}).Draw(t, "ways")
		l := Level{Name: "L", Blocks: 80, BlockBytes: 32, Ways: ways, Replacement: policy}
		var accesses []trace.Access
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		for range 3000 {
			accesses = append(accesses, accessOf(rng.IntN(5), rng.Uint64N(80)*32, 8))
		}
		total := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels[0].Total
		if want := (Counts{Accesses: 3000, Misses: 80, Cold: 80}); total != want {
			t.Fatalf("%v: %+v, want %+v", policy, total, want)
		}
	})
}

// TestPoliciesAreReadBack demands that every policy's name is parsed, in upper
// or lower case.
func TestPoliciesAreReadBack(t *testing.T) {
	for _, want := range Policies() {
		name := want.String()
		for _, text := range []string{name, strings.ToLower(name), strings.ToUpper(name)} {
			if got, err := ParseReplacement(text); err != nil || got != want {
				t.Errorf("ParseReplacement(%q) = %v, %v", text, got, err)
			}
		}
	}
	if _, err := ParseReplacement("psychic"); err == nil || !strings.Contains(err.Error(), `"psychic" is none of lru, nmru, random`) {
		t.Errorf("psychic: %v", err)
	}
	beyond := len(Policies())
	if got, want := Replacement(beyond).String(), fmt.Sprintf("Replacement(%d)", beyond); got != want {
		t.Errorf("a policy beyond the last is called %q", got)
	}
}

// plainTree is a set of tree pseudo-LRU replacement as it is described: a bit for each inner
// node of a binary tree over the ways, which tells the half to evict from.
type plainTree struct {
	blocks []uint64 // plus 1, by way
	right  []bool   // by node: 1 is the root, 2n and 2n+1 are the children of n
}

// access returns whether a block is held, after bringing it in.
func (p *plainTree) access(block uint64) bool {
	ways := len(p.blocks)
	way := slices.Index(p.blocks, block+1)
	held := way >= 0
	if !held {
		way = slices.Index(p.blocks, 0)
	}
	if way < 0 {
		node := 1
		for node < ways {
			if node *= 2; p.right[node/2] {
				node++
			}
		}
		way = node - ways
	}
	p.blocks[way] = block + 1
	for node := way + ways; node > 1; node /= 2 {
		p.right[node/2] = node%2 == 0 // away from the way
	}
	return held
}

// TestPLRUAgainstPlainTree: misses of random accesses are those of the bits of a tree, in
// sets of 1 to 32 ways.
func TestPLRUAgainstPlainTree(t *testing.T) {
	plan := mixedPlan()
	rapid.Check(t, func(t *rapid.T) {
		ways, sets := 1<<rapid.IntRange(0, 5).Draw(t, "log2 ways"), rapid.IntRange(1, 4).Draw(t, "sets")
		l := Level{Name: "L", Blocks: uint64(ways * sets), Ways: ways, BlockBytes: 16, Replacement: PLRU}
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 4))
		var plain []plainTree
		for range sets {
			plain = append(plain, plainTree{make([]uint64, ways), make([]bool, ways)})
		}
		var accesses []trace.Access
		misses := uint64(0)
		for range 3000 {
			block := rng.Uint64N(uint64(ways*sets) * 3 / 2)
			if rng.IntN(2) == 0 {
				block %= uint64(ways) // often the same
			}
			accesses = append(accesses, accessOf(rng.IntN(5), block*16, 8))
			if !plain[block%uint64(sets)].access(block) {
				misses++
			}
		}
		if got := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels[0].Total.Misses; got != misses {
			t.Fatalf("%d ways, %d sets: %d misses, want %d", ways, sets, got, misses)
		}
	})
}

// TestPLRUOfTwoWays: with two ways it is LRU, with four it is not.
func TestPLRUOfTwoWays(t *testing.T) {
	plan := mixedPlan()
	accesses := drawn(3000, 24)
	for ways, same := range map[int]bool{1: true, 2: true, 4: false} {
		l := Level{Name: "L", Blocks: 16, BlockBytes: 16, Ways: ways}
		want := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels
		l.Replacement = PLRU
		if got := simulate(t, plan, Config{Levels: []Level{l}}, accesses).Levels; cmp.Equal(want, got) != same {
			t.Errorf("%d ways: as LRU %v, want %v", ways, !same, same)
		}
	}
	for _, l := range []Level{{Name: "L", Blocks: 12, Ways: 12, BlockBytes: 64}, {Name: "L", Blocks: 72, BlockBytes: 64}, {Name: "L", Blocks: 256, BlockBytes: 64}} {
		l.Replacement = PLRU
		c := Config{Levels: []Level{l}}
		if err := c.Check(); err == nil || !strings.Contains(err.Error(), "power of two") {
			t.Errorf("%d ways: %v", l.waysOf(), err)
		}
		if full := c.FullyAssociative(); full.Levels[0].Replacement != LRU || full.Check() != nil {
			t.Errorf("fully associative: %v", full.Levels[0].Replacement)
		}
	}
}

// drawn returns accesses to some blocks of 16 bytes, the same in each call.
func drawn(count int, blocks uint64) (accesses []trace.Access) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range count {
		accesses = append(accesses, accessOf(rng.IntN(5), rng.Uint64N(blocks)*16, 8))
	}
	return accesses
}
