package engine_test

import (
	"slices"
	"testing"

	"presage/perf/cache"
	"presage/perf/engine"
	"presage/perf/engine/enginetest"
	"presage/perf/objfile"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// TestFakeConforms checks that the contract also fits an engine quite unlike the
// embedded one.
func TestFakeConforms(t *testing.T) {
	enginetest.Test(t, fake{}, enginetest.Subject{
		File: &objfile.File{Path: "fake"}, Input: engine.Request{Args: []string{"3000"}}, Stdin: []byte("text"), Threads: fakeThreads,
		Output: "copied 3000 words of text\n", Failing: []string{"-30"}, FailingStatus: 7,
	})
}

// realAccesses calls do for every access of the fake's program, at its real
// address.
func realAccesses(words int, do func(e event)) {
	program(words, func(_ int32, b block) bool {
		for _, a := range b.accesses {
			do(a)
		}
		return true
	})
}

// realCounts are a reference's counts at real addresses.
type realCounts struct{ accesses, cold, misses uint64 }

// countReal simulates a set-associative LRU cache at real addresses. It returns the
// counts of the references in plan order: the copy's load and store, and the fill.
func countReal(words int, blockBytes, sets uint64, ways int) (counts [3]realCounts) {
	touched := make(map[uint64]bool)
	lru := make(map[uint64][]uint64) // by set, the most recent first
	realAccesses(words, func(e event) {
		c := &counts[2]
		if e.ref.PC == copyPC {
			c = &counts[e.ref.Operand]
		}
		b := e.addr / blockBytes
		c.accesses++
		if !touched[b] {
			c.cold++
			touched[b] = true
		}
		set := lru[b%sets]
		i := slices.Index(set, b)
		if i < 0 {
			c.misses++
			i = min(len(set), ways-1) // if the set is full, evict the least recently used
			set = append(set[:i:i], b)
		}
		lru[b%sets] = slices.Concat([]uint64{b}, set[:i], set[i+1:])
	})
	return counts
}

// TestCollectorsOfDiscoveredCode runs collectors on the code that the fake
// discovers, and compares their counts with those at real addresses: blocks
// touched, and misses in a set-associative cache.
func TestCollectorsOfDiscoveredCode(t *testing.T) {
	const words, blockBytes, sets, ways = 5000, 64, 32, 2
	f := &objfile.File{Path: "fake"}
	r := engine.Request{Args: []string{"5000"}}
	found, err := fake{}.Discover(t.Context(), f, r)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(found.Plan.Refs); n != 3 || found.Plan.Refs[0].PC != found.Plan.Refs[1].PC || found.Plan.Refs[1].Operand != 1 {
		t.Fatalf("found %+v, want two references of one instruction and one of another", found.Plan.Refs)
	}
	distances, err := reuse.New(found.Plan, reuse.Options{BlockBytes: blockBytes})
	if err != nil {
		t.Fatal(err)
	}
	simulator, err := cache.New(found.Plan, cache.Config{Levels: []cache.Level{{Name: "L1", Blocks: sets * ways, BlockBytes: blockBytes, Ways: ways}}})
	if err != nil {
		t.Fatal(err)
	}
	sink := trace.NewPipeline(distances, simulator)
	r.Plan, r.Sink = found.Plan, sink
	if _, err := (fake{}).Run(t.Context(), f, r); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	want := countReal(words, blockBytes, sets, ways)
	h, level := distances.Result(), simulator.Result().Levels[0]
	for g := range want {
		if got := &h.Groups[g]; got.Accesses() != want[g].accesses || got.Cold != want[g].cold {
			t.Errorf("reference %d: %d accesses, %d of them cold; want %d and %d", g, got.Accesses(), got.Cold, want[g].accesses, want[g].cold)
		}
		if got := level.Groups[g]; got.Accesses != want[g].accesses || got.Misses != want[g].misses {
			t.Errorf("reference %d: %d misses of %d; at real addresses %d of %d", g, got.Misses, got.Accesses, want[g].misses, want[g].accesses)
		}
	}
	if want[0].misses <= want[0].cold || want[2].misses == 0 {
		t.Errorf("%+v: the cache shows nothing", want)
	}
}
