package misses

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// MethodScaledPages is how misses of a level of pages were predicted at a size n
// beyond those that the model was fitted to: from the reuse distances of the runs in
// blocks that are smaller than a page as the run's size is smaller than n.
//
// What decides about pages is how they compare with rows and tables: whether a page
// holds several rows or a row several pages, and which share of a table a page is.
// That changes with the size, so that neither distances nor counts in pages of one
// size are simple functions of n where a row outgrows a page, and a run whose data
// are a few dozen pages hardly tells how their number grows. In blocks of P·m/n
// bytes, a run of size m has as many rows in a block as the program has in a page of
// P bytes at n:
//
//	size m    block P·m/n                  size n       page P
//	┌──┬──┬──┬──┐  rows of m               ┌─────┬─────┬─────┬─────┐  rows of n
//	└──┴──┴──┴──┘  of 2/3 of a block       └─────┴─────┴─────┴─────┘  of 2/3 of a page
//
// and over the runs, each in its blocks, counts and distances are functions of the
// size without a break: of a stencil, a share of the accesses and some number of
// rows; of a random table, constants (derived here).
const MethodScaledPages = "fully associative, pages scaled"

const (
	// scaledVersion is part of the key of a stored model of scaled pages: raise it
	// when its fit changes.
	scaledVersion = 13
	// leastScaled is the least size in bytes of the blocks that stand for pages:
	// smaller ones hold few elements.
	leastScaled = 64
	// elementBytes is the size of an element of an array that is a row, plane or cube
	// of the size.
	elementBytes = 8
	// cubic is the power from which memory grows like a cube, and fewPlanes the size
	// of a plane in blocks, at the largest size, below which some run has none that
	// is larger.
	cubic, fewPlanes = 2.5, 2
	// leastGrowth is the power of the size below which the memory touched does not
	// grow as the size does, and neither do rows.
	leastGrowth = 0.5
	// worseScaled is the ratio of errors at the largest size, and notWorse the error,
	// from which pages as they are are better.
	worseScaled = 1.5
	notWorse    = 0.3
)

// scaledPages is a model of the classes of the groups in blocks that stand for the
// pages of one size at one point.
type scaledPages struct {
	fitted *scaling.Model
	of     []Group // by group of fitted
}

// scaledKey tells models of scaled pages apart.
type scaledKey struct {
	page    uint64
	at      float64 // the parameter that is predicted at
	without int     // the number of the largest sizes that are left out
}

// growth returns the power of the parameter that the memory touched grows with.
func (m *Model) growthOfMemory(param string) float64 {
	within, _ := m.Range(param)
	lo, hi := fit.Point{param: within[0]}, fit.Point{param: within[1]}
	return math.Log(m.footprint.Blocks(m.smallestBlock(), hi)/m.footprint.Blocks(m.smallestBlock(), lo)) / math.Log(within[1]/within[0])
}

// scalePower returns the power of a run's size that blocks are smaller by than pages.
// Where memory grows with the cube, and planes of an array are smaller than a block in
// runs, but larger than a page at the size predicted, blocks have to compare with
// planes as pages do, and it is the second; otherwise it is the first.
func (m *Model) scalePower(param string, page uint64, at float64) float64 {
	within, _ := m.Range(param)
	plane := elementBytes * at * at / float64(page) // in pages
	if m.growthOfMemory(param) > cubic && plane > 1 && plane*within[1]/at < fewPlanes {
		return 2
	}
	return 1
}

// blocks returns the size of the blocks that stand for pages in each of some runs.
// It leaves out runs in which they are too small.
func (m *Model) scaledBlocks(param string, key scaledKey) (runs []int, sizes []uint64) {
	r, power := m.refits, m.scalePower(param, key.page, key.at)
	for _, i := range r.kept(key.without) {
		b := uint64(math.Round(float64(key.page) * math.Pow(r.sizes[i][param]/key.at, power)))
		if b >= leastScaled {
			runs, sizes = append(runs, i), append(sizes, b)
		}
	}
	return runs, sizes
}

