package shard

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"presage/perf/isa"
	"presage/perf/trace"
)

// slowCache is a set-associative cache with LRU replacement, as the list of blocks in
// each set, the latest first.
type slowCache struct {
	sets, ways uint64
	holds      map[uint64][]uint64
}

// miss accesses a block and reports whether it was not there.
func (c *slowCache) miss(block uint64) bool {
	set := c.holds[block%c.sets]
	at := slices.Index(set, block)
	if at >= 0 {
		set = slices.Delete(set, at, at+1)
	}
	set = slices.Insert(set, 0, block)
	c.holds[block%c.sets] = set[:min(len(set), int(c.ways))]
	return at < 0
}

// TestCachesAgainstEachOfThem compares with separate caches of each geometry on random
// runs: they are not flushed before a window, and a window begins and ends with a
// block, wherever batches end.
func TestCachesAgainstEachOfThem(t *testing.T) {
	code := program()
	rng := rand.New(rand.NewPCG(5, 6))
	sets := [3][]uint64{Data: {1, 4, 16}, Code: {1, 2}, Both: {2, 8}}
	for range 20 {
		windows := []Window{{From: 20, To: 20 + uint64(1+rng.IntN(60))}, {From: 120, To: 400}, {From: 400, To: 2000}}
		c, err := NewCaches(planOf(code), code, windows, sets)
		if err != nil {
			t.Fatal(err)
		}
		slow := newSlowCaches(windows, sets)
		for _, b := range randomRun(rng, code, slow.access) {
			c.Observe(b)
		}
		slow.compare(t, c.Result())
	}
}

// randomRun returns the batches of a run of some 800 instructions, and tells of each block
// of code and data accessed and of the instruction that its basic block begins at.
func randomRun(rng *rand.Rand, code [][]isa.Inst, accessed func(at uint64, s Stream, block uint64)) (batches []*trace.Batch) {
	line := uint64(0)
	for at := uint64(0); at < 800; {
		b := &trace.Batch{Start: at}
		for range 1 + rng.IntN(40) {
			id := rng.IntN(len(code))
			b.Blocks = append(b.Blocks, trace.BlockID(id))
			for _, in := range code[id] {
				if in.PC/BlockBytes != line {
					line = in.PC / BlockBytes
					accessed(at, Code, line)
				}
			}
			for ref := range slices.DeleteFunc(slices.Clone(code[id]), func(in isa.Inst) bool { return !in.Accesses() }) {
				addr := 64*uint64(1000+rng.IntN(1+rng.IntN(90))) + uint64(60*rng.IntN(2))
				b.Accesses = append(b.Accesses, access(trace.RefID(ref), addr))
				accessed(at, Data, addr/64)
				if last := (addr + 7) / 64; last != addr/64 {
					accessed(at, Data, last)
				}
			}
			at += uint64(len(code[id]))
		}
		batches = append(batches, b)
	}
	return batches
}

type slowCaches struct {
	windows []Window
	caches  map[Misses][]*slowCache // by stream and sets, then ways
	misses  []map[Misses][MaxWays]uint64
}

func newSlowCaches(windows []Window, sets [3][]uint64) *slowCaches {
	s := &slowCaches{windows: windows, caches: make(map[Misses][]*slowCache)}
	for range windows {
		s.misses = append(s.misses, make(map[Misses][MaxWays]uint64))
	}
	for stream, list := range sets {
		for _, n := range list {
			for w := range MaxWays {
				key := Misses{Stream: Stream(stream), Sets: n}
				s.caches[key] = append(s.caches[key], &slowCache{n, uint64(w + 1), make(map[uint64][]uint64)})
			}
		}
	}
	return s
}

func (s *slowCaches) access(at uint64, stream Stream, block uint64) {
	for key, caches := range s.caches {
		if key.Stream != stream && key.Stream != Both {
			continue
		}
		for w, c := range caches {
			if !c.miss(block) {
				continue
			}
			for i, window := range s.windows {
				if at >= window.From && at < window.To {
					n := s.misses[i][key]
					n[w]++
					s.misses[i][key] = n
				}
			}
		}
	}
}

func (s *slowCaches) compare(t *testing.T, got [][]Misses) {
	t.Helper()
	if len(got) != len(s.windows) {
		t.Fatalf("%d windows, want %d", len(got), len(s.windows))
	}
	for i := range got {
		if len(got[i]) != len(s.caches) {
			t.Fatalf("window %d: %d numbers of sets, want %d", i, len(got[i]), len(s.caches))
		}
		for _, m := range got[i] {
			if want := s.misses[i][Misses{Stream: m.Stream, Sets: m.Sets}]; m.ByWays != want {
				t.Fatalf("window %d, %s, %d sets: misses by ways %v, want %v", i, m.Stream, m.Sets, m.ByWays, want)
			}
		}
	}
}

func TestBadCaches(t *testing.T) {
	code := program()
	for what, c := range map[string]struct {
		windows []Window
		sets    [3][]uint64
	}{
		"window from 5 to 5":  {windows: []Window{{From: 5, To: 5}}},
		"window from 8 to 12": {windows: []Window{{From: 5, To: 9}, {From: 8, To: 12}}},
		"12 sets":             {sets: [3][]uint64{{12}}},
		"0 sets":              {sets: [3][]uint64{{0}}},
	} {
		if _, err := NewCaches(planOf(code), code, c.windows, c.sets); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: error %v", what, err)
		}
	}
}
