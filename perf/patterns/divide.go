package patterns

import (
	"cmp"
	"context"
	"fmt"

	"presage/perf/internal/partition"
	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/subject"
	"presage/perf/trace"
)

// division is a model of each pattern's histogram for one block size.
type division struct {
	shared *locality.SharedGroups
	keys   []key
	fitted *scaling.Model   // its groups are the keys
	of     map[string][]int // by loop, as rows call it: indices in keys
}

// key is a pattern of loops by their places in the program.
type key struct {
	scope        string // a loop, as rows call it
	at           locality.Place
	source, loop locality.Place // -1: none
	crosses      bool
	object       string
}

// rest is what is summed up of a scope.
func (k key) rest() key {
	return key{scope: k.scope, at: k.at, source: -1, loop: -1, object: OtherPatterns}
}

func (k key) compare(o key) int {
	by := cmp.Or(cmp.Compare(k.scope, o.scope), cmp.Compare(k.at, o.at), cmp.Compare(k.source, o.source), cmp.Compare(k.loop, o.loop), cmp.Compare(k.object, o.object))
	switch {
	case by != 0 || k.crosses == o.crosses:
		return by
	case o.crosses:
		return -1
	}
	return 1
}

const (
	// negligible is the share of a run's accesses that may miss, at all sizes, below
	// which a pattern is not modelled by itself.
	negligible = 1e-3
	// divisionVersion is part of the key of stored models: raise it when keys or
	// negligible change.
	divisionVersion = 1
)

// divide models the patterns of the model's runs.
func divide(ctx context.Context, model *misses.Model, blockBytes uint64) (*division, error) {
	shared, err := model.Runs().Common()
	if err != nil {
		return nil, err
	}
	v := &division{shared: shared, of: make(map[string][]int)}
	hists, err := v.collect(model, blockBytes)
	if err != nil {
		return nil, err
	}
	parts := make([]scaling.Group, len(v.keys))
	for i, k := range v.keys {
		parts[i] = scaling.Group{Name: fmt.Sprintf("%s|%d|%d|%d|%t|%s", k.scope, k.at, k.source, k.loop, k.crosses, k.object), Hists: hists[i]}
		v.of[k.scope] = append(v.of[k.scope], i)
	}
	v.fitted, err = model.FitDivision(ctx, misses.Division{Kind: "pattern models", Version: divisionVersion, BlockBytes: blockBytes, Parts: parts})
	return v, err
}

// collect sets the keys, and returns the histogram of each in each run.
func (v *division) collect(model *misses.Model, blockBytes uint64) ([][]reuse.Histogram, error) {
	runs := make([]partition.Run[key], len(model.Runs().Runs))
	for i := range runs {
		var err error
		if runs[i], err = patternsOf(model, i, blockBytes); err != nil {
			return nil, err
		}
	}
	joining := partition.Joining[key]{Negligible: negligible, Rest: key.rest, Compare: key.compare}
	keys, hists := joining.Of(runs)
	v.keys = keys
	return hists, nil
}

// patternsOf divides the accesses of one of the model's runs by pattern.
func patternsOf(model *misses.Model, run int, blockBytes uint64) (partition.Run[key], error) {
	carried, err := model.Runs().CarriedParts(run, blockBytes)
	if err != nil {
		return partition.Run[key]{}, err
	}
	scopes := model.Scopes(subject.ByLoop)
	group := groupsOf(model, run)
	r := partition.NewRun[key]()
	for p := range carried {
		x := &carried[p]
		g := group[x.Own]
		r.Add(key{scopes.Names[scopes.Of[g]], model.PlaceOf(g), x.Source, x.Loop, x.Crosses, x.Object}, x.Histogram)
		r.MayMiss += partition.MayMiss(x.Histogram)
	}
	return r, nil
}

// groupsOf returns the model's groups by those of a run.
func groupsOf(model *misses.Model, run int) map[trace.GroupID]misses.Group {
	group := make(map[trace.GroupID]misses.Group)
	for g := range misses.Group(model.Groups()) {
		for _, own := range model.OfRun(run, g) {
			group[own] = g
		}
	}
	return group
}

// pattern names a key by what scopes are.
func (v *division) pattern(k *key, by subject.Scope, model *misses.Model) Pattern {
	p := Pattern{Scope: k.scope, Crosses: k.crosses, Object: k.object}
	switch {
	case by == subject.ByProgram:
		p.Scope = model.Program
	case by == subject.ByRoutine && k.at > 0: // else no graph holds it
		p.Scope = v.shared.NameAt(by, k.at)
	}
	if k.source >= 0 {
		p.Source = v.shared.NameAt(by, k.source)
		if by == subject.ByProgram {
			p.Source = model.Program
		}
	}
	if k.loop >= 0 {
		p.Carrier = v.shared.NameAt(subject.ByLoop, k.loop)
	}
	return p
}
