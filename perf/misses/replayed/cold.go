package replayed

import (
	"math"

	"presage/perf/misses"
)

// maxColdOff is the share of the first uses of blocks by which those of a correction may
// differ from what the models say, and from the replay's own.
const maxColdOff = 0.02

// conserveCold mends corrections that count the first use of a block twice, or not at all,
// at a level that holds all that the program touches. Where a replay leaves out a routine
// that initialises an array, say, it has the first uses in the loops that come after, and
// the models, which predict the routine, have them there. Then they are where the models
// have them. What they displace would be hits. Corrections with as many first uses as the
// replay has in all, which is replayed, are left alone.
func conserveCold(of misses.Uncorrected, groups []misses.GroupCorrection, replayed float64) {
	if len(of.Groups) != len(groups) {
		return // the models are not asked
	}
	var touched, counted float64
	for i := range groups {
		touched += of.Groups[i].Cold
		if groups[i].Method == "" {
			counted += of.Groups[i].Cold
		} else {
			counted += groups[i].Misses.Cold
		}
	}
	differs := func(n float64) bool { return math.Abs(counted-n) > maxColdOff*n }
	if touched > float64(of.Level.Blocks()) || !differs(touched) || !differs(replayed) {
		return
	}
	for i := range groups {
		if g := &groups[i]; g.Method != "" && !g.Exact {
			g.Misses.Cold = of.Groups[i].Cold
		}
	}
}
