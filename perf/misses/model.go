package misses

import (
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/access"
	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/store"
	"presage/perf/subject"
)

// FitOptions say how models are fitted. The zero value is the default
// throughout.
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

	// Store keeps the models; nil: the default store.
	Store *store.Store
}

// Model predicts a program's reuse-distance histograms at any problem size.
type Model struct {
	Program  string
	Points   []subject.Point // that it was fitted on
	Warnings []string

	Shared  *locality.SharedGroups
	Refs    []access.Reference
	groups  []int   // of the models' groups: index in shared, ascending
	Members [][]int // indices in refs of each group's references
	byBlock map[uint64]*scaling.Model
}

// FitScaling fits, for each block size of the runs, a model of every group's
// frequency and reuse-distance histogram over the problem size (2004, section
// 2.3; 2005, section 4). It takes three sizes at least and five to be worth
// trusting.
//
// Models are kept in the default store, so that a notebook cell that fits again
// finds them.
func FitScaling(ctx context.Context, runs *locality.Runs, opt FitOptions) (*Model, error) {
	if len(runs.Runs) == 0 {
		return nil, fmt.Errorf("perf: no runs to fit a model to")
	}
	m := &Model{
		Program:  runs.Label(),
		Warnings: slices.Clone(runs.Warnings),
		byBlock:  make(map[uint64]*scaling.Model),
	}
	var sizes []fit.Point
	for _, run := range runs.Runs {
		m.Points = append(m.Points, run.Point)
		sizes = append(sizes, fit.Point(run.Point))
	}
	options := scaling.Options{Tolerance: opt.Tolerance, MedianRatio: opt.MedianRatio}
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
	if err := m.chooseGroups(runs); err != nil {
		return nil, err
	}
	st, err := subject.StoreOrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	keys, err := modelKeys(runs, opt)
	if err != nil {
		return nil, err
	}
	for b, blockBytes := range runs.BlockBytes() {
		blockOptions := options
		blockOptions.BlockBytes = blockBytes
		fitted, warning, err := store.Memo(st, keys[b], func() (*scaling.Model, error) {
			return scaling.Fit(ctx, sizes, m.histograms(runs, b), blockOptions)
		})
		if err != nil {
			return nil, fmt.Errorf("perf: fit for blocks of %d bytes: %w", blockBytes, err)
		}
		m.byBlock[blockBytes] = fitted
		if warning != nil {
			m.Warnings = append(m.Warnings, warning.Error())
		}
		for _, w := range fitted.Warnings {
			m.Warnings = append(m.Warnings, fmt.Sprintf("blocks of %d bytes: %v", blockBytes, w))
		}
	}
	return m, nil
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

// modelVersion is part of the key of a stored model: raise it when fitting
// changes, or the layout of scaling.Model.
const modelVersion = 6

// matchVersion is part of the key of a model of several executables: raise it
// when access.Match changes.
const matchVersion = 1

// modelKeys returns the key of the model for each block size of the runs.
func modelKeys(runs *locality.Runs, opt FitOptions) ([]store.Key, error) {
	var of []locality.Recorded
	var points []subject.Point
	for i := range runs.Runs {
		of, points = append(of, runs.Runs[i].Recorded), append(points, runs.Runs[i].Point)
	}
	match := 0
	if programs, _ := runs.Programs(); len(programs) > 1 {
		match = matchVersion
	}
	var keys []store.Key
	for _, blockBytes := range runs.BlockBytes() {
		key, err := store.NewKey("model", modelVersion, struct {
			Runs        []locality.Recorded
			Points      []subject.Point
			BlockBytes  uint64
			Reuse       int
			Basis       string
			Shape       string
			Tolerance   float64
			MedianRatio bool
			Match       int `json:",omitempty"`
		}{of, points, blockBytes, locality.ReuseVersion, opt.Basis, opt.Shape, opt.Tolerance, opt.MedianRatio, match})
		if err != nil {
			return nil, err
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// chooseGroups finds the groups that were accessed in any run.
func (m *Model) chooseGroups(runs *locality.Runs) error {
	c, err := runs.Common()
	if err != nil {
		return err
	}
	m.Shared, m.Refs = c, c.Refs
	for g := range c.Members {
		for r := range runs.Runs {
			if c.Accesses(runs, r, g) > 0 {
				m.groups = append(m.groups, g)
				m.Members = append(m.Members, c.Members[g])
				break
			}
		}
	}
	return nil
}

// histograms returns each group's histograms at all sizes, for the runs' b-th
// block size.
func (m *Model) histograms(runs *locality.Runs, b int) []scaling.Group {
	groups := make([]scaling.Group, len(m.groups))
	for i, g := range m.groups {
		groups[i].Name = m.Refs[m.Members[i][0]].String()
		groups[i].Hists = make([]reuse.Histogram, len(runs.Runs))
		for r := range runs.Runs {
			groups[i].Hists[r] = locality.SumHistograms(runs.Runs[r].Reuse[b], m.Shared.OfRun(r, g))
		}
	}
	return groups
}

// Range returns the smallest and the largest training value of a parameter,
// for figures that mark the training range.
func (m *Model) Range(param string) [2]float64 {
	r := [2]float64{math.Inf(1), math.Inf(-1)}
	for _, p := range m.Points {
		if v, ok := p[param]; ok {
			r[0], r[1] = min(r[0], v), max(r[1], v)
		}
	}
	return r
}
