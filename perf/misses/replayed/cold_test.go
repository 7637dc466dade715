package replayed

import (
	"slices"
	"testing"

	"presage/perf/misses"
	"presage/perf/predict"
)

// TestConserveCold tests that first uses of blocks are as many as those of the models:
// where a correction has more, at levels that hold all blocks, they are where the models
// have them; where it has fewer, at any level, those of other groups.
func TestConserveCold(t *testing.T) {
	near := func(cold, reuse float64) misses.GroupCorrection {
		return misses.GroupCorrection{Method: MethodNear, Misses: predict.Misses{Accesses: 1e6, Cold: cold, Reuse: reuse}}
	}
	exact := near(1000, 50)
	exact.Method, exact.Exact = Method, true
	for _, c := range []struct {
		what   string
		sets   uint64 // of two ways
		models []float64
		groups []misses.GroupCorrection
		all    float64   // first uses in the replay
		want   []float64 // first uses, but what the models have of groups that are not corrected
	}{
		{"counted twice", 1024, []float64{1000, 10}, []misses.GroupCorrection{{}, near(1000, 50)}, 1000, []float64{0, 10}},
		{"counted nowhere", 1024, []float64{10, 1000}, []misses.GroupCorrection{{}, near(10, 50)}, 1000, []float64{990, 10}},
		{"counted nowhere in a level that does not hold them", 256, []float64{10, 1000}, []misses.GroupCorrection{{}, near(10, 50)}, 1000, []float64{990, 10}},
		{"counted nowhere, and no others", 1024, []float64{0, 1000}, []misses.GroupCorrection{{}, near(10, 50)}, 1000, []float64{0, 1000}},
		{"hardly twice", 1024, []float64{1000, 10}, []misses.GroupCorrection{{}, near(25, 50)}, 1000, []float64{0, 25}},
		{"as many as in the replay", 1024, []float64{10, 1000}, []misses.GroupCorrection{{}, near(1100, 50)}, 1111, []float64{0, 1100}},
		{"a level that does not hold them", 256, []float64{1000, 10}, []misses.GroupCorrection{{}, near(1000, 50)}, 1000, []float64{0, 1000}},
		{"exact", 1024, []float64{1000, 10}, []misses.GroupCorrection{{}, exact}, 1000, []float64{0, 1000}},
	} {
		of := misses.Uncorrected{Level: predict.Level{Sets: c.sets, Ways: 2}}
		for _, cold := range c.models {
			of.Groups = append(of.Groups, predict.Misses{Accesses: 1e6, Cold: cold})
		}
		reuse := c.groups[1].Misses.Reuse
		conserveCold(of, c.groups, firstUses{all: c.all})
		got := []float64{c.groups[0].FirstUses, c.groups[1].Misses.Cold}
		if !slices.Equal(got, c.want) || c.groups[1].Misses.Reuse != reuse {
			t.Errorf("%s: %v first uses and %g other misses, want %v and %g", c.what, got, c.groups[1].Misses.Reuse, c.want, reuse)
		}
	}
}

// TestFirstUsesOfTheReplay: first uses that corrected groups lack are those of the groups
// that have more in the replay than models say, and not of a library's start.
func TestFirstUsesOfTheReplay(t *testing.T) {
	corrected := misses.GroupCorrection{Method: MethodNear, Misses: predict.Misses{Accesses: 1e6, Cold: 10}}
	of := misses.Uncorrected{Level: predict.Level{Sets: 1024, Ways: 2}}
	for _, cold := range []float64{30, 80, 1000} {
		of.Groups = append(of.Groups, predict.Misses{Accesses: 1e6, Cold: cold})
	}
	for _, c := range []struct {
		all   float64
		whole bool
		want  float64
	}{{1100, true, 980}, {1100, false, 990}, {2000, true, 990}, {700, true, 580}, {60, true, 0}} {
		groups := []misses.GroupCorrection{{}, {}, corrected}
		conserveCold(of, groups, firstUses{c.all, []float64{30, 1060, 10}, c.whole})
		if groups[0].FirstUses != 0 || groups[1].FirstUses != c.want {
			t.Errorf("%g first uses (%v): %g and %g more, want 0 and %g", c.all, c.whole, groups[0].FirstUses, groups[1].FirstUses, c.want)
		}
	}
}
