package replayed

import (
	"math"
	"testing"

	"presage/perf/cache"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/trace"
)

// TestSettled tests of which groups the misses are those of a replay without a trial.
func TestSettled(t *testing.T) {
	for _, c := range []struct {
		why      string
		s        standing
		counted  uint64
		hardly   bool
		modelled float64
		want     bool
	}{
		{"certified", standing{Accesses: 1000}, 100, false, 5000, true},
		{"in doubt", standing{Accesses: 1000, Doubtful: 900}, 100, true, 1000, false},
		{"few in doubt", standing{Accesses: 100000, Doubtful: 4}, 1000, true, 100000, true},
		{"few in doubt, and many elsewhere", standing{Accesses: 100000, Doubtful: 4}, 1000, false, 100000, false},
		{"in the real run, and as many as models expect", standing{Accesses: 10000, Doubtful: 40, Real: 9960}, 100, false, 10500, true},
		{"in the real run, and models expect more", standing{Accesses: 10000, Doubtful: 40, Real: 9960}, 100, false, 12000, false},
		{"most in the real run", standing{Accesses: 10000, Doubtful: 400, Real: 9600}, 100, false, 10000, false},
		{"models expect far more", standing{Accesses: 88, Doubtful: 8, Real: 80}, 3, true, 67500, true},
		{"models expect far more, and most of those replayed are in doubt", standing{Accesses: 88, Doubtful: 80, Real: 8}, 3, true, 67500, false},
		{"models expect far more, and many are in doubt elsewhere", standing{Accesses: 88, Doubtful: 8, Real: 80}, 3, false, 67500, false},
		{"not executed", standing{}, 0, true, 67500, true},
	} {
		of := misses.Uncorrected{Groups: []predict.Misses{{Accesses: c.modelled}}}
		if got := c.s.settled(c.counted, c.hardly, of, 0); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}

// TestPace: of a loop that data end, a replay has the shares of misses, and models how many
// accesses there are, if these are not about as many.
func TestPace(t *testing.T) {
	c := &Corrector{groups: [][]trace.GroupID{{0}, {1}, nil}}
	counts := cache.LevelResult{Groups: make([]cache.Counts, 2)}
	r := &replayedPoint{Groups: []standing{{Accesses: 1 << 30}, {Accesses: 1000, Doubtful: 900}}}
	for _, of := range []struct{ modelled, want float64 }{{1000, 1}, {1090, 1}, {950, 1}, {500, 0.5}, {4000, 4}} {
		groups := []predict.Misses{{Accesses: 1}, {Accesses: of.modelled}, {Accesses: 1e9}}
		if got := c.pace(r, counts, false, misses.Uncorrected{Groups: groups}); got != of.want {
			t.Errorf("%g accesses expected and 1000 replayed: %g times as many, want %g", of.modelled, got, of.want)
		}
	}
	if got := c.pace(r, counts, false, misses.Uncorrected{}); got != 1 {
		t.Errorf("nothing modelled: %g", got)
	}
}

// TestAtPace: the interval around what models make of a loop in doubt contains what the
// replay has, and no more accesses miss than there are.
func TestAtPace(t *testing.T) {
	replay := misses.GroupCorrection{Method: MethodNear, Misses: predict.Misses{Accesses: 1000, Cold: 100, Reuse: 800}}
	for _, c := range []struct{ pace, reuse, off float64 }{{1, 800, 0.03}, {0.4, 320, 1.5}, {4, 3200, 0.75}} {
		g := atPace(replay, c.pace, 0.03)
		if g.Method != MethodTested || g.Misses.Reuse != c.reuse || g.Misses.Cold != 100 || math.Abs(g.Off-c.off) > 1e-12 {
			t.Errorf("at %g: %+v", c.pace, g)
		}
		if g.Misses.Total() > g.Misses.Accesses {
			t.Errorf("at %g: %g misses of %g accesses", c.pace, g.Misses.Total(), g.Misses.Accesses)
		}
	}
}
