// Package patterns divides the misses of a program by reuse patterns: the scope that
// accesses a block, the scope that accessed it before, the loop that carries the
// reuse, and the object that the block belongs to; predicted with models at any size
// or simulated exactly. It finds what objects miss, how much of what they fetch is
// used, and which of them collide in a cache.
//
//	for (t = 0; t < steps; t++)      the loop that carries the reuse
//		for (i = 0; i < n; i++)  the source
//			a[i] = b[i];
//		for (i = 0; i < n; i++)  the scope
//			s += a[i];
//
// Here the reuses of a are within an iteration of the loop over t, those of b cross
// its iterations. A pattern says where a program would have to change: the reuses of
// a become short if the inner loops are fused, those of b if time steps are tiled.
// (Marin and Mellor-Crummey attribute misses in this way in later work than the
// papers of 2004 and 2005; the definitions here are those of package reuse.)
package patterns

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"presage/perf/internal/num"
	"presage/perf/subject"
)

// Pattern is what accesses have in common whose reuses one loop carries. The first
// accesses to blocks have a pattern, too: it has neither source nor carrier.
type Pattern struct {
	Scope   string `frame:"scope"`           // that accesses the block
	Source  string `frame:"source"`          // that accessed it before; empty: none did
	Carrier string `frame:"carrier"`         // the innermost loop whose execution contains both accesses; empty: none
	Crosses bool   `frame:"cross_iteration"` // they are in different iterations of the carrier
	Object  string `frame:"object"`          // as in locality.Carried
}

// Cold reports whether the pattern is of first accesses.
func (p Pattern) Cold() bool { return p.Source == "" && p.Object != OtherPatterns }

// OtherPatterns is the Object of what is summed up of a scope, being too little to
// be modelled by itself or to be listed.
const OtherPatterns = "other patterns"

// compare orders patterns by their text.
func (p Pattern) compare(q Pattern) int {
	by := cmp.Or(cmp.Compare(p.Scope, q.Scope), cmp.Compare(p.Source, q.Source), cmp.Compare(p.Carrier, q.Carrier), cmp.Compare(p.Object, q.Object))
	switch {
	case by != 0 || p.Crosses == q.Crosses:
		return by
	case q.Crosses:
		return -1
	}
	return 1
}

// Predicted is the accesses and misses of a pattern at a level of a machine, as
// predicted at a point. All numbers are missing at a level that floating-point
// accesses bypass.
type Predicted struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Pattern
	Accesses float64 `frame:"pred_accesses"`
	Misses   float64 `frame:"pred_misses"`
	Low      float64 `frame:"pred_misses_low"` // see Predict; missing if no intervals were asked for
	High     float64 `frame:"pred_misses_high"`
	Share    float64 `frame:"pred_miss_share"` // of the level's misses, from 0 to 1
	// Prefetched is what prefetchers do, and Columns has that for tables; neither unless
	// PredictOptions ask for it.
	Prefetched Prefetched
	Columns    map[string]float64 `frame:",each"`
	// Used and Pace are as in Simulated, in the largest run that the model was fitted to;
	// missing unless PredictOptions ask for prefetching.
	Used    float64
	Pace    float64
	Warning string `frame:"pred_warning"`
	// Libraries are as in Level. All rows have the same map.
	Libraries map[string]bool
}

// Simulated is the accesses and misses of a pattern at a level of a machine, as
// simulated at a point.
type Simulated struct {
	Program string             `frame:"program"`
	Point   map[string]float64 `frame:",each"`
	Machine string             `frame:"machine"`
	Level   string             `frame:"level"`
	Pattern
	Accesses float64 `frame:"sim_accesses"`
	Misses   float64 `frame:"sim_misses"`
	Conflict float64 `frame:"sim_conflict_misses"` // those of accesses that hit if all caches are fully associative
	Share    float64 `frame:"sim_miss_share"`      // of the level's misses, from 0 to 1
	// Used is, of the bytes that the misses fetched, the share that was accessed before
	// the block left the level, in 64ths of a block where these are larger than a byte;
	// missing if nothing was fetched.
	Used float64 `frame:"sim_used_share"`
	// Prefetched is what prefetchers do, and Columns has that for tables; neither unless
	// SimulateOptions ask for it.
	Prefetched Prefetched
	Columns    map[string]float64 `frame:",each"`
	// Pace is the cycles between accesses, by the clock of the simulation with prefetchers;
	// 1 without a clock.
	Pace    float64
	Warning string `frame:"sim_warning"`

	used, fetched float64 // bytes
	paced         float64 // cycles that the accesses take
}

