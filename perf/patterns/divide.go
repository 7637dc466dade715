package patterns

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

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
	// near is the distance, in blocks, below which reuses miss in no cache that
	// machines have.
	near = 8
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
	runs := model.Runs()
	scopes := model.Scopes(subject.ByLoop)
	byRun := make([]map[key]*reuse.Histogram, len(runs.Runs))
	most := make(map[key]float64) // the largest share of a run's accesses that may miss
	for i := range runs.Runs {
		group := make(map[trace.GroupID]misses.Group)
		for g := range misses.Group(model.Groups()) {
			for _, own := range model.OfRun(i, g) {
				group[own] = g
			}
		}
		parts, err := runs.CarriedParts(i, blockBytes)
		if err != nil {
			return nil, err
		}
		byRun[i] = make(map[key]*reuse.Histogram)
		all := 0.0
		for p := range parts {
			all += mayMiss(parts[p].Histogram)
		}
		for p := range parts {
			x := &parts[p]
			g := group[x.Own]
			k := key{scopes.Names[scopes.Of[g]], model.PlaceOf(g), x.Source, x.Loop, x.Crosses, x.Object}
			add(byRun[i], k, x.Histogram)
		}
		for k, h := range byRun[i] {
			most[k] = math.Max(most[k], mayMiss(h)/math.Max(1, all))
		}
	}
	summed := make(map[key]bool)
	for i, own := range byRun {
		kept := make(map[key]*reuse.Histogram)
		for k, h := range own {
			if most[k] < negligible {
				k = k.rest()
			}
			add(kept, k, h)
			summed[k] = true
		}
		byRun[i] = kept
	}
	for k := range summed {
		v.keys = append(v.keys, k)
	}
	slices.SortFunc(v.keys, key.compare)
	hists := make([][]reuse.Histogram, len(v.keys))
	for i, k := range v.keys {
		hists[i] = make([]reuse.Histogram, len(byRun))
		for run, own := range byRun {
			if h := own[k]; h != nil {
				hists[i][run] = *h
			}
		}
	}
	return hists, nil
}

func add(to map[key]*reuse.Histogram, k key, h *reuse.Histogram) {
	if old := to[k]; old != nil {
		sum := old.Plus(h)
		h = &sum
	}
	to[k] = h
}

// mayMiss counts the accesses that are cold or not near.
func mayMiss(h *reuse.Histogram) float64 {
	n := h.Cold
	for _, b := range h.Bins {
		if b.Lo >= near {
			n += b.Count
		}
	}
	return float64(n)
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
