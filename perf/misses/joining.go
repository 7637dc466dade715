package misses

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/cfg"
	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// part is what a Model models as one: a group that the runs have in common or
// several that only together have an execution count that is a function of the
// size.
type part struct {
	groups []locality.Group // ascending
	at     locality.Place   // that holds them
}

const (
	// smallMisfit is how far the function fitted to the accesses of a part may be
	// off at any size, as a share of the run's accesses, for the part to stand by
	// itself.
	smallMisfit = 1e-3
	// restMisfit bounds the sum of such misfits of all parts that are not looked at
	// any further.
	restMisfit = 2.5e-3
	// remains is the share of the parts' misfits up to which that of their sum shows
	// that they exchange accesses.
	remains = 0.1
	// tolerated is the misfit of the whole program beyond which what is off in a
	// routine is joined.
	tolerated = DefaultDeviation / 2
)

// A joiner joins groups whose accesses no function of the size describes, because
// they exchange them from size to size, with those that they exchange them with. A
// compiler that does something else at one size does that, if its executable's
// groups have been matched wrongly, and so does a program that takes another path:
//
//	n                 24     32     40     48
//	loop, unrolled  2304          6400   9216
//	loop                   4096
//
// By itself neither row can be modelled, and would be held constant; their sum is
// 4n². The joiner looks for it from the innermost loops out to the program.
type joiner struct {
	shared  *locality.SharedGroups
	runs    *locality.Runs
	sizes   []fit.Point
	options scaling.Options
	total   []float64 // accesses of each run

	units  []unit
	joined []join
}

// join is some units that are to be one.
type join struct{ misfit []float64 }

// unit is a group of the runs.
type unit struct {
	group  locality.Group
	at     locality.Place
	counts []float64 // accesses of each run
	misfit []float64 // by how much the function fitted to them is above, as a share of the run's accesses
	with   int       // index in joiner.joined, from 1; 0: by itself
}

// joinVersion is part of the key of a stored partition: raise it when joining
// changes.
const joinVersion = 3

// parts returns the groups that were accessed in any run, joined where they
// exchange accesses.
func (j *joiner) parts(ctx context.Context, r *refits) ([]part, string, error) {
	j.count()
	key := func() (store.Key, error) { return store.NewKey("joined", joinVersion, r.inputs(r.kept(0))) }
	joined, err := memo(r, key, func() ([][]int, error) { return j.join(ctx) })
	if err != nil {
		return nil, "", fmt.Errorf("perf: join: %w", err)
	}
	return j.partsOf(joined.Value), joined.Warning, nil
}

// count finds the groups that were accessed, and what each run made of accesses.
func (j *joiner) count() {
	all := slices.Collect(j.shared.All())
	counts := make([][]float64, len(all))
	share(len(all), func(g int) {
		counts[g] = make([]float64, len(j.runs.Runs))
		for r := range counts[g] {
			counts[g][r] = float64(j.shared.Accesses(j.runs, r, all[g]))
		}
	})
	j.total = make([]float64, len(j.runs.Runs))
	for g := range all {
		sum := 0.0
		for r, n := range counts[g] {
			j.total[r] += n
			sum += n
		}
		if sum > 0 {
			j.units = append(j.units, unit{group: all[g], at: j.shared.PlaceOf(all[g]), counts: counts[g]})
		}
	}
}

// partsOf returns the units as parts, of which some are joined.
func (j *joiner) partsOf(joined [][]int) []part {
	with := make([]int, len(j.units)) // index in joined, from 1
	for n, list := range joined {
		for _, u := range list {
			with[u] = n + 1
		}
	}
	var parts []part
	of := make(map[int]int) // by index in joined, from 1: index in parts
	for u := range j.units {
		p := part{[]locality.Group{j.units[u].group}, j.units[u].at}
		at, ok := of[with[u]]
		switch {
		case with[u] > 0 && ok:
			parts[at].groups = append(parts[at].groups, p.groups...)
			parts[at].at = j.common(parts[at].at, p.at)
			continue
		case with[u] > 0:
			of[with[u]] = len(parts)
		}
		parts = append(parts, p)
	}
	return parts
}

