package callpath

import (
	"cmp"
	"fmt"
	"math"

	"presage/perf/fit"
	"presage/perf/internal/partition"
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

// rest is what is summed up of a loop's path.
func (k partKey) rest() partKey {
	k.group = restOfLoop
	return k
}

func (k partKey) compare(o partKey) int {
	return cmp.Or(cmp.Compare(k.loop, o.loop), cmp.Compare(k.class, o.class), cmp.Compare(k.group, o.group))
}

const (
	// negligible is the share of a run's accesses that may miss, at all sizes, below
	// which a part is not modelled by itself.
	negligible = 1e-4
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
	runs := make([]partition.Run[partKey], len(d.runs))
	for i := range runs {
		runs[i] = d.partsOf(i, blockBytes)
	}
	joining := partition.Joining[partKey]{Negligible: negligible, Rest: partKey.rest, Compare: partKey.compare}
	keys, hists := joining.Of(runs)
	v.keys = keys
	return hists
}

// partsOf divides the accesses of a run that loops with several paths make.
func (d *divider) partsOf(run int, blockBytes uint64) partition.Run[partKey] {
	scopes := d.model.Scopes(subject.ByLoop)
	group := d.groupsOf(run)
	hists := d.hists[run][blockBytes]
	r := partition.NewRun[partKey]()
	for at, x := range d.parts[run] {
		g, ok := group[x.own]
		if !ok {
			continue // not in all executables: misses.Predict has no such loop either
		}
		r.Add(partKey{scopes.Names[scopes.Of[g]], g, x.class}, &hists[at])
	}
	for h := range hists { // the last is of the rest
		r.MayMiss += partition.MayMiss(&hists[h])
	}
	return r
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
