package misses

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// ScopedHistograms are the predicted histograms of all scopes of a kind at a point,
// for one block size: from them follow the misses in any cache with such blocks.
type ScopedHistograms struct {
	Names    []string // of the scopes
	Accesses []float64
	Warnings []string // about all of them

	hists  []scaling.Histogram
	method predict.Method
}

// ScopedOptions configures Model.Scoped.
type ScopedOptions struct {
	By         subject.Scope
	BlockBytes uint64         // 0: the smallest that is modelled
	Method     predict.Method // as in PredictOptions
}

// Scoped predicts the histograms of all scopes of a kind at a point, by the functions
// of their groups, without a further run. Misses that follow from them are those of
// Predict without a Corrector in fully associative caches within the sizes that the model
// was fitted to (see Row.FullyAssoc). Beyond them Predict models reuses by loop and scales
// pages, where that foretells more; a warning says so.
func (m *Model) Scoped(point subject.Point, opt ScopedOptions) (*ScopedHistograms, error) {
	all, err := m.ScopedAt([]subject.Point{point}, opt)
	if err != nil {
		return nil, err
	}
	return all[0], nil
}

// ScopedAt is Scoped at several points, which takes less time together.
func (m *Model) ScopedAt(points []subject.Point, opt ScopedOptions) ([]*ScopedHistograms, error) {
	by, err := opt.By.Check()
	if err != nil {
		return nil, err
	}
	blockBytes := cmp.Or(opt.BlockBytes, m.smallestBlock())
	method, err := opt.Method.Check()
	if err != nil {
		return nil, err
	}
	fitted, err := m.forBlocks(blockBytes)
	if err != nil {
		return nil, err
	}
	at := make([]fit.Point, len(points))
	for i, point := range points {
		if err := m.Check(point); err != nil {
			return nil, err
		}
		at[i] = fit.Point(point)
		if err := fitted.Check(at[i]); err != nil {
			return nil, err
		}
	}
	footprint := m.footprint
	if method == predict.MethodBinomial { // as in evaluate
		footprint = nil
	}
	all := make([]*ScopedHistograms, len(points))
	for i, known := range fitted.HistogramsAt(at) {
		h := bounded(fitted, known, nil, nil, footprint, blockBytes, at[i])
		s, err := m.scoped(h, scopedOptions{by, method})
		if err != nil {
			return nil, fmt.Errorf("perf: blocks of %d bytes at %s: %w", blockBytes, points[i], err)
		}
		warnings := s.warnings
		if m.beyondRuns(points[i], method) != "" {
			warnings = append(slices.Clone(warnings), groupsAlone)
		}
		all[i] = &ScopedHistograms{Names: s.names, Accesses: s.accesses, Warnings: warnings, hists: s.hists, method: s.by}
	}
	return all, nil
}

// groupsAlone is said of what the functions of groups predict beyond the sizes profiled.
const groupsAlone = "beyond the sizes profiled these are the functions of groups alone: presage predict models loops and pages by themselves there, and may differ"

// Index returns the index of a scope, or -1.
func (s *ScopedHistograms) Index(scope string) int { return slices.Index(s.Names, scope) }

// Misses returns the misses of a scope in a cache.
func (s *ScopedHistograms) Misses(scope int, c predict.Cache) predict.Misses {
	return predict.OfHistogram(&s.hists[scope], s.method.Of(c))
}

// Histogram returns the histogram of a scope, which must not be modified.
func (s *ScopedHistograms) Histogram(scope int) *scaling.Histogram { return &s.hists[scope] }

// Function is a function of a model: how often a group is accessed at reuse
// distances that make up a bin, how far those are, or its cold accesses.
type Function struct {
	Reference string  // the first of the group
	Bin       int     // from 0 by ascending distance; -1 for the cold accesses
	Quantity  string  // accesses or distance_blocks
	Share     float64 // of the scope's accesses that the bin has, at the last training point
	Func      *fit.Func
	// Relative are the residuals, data less function, divided by the data, at each
	// training point; nil if the function was fitted to a part of them.
	Relative []float64
}

// Functions returns the functions that model the groups of a scope, those whose bin
// has most accesses first, and of them most at most.
func (m *Model) Functions(by subject.Scope, scope string, blockBytes uint64, most int) ([]Function, error) {
	fitted, err := m.forBlocks(blockBytes)
	if err != nil {
		return nil, err
	}
	scopes := m.Scopes(by)
	last := fit.Point(m.Points[len(m.Points)-1])
	var all []shared
	total := 0.0
	for g, h := range fitted.Histograms(last) {
		if scopes.Names[scopes.Of[g]] != scope {
			continue
		}
		group := &fitted.Groups[g]
		total += h.Accesses()
		for b := range group.Bins {
			all = append(all, shared{h.Bins[b].Count, Group(g), b})
		}
		all = append(all, shared{h.Cold, Group(g), -1})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("perf: the model has no scope %q", scope)
	}
	for i := range all {
		all[i].of = num.Ratio(all[i].of, total)
	}
	slices.SortStableFunc(all, func(a, b shared) int { return cmp.Compare(b.of, a.of) })
	var list []Function
	for _, s := range all {
		group, f := &fitted.Groups[s.group], Function{Reference: m.first(s.group).String(), Bin: s.bin, Quantity: "accesses", Share: s.of}
		if s.bin < 0 {
			f.Func = &group.Cold
			list = append(list, m.function(f))
		} else {
			frequency, distance := f, f
			frequency.Func = &group.Bins[s.bin].Frequency
			distance.Func, distance.Quantity = &group.Bins[s.bin].Distance, "distance_blocks"
			list = append(list, m.function(frequency), m.function(distance))
		}
		if len(list) >= most {
			return list[:most], nil
		}
	}
	return list, nil
}

// shared is a bin of a group, -1 for its cold accesses, with what it has of the accesses.
type shared struct {
	of    float64
	group Group
	bin   int
}

// function fills in the residuals.
func (m *Model) function(f Function) Function {
	if len(f.Func.Residuals) != len(m.Points) {
		return f
	}
	for i, p := range m.Points {
		f.Relative = append(f.Relative, num.Ratio(f.Func.Residuals[i], f.Func.Eval(fit.Point(p))+f.Func.Residuals[i]))
	}
	return f
}