// common returns the innermost place that holds two others.
func (j *joiner) common(a, b locality.Place) locality.Place {
	for a != b {
		if a > b {
			a = j.shared.Outer(a)
		} else {
			b = j.shared.Outer(b)
		}
	}
	return a
}

// join returns the units that are to be one.
func (j *joiner) join(ctx context.Context) ([][]int, error) {
	series := make([]scaling.Series, len(j.units))
	for u := range j.units {
		series[u].Counts = j.units[u].counts
	}
	misfits, err := j.misfits(ctx, series)
	if err != nil {
		return nil, err
	}
	for u := range j.units {
		j.units[u].misfit = misfits[u]
	}
	rough := make(map[locality.Place][]int)
	for _, u := range j.rough() {
		rough[j.units[u].at] = append(rough[j.units[u].at], u)
	}
	for p := locality.Place(j.shared.Places() - 1); p >= 0 && len(rough) > 0; p-- {
		list := rough[p]
		if len(list) == 0 {
			continue
		}
		delete(rough, p)
		ok, err := j.joinAt(ctx, list)
		if err != nil {
			return nil, err
		}
		if !ok && p > 0 {
			outer := j.shared.Outer(p)
			rough[outer] = append(rough[outer], list...)
		}
	}
	if err := j.joinRest(ctx); err != nil {
		return nil, err
	}
	turns, err := j.joinTurns(ctx, j.entering())
	return append(j.lists(), turns...), err
}

// lists returns the units of each join.
func (j *joiner) lists() [][]int {
	lists := make([][]int, len(j.joined))
	for u := range j.units {
		if n := j.units[u].with; n > 0 {
			lists[n-1] = append(lists[n-1], u)
		}
	}
	return slices.DeleteFunc(lists, func(l []int) bool { return len(l) == 0 })
}

// misfits returns, for each series and size, how far the function fitted to it is
// above it, as a share of the run's accesses.
func (j *joiner) misfits(ctx context.Context, series []scaling.Series) ([][]float64, error) {
	m, err := scaling.FitCounts(ctx, j.sizes, series, j.options)
	if err != nil {
		return nil, err
	}
	out := make([][]float64, len(series))
	for s := range series {
		out[s] = make([]float64, len(j.sizes))
		for i, size := range j.sizes {
			out[s][i] = num.Ratio(m.Funcs[s].Eval(size)-series[s].Counts[i], j.total[i])
		}
	}
	return out, nil
}

// rough returns the units that fit worst, as many as it takes for the misfits of
// all others together to be small.
func (j *joiner) rough() []int {
	order := make([]int, len(j.units))
	rest := make([]float64, len(j.sizes))
	for u := range order {
		order[u] = u
		for i, v := range j.units[u].misfit {
			rest[i] += math.Abs(v)
		}
	}
	off := func(u int) float64 { return worst(j.units[u].misfit) }
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(off(b), off(a)) })
	n := 0
	for n < len(order) && (slices.Max(rest) > restMisfit || off(order[n]) > smallMisfit) {
		for i, v := range j.units[order[n]].misfit {
			rest[i] -= math.Abs(v)
		}
		n++
	}
	list := order[:n]
	slices.Sort(list)
	return list
}

// joinAt joins units inside a place if they exchange accesses with each other; it
// returns false if they do not.
func (j *joiner) joinAt(ctx context.Context, list []int) (bool, error) {
	if len(list) < 2 {
		return false, nil
	}
	apart := make([]float64, len(j.sizes))
	for _, u := range list {
		for i, v := range j.units[u].misfit {
			apart[i] += math.Abs(v)
		}
	}
	together, err := j.misfitOf(ctx, list)
	if err != nil || worst(together) > remains*slices.Max(apart) {
		return false, err
	}
	j.take(list, together)
	return true, nil
}

// misfitOf returns the misfit of the sum of units.
func (j *joiner) misfitOf(ctx context.Context, list []int) ([]float64, error) {
	sum := make([]float64, len(j.sizes))
	for _, u := range list {
		for i, n := range j.units[u].counts {
			sum[i] += n
		}
	}
	misfits, err := j.misfits(ctx, []scaling.Series{{Counts: sum}})
	if err != nil {
		return nil, err
	}
	return misfits[0], nil
}

