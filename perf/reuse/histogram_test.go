package reuse

import (
	"math"
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