// listed sorts the rows of one level and point by their misses, and sums up those
// that a listing gives no row of their own.
func listed[T any](rows []T, list subject.Listing, misses func(*T) float64, pattern func(*T) *Pattern, add func(to, from *T)) []T {
	slices.SortStableFunc(rows, func(a, b T) int {
		return cmp.Or(-cmp.Compare(misses(&a), misses(&b)), pattern(&a).compare(*pattern(&b)))
	})
	parts := make([]float64, len(rows))
	for i := range rows {
		parts[i] = misses(&rows[i])
	}
	n := list.Listed(parts)
	if n == len(rows) {
		return rows
	}
	rest := rows[n]
	*pattern(&rest) = Pattern{Scope: subject.OtherScopes, Object: OtherPatterns}
	for i := n + 1; i < len(rows); i++ {
		add(&rest, &rows[i])
	}
	return append(rows[:n:n], rest)
}

func listedSimulated(rows []Simulated, list subject.Listing) []Simulated {
	total := 0.0
	for i := range rows {
		total += rows[i].Misses
	}
	rows = listed(rows, list, func(r *Simulated) float64 { return r.Misses }, func(r *Simulated) *Pattern { return &r.Pattern }, func(to, from *Simulated) {
		to.Accesses += from.Accesses
		to.Misses += from.Misses
		to.Conflict += from.Conflict
		to.used += from.used
		to.fetched += from.fetched
		to.paced += from.paced
		to.Prefetched = to.Prefetched.Plus(from.Prefetched)
	})
	for i := range rows {
		rows[i].Used = math.NaN()
		if rows[i].fetched > 0 {
			rows[i].Used = rows[i].used / rows[i].fetched
		}
		rows[i].Pace = num.Ratio(rows[i].paced, rows[i].Accesses)
		rows[i].Share = num.Ratio(rows[i].Misses, total)
		if rows[i].Columns != nil {
			rows[i].Columns = rows[i].Prefetched.columns("sim")
		}
	}
	return rows
}

func listedPredicted(rows []Predicted, list subject.Listing) []Predicted {
	total := 0.0
	for i := range rows {
		total += rows[i].Misses
	}
	rows = listed(rows, list, func(r *Predicted) float64 { return r.Misses }, func(r *Predicted) *Pattern { return &r.Pattern }, func(to, from *Predicted) {
		to.Accesses += from.Accesses
		to.Misses += from.Misses
		to.Low += from.Low
		to.High += from.High
		to.Prefetched = to.Prefetched.Plus(from.Prefetched)
		to.Warning = common(to.Warning, from.Warning)
	})
	for i := range rows {
		rows[i].Share = num.Ratio(rows[i].Misses, total)
		if rows[i].Columns != nil {
			rows[i].Columns = rows[i].Prefetched.columns("pred")
		}
	}
	return rows
}

// common returns what two lists of warnings have in common: what holds for a level as
// a whole, not for one scope.
func common(a, b string) string {
	have := strings.Split(b, "; ")
	return strings.Join(slices.DeleteFunc(strings.Split(a, "; "), func(w string) bool { return !slices.Contains(have, w) }), "; ")
}

// Nest returns the routine and the loops that the name of a scope is made of, the
// outermost first. The name of a routine may hold slashes, as Go's do.
func Nest(scope string) []string {
	i := strings.Index(scope, "/loop")
	if i < 0 {
		return []string{scope}
	}
	list := []string{scope[:i]}
	for part := range strings.SplitSeq(scope[i+1:], "/") {
		if strings.HasPrefix(part, "loop") {
			list = append(list, part)
		} else {
			list[len(list)-1] += "/" + part
		}
	}
	return list
}
