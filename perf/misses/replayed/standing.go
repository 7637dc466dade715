package replayed

import (
	"fmt"
	"strings"

	"presage/perf/cache"
	"presage/perf/internal/num"
)

// settled reports whether the misses of a group are those of the replay without a trial;
// hardly says that hardly any accesses of the program are in doubt.
func (s standing) settled(misses uint64, hardly bool) bool {
	return s.likely() || hardly && s.slight(misses)
}

// unsure reports whether groups that are not settled have a share of a level's misses: all
// of a program may be one group, which exchanges accesses with others from size to size, and
// then what it prints stands beside few misses.
func (c *Corrector) unsure(r *replayedPoint, counts cache.LevelResult, hardly bool) bool {
	sum := uint64(0)
	for _, groups := range c.groups {
		if n, s := r.of(counts, groups); s.Accesses > 0 && !s.settled(n.Misses, hardly) {
			sum += n.Misses
		}
	}
	return float64(sum) > maxSlack*float64(counts.Total.Misses)
}

// slight reports whether so few accesses of a group are in doubt, in the replay, that its
// misses are those of the replay wherever these go: each misses once at most.
func (s standing) slight(misses uint64) bool {
	return s.Accesses > 0 && float64(s.Doubtful-s.Likely) <= maxSlack*float64(misses)
}

// method names how the misses of a replay are known, if hardly any accesses are in doubt; exact says that accesses in doubt
// hardly change those of certified groups.
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
