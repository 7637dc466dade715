package replayed

import (
	"fmt"
	"math"
	"strings"

	"presage/perf/cache"
	"presage/perf/internal/num"
	"presage/perf/misses"
	"presage/perf/predict"
)

// settled reports whether the misses of a group are those of the replay without a trial;
// hardly says that hardly any accesses of the program are in doubt.
func (s standing) settled(counted uint64, hardly bool, of misses.Uncorrected, group int) bool {
	return s.likely() || s.done(of, group) || hardly && (s.slight(counted) || s.overstated(of, group))
}

// maxPace is by what factor the accesses of a replay may differ from what models expect.
const maxPace = 1.1

// pace returns how many times as many accesses models expect of groups that are not settled
// as a replay has; 1 if about as many. Where data end a loop, as an iteration that
// converges does, both are extrapolated: the replay's by each bound, which nothing holds, and
// the models' as all counts are. What shares of them miss, the replay knows.
func (c *Corrector) pace(r *replayedPoint, counts cache.LevelResult, hardly bool, of misses.Uncorrected) float64 {
	var modelled, replayed float64
	for i, groups := range c.groups {
		n, s := r.of(counts, groups)
		if i < len(of.Groups) && s.Accesses > 0 && !s.settled(n.Misses, hardly, of, i) {
			modelled, replayed = modelled+of.Groups[i].Accesses, replayed+float64(s.Accesses)
		}
	}
	if modelled == 0 || modelled <= maxPace*replayed && replayed <= maxPace*modelled {
		return 1
	}
	return modelled / replayed
}

// atPace returns a correction of accesses in doubt for so many times as many as the replay has;
// off is by what share a trial was off. It spoke for the number of the replay, so that what is
// expected contains both.
func atPace(g misses.GroupCorrection, pace, off float64) misses.GroupCorrection {
	g.Method, g.Off = MethodTested, max(off, math.Abs(1-1/pace))
	reuses := g.Misses.Accesses - g.Misses.Cold
	g.Misses.Accesses, g.Misses.Reuse = g.Misses.Cold+reuses*pace, g.Misses.Reuse*pace
	return g
}

// unsure reports whether groups that are not settled have a share of a level's misses: all
// of a program may be one group, which exchanges accesses with others from size to size, and
// then what it prints stands beside few misses.
func (c *Corrector) unsure(r *replayedPoint, counts cache.LevelResult, hardly bool, of misses.Uncorrected) bool {
	sum := uint64(0)
	for i, groups := range c.groups {
		if n, s := r.of(counts, groups); s.Accesses > 0 && !s.settled(n.Misses, hardly, of, i) {
			sum += n.Misses
		}
	}
	return float64(sum) > maxSlack*float64(counts.Total.Misses)
}

// slight reports whether so few accesses of a group are in doubt, in the replay, that its
// misses are those of the replay wherever these go: each misses once at most.
func (s standing) slight(counted uint64) bool {
	return s.Accesses > 0 && float64(s.Doubtful-s.Likely) <= maxSlack*float64(counted)
}

// done reports whether the real run had nearly all accesses that are known of a group, and as
// many as models expect, or nearly: such as those of routines that copied what it begins with.
func (s standing) done(of misses.Uncorrected, group int) bool {
	const nearly = 1.1
	return float64(s.Accesses-s.Real) <= maxSlack*float64(s.Accesses) &&
		group < len(of.Groups) && of.Groups[group].Accesses <= nearly*float64(s.Accesses)
}

// overstated reports whether models expect far more accesses of a group than a replay has, and
// most of these are not in doubt: such as of a routine that clears memory as long as it is
// small.
func (s standing) overstated(of misses.Uncorrected, group int) bool {
	const times = 2
	return times*(s.Doubtful-s.Likely) <= s.Accesses && group < len(of.Groups) && of.Groups[group].Accesses > times*float64(s.Accesses)
}

// off returns by what share of the misses of a group that is settled they may be wrong.
func (s standing) off(counted uint64) float64 {
	if s.likely() {
		return 0
	}
	return min(1, max(maxSlack, float64(s.Doubtful-s.Likely)/math.Max(1, float64(counted))))
}

// correction returns what a replay counts of a group; exact is as of method.
func (s standing) correction(n cache.Counts, exact bool) misses.GroupCorrection {
	return misses.GroupCorrection{
		Method: s.method(exact),
		Misses: predict.Misses{Accesses: float64(n.Accesses), Cold: float64(n.Cold), Reuse: float64(n.Misses - n.Cold)},
		Exact:  exact && s.certified(),
		Off:    s.off(n.Misses),
	}
}

// method names how the misses of a replay are known, if hardly any accesses are in doubt;
// exact says that accesses in doubt hardly change those of certified groups.
func (s standing) method(exact bool) string {
	if exact && s.certified() {
		return Method
	}
	return MethodNear
}

// said returns what rows are told of the accesses that are not certified.
func (s standing) said(reasons []string) (out []string) {
	total := float64(s.Accesses)
	if likely := float64(s.Likely); likely > noticeable*total {
		out = append(out, fmt.Sprintf("%s of the accesses are replayed, though the start of the run of the size's own executable does not show how often they are executed",
			num.Percent(likely/total)))
	}
	if doubtful := float64(s.Doubtful - s.Likely); doubtful > noticeable*total {
		out = append(out, fmt.Sprintf("%s of the accesses are not certified, and not replayed: %s",
			num.Percent(doubtful/total), strings.Join(reasons, "; ")))
	}
	return out
}