// take makes units one.
func (j *joiner) take(list []int, misfit []float64) {
	for _, u := range list {
		j.units[u].with = len(j.joined) + 1
	}
	j.joined = append(j.joined, join{misfit})
}

// net returns the misfit of all that there is in a place, each join counted by
// itself.
func (j *joiner) net(list []int) []float64 {
	sum := make([]float64, len(j.sizes))
	seen := make(map[int]bool)
	for _, u := range list {
		misfit := j.units[u].misfit
		if n := j.units[u].with; n > 0 {
			if seen[n] {
				continue
			}
			seen[n], misfit = true, j.joined[n-1].misfit
		}
		for i, v := range misfit {
			sum[i] += v
		}
	}
	return sum
}

// joinRest joins what is still off, as long as the program's accesses are off by too
// much and the join is not: in each routine, worst first, and then in the program,
// the units that fit badly by themselves. Where several executables were matched, a
// unit that fits well may be what they exchange accesses with: all units of a
// routine are tried, too, and finally all of the program. A program whose work is no
// function of the size is left in parts.
func (j *joiner) joinRest(ctx context.Context) error {
	lists := j.byRoutine(func(u *unit) bool { return u.with > 0 || worst(u.misfit) > smallMisfit })
	if j.runs.Matched() {
		lists = append(lists, j.byRoutine(func(*unit) bool { return true })...)
	}
	all := make([]int, len(j.units))
	for u := range all {
		all[u] = u
	}
	for _, list := range lists {
		now := j.net(all)
		if worst(now) <= tolerated {
			return nil
		}
		if len(list) < 2 {
			continue
		}
		together, err := j.misfitOf(ctx, list)
		if err != nil {
			return err
		}
		apart := j.net(list)
		after := make([]float64, len(now))
		for i := range after {
			after[i] = now[i] - apart[i] + together[i]
		}
		if worst(together) <= remains*worst(apart) || worst(now) > DefaultDeviation && worst(after) <= DefaultDeviation {
			j.take(list, together)
		}
	}
	return nil
}

// byRoutine returns the units that are wanted in each routine, those that are off most
// first, and then all that are wanted.
func (j *joiner) byRoutine(wanted func(*unit) bool) [][]int {
	inside := make(map[locality.Place][]int)
	var places []locality.Place
	var all []int
	for u := range j.units {
		if !wanted(&j.units[u]) {
			continue
		}
		p := j.units[u].at
		for j.shared.KindOf(p) == cfg.LoopScope {
			p = j.shared.Outer(p)
		}
		if inside[p] == nil {
			places = append(places, p)
		}
		inside[p] = append(inside[p], u)
		all = append(all, u)
	}
	slices.SortStableFunc(places, func(a, b locality.Place) int {
		return cmp.Compare(worst(j.net(inside[b])), worst(j.net(inside[a])))
	})
	lists := make([][]int, 0, len(places)+1)
	for _, p := range places {
		lists = append(lists, inside[p])
	}
	return append(lists, all)
}

func worst(misfit []float64) float64 { return max(slices.Max(misfit), -slices.Min(misfit)) }

// warnings say which parts were joined.
func (m *Model) joinWarnings(runs *locality.Runs) []string {
	var out []string
	for i := range m.parts {
		p := &m.parts[i]
		if len(p.groups) < 2 {
			continue
		}
		share := 0.0
		for r, n := range m.sumOf(runs, p.groups) {
			share = max(share, num.Ratio(n, m.totals[r]))
		}
		out = append(out, fmt.Sprintf("%s: %d groups of references with up to %s of the accesses exchange them from size to size, and are modelled together",
			m.shared.NameAt(subject.ByLoop, p.at), len(p.groups), num.Percent(share)))
	}
	return out
}

// sumOf returns the accesses of groups in each run.
func (m *Model) sumOf(runs *locality.Runs, groups []locality.Group) []float64 {
	sum := make([]float64, len(runs.Runs))
	for r := range sum {
		for _, g := range groups {
			sum[r] += float64(m.shared.Accesses(runs, r, g))
		}
	}
	return sum
}
