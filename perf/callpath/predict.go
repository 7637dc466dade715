package callpath

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/machine"
	"presage/perf/misses"
	"presage/perf/predict"
	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// DefaultShare is the default of PredictOptions.Share.
const DefaultShare = 1e-3

// PredictOptions configures Predict. The zero value is the default.
type PredictOptions struct {
	// By and Listing are those of SimulateOptions.
	By      subject.Scope
	Listing subject.Listing
	// Share is what a path, with all that go on from it, must have of a run's accesses,
	// or of those that move to another block of 64 bytes, to be told apart: from 0 to
	// below 1; 0: DefaultShare. The others are joined, beside their siblings.
	Share float64
	// Method, Corrector and Coverage are those of misses.PredictOptions.
	Method    predict.Method
	Corrector misses.Corrector
	Coverage  float64
	// Store keeps what runs find; nil: the default store.
	Store *store.Store
	// Progress, if not nil, is called now and then while runs are repeated.
	Progress progress.Func
}

// Predict predicts the misses of each call path on a machine, at each point, for each
// cache and TLB: rows as those of Simulate. The runs that the model was fitted to are
// repeated, twice each, unless the store has their results.
//
// Where a loop is executed after one path only, its misses, as misses.Predict says, are
// that path's. Where there are several, the groups of its references are split by path,
// the histograms of each modelled as those of groups are, and what they predict divides
// the loop's misses. So paths add up to the loops' misses, whatever corrected these.
func Predict(ctx context.Context, model *misses.Model, m *machine.Machine, points []subject.Point, opt PredictOptions) ([]Predicted, error) {
	by, err := checkBy(opt.By)
	if err != nil {
		return nil, err
	}
	if err := opt.Listing.Check(); err != nil {
		return nil, err
	}
	opt.Share = cmp.Or(opt.Share, DefaultShare)
	if !(opt.Share > 0 && opt.Share < 1) {
		return nil, fmt.Errorf("callpath: share %g: want one from 0 to below 1", opt.Share)
	}
	d := &divider{ctx: ctx, model: model, share: opt.Share, by: by, listing: opt.Listing, coverage: opt.Coverage, progress: opt.Progress, known: make(map[uint64]*division)}
	if d.method, err = opt.Method.Check(); err != nil {
		return nil, err
	}
	if d.store, err = store.OrDefault(opt.Store); err != nil {
		return nil, err
	}
	loops, err := misses.Predict(ctx, model, m, points, misses.PredictOptions{
		By: subject.ByLoop, Method: opt.Method, Corrector: opt.Corrector, Coverage: opt.Coverage,
	})
	if err != nil {
		return nil, err
	}
	if err := d.profile(predict.Levels(m)); err != nil {
		return nil, err
	}
	var rows []Predicted
	for len(loops) > 0 {
		n := 1 // rows of one point and level
		for n < len(loops) && loops[n].Level == loops[0].Level && subject.Point(loops[n].Point).String() == subject.Point(loops[0].Point).String() {
			n++
		}
		fresh, err := d.level(m, loops[:n])
		if err != nil {
			return nil, err
		}
		rows = append(rows, fresh...)
		loops = loops[n:]
	}
	return rows, nil
}

// divider divides the misses of loops by path.
type divider struct {
	ctx      context.Context
	model    *misses.Model
	store    *store.Store
	share    float64
	by       subject.Scope
	listing  subject.Listing
	method   predict.Method
	coverage float64
	progress progress.Func

	runs     []*profiler
	classes  [][]element              // the paths that matter
	names    []string                 // keys of these
	of       map[string][]int         // by loop, as rows call it: its paths, ascending
	parts    [][]part                 // by run: of loops that have several
	hists    []map[uint64][]histogram // by run and block size
	warnings []string
	known    map[uint64]*division
}

// joined is the last element of paths that stand for several.
var joined = element{label: subject.OtherScopes}

// profile finds the paths that matter, and the histograms of loops with several.
func (d *divider) profile(levels []predict.Level) error {
	runs := d.model.Runs()
	steps := 2 * len(runs.Runs)
	for i := range runs.Runs {
		p, err := newProfiler(d.ctx, &runs.Runs[i], d.store, d.model.Executable() == nil, d.running(i, steps))
		if err != nil {
			return err
		}
		d.runs = append(d.runs, p)
	}
	d.classify()
	loopOf := d.loopOf()
	defer d.progress.Finish(steps)
	var sizes []uint64
	for _, l := range levels {
		if !l.BypassFloat {
			sizes = append(sizes, l.BlockBytes)
		}
	}
	slices.Sort(sizes)
	sizes = slices.Compact(sizes)
	for i, p := range d.runs {
		parts := p.parts(func(g groupID) bool { return len(d.of[loopOf[i][g]]) > 1 })
		byBlock := make(map[uint64][]histogram)
		if len(parts) > 0 && len(sizes) > 0 {
			p.running = d.running(len(d.runs)+i, steps)
			hists, err := p.histograms(d.ctx, parts, sizes, d.names)
			if err != nil {
				return err
			}
			for s, size := range sizes {
				byBlock[size] = hists[s]
			}
		}
		d.parts, d.hists = append(d.parts, parts), append(d.hists, byBlock)
		for _, w := range p.found.Warnings {
			if !slices.Contains(d.warnings, w) {
				d.warnings = append(d.warnings, w)
			}
		}
	}
	return nil
}

