package host

import (
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"
)

// TestChainIsOneCycle demands that a chain of n places visits each once in n
// loads and then starts over, both dense and with one line per page, for each
// way to follow it.
func TestChainIsOneCycle(t *testing.T) {
	const pageBytes, lineBytes = 4096, 64
	r, err := newRegion(8<<20, false)
	if err != nil {
		t.Fatal(err)
	}
	defer r.free()
	base := unsafe.Pointer(unsafe.SliceData(r.data))
	for _, layout := range []struct {
		name string
		at   func(uint32) uint
	}{{"dense", dense(lineBytes)}, {"sparse", sparse(pageBytes, lineBytes)}} {
		for _, n := range []int{1, 2, 3, 31, 64, 1000, 2048} {
			c := &chain{r, shuffled(nil, n, rand.New(rand.NewPCG(uint64(n), 1))), layout.at}
			c.link()
			p, seen := c.start(0, 1), make(map[uintptr]bool)
			for range n {
				offset := uintptr(p) - uintptr(base)
				if seen[offset] {
					t.Fatalf("%s, %d places: %#x is visited twice", layout.name, n, offset)
				}
				if offset%lineBytes != 0 || layout.name == "sparse" && offset/pageBytes >= uintptr(n) || layout.name == "dense" && offset/lineBytes >= uintptr(n) {
					t.Fatalf("%s, %d places: %#x is no place", layout.name, n, offset)
				}
				seen[offset] = true
				p = *(*unsafe.Pointer)(p)
			}
			if p != c.start(0, 1) {
				t.Errorf("%s, %d places: the chain does not close", layout.name, n)
			}
			if n%loadsPerRound == 0 {
				if q := chase(c.start(0, 1), n/loadsPerRound); q != c.start(0, 1) {
					t.Errorf("%s, %d places: chase does not make one load a place", layout.name, n)
				}
			}
			at := []uintptr{0, uintptr(c.start(1, 2)) - uintptr(base)}
			at[0] = uintptr(c.start(0, 2)) - uintptr(base)
			before := slices.Clone(at)
			chaseMany(base, at, n)
			if !slices.Equal(at, before) {
				t.Errorf("%s, %d places: chaseMany does not make one load a place", layout.name, n)
			}
		}
	}
}

// TestSparseLinesSpreadOverSets demands that lines with one per page spread
// over the sets of a cache of 64 sets as evenly as adjacent lines.
func TestSparseLinesSpreadOverSets(t *testing.T) {
	at := sparse(4096, 64)
	var sets [64]int
	for place := range uint32(6400) {
		sets[at(place)/64%64]++
	}
	for set, n := range sets {
		if n != 100 {
			t.Errorf("set %d has %d of 6400 lines, want 100", set, n)
		}
	}
}

// TestShuffledIsUniform demands that all orders of three places are about
// equally likely.
func TestShuffledIsUniform(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	counts := make(map[[3]uint32]int)
	const n = 6000
	for range n {
		counts[[3]uint32(shuffled(nil, 3, rng))]++
	}
	for order, count := range counts {
		if count < n/6-150 || count > n/6+150 { // five standard deviations
			t.Errorf("%v comes %d times of %d", order, count, n)
		}
	}
	if len(counts) != 6 {
		t.Errorf("%d orders of 3 places", len(counts))
	}
}
