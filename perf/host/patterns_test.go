package host

import "testing"

// TestFollow demands the pattern's directions in turn, from where it was left.
func TestFollow(t *testing.T) {
	w := words{1, 100}
	pattern := []uint8{1, 0, 0, 1, 1}
	next, sum := follow(&w, pattern, 3, 4) // 1, 1, 1, 0
	if next != 2 || sum != 3^100 {
		t.Errorf("next %d, sum %d; want 2, %d", next, sum, 3^100)
	}
	if next, sum = follow(&w, pattern, next, 3); next != 0 || sum != 2^100 {
		t.Errorf("next %d, sum %d; want 0, %d", next, sum, 2^100)
	}
}

func TestFindPatternReach(t *testing.T) {
	// A wrong guess costs 10 ns, so that one at random takes 5.
	curve := func(ns ...float64) *calibration {
		c := &calibration{Profile: &Profile{Cycle: exact(0.5), Mispredict: exact(10)}}
		for i, t := range ns {
			c.Patterns = append(c.Patterns, Pattern{minPattern << i, exact(t)})
		}
		c.findPatternReach()
		return c
	}
	for _, c := range []struct {
		name   string
		times  []float64
		lo, hi int
	}{
		{"none", []float64{5, 5, 5}, 0, 512},
		{"some", []float64{0, 0.4, 1, 3, 5}, 2048, 4096},
		{"all", []float64{0, 0, 1}, 2048, 0},
		{"one disturbed", []float64{0, 4, 0, 4, 5, 5}, 2048, 4096},
		{"now and then beyond", []float64{0, 4, 5, 0}, 512, 1024},
		{"the last disturbed", []float64{0, 0, 5}, 1024, 2048},
	} {
		if p := curve(c.times...); p.PatternReach != c.lo || p.PatternHi != c.hi {
			t.Errorf("%s: from %d to %d, want from %d to %d", c.name, p.PatternReach, p.PatternHi, c.lo, c.hi)
		}
	}
	// Of several passes the steadiest counts.
	twice := curve(0, 4, 4, 5)
	twice.PatternReach, twice.PatternHi = 0, 0
	for i := range twice.Patterns {
		twice.Patterns[i].Branch.Max += 3
	}
	twice.Patterns = append(twice.Patterns, Pattern{minPattern, exact(0.2)}, Pattern{2 * minPattern, exact(0.3)})
	if twice.findPatternReach(); twice.PatternReach != 1024 || twice.PatternHi != 2048 {
		t.Errorf("two passes: from %d to %d", twice.PatternReach, twice.PatternHi)
	}
	free := &calibration{Profile: &Profile{Cycle: exact(0.5), Mispredict: exact(0.5), Patterns: []Pattern{{512, exact(0)}}}}
	if free.findPatternReach(); free.PatternReach != 0 {
		t.Errorf("wrong guesses that cost nothing: %d", free.PatternReach)
	}
}
