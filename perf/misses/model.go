package misses

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"presage/perf/access"
	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
	"presage/perf/trace"
)

// FitOptions configures Fit. The zero value is the default.
type FitOptions struct {
	// Basis lists the functions that models are sums of, in symbolic form, such
	// as "1, n, n^2, n^3, n*log(n)"; empty: the powers up to the third.
	Basis string
	// Shape restricts the functions up to eight times the largest training size:
	// "monotone, one curvature" (the default: they follow the trend of the data,
	// and are convex or concave, whichever fits better), "monotone", "convex",
	// "concave", "free".
	Shape string
	// Tolerance is the relative difference of the average distances of two
	// neighbouring bins below which they become one; 0: scaling.DefaultTolerance.
	Tolerance float64
	// MedianRatio splits histograms as the papers do, in one ratio at all sizes;
	// see package scaling.
	MedianRatio bool

	// BlockBytes are the block sizes of the runs that are modelled; nil: all. One is
	// fitted sooner than three.
	BlockBytes []uint64

	// Draft leaves out what intervals follow from, for models that are looked at and
	// changed: values are the same, in half the time. Predictions of a draft take a
	// Coverage of -1. It is not kept.
	Draft bool

	// Store keeps the models; nil: the default store.
	Store *store.Store
}

// Model predicts a program's reuse-distance histograms at any problem size.
type Model struct {
	Program  string          // its name in tables
	Points   []subject.Point // that it was fitted to
	Warnings []string

	about   []string // doubts about all predictions
	shared  *locality.SharedGroups
	parts   []part                    // by Group, ascending
	totals  []float64                 // of the whole program, by run
	byBlock map[uint64]*scaling.Model // by block size; its Groups are numbered by Group

	heap      uint64 // see heapInRuns
	footprint *scaling.Footprint
	refits    *refits
	checked   map[uint64][][]scaling.Histogram // of atRuns, while Fit checks the model
}

// Group is a group of references that was accessed in a run that a Model was
// fitted to, numbered from 0 to Model.Groups() - 1. It is not a locality.Group:
// those include groups that no run accessed, and several of them are one Group if
// they exchange accesses from size to size.
type Group int

// Groups returns the number of groups that are modelled.
func (m *Model) Groups() int { return len(m.parts) }

// Options returns how the model was fitted.
func (m *Model) Options() FitOptions { return m.refits.opt }

// Runs returns the runs that the model was fitted to.
func (m *Model) Runs() *locality.Runs { return m.refits.runs }

// OfRun returns the groups of the executable of run i of Runs that make up a group.
func (m *Model) OfRun(i int, g Group) []trace.GroupID {
	var all []trace.GroupID
	for _, own := range m.parts[g].groups {
		all = append(all, m.shared.OfRun(i, own)...)
	}
	return all
}

// References returns the references of a group.
func (m *Model) References(g Group) []*access.Reference {
	var refs []*access.Reference
	for _, own := range m.parts[g].groups {
		for _, r := range m.shared.Members[own] {
			refs = append(refs, &m.shared.Refs[r])
		}
	}
	return refs
}

// first returns the first reference of a group.
func (m *Model) first(g Group) *access.Reference { return m.shared.First(m.parts[g].groups[0]) }

// Executable returns the executable whose runs the model was fitted to; nil if
// there were several.
func (m *Model) Executable() *subject.Program { return m.shared.Program }

// Scopes returns the scopes of a kind that the groups belong to; its things are
// the groups. It must not be modified: every prediction asks for the same.
func (m *Model) Scopes(by subject.Scope) subject.Partition {
	r := m.refits
	r.mu.Lock()
	p, known := r.scopes[by]
	r.mu.Unlock()
	if !known {
		p = m.partition(by)
		r.mu.Lock()
		r.scopes[by] = p
		r.mu.Unlock()
	}
	return p
}

func (m *Model) partition(by subject.Scope) subject.Partition {
	return subject.PartitionOf(len(m.parts), func(g int) string {
		p := &m.parts[g]
		if len(p.groups) == 1 {
			return m.shared.ScopeOf(by, p.groups[0])
		}
		name := m.shared.NameAt(by, p.at)
		if by == subject.ByReference {
			name += fmt.Sprintf(" (%d references, joined, from %#x)", len(m.References(Group(g))), uint64(m.first(Group(g)).PC))
		}
		return name
	})
}

// smallestBlock returns the smallest block size that is modelled, in bytes.
func (m *Model) smallestBlock() uint64 { return m.blockSizes()[0] }

// BlockBytes returns the block sizes that are modelled, ascending.
func (m *Model) BlockBytes() []uint64 { return m.blockSizes() }

// blockSizes returns the block sizes that are modelled, ascending.
func (m *Model) blockSizes() []uint64 { return slices.Sorted(maps.Keys(m.byBlock)) }

