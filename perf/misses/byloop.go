package misses

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// byLoopVersion is part of the key of a stored model by loop: raise it when its fit
// changes.
const byLoopVersion = 9

// byLoop is a model of the parts of the groups whose reuses one loop carries: in
// blocks of one size, or in those that stand for the pages of one size at one point.
type byLoop struct {
	fitted *scaling.Model
	of     []Group // by group of fitted
}

// storedByLoop is what the store holds of a byLoop.
type storedByLoop struct {
	Fitted *scaling.Model
	Of     []Group
}

// loopKey tells models by loop apart.
type loopKey struct {
	block   uint64  // the level's block size
	at      float64 // the parameter that pages are scaled to; 0: blocks are as they are
	without int     // the number of the largest sizes that are left out
}

// scaled reports whether the key is of scaled pages.
func (k loopKey) scaled() bool { return k.at > 0 }

// blocksFor returns the block sizes of the runs that a model is fitted to. It leaves
// out runs in which blocks that stand for pages are too small.
func (m *Model) blocksFor(param string, key loopKey) (runs []int, sizes []uint64) {
	for _, i := range m.refits.kept(key.without) {
		b := key.block
		if key.scaled() {
			power := m.scalePower(param, key.block, key.at)
			b = uint64(math.Round(float64(key.block) * math.Pow(m.refits.sizes[i][param]/key.at, power)))
		}
		if !key.scaled() || b >= leastScaled {
			runs, sizes = append(runs, i), append(sizes, b)
		}
	}
	return runs, sizes
}

// beyondRuns returns the only parameter of the runs if a point is beyond them, and if
// what they are by loop can be known; otherwise it is empty.
func (m *Model) beyondRuns(point subject.Point, by predict.Method) string {
	names := m.Points[0].Names()
	if by == predict.MethodBinomial || len(names) != 1 || m.refits.runs.Runs[0].Recorded.SampleOneIn > 1 {
		return ""
	}
	within, err := m.Range(names[0])
	if err != nil || !(point[names[0]] > within[1]) {
		return ""
	}
	return names[0]
}

// loopKeys returns the models by loop of a block size at a point: there, without the
// largest size, and of the largest size from those below, to be held against it; unless
// pages are scaled, also from those below the next, if there are enough. There are none if
// the others have too few sizes.
func (m *Model) loopKeys(param string, block uint64, point subject.Point) []loopKey {
	keys := []loopKey{{block, 0, 0}, {block, 0, 1}, {block, 0, 1}, {block, 0, 2}}
	if scaling.OfPages(block) && m.growthOfMemory(param) >= leastGrowth {
		within, _ := m.Range(param)
		keys = []loopKey{{block, point[param], 0}, {block, point[param], 1}, {block, within[1], 1}}
	}
	for i, key := range keys {
		runs, _ := m.blocksFor(param, key)
		switch {
		case len(runs) >= leastSizes:
		case key.without > 1:
			return keys[:i]
		default:
			return nil
		}
	}
	return keys
}

// collectByLoop collects what models by loop of some levels take at some points, in
// one further run of each size, but for those that are known.
func (m *Model) collectByLoop(ctx context.Context, levels []predict.Level, points []subject.Point, by predict.Method, report progress.Func) error {
	need := make(map[int][]uint64)
	for _, point := range points {
		param := m.beyondRuns(point, by)
		if param == "" {
			continue
		}
		for _, l := range levels {
			if l.BypassFloat || m.byBlock[l.BlockBytes] == nil {
				continue
			}
			for _, key := range m.loopKeys(param, l.BlockBytes, point) {
				runs, sizes := m.blocksFor(param, key)
				if m.refits.hasByLoop(runs, sizes, key) {
					continue
				}
				for k, i := range runs {
					need[i] = append(need[i], sizes[k])
				}
			}
		}
	}
	for i := range m.refits.sizes {
		if err := m.refits.collect(ctx, i, need[i], report); err != nil && !errors.Is(err, errNotRun) {
			return err
		}
	}
	return nil
}

// hasByLoop reports whether a model by loop is in memory or in the store.
func (r *refits) hasByLoop(runs []int, sizes []uint64, key loopKey) bool {
	if r.knownByLoop(key) != nil {
		return true
	}
	at, err := r.loopsKey(runs, sizes, key)
	return err == nil && !r.opt.Draft && r.store.Has(at)
}

// errNotRun is wrapped by the error of a further run that could not be made, as where
// the files that a program reads have changed.
var errNotRun = errors.New("no further run")

// NotByLoop is the doubt of what was predicted without models by loop.
const NotByLoop fit.Doubt = "not modelled by loop"

// furtherKey is a run and a block size.
type furtherKey struct {
	run   int
	bytes uint64
}

// uncollected returns those of some block sizes in which the classes of a run are not
// known, ascending; or why they cannot be.
func (r *refits) uncollected(run int, sizes []uint64) ([]uint64, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []uint64
	for _, b := range sizes {
		if r.classes[furtherKey{run, b}] == nil && !slices.Contains(missing, b) {
			missing = append(missing, b)
		}
	}
	if len(missing) == 0 {
		return nil, nil
	}
	slices.Sort(missing)
	return missing, r.notRun
}