// running returns what reports how far a repeated run is, as one step of some.
func (d *divider) running(step, steps int) func(uint64) {
	task := "call paths at " + d.model.Runs().Runs[step%(steps/2)].Point.String()
	return func(instructions uint64) {
		d.progress.Report(progress.Report{Task: task, Done: step, Total: steps, Instructions: instructions})
	}
}

// classify sets the paths that matter in some run, and those of each node and loop.
func (d *divider) classify() {
	kept := make(map[string]bool)
	for _, p := range d.runs {
		for k, share := range p.shares() {
			kept[k] = kept[k] || share >= d.share
		}
	}
	index := make(map[string]int)
	for _, p := range d.runs {
		p.class = make([]int, len(p.of))
		for n, path := range p.of {
			for i := range path {
				if !kept[keyOf(path[:i+1])] {
					path = append(slices.Clone(path[:i]), joined)
					break
				}
			}
			k := keyOf(path)
			at, ok := index[k]
			if !ok {
				at = len(d.classes)
				index[k] = at
				d.classes, d.names = append(d.classes, path), append(d.names, k)
			}
			p.class[n] = at
		}
	}
	d.of = make(map[string][]int)
	for i, groups := range d.loopOf() {
		p := d.runs[i]
		for k := range p.found.Counts {
			c := &p.found.Counts[k]
			loop := groups[p.all.Refs[c.Ref].Group]
			if at, found := slices.BinarySearch(d.of[loop], p.class[c.Node]); !found {
				d.of[loop] = slices.Insert(d.of[loop], at, p.class[c.Node])
			}
		}
	}
}

// loopOf returns, by run and group of its references, the name of the loop.
func (d *divider) loopOf() []map[groupID]string {
	scopes := d.model.Scopes(subject.ByLoop)
	all := make([]map[groupID]string, len(d.runs))
	for i := range all {
		all[i] = make(map[groupID]string)
		for own, g := range d.groupsOf(i) {
			all[i][own] = scopes.Names[scopes.Of[g]]
		}
	}
	return all
}

// groupsOf returns the model's groups by those of a run.
func (d *divider) groupsOf(run int) map[groupID]misses.Group {
	group := make(map[groupID]misses.Group)
	for g := range misses.Group(d.model.Groups()) {
		for _, own := range d.model.OfRun(run, g) {
			group[own] = g
		}
	}
	return group
}

// level returns the rows of a level, given its loops.
func (d *divider) level(m *machine.Machine, loops []misses.Row) ([]Predicted, error) {
	levels := predict.Levels(m)
	l := levels[slices.IndexFunc(levels, func(l predict.Level) bool { return l.Name == loops[0].Level })]
	blank := Predicted{Program: loops[0].Program, Point: loops[0].Point, Machine: loops[0].Machine, Level: l.Name}
	if l.BypassFloat {
		nan := math.NaN()
		blank.Path, blank.Warning = Path{blank.Program, blank.Program, 0}, loops[0].Warning
		blank.Accesses, blank.Misses, blank.AllAccesses, blank.AllMisses, blank.Low, blank.High, blank.Share = nan, nan, nan, nan, nan, nan, nan
		return []Predicted{blank}, nil
	}
	v, err := d.divisionOf(l.BlockBytes)
	if err != nil {
		return nil, err
	}
	root := &branch{element: element{label: blank.Program}, warnings: slices.Clone(d.warnings)}
	if err := v.divide(d, l, loops, func(class int, loop *misses.Row, c cost) {
		root.enter(byScope(d.pathTo(class, loop.Scope), d.by), c, loop.Warning)
	}); err != nil {
		return nil, err
	}
	root.limit(d.listing)
	return root.predictedRows(blank), nil
}

// pathTo returns a path that ends in a loop.
func (d *divider) pathTo(class int, loop string) []element {
	if class < 0 {
		return elementsOf(loop)
	}
	return d.runs[len(d.runs)-1].names.withScope(d.classes[class], loop)
}
