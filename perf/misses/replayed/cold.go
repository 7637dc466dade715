package replayed

import (
	"math"

	"presage/perf/misses"
)

// maxColdOff is the share of the first uses of blocks by which those of a correction may
// differ from what the models say, and from the replay's own.
const maxColdOff = 0.02

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
// how many they are together.
func conserveCold(of misses.Uncorrected, groups []misses.GroupCorrection, replayed float64) {
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
	if !differs(touched) || !differs(replayed) {
		return
	}
	if counted < touched && rest > 0 {
		for i := range groups {
			if g := &groups[i]; g.Method == "" {
				g.FirstUses = (touched - counted) * of.Groups[i].Cold / rest
			}
		}
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
