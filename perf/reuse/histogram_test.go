package reuse

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

// TestBins: the bins tile the distances in order, are exact below 512, at most
// 1/256 of their distance wide above, and have every m·2^k, m <= 512, as an edge.
func TestBins(t *testing.T) {
	at := uint64(0)
	last := binOf(math.MaxUint32)
	for i := uint32(0); i <= last; i++ {
		lo, hi := binEdges(i)
		if lo != at || hi <= lo {
			t.Fatalf("bin %d is [%d, %d), want it to start at %d", i, lo, hi, at)
		}
		if lo < 512 && hi != lo+1 {
			t.Fatalf("bin [%d, %d) is not exact", lo, hi)
		}
		if (hi-lo)*256 > max(lo, 256) {
			t.Fatalf("bin [%d, %d) is wider than 1/256", lo, hi)
		}
		if binOf(uint32(lo)) != i || binOf(uint32(hi-1)) != i {
			t.Fatalf("the ends of bin %d are in bins %d and %d", i, binOf(uint32(lo)), binOf(uint32(hi-1)))
		}
		mid := Bin{Lo: lo, Hi: hi}.Mid()
		if far := math.Max(mid-float64(lo), float64(hi-1)-mid); far*512 > float64(lo) {
			t.Fatalf("midpoint of [%d, %d) is %g off", lo, hi, far)
		}
		at = hi
	}
	if at != 1<<32 {
		t.Errorf("bins end at %d, want 2^32", at)
	}
	if int(last) >= pagesEach*pageBins {
		t.Errorf("bin %d has no page: %d pages of %d", last, pagesEach, pageBins)
	}
	for m := uint64(1); m <= 512; m++ {
		for k := 0; m<<k < 1<<32; k++ {
			if lo, _ := binEdges(binOf(uint32(m << k))); lo != m<<k {
				t.Fatalf("%d·2^%d is inside the bin that starts at %d", m, k, lo)
			}
		}
	}
}

// TestMisses compares with counts from the distances themselves: equal at bin
// edges and within MissBounds elsewhere, which differ by one bin's count.
func TestMisses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		distances := rapid.SliceOf(rapid.Uint32Range(0, 5000)).Draw(t, "distances")
		cold := uint64(rapid.IntRange(0, 9).Draw(t, "cold"))
		c := newCounts(1)
		c.cold[0] = cold
		for _, d := range distances {
			c.add(0, d)
		}
		h := c.histogram(0)
		if h.Accesses() != cold+uint64(len(distances)) {
			t.Fatalf("histogram of %d accesses has %d", cold+uint64(len(distances)), h.Accesses())
		}
		before := h.Accesses()
		for capacity := uint64(0); capacity <= 5200; capacity++ {
			want := cold
			for _, d := range distances {
				if uint64(d) >= capacity {
					want++
				}
			}
			got := h.Misses(capacity)
			least, most := h.MissBounds(capacity)
			if want < least || want > most || got < least || got > most {
				t.Fatalf("capacity %d: %d misses, predicted %d, bounds %d to %d", capacity, want, got, least, most)
			}
			lo, _ := binEdges(binOf(uint32(capacity)))
			if lo == capacity && got != want {
				t.Fatalf("capacity %d is a bin edge: %d misses, want %d", capacity, got, want)
			}
			if got > before {
				t.Fatalf("capacity %d: misses rise from %d to %d", capacity, before, got)
			}
			before = got
		}
	})
}

// TestCoalescingMovesNoMissFar: for distances of any size and any capacity, bins
// move the number of misses by at most the count of the bin that capacity is
// in, and to no more and no less than what it is at capacities within 1/256.
func TestCoalescingMovesNoMissFar(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
		for k := range 32 {
			// Distances of about 2^k, as close together as bins, and any others.
			spread := uint64(2) << k >> rng.IntN(10)
			var distances []uint64
			for range 1 + rng.IntN(40) {
				distances = append(distances, min(1<<k+rng.Uint64N(spread+1), math.MaxUint32))
			}
			for range rng.IntN(5) {
				distances = append(distances, rng.Uint64N(1<<32))
			}
			capacities := []uint64{0, 1 << 32, 1 << 33, math.MaxUint64, rng.Uint64N(1 << 32)}
			for _, d := range distances {
				capacities = append(capacities, d, d+1, 1<<k+rng.Uint64N(spread+1))
			}
			checkCoalescing(t, distances, capacities)
		}
	})
}

func checkCoalescing(t *rapid.T, distances, capacities []uint64) {
	c := newCounts(1)
	for _, d := range distances {
		c.add(0, uint32(d))
	}
	h := c.histogram(0)
	exact := func(capacity uint64) (n uint64) {
		for _, d := range distances {
			if d >= capacity {
				n++
			}
		}
		return n
	}
	for _, capacity := range capacities {
		got, want := h.Misses(capacity), exact(capacity)
		inBin := uint64(0)
		for _, b := range h.Bins {
			if b.Lo < capacity && capacity < b.Hi {
				inBin = b.Count
			}
		}
		if off := max(got, want) - min(got, want); off > inBin {
			t.Fatalf("capacity %d: %d misses for %d, but %d accesses in its bin", capacity, got, want, inBin)
		}
		far := capacity / 256
		least, most := exact(capacity+min(far, math.MaxUint64-capacity)), exact(capacity-far)
		if got < least || got > most {
			t.Fatalf("capacity %d: %d misses, but %d and %d at capacities within 1/256", capacity, got, most, least)
		}
	}
}

// TestTotal: the total of many histograms is what adding one to the other gives, and
// shares no bins with them.
func TestTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 3))
		r := &Result{Groups: make([]Histogram, rapid.IntRange(0, 9).Draw(t, "groups"))}
		for g := range r.Groups {
			h := &r.Groups[g]
			h.Cold = rng.Uint64N(5)
			for i := range uint32(6) {
				if lo, hi := binEdges(500 + i); rng.IntN(2) == 0 {
					h.Bins = append(h.Bins, Bin{Lo: lo, Hi: hi, Count: 1 + rng.Uint64N(9)})
				}
			}
		}
		var want Histogram
		for g := range r.Groups {
			want = want.merge(&r.Groups[g])
		}
		got := r.Total()
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("total %v, want %v", got, want)
		}
		before := fmt.Sprint(r.Groups)
		for i := range got.Bins {
			got.Bins[i].Count = 1 << 40
		}
		if fmt.Sprint(r.Groups) != before {
			t.Fatal("the total shares bins with a group")
		}
	})
}