// whyNotRun returns why further runs cannot be made; nil if none failed.
func (r *refits) whyNotRun() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.notRun
}

// byLoop returns the model by loop of a key, from memory or the store if it is there.
func (m *Model) byLoop(ctx context.Context, param string, key loopKey) (*byLoop, error) {
	r := m.refits
	end, err := r.looping.take(ctx, key)
	if err != nil {
		return nil, err
	}
	defer end()
	if known := r.knownByLoop(key); known != nil {
		return known, nil
	}
	runs, sizes := m.blocksFor(param, key)
	storeKey := func() (store.Key, error) { return r.loopsKey(runs, sizes, key) }
	memo, err := memo(r, storeKey, func() (storedByLoop, error) { return m.fitByLoop(ctx, runs, sizes, key) })
	if errors.Is(err, errNotRun) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("perf: fit by loop for blocks of %d bytes: %w", key.block, err)
	}
	out := &byLoop{memo.Value.Fitted, memo.Value.Of}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.warn(memo.Warning)
	r.byLoop[key] = out
	return out, nil
}

func (r *refits) knownByLoop(key loopKey) *byLoop {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.byLoop[key]
}

// forget drops the models by loop that hold at a point beyond the runs alone. The store
// has them.
func (m *Model) forget(point subject.Point, by predict.Method) {
	r := m.refits
	param := m.beyondRuns(point, by)
	if param == "" || r.opt.Draft {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	maps.DeleteFunc(r.byLoop, func(key loopKey, _ *byLoop) bool { return key.at == point[param] })
}

// loopsKey returns the key of a model by loop, of some runs in blocks of a size each.
func (r *refits) loopsKey(runs []int, sizes []uint64, key loopKey) (store.Key, error) {
	return store.NewKey("loops", byLoopVersion, struct {
		Of         fitInputs
		Runs       []int
		BlockBytes []uint64
		Scaled     bool
	}{r.inputs(r.kept(0)), runs, sizes, key.scaled()})
}

// fitByLoop fits a model by loop to some runs, in blocks of a size each.
func (m *Model) fitByLoop(ctx context.Context, runs []int, sizes []uint64, key loopKey) (storedByLoop, error) {
	r := m.refits
	for k, i := range runs {
		if err := r.collect(ctx, i, sizes[k:k+1], nil); err != nil {
			return storedByLoop{}, err
		}
	}
	groups, of := m.classGroups(runs, sizes)
	var at []fit.Point
	for _, i := range runs {
		at = append(at, r.sizes[i])
	}
	options := r.options
	options.BlockBytes = key.block
	if key.scaled() { // rows are at no fixed places in blocks of many sizes
		options = scaling.Options{Tolerance: r.options.Tolerance, FewBlocks: true, SameDistances: m.linearMemory(m.Points[0].Names()[0])}
	}
	fitted, err := scaling.Fit(ctx, at, groups, options)
	return storedByLoop{fitted, of}, err
}

// classGroups returns the histograms of each class of each group in the runs, and the
// groups.
func (m *Model) classGroups(runs []int, sizes []uint64) (groups []scaling.Group, own []Group) {
	part := make(map[locality.Group]Group)
	for g := range m.parts {
		for _, own := range m.parts[g].groups {
			part[own] = Group(g)
		}
	}
	type class struct {
		group   Group
		loop    locality.Place
		crosses bool
	}
	hists := make(map[class][]reuse.Histogram)
	var order []class
	for k, i := range runs {
		m.refits.mu.Lock()
		classes := m.refits.classes[furtherKey{i, sizes[k]}]
		m.refits.mu.Unlock()
		for of, h := range classes {
			g, ok := part[of.Group]
			if !ok {
				continue // accessed in none of the runs
			}
			key := class{g, of.Loop, of.Crosses}
			if hists[key] == nil {
				hists[key] = make([]reuse.Histogram, len(runs))
				order = append(order, key)
			}
			hists[key][k] = hists[key][k].Plus(&h)
		}
	}
	slices.SortFunc(order, func(a, b class) int {
		if by := cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.loop, b.loop)); by != 0 || a.crosses == b.crosses {
			return by
		}
		if b.crosses {
			return -1
		}
		return 1
	})
	for _, key := range order {
		own = append(own, key.group)
		groups = append(groups, scaling.Group{Name: m.first(key.group).String(), Hists: hists[key]})
	}
	return groups, own
}

// partsAt returns the histograms at a point by a model by loop.
func (m *Model) partsAt(ctx context.Context, key loopKey, point subject.Point, footprint *scaling.Footprint) (*histograms, error) {
	s, err := m.byLoop(ctx, m.Points[0].Names()[0], key)
	if err != nil {
		return nil, err
	}
	h, err := evaluateOf(s.fitted, s.of, m.accesses(point), footprint, key.block, point)
	if err != nil {
		return nil, err
	}
	h.key = key
	if key.scaled() {
		h.warnings = fit.CheckReach(s.fitted.Domain, fit.Point(point))
	}
	return h, nil
}