// blockIndex returns the index of a block size among those of the runs, which may be more
// than are modelled.
func (m *Model) blockIndex(blockBytes uint64) int {
	return slices.Index(m.refits.runs.BlockBytes(), blockBytes)
}

// Fit fits, for each block size of the runs, a model of every group's
// frequency and reuse-distance histogram over the problem size (2004, section
// 2.3; 2005, section 4). It takes three sizes at least and five to be worth
// trusting.
//
// Groups that exchange accesses from size to size are modelled together, and a
// warning says which. At the sizes that a model is fitted to, the accesses that it
// has of the whole program must be those of the run to within DefaultDeviation, or
// five times that if all runs are of one executable, and no basis or shape was asked
// for; otherwise the error wraps ErrNotReproduced. If there are five runs without the
// one that is off, and it is not the largest, it is left out instead, with a warning. If
// the runs themselves are rougher than that, or the parts of one executable, a warning
// says so. Misses at these sizes that are off by more than
// DefaultDeviation are in Model.Warnings, too.
//
// Models are kept in the default store, so that a notebook cell that fits again
// finds them.
func Fit(ctx context.Context, runs *locality.Runs, opt FitOptions) (*Model, error) {
	if len(runs.Runs) == 0 {
		return nil, fmt.Errorf("perf: no runs to fit a model to")
	}
	if n := len(runs.Runs); n < locality.MinSizes {
		return nil, fmt.Errorf("perf: %s: a model of %d sizes: it takes %d at least, and five to be worth trusting; profile further sizes", runs.Label(), n, locality.MinSizes)
	}
	if err := runs.Varies(); err != nil {
		return nil, err
	}
	return withoutOdd(runs, opt, func(runs *locality.Runs) (*Model, error) { return fitAll(ctx, runs, opt) })
}

// fitAll fits a model to all of the runs.
func fitAll(ctx context.Context, runs *locality.Runs, opt FitOptions) (*Model, error) {
	m := &Model{
		Program:  runs.Label(),
		Warnings: slices.Clone(runs.Warnings),
		byBlock:  make(map[uint64]*scaling.Model),
	}
	for _, text := range []string{runs.LeftOut(), runs.Unrecorded()} {
		if text != "" {
			m.about = append(m.about, text)
		}
	}
	m.heap = heapInRuns(runs)
	if text := turnsToMappings(runs); text != "" {
		m.about, m.Warnings = append(m.about, text), append(m.Warnings, text)
	}
	if text := roughness(ctx, runs); text != "" {
		m.about, m.Warnings = append(m.about, text), append(m.Warnings, text)
	}
	var sizes []fit.Point
	for _, run := range runs.Runs {
		m.Points = append(m.Points, run.Point)
		sizes = append(sizes, fit.Point(run.Point))
	}
	options := scaling.Options{Tolerance: opt.Tolerance, MedianRatio: opt.MedianRatio, NoSpread: opt.Draft}
	if opt.Basis != "" {
		basis, err := fit.ParseBasis(opt.Basis, m.Points[0].Names()...)
		if err != nil {
			return nil, fmt.Errorf("perf: basis: %w", err)
		}
		options.Basis = basis
	}
	shape, err := shapeNamed(opt.Shape)
	if err != nil {
		return nil, err
	}
	options.Shape = &shape
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	m.refits = &refits{
		runs: runs, sizes: sizes, options: options, opt: opt, store: st, known: make(map[refit]*scaling.Model),
		scopes:  make(map[subject.Scope]subject.Partition),
		classes: make(map[furtherKey]map[locality.Class]reuse.Histogram), byLoop: make(map[loopKey]*byLoop), better: make(map[loopKey]bool),
		heldOut:     make(map[int]*scaling.Footprint),
		atLargest:   make(map[int]*reuse.Histogram),
		simulations: make(map[simulatedKey]simulatedRun),
		collided:    make(map[collidedKey]*collisions),
		accesses:    make(map[string][]float64),
		sweeping:    make(map[uint64][]bool),
	}
	if err := m.chooseGroups(ctx); err != nil {
		return nil, err
	}
	chosen, err := opt.blocks(runs)
	if err != nil {
		return nil, err
	}
	if err := m.fitBlocks(ctx, chosen); err != nil {
		return nil, err
	}
	if m.footprint, err = m.fitFootprint(0); err != nil {
		return nil, err
	}
	m.checked = make(map[uint64][][]scaling.Histogram)
	err = m.check(ctx, runs)
	m.checked = nil
	if err != nil {
		return nil, err
	}
	return m, nil
}

// blocks returns the block sizes to model.
func (opt *FitOptions) blocks(runs *locality.Runs) ([]uint64, error) {
	all := runs.BlockBytes()
	for _, b := range opt.BlockBytes {
		if !slices.Contains(all, b) {
			return nil, fmt.Errorf("perf: no profile for blocks of %d bytes; there are %v", b, all)
		}
	}
	if len(opt.BlockBytes) == 0 {
		return all, nil
	}
	return opt.BlockBytes, nil
}