// scaledParam returns the parameter over which pages can be scaled: the only one, at a
// point beyond the runs; empty if there is none.
func (m *Model) scaledParam(blockBytes uint64, point subject.Point, by predict.Method) string {
	names := m.Points[0].Names()
	if by == predict.MethodBinomial || !scaling.OfPages(blockBytes) || len(names) != 1 || m.refits.runs.Runs[0].Recorded.SampleOneIn > 1 {
		return ""
	}
	within, err := m.Range(names[0])
	if err != nil || !(point[names[0]] > within[1]) || !(m.growthOfMemory(names[0]) >= leastGrowth) {
		return ""
	}
	return names[0]
}

// scaledKeys returns the models that tell of pages at a point: there, without the
// largest size, and at the largest size from the others, to be held against it. Those
// that have too few sizes are left out.
func (m *Model) scaledKeys(param string, page uint64, point subject.Point) []scaledKey {
	within, _ := m.Range(param)
	var out []scaledKey
	for _, key := range []scaledKey{{page, point[param], 0}, {page, point[param], 1}, {page, within[1], 1}} {
		if runs, _ := m.scaledBlocks(param, key); len(runs) >= leastSizes {
			out = append(out, key)
		}
	}
	return out
}

// collectPages collects what the pages of some levels take at some points, in one
// further run of each size.
func (m *Model) collectPages(ctx context.Context, levels []predict.Level, points []subject.Point, by predict.Method) error {
	need := make(map[int][]uint64)
	for _, point := range points {
		for _, l := range levels {
			param := m.scaledParam(l.BlockBytes, point, by)
			if param == "" || l.BypassFloat {
				continue
			}
			for _, key := range m.scaledKeys(param, l.BlockBytes, point) {
				runs, sizes := m.scaledBlocks(param, key)
				for k, i := range runs {
					need[i] = append(need[i], sizes[k])
				}
			}
		}
	}
	for i := range m.refits.sizes {
		if err := m.refits.collect(ctx, i, need[i]); err != nil {
			return err
		}
	}
	return nil
}

// furtherKey is a run and a block size.
type furtherKey struct {
	run   int
	bytes uint64
}

