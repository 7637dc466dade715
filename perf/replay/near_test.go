package replay

import (
	"math"
	"math/rand"
	"testing"
)

// TestReachGrowsAsData: how far random accesses reach in a row, a mesh and a cube, of
// which they never touch quite all, is known at four times the size. A table that doubles
// is continued by the line through its last sizes.
func TestReachGrowsAsData(t *testing.T) {
	const n = 200
	sizes := []int64{16, 20, 26, 32, 40, 50}
	for power := 1; power <= 3; power++ {
		for seed := range int64(20) {
			rng := rand.New(rand.NewSource(seed))
			s := Series{Sizes: sizes}
			for _, size := range sizes {
				most := int64(0)
				elements := int64(math.Pow(float64(size), float64(power)))
				for range 40 * size {
					most = max(most, rng.Int63n(elements))
				}
				s.Values = append(s.Values, 8*most)
			}
			want := 8 * math.Pow(n, float64(power))
			if got := reachAt(s, n); math.Abs(float64(got)/want-1) > 0.1 {
				t.Errorf("power %d, seed %d: %v gives %d, of %.0f", power, seed, s.Values, got, want)
			}
		}
	}
	table := Series{Sizes: sizes, Values: []int64{1024, 2048, 2048, 2048, 4096, 4096}}
	if got := reachAt(table, n); got != 4096 {
		t.Errorf("a table that doubles has %d", got)
	}
}

func reachAt(s Series, n int64) int64 {
	in := Instance{N: n, prog: &Program{Series: []Series{s}}, values: []Value{s.At(n)}}
	return in.reach(0)
}
