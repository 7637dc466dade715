package replayed

import (
	"math"

	"presage/perf/cache"
	"presage/perf/misses"
)

// maxColdOff is the share of the first uses of blocks by which those of a correction may
// differ from what the models say, and from the replay's own.
const maxColdOff = 0.02

// firstUses are those of a replay.
type firstUses struct {
	all   float64
	of    []float64 // by group
	whole bool      // it leaves hardly anything out
}

// firstUses returns those of a replay at a level, of which each group had so many.
func (r *replayedPoint) firstUses(counts cache.LevelResult, had []float64) firstUses {
	all := float64(counts.Total.Cold)
	return firstUses{all: all, of: had, whole: float64(r.Left) <= maxColdOff*all}
}

// conserveCold mends corrections that count the first use of a block twice, or not at all.
// Corrections with as many first uses as the replay has in all, which is replayed, are
// left alone.
//
// Where a replay leaves out a routine that initialises an array, say, it has the first uses
// in the loops that come after, and the models, which predict the routine, have them there.
// At a level that holds all that the program touches they are where the models have them,
// then: what they displace would be hits.
//
// Where groups that are corrected have fewer than the models say, others have more, at any
// level: of groups whose first uses are no function of the size, the models know only
// how many they are together. They are those that have more in the replay than by the models.
// If models and a replay that leaves hardly anything out differ in how many there are, they
// are as many as the replay has, or whichever is nearest to that.
func conserveCold(of misses.Uncorrected, groups []misses.GroupCorrection, replayed firstUses) {
	if len(of.Groups) != len(groups) {
		return // the models are not asked
	}
	var touched, counted, rest float64
	for i := range groups {
		touched += of.Groups[i].Cold
		if groups[i].Method == "" {
			rest += of.Groups[i].Cold
		} else {
			counted += groups[i].Misses.Cold
		}
	}
	counted += rest
	differs := func(n float64) bool { return math.Abs(counted-n) > maxColdOff*n }
	if !differs(touched) || !differs(replayed.all) {
		return
	}
	if counted < touched && rest > 0 {
		target := touched
		if replayed.whole {
			target = min(touched, max(counted, replayed.all))
		}
		shareFirstUses(of, groups, target-counted, replayed.of)
		return
	}
	if touched > float64(of.Level.Blocks()) {
		return
	}
	for i := range groups {
		if g := &groups[i]; g.Method != "" && !g.Exact {
			g.Misses.Cold = of.Groups[i].Cold
		}
	}
}

// shareFirstUses gives more first uses to groups that are not corrected: to each as many as
// it has in the replay beyond what its model says, in proportion, and if none has, in
// proportion to what models say.
func shareFirstUses(of misses.Uncorrected, groups []misses.GroupCorrection, more float64, had []float64) {
	share := func(weight func(i int) float64) bool {
		sum := 0.0
		for i := range groups {
			if groups[i].Method == "" {
				sum += weight(i)
			}
		}
		for i := range groups {
			if groups[i].Method == "" && sum > 0 {
				groups[i].FirstUses = more * weight(i) / sum
			}
		}
		return sum > 0
	}
	beyond := func(i int) float64 { return math.Max(0, had[i]-of.Groups[i].Cold) }
	if len(had) != len(groups) || !share(beyond) {
		share(func(i int) float64 { return of.Groups[i].Cold })
	}
}
