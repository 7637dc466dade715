package replay

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPiecesOfEnvelopes tests that functions made of a few affine ones, the least or the
// greatest, are found again: whatever pieces come out give the value at every point, also
// where no sample was.
func TestPiecesOfEnvelopes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		sign := int64(1 - 2*(round&1))
		planes := make([]piece, 2+round%2)
		for i := range planes {
			planes[i] = piece{coef: []int64{rng.Int64N(13) - 6, rng.Int64N(5) - 2}, constant: rng.Int64N(21) - 10}
		}
		value := func(x []int64) int64 {
			best := planes[0].at(x)
			for _, p := range planes {
				if y := p.at(x); sign*(y-best) > 0 {
					best = y
				}
			}
			return best
		}
		var points []sample
		on := make([]int, len(planes))
		for a := int64(0); a < 12; a++ {
			for b := int64(20); b < 32; b++ {
				x := []int64{a, b}
				points = append(points, sample{x, value(x)})
				for i := range planes {
					if planes[i].at(x) == value(x) {
						on[i]++
					}
				}
			}
		}
		found, got := piecesOf(points, spareSizes)
		known := true // enough points are on each plane, or none
		for _, n := range on {
			known = known && (n == 0 || n > 20)
		}
		if found == nil {
			if known {
				t.Errorf("round %d: nothing is found for %v, sign %d", round, planes, sign)
			}
			continue
		}
		for _, p := range points {
			best := found[0].at(p.x)
			for _, f := range found {
				if y := f.at(p.x); got*(y-best) > 0 {
					best = y
				}
			}
			if best != p.y {
				t.Fatalf("round %d: %v at %v is %d, want %d", round, found, p.x, best, p.y)
			}
		}
	}
}

// TestPiecesOfNoise tests that nothing is found where there is nothing.
func TestPiecesOfNoise(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var points []sample
	for a := int64(0); a < 15; a++ {
		for b := int64(0); b < 15; b++ {
			points = append(points, sample{[]int64{a, b}, rng.Int64N(50)})
		}
	}
	if found, _ := piecesOf(points, 1); found != nil {
		t.Errorf("found %v", found)
	}
}

// TestStepped tests numbers of steps: they are known where all quotients that agree with
// the runs are the same, and only there.
func TestStepped(t *testing.T) {
	s := Series{Steps: []int64{12}}
	for _, n := range []int64{25, 30, 37, 41, 47, 55, 61} { // as n = 37 is the first with four
		s.Sizes, s.Values = append(s.Sizes, n), append(s.Values, scale*((n-1)/12))
	}
	for n := int64(62); n < 200; n++ {
		v, ok := s.stepped(n)
		// Of the multiples of 12, 36 and 48 might have had as many steps as 37 and 49:
		// there was no run at them.
		if want := scale * ((n - 1) / 12); ok && v.At != want || ok != (n%12 != 0) {
			t.Errorf("n=%d: %d, %v; want %d", n, v.At, ok, want)
		}
		if ok && !v.Exact() {
			t.Errorf("n=%d: %+v is not exact", n, v)
		}
	}
	two := Series{Steps: []int64{12}, Sizes: []int64{14, 16, 19, 25, 27, 30}, Values: []int64{8, 8, 8, 16, 16, 16}}
	if v, ok := two.stepped(97); ok {
		t.Errorf("two values determine %+v", v)
	}
	half := Series{Steps: []int64{6}, Sizes: s.Sizes, Values: s.Values} // the loop is unrolled
	if v, ok := half.stepped(97); !ok || v.At != scale*(96/12) {
		t.Errorf("steps of 6, twice in an iteration, give %+v, %v", v, ok)
	}
	// Sizes with full tiles alone, in which control went one way, tell what 36 and 48 have.
	limited := s
	limited.Limits = []Limit{{Size: 36, Value: scale * 2, Greatest: true}, {Size: 48, Value: scale * 3, Greatest: true}, {Size: 49, Value: scale * 4}}
	if v, ok := limited.stepped(96); !ok || v.At != scale*(95/12) {
		t.Errorf("within limits: %+v, %v", v, ok)
	}
	other := Series{Steps: []int64{11}, Sizes: s.Sizes, Values: s.Values}
	if v, ok := other.stepped(97); ok {
		t.Errorf("steps of 11 give %+v", v)
	}
}

// TestPiecesInEighths tests pieces whose coefficients are no integers: where k is unrolled
// by two, the last pair of a tile of 24 is the lesser of 11 and n/2 - 12·K - 1.
func TestPiecesInEighths(t *testing.T) {
	value := func(n, k int64) int64 { return min(11, n/2-12*k-1) }
	var points []sample
	for n := int64(30); n <= 90; n += 8 {
		for k := range (n + 23) / 24 {
			points = append(points, sample{[]int64{k, n}, scale * value(n, k)})
		}
	}
	found, sign := piecesOf(points, 1)
	if len(found) != 2 || sign != -1 {
		t.Fatalf("%d pieces, sign %d: %+v", len(found), sign, found)
	}
	for n := int64(30); n < 400; n += 2 {
		for k := range (n + 23) / 24 {
			if got := min(found[0].at([]int64{k, n}), found[1].at([]int64{k, n})); got != scale*value(n, k) {
				t.Fatalf("n=%d, K=%d: %d eighths, want %d", n, k, got, scale*value(n, k))
			}
		}
	}
}

// TestPinnedPieces tells pieces that their points determine from those of which one point
// alone gives a slope.
func TestPinnedPieces(t *testing.T) {
	line := piece{coef: []int64{0, 16}, depends: 3}  // 2·size, whatever the level
	slope := piece{coef: []int64{8, 16}, depends: 3} // and one more for each level
	var levels, corner, cross []sample
	for n := int64(4); n < 8; n++ {
		levels = append(levels, sample{[]int64{1, n}, slope.at([]int64{1, n})})
	}
	corner = append(slices.Clone(levels), sample{[]int64{2, 7}, slope.at([]int64{2, 7})})
	cross = append(slices.Clone(corner), sample{[]int64{2, 5}, slope.at([]int64{2, 5})})
	for _, c := range []struct {
		name   string
		piece  piece
		points []sample
		want   bool
	}{
		{"a slope of no point", slope, levels, false},
		{"a slope of one point", slope, corner, false},
		{"a slope of two points", slope, cross, true},
		{"no slope", line, []sample{{[]int64{0, 1}, 16}, {[]int64{0, 2}, 32}, {[]int64{0, 3}, 48}}, true},
		{"two sizes", line, []sample{{[]int64{0, 1}, 16}, {[]int64{1, 1}, 16}, {[]int64{0, 2}, 32}}, false},
		{"a constant", piece{coef: []int64{0, 0}}, levels, true},
	} {
		if got := c.piece.pinned(c.points); got != c.want {
			t.Errorf("%s: pinned %v, want %v", c.name, got, c.want)
		}
	}
}