// collect adds the classes of a run in blocks of some sizes to those known.
func (r *refits) collect(ctx context.Context, run int, sizes []uint64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []uint64
	for _, b := range sizes {
		if r.classes[furtherKey{run, b}] == nil && !slices.Contains(missing, b) {
			missing = append(missing, b)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	found, err := r.runs.Runs[run].Further(ctx, missing, locality.FurtherOptions{Carriers: true, Store: r.store})
	if err != nil {
		return fmt.Errorf("perf: pages: %w", err)
	}
	for i, res := range found {
		if r.classes[furtherKey{run, missing[i]}], err = r.runs.Classes(run, res); err != nil {
			return err
		}
	}
	return nil
}

// scaled returns the model of pages for a key.
func (m *Model) scaled(ctx context.Context, param string, key scaledKey) (*scaledPages, error) {
	r := m.refits
	runs, sizes := m.scaledBlocks(param, key)
	for k, i := range runs {
		if err := r.collect(ctx, i, sizes[k:k+1]); err != nil {
			return nil, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.scaled[key]; known != nil {
		return known, nil
	}
	out := new(scaledPages)
	groups := m.classGroups(runs, sizes, out)
	storeKey, err := store.NewKey("pages", scaledVersion, struct {
		Of         fitInputs
		Runs       []int
		BlockBytes []uint64
	}{r.inputs(r.kept(0)), runs, sizes})
	if err != nil {
		return nil, err
	}
	memo, err := store.Memo(r.store, storeKey, func() (*scaling.Model, error) {
		var at []fit.Point
		for _, i := range runs {
			at = append(at, r.sizes[i])
		}
		return scaling.Fit(ctx, at, groups, scaling.Options{Tolerance: r.options.Tolerance, FewBlocks: true})
	})
	if err != nil {
		return nil, fmt.Errorf("perf: pages of %d bytes at %s = %g: %w", key.page, param, key.at, err)
	}
	if memo.Warning != "" {
		r.warnings = append(r.warnings, memo.Warning)
	}
	out.fitted = memo.Value
	r.scaled[key] = out
	return out, nil
}

// classGroups returns the histograms of each class of each group in the runs, and
// notes the groups.
func (m *Model) classGroups(runs []int, sizes []uint64, out *scaledPages) []scaling.Group {
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
		for of, h := range m.refits.classes[furtherKey{i, sizes[k]}] {
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
	var groups []scaling.Group
	for _, key := range order {
		out.of = append(out.of, key.group)
		groups = append(groups, scaling.Group{Name: m.first(key.group).String(), Hists: hists[key]})
	}
	return groups
}

// pagesAt returns the histograms in pages at a point by a model of scaled pages, and
// nil if there is none.
func (m *Model) pagesAt(ctx context.Context, param string, key scaledKey, footprint *scaling.Footprint) (*histograms, error) {
	if runs, _ := m.scaledBlocks(param, key); len(runs) < leastSizes {
		return nil, nil
	}
	s, err := m.scaled(ctx, param, key)
	if err != nil {
		return nil, err
	}
	point := subject.Point{param: key.at}
	h, err := evaluateOf(s.fitted, s.of, m.Accesses(point), footprint, key.page, point)
	if err != nil {
		return nil, err
	}
	h.byScaling = true
	h.warnings = fit.CheckReach(s.fitted.Domain, fit.Point(point))
	return h, nil
}

// histogramsAt returns what is known of a level's blocks at a point: of pages beyond
// the sizes of the model, by scaled pages, unless they foretell the largest size
// from the others worse than pages as they are.
func (m *Model) histogramsAt(ctx context.Context, blockBytes uint64, point subject.Point, by predict.Method) (*histograms, error) {
	param := m.scaledParam(blockBytes, point, by)
	if param == "" {
		return m.evaluate(blockBytes, point, by)
	}
	h, err := m.pagesAt(ctx, param, scaledKey{blockBytes, point[param], 0}, m.footprint)
	if err != nil {
		return nil, err
	}
	if h != nil {
		if better, err := m.scaledForetell(ctx, param, blockBytes); err != nil || better {
			return h, err
		}
	}
	return m.evaluate(blockBytes, point, by)
}

// scaledForetell reports whether scaled pages foretell the largest size from the
// others no worse than pages as they are. With too few sizes to tell they do.
func (m *Model) scaledForetell(ctx context.Context, param string, page uint64) (bool, error) {
	within, err := m.Range(param)
	if err != nil {
		return false, err
	}
	top := subject.Point{param: within[1]}
	footprint, err := m.heldOutFootprint()
	if err != nil {
		return false, err
	}
	scaled, err := m.pagesAt(ctx, param, scaledKey{page, within[1], 1}, footprint)
	if err != nil || scaled == nil {
		return err == nil, err
	}
	b := slices.Index(m.blockSizes(), page)
	fitted, err := m.fitted(ctx, refit{block: b, without: 1})
	if err != nil {
		return false, err
	}
	plain, err := evaluate(fitted, footprint, page, top)
	if err != nil {
		return false, err
	}
	truth := m.refits.largest(b)
	return scaled.off(&truth) <= notWorse+worseScaled*plain.off(&truth), nil
}

// largest returns the histogram of the whole program at the largest size, for the
// b-th block size.
func (r *refits) largest(b int) reuse.Histogram {
	order := r.kept(0)
	at := slices.MaxFunc(order, func(a, b int) int { return scaling.CompareSizes(r.sizes[a], r.sizes[b]) })
	return r.runs.Runs[at].Reuse[b].Total()
}

// off returns how far the misses of the whole program are from those of a histogram,
// as the mean over fully associative caches of the logarithm of their ratio.
func (h *histograms) off(truth *reuse.Histogram) float64 {
	sum, n := 0.0, 0
	touched := float64(truth.Cold)
	for c := uint64(leastCapacity); float64(c) <= 2*touched || n == 0; c *= 2 {
		got := 0.0
		for g := range h.groups {
			misses := predict.OfHistogram(&h.groups[g].Histogram, predict.FullyAssociative(c))
			got += misses.Total()
		}
		sum += math.Abs(math.Log((got + someMisses) / (float64(truth.Misses(c)) + someMisses)))
		n++
	}
	return sum / float64(n)
}
