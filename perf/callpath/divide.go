package callpath

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// division is the models of the parts of loops with several paths, for one block size.
type division struct {
	keys   []partKey
	fitted *scaling.Model   // its groups are the keys; nil: no loop has several paths
	of     map[string][]int // by loop: indices of keys
}

// partKey is what a group of references has of a path.
type partKey struct {
	loop  string
	group misses.Group // of the model; restOfLoop: groups that are summed up
	class int
}

// restOfLoop is the group of what is too little to be modelled by itself.
const restOfLoop = -1

const (
	// negligible is the share of a run's accesses that may miss, at all sizes, below
	// which a part is not modelled by itself.
	negligible = 1e-4
	// near is the distance, in blocks, below which reuses miss in no cache that machines
	// have.
	near = 8
	// divisionVersion is part of the key of stored models: raise it when keys or
	// negligible change.
	divisionVersion = 1
)

// divisionOf models the parts for a block size.
func (d *divider) divisionOf(blockBytes uint64) (*division, error) {
	if v := d.known[blockBytes]; v != nil {
		return v, nil
	}
	v := &division{of: make(map[string][]int)}
	hists := v.collect(d, blockBytes)
	parts := make([]scaling.Group, len(v.keys))
	for i, k := range v.keys {
		parts[i] = scaling.Group{Name: fmt.Sprintf("%g|%s|%d|%s", d.share, k.loop, k.group, d.names[k.class]), Hists: hists[i]}
		v.of[k.loop] = append(v.of[k.loop], i)
	}
	if len(parts) > 0 {
		var err error
		if v.fitted, err = d.model.FitDivision(d.ctx, misses.Division{Kind: "call path models", Version: divisionVersion, BlockBytes: blockBytes, Parts: parts}); err != nil {
			return nil, err
		}
	}
	d.known[blockBytes] = v
	return v, nil
}

// collect sets the keys, and returns the histogram of each in each run.
func (v *division) collect(d *divider, blockBytes uint64) [][]histogram {
	scopes := d.model.Scopes(subject.ByLoop)
	byRun := make([]map[partKey]*histogram, len(d.runs))
	most := make(map[partKey]float64)
	for i := range d.runs {
		group := make(map[groupID]misses.Group)
		for g := range misses.Group(d.model.Groups()) {
			for _, own := range d.model.OfRun(i, g) {
				group[own] = g
			}
		}
		byRun[i] = make(map[partKey]*histogram)
		all := 0.0
		hists := d.hists[i][blockBytes]
		for h := range hists { // the last is of the rest
			all += mayMiss(&hists[h])
		}
		for at, x := range d.parts[i] {
			g, ok := group[x.own]
			if !ok {
				continue // not in all executables: misses.Predict has no such loop either
			}
			add(byRun[i], partKey{scopes.Names[scopes.Of[g]], g, x.class}, &hists[at])
		}
		for k, h := range byRun[i] {
			most[k] = max(most[k], mayMiss(h)/max(1, all))
		}
	}
	seen := make(map[partKey]bool)
	for i, own := range byRun {
		kept := make(map[partKey]*histogram)
		for _, k := range sortedKeys(own) {
			to := k
			if most[k] < negligible {
				to.group = restOfLoop
			}
			add(kept, to, own[k])
			seen[to] = true
		}
		byRun[i] = kept
	}
	v.keys = sortedKeys(seen)
	hists := make([][]histogram, len(v.keys))
	for i, k := range v.keys {
		hists[i] = make([]histogram, len(byRun))
		for run, own := range byRun {
			if h := own[k]; h != nil {
				hists[i][run] = *h
			}
		}
	}
	return hists
}

func sortedKeys[T any](of map[partKey]T) []partKey {
	list := make([]partKey, 0, len(of))
	for k := range of {
		list = append(list, k)
	}
	slices.SortFunc(list, func(a, b partKey) int {
		return cmp.Or(cmp.Compare(a.loop, b.loop), cmp.Compare(a.class, b.class), cmp.Compare(a.group, b.group))
	})
	return list
}

func add(to map[partKey]*histogram, k partKey, h *histogram) {
	if old := to[k]; old != nil {
		sum := old.Plus(h)
		h = &sum
	}
	to[k] = h
}

// mayMiss counts the accesses that are cold or not near.
func mayMiss(h *histogram) float64 {
	n := h.Cold
	for _, b := range h.Bins {
		if b.Lo >= near {
			n += b.Count
		}
	}
	return float64(n)
}

// divide calls enter with what each path has of each loop. The path is -1 for loops that
// no run executed.
func (v *division) divide(d *divider, l predict.Level, loops []misses.Row, enter func(class int, loop *misses.Row, c cost)) error {
	cache := d.method.Of(l.Cache())
	point := fit.Point(loops[0].Point)
	ranges, err := v.ranges(d, l, point, cache)
	if err != nil {
		return err
	}
	for i := range loops {
		loop := &loops[i]
		keys, paths := v.of[loop.Scope], d.of[loop.Scope]
		if len(keys) == 0 {
			if len(paths) > 1 {
				return fmt.Errorf("callpath: %s has several paths and no histograms", loop.Scope)
			}
			class := -1
			if len(paths) == 1 {
				class = paths[0]
			}
			enter(class, loop, cost{loop.Accesses, loop.Misses, loop.Low, loop.High})
			continue
		}
		hists := make([]scaling.Histogram, len(keys))
		for n, k := range keys {
			hists[n] = v.fitted.Groups[k].Histogram(point)
		}
		for _, part := range loop.Divide(hists, cache) {
			c := cost{part.Accesses, part.Misses, math.NaN(), math.NaN()}
			if ranges != nil {
				c.low, c.high = loop.RangeOf(part, ranges[keys[part.Of]])
			}
			enter(v.keys[keys[part.Of]].class, loop, c)
		}
	}
	return nil
}

// ranges returns the intervals of what the parts' own models predict; nil if none are
// asked for. It returns an error if they predict nothing at the point.
func (v *division) ranges(d *divider, l predict.Level, point fit.Point, cache predict.Cache) ([]predict.Interval, error) {
	if v.fitted == nil {
		return nil, nil
	}
	if err := v.fitted.Check(point); err != nil {
		return nil, fmt.Errorf("callpath: %s at %s: %w", l.Name, subject.Point(point), err)
	}
	return predict.IntervalsByGroup(d.ctx, v.fitted, point, cache, predict.IntervalOptions{Level: d.coverage})
}