// fitFootprint models what the program touches, from all runs but those of the
// largest sizes.
func (m *Model) fitFootprint(without int) (*scaling.Footprint, error) {
	runs, kept := m.refits.runs, m.refits.kept(without)
	sizes := make([]fit.Point, len(kept))
	for i, r := range kept {
		sizes[i] = m.refits.sizes[r]
	}
	blocks := make([][]float64, len(runs.BlockBytes()))
	for b := range blocks {
		for _, r := range kept {
			blocks[b] = append(blocks[b], float64(coldOf(&runs.Runs[r], b)))
		}
	}
	f, err := scaling.FitFootprint(sizes, runs.BlockBytes(), blocks)
	if err != nil {
		return nil, fmt.Errorf("perf: footprint: %w", err)
	}
	return f, nil
}

// check holds the model against the runs that it was fitted to. The error wraps
// ErrNotReproduced; what is off besides is added to the warnings.
func (m *Model) check(ctx context.Context, runs *locality.Runs) error {
	if err := m.reproduces(ctx, runs); err != nil {
		return err
	}
	more, err := m.missWarnings(runs)
	m.Warnings = append(m.Warnings, more...)
	return err
}

// shapes are what FitOptions.Shape can be. All functions count something or are
// a distance, so none is negative.
var shapes = map[string]fit.Shape{
	"":                        scaling.DefaultShape,
	"monotone, one curvature": scaling.DefaultShape,
	"monotone":                {NonNegative: true, Trend: fit.TrendOfData},
	"convex":                  {NonNegative: true, Curvature: fit.Convex},
	"concave":                 {NonNegative: true, Curvature: fit.Concave},
	"free":                    {NonNegative: true},
}

func shapeNamed(name string) (fit.Shape, error) {
	shape, ok := shapes[name]
	if !ok {
		return shape, fmt.Errorf("perf: shape %q: want %q, %q, %q, %q or %q", name, "monotone, one curvature", "monotone", "convex", "concave", "free")
	}
	return shape, nil
}

// chooseGroups finds the groups that were accessed in any run, and joins those that
// exchange accesses.
func (m *Model) chooseGroups(ctx context.Context) error {
	r := m.refits
	if err := r.runs.Conserved(); err != nil {
		return err
	}
	var err error
	if m.shared, err = r.runs.Common(); err != nil {
		return err
	}
	j := joiner{shared: m.shared, runs: r.runs, sizes: r.sizes, options: r.options}
	parts, warning, err := j.parts(ctx, r)
	if err != nil {
		return err
	}
	m.parts, m.totals = parts, j.total
	if !r.opt.Draft { // drafts have no keys
		r.parts = m.digestOfParts()
	}
	if warning != "" {
		m.Warnings = append(m.Warnings, warning)
	}
	m.Warnings = append(m.Warnings, m.joinWarnings(r.runs)...)
	return nil
}

// digestOfParts identifies the parts by the groups of all runs that make them up. They do not
// follow from the executables alone: groups of several executables are matched, and which
// ones are joined depends on their accesses, of which one that crosses a boundary between
// the smallest blocks is two.
func (m *Model) digestOfParts() string {
	digest := sha256.New()
	for r := range m.Points {
		for g := range m.parts {
			fmt.Fprintln(digest, m.ownGroups(g, r))
		}
	}
	return hex.EncodeToString(digest.Sum(nil))
}

// Range returns the smallest and the largest training value of a parameter, for
// figures that mark the training range. It returns an error if the model has no
// such parameter.
func (m *Model) Range(param string) ([2]float64, error) {
	if err := m.has(param); err != nil {
		return [2]float64{}, err
	}
	r := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, p := range m.Points {
		r[0], r[1] = min(r[0], p[param]), max(r[1], p[param])
	}
	return r, nil
}

// has returns an error if the model has no such parameter.
func (m *Model) has(param string) error {
	if _, ok := m.Points[0][param]; !ok {
		return fmt.Errorf("perf: the model has no parameter %s; it has %s", param, strings.Join(m.Points[0].Names(), ", "))
	}
	return nil
}

// Check returns an error if a point names a parameter that the model does not
// have, or has a value that is not finite.
func (m *Model) Check(point subject.Point) error {
	if err := point.Check(); err != nil {
		return err
	}
	for _, name := range point.Names() {
		if _, ok := m.Points[0][name]; !ok {
			return fmt.Errorf("perf: point %q: the model has no parameter %s; it has %s", point, name, strings.Join(m.Points[0].Names(), ", "))
		}
	}
	return nil
}

// PlaceOf returns the innermost place that holds a group.
func (m *Model) PlaceOf(g Group) locality.Place {
	if p := &m.parts[g]; len(p.groups) > 1 {
		return p.at
	}
	return m.shared.PlaceOf(m.parts[g].groups[0])
}
