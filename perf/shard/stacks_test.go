package shard

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestStacks compares distributions with fully associative caches of as many blocks as
// each bound, on random runs: they are not flushed before the window, and what comes after
// it does not count.
func TestStacks(t *testing.T) {
	code := program()
	rng := rand.New(rand.NewPCG(7, 8))
	for range 20 {
		window := Window{From: uint64(rng.IntN(300)), To: uint64(320 + rng.IntN(300))}
		d, err := NewStacks(planOf(code), code, window)
		if err != nil {
			t.Fatal(err)
		}
		var want [streams][]uint64
		var caches [streams][]*slowCache
		for s := range streams {
			want[s] = make([]uint64, len(Bounds()))
			for _, b := range Bounds() {
				caches[s] = append(caches[s], &slowCache{1, b, make(map[uint64][]uint64)})
			}
		}
		run := randomRun(rng, code, func(at uint64, s Stream, block uint64) {
			for _, s := range []Stream{s, Both} {
				for i, c := range caches[s] {
					if c.miss(block) && at >= window.From && at < window.To {
						want[s][i]++
					}
				}
			}
		})
		for _, b := range run {
			d.Observe(b)
		}
		got := d.Result()
		if len(got) != int(streams) {
			t.Fatalf("%d distributions", len(got))
		}
		for s, g := range got {
			for i, b := range Bounds() {
				if g.Stream != Stream(s) || g.Beyond[i] != want[s][i] {
					t.Fatalf("%s at %d blocks and more: %d, want %d", g.Stream, b, g.Beyond[i], want[s][i])
				}
			}
		}
	}
}

// TestStacksOutside has a run end before the window begins, and an empty window.
func TestStacksOutside(t *testing.T) {
	code := program()
	d, err := NewStacks(planOf(code), code, Window{From: 1000, To: 2000})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range randomRun(rand.New(rand.NewPCG(1, 2)), code, func(uint64, Stream, uint64) {}) {
		d.Observe(b)
	}
	if got := d.Result(); got != nil {
		t.Errorf("%v of a window that the run did not reach", got)
	}
	if _, err := NewStacks(planOf(code), code, Window{From: 5, To: 5}); err == nil || !strings.Contains(err.Error(), "from 5 to 5") {
		t.Errorf("an empty window: %v", err)
	}
}
