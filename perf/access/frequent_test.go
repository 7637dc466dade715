package access

import (
	"math/rand/v2"
	"testing"
)

// TestFrequent holds the most frequent of random steps against counts of all of them: the
// bounds of ObservedStride hold, and up to as many different steps as there are places
// are counted exactly.
func TestFrequent(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	inexact := 0
	for range 300 {
		kinds, favour, steps := 1+random.IntN(60), random.Float64(), 1+random.IntN(2000)
		var f frequent
		counts, n := make(map[int64]uint64), uint64(0)
		for range steps {
			step := int64(random.IntN(kinds)) - 5
			if random.Float64() < favour {
				step = 3
			}
			f.add(step)
			counts[step]++
			n++
			compare(t, f.most(), counts, n)
		}
		if !f.most().Exact {
			inexact++
		}
	}
	if inexact == 0 || inexact == 300 {
		t.Errorf("%d of 300 are inexact: nothing is tested", inexact)
	}
}

func compare(t *testing.T, got ObservedStride, counts map[int64]uint64, n uint64) {
	t.Helper()
	most := uint64(0)
	for _, c := range counts {
		most = max(most, c)
	}
	const rounding = 1e-12
	share, best := float64(counts[got.Stride])/float64(n), float64(most)/float64(n)
	switch {
	case got.Steps != n || got.Share > share+rounding || got.Share < share-1./places-rounding || share < best-1./places-rounding:
		t.Fatalf("%+v of %d steps, has a share of %g, and the most frequent has %g", got, n, share, best)
	case got.Exact && (got.Share < share-rounding || share < best-rounding):
		t.Fatalf("%+v is not exact: a share of %g, and the most frequent has %g", got, share, best)
	case len(counts) <= places && !got.Exact:
		t.Fatalf("%+v of %d different steps is not exact", got, len(counts))
	}
}

// TestFrequentStepIsFoundLate: a step is found that is no step of the first half, and a
// step that ends is not held for it.
func TestFrequentStepIsFoundLate(t *testing.T) {
	var f frequent
	for i := range int64(3000) {
		f.add(1000 + i)
	}
	for range 3000 {
		f.add(8)
	}
	if got := f.most(); got.Stride != 8 || got.Share != 0.5 || got.Exact {
		t.Errorf("%+v: want a stride of 8 half the time, and no certainty", got)
	}
	if got := (&frequent{}).most(); got != (ObservedStride{}) {
		t.Errorf("of no steps %+v", got)
	}
}
