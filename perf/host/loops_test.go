package host

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// curveOfLoops returns the curve of a core that predicts the ends of loops of up to
// reach iterations: the code around a loop takes 1 ns, a misprediction 10.
func curveOfLoops(reach int, disturbed func(iterations int) float64) *calibration {
	c := &calibration{Profile: &Profile{Cycle: exact(0.5), Mispredict: exact(10)}}
	for pass := range 2 {
		for _, n := range sizes(2, maxIterations, 1, 4) {
			ends := 1.0
			if int(n) > reach {
				ends += 10
			}
			s := exact(ends + disturbed(int(n)))
			if pass == 0 { // the other pass is steadier
				s.Median, s.Max = 3*s.Median, 4*s.Max
			}
			c.Loops = append(c.Loops, Loop{int(n), exact(1.3*float64(n) + ends), s})
		}
	}
	c.findLoopReach()
	return c
}

func TestFindLoopReach(t *testing.T) {
	quiet := func(int) float64 { return 0 }
	for _, c := range []struct {
		name      string
		reach     int
		disturbed func(int) float64
		lo, hi    int
	}{
		{"none", 1, quiet, 1, 2},
		{"short", 16, quiet, 16, 19},
		{"between two lengths", 70, quiet, 64, 76},
		{"beyond what is tried", 1000, quiet, 256, 0},
		{"one disturbed", 64, func(n int) float64 { return map[int]float64{19: 30}[n] }, 64, 76},
		{"now and then foreseen beyond", 64, func(n int) float64 { return map[int]float64{108: -10, 128: -10}[n] }, 64, 76},
	} {
		p := curveOfLoops(c.reach, c.disturbed)
		if p.LoopReach != c.lo || p.LoopHi != c.hi || len(p.Warnings) != 0 {
			t.Errorf("%s: from %d to %d, want from %d to %d; warnings %v", c.name, p.LoopReach, p.LoopHi, c.lo, c.hi, p.Warnings)
		}
	}
	// Times that are up to a fifth of a wrong guess longer change nothing.
	rng := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		if p := curveOfLoops(38, func(int) float64 { return 2 * rng.Float64() }); p.LoopReach != 38 || p.LoopHi != 45 {
			t.Fatalf("with noise: from %d to %d", p.LoopReach, p.LoopHi)
		}
	}
	free := &calibration{Profile: &Profile{Cycle: exact(0.5), Mispredict: exact(0.5), Loops: []Loop{{2, exact(1), exact(0)}}}}
	if free.findLoopReach(); free.LoopReach != 0 || len(free.Warnings) != 1 || !strings.Contains(free.Warnings[0], "too little") {
		t.Errorf("wrong guesses that cost nothing: %d, warnings %v", free.LoopReach, free.Warnings)
	}
}

// TestNest demands that a round of nest makes the requested number of
// iterations.
func TestNest(t *testing.T) {
	for _, c := range []struct{ iterations, rounds int }{{2, 1}, {1, 2}, {2, 3}, {7, 5}} {
		if got, want := nest(0, c.iterations, c.rounds), uint64(c.iterations*c.rounds); got != want {
			t.Errorf("%d rounds of %d: %d iterations, want %d", c.rounds, c.iterations, got, want)
		}
	}
}
