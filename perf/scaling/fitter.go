package scaling

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/reuse"
)

// fitter is the state shared by the models of all groups. It is read-only once
// built, except for memo, which locks itself.
type fitter struct {
	params      []string
	sizes       []fit.Point
	extents     []float64 // see weights
	basis       *fit.Basis
	reach       fit.Reach
	shape       fit.Shape
	design      *fit.Design   // over all sizes
	higher      []*fit.Design // of higher powers than the default basis has, ascending
	plain       *fit.Design   // without terms that depend on the block size, for accesses
	steep       []*fit.Design // higher without these
	bounded     *fit.Basis    // of distances, see boundDistances; nil: basis
	boundedTo   *fit.Design   // over all sizes
	all         fit.Func      // accesses of the program; without terms if they are not known
	total       []float64     // accesses of the program, at each size
	tolerance   float64
	negligible  float64
	medianRatio bool
	fewBlocks   bool
	same        bool // Options.SameDistances
	noSpread    bool
	blockBytes  uint64
	chance      bool // counts and distances may have noise, see continued

	twice   fit.Point   // twice the largest size
	beyond  []fit.Point // where totals are compared
	atStake []float64   // accesses of the program that may miss, at each size
	groups  []prepared
	memo    memo
}

// prepared is a group with its reuses in order of distance, and its constant bins.
type prepared struct {
	Group
	hists     []ranked
	distances []float64 // of the constant bins
	upTo      []float64 // ranks up to which they reach
}

func newFitter(sizes []fit.Point, groups []Group, opt Options) (*fitter, error) {
	if len(sizes) < minSizes {
		return nil, fmt.Errorf("scaling: %w: %d sizes, at least %d are needed and %d recommended", ErrData, len(sizes), minSizes, RecommendedSizes)
	}
	f := &fitter{sizes: sizes, blockBytes: opt.BlockBytes, basis: opt.Basis, reach: opt.Reach, medianRatio: opt.MedianRatio, fewBlocks: opt.FewBlocks, same: opt.SameDistances, noSpread: opt.NoSpread}
	f.memo = memo{designs: map[string]*fit.Design{}, fitted: map[string]*fitted{}}
	f.params = sortedNames(sizes[0])
	if err := checkSizes(sizes, groups); err != nil {
		return nil, err
	}
	f.shape = DefaultShape
	if opt.Shape != nil {
		f.shape = *opt.Shape
	}
	if f.basis == nil {
		f.basis = withAlignment(fit.Monomials(defaultDegree, f.params...), sizes, opt.BlockBytes)
	}
	f.tolerance = defaulted(opt.Tolerance, DefaultTolerance)
	f.negligible = defaulted(opt.Negligible, DefaultNegligible)
	var err error
	if f.design, err = fit.NewDesign(f.basis, sizes, f.reach); err != nil {
		return nil, fmt.Errorf("scaling: %w", err)
	}
	f.plain = f.design
	if opt.Basis == nil {
		if f.higher, err = f.higherPowers(opt.BlockBytes); err != nil {
			return nil, err
		}
		if f.steep, err = f.higherPowers(0); err != nil {
			return nil, err
		}
		if f.plain, err = fit.NewDesign(fit.Monomials(defaultDegree, f.params...), sizes, f.reach); err != nil {
			return nil, fmt.Errorf("scaling: %w", err)
		}
	}
	for _, s := range sizes {
		f.extents = append(f.extents, meanParameter(s))
	}
	f.twice = f.times(2)
	f.beyond = []fit.Point{f.twice, f.times(4), f.times(fit.ReachLimit)}
	return f, nil
}

// prepare sets what is known of groups before they are split.
func (f *fitter) prepare(ctx context.Context, groups []Group, workers int) error {
	f.atStake, f.groups = make([]float64, len(f.sizes)), make([]prepared, len(groups))
	each(ctx, workers, len(groups), func(k int) {
		p := &f.groups[k]
		p.Group, p.hists = groups[k], rankAll(groups[k].Hists)
		p.distances, p.upTo = f.constantBins(p.hists)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for k := range f.groups {
		p := &f.groups[k]
		for i := range f.sizes {
			f.atStake[i] += float64(p.Hists[i].Cold) + p.hists[i].total() - p.upTo[i]
		}
	}
	if f.chance {
		return f.sumUp(groups)
	}
	return nil
}

// checkSizes returns an error if sizes differ in parameters, repeat, or are not
// positive, or if a group does not have a histogram for each size.
func checkSizes(sizes []fit.Point, groups []Group) error {
	params := sortedNames(sizes[0])
	for i, s := range sizes {
		if !slices.Equal(params, sortedNames(s)) {
			return fmt.Errorf("scaling: %w: size %d has parameters %v, size 0 has %v", ErrData, i, sortedNames(s), params)
		}
		for _, name := range params {
			if x := s[name]; !(x > 0) || math.IsInf(x, 0) {
				return fmt.Errorf("scaling: %w: parameter %s of size %d is %g, not positive", ErrData, name, i, x)
			}
		}
		for k := range i {
			if maps.Equal(sizes[k], s) {
				return fmt.Errorf("scaling: %w: sizes %d and %d are the same: %v", ErrData, k, i, s)
			}
		}
	}
	if len(params) == 0 {
		return fmt.Errorf("scaling: %w: sizes have no parameter", ErrData)
	}
	for i, g := range groups {
		if len(g.Hists) != len(sizes) {
			return fmt.Errorf("scaling: %w: group %d %q has %d histograms for %d sizes", ErrData, i, g.Name, len(g.Hists), len(sizes))
		}
		if g.Accesses != nil && len(g.Accesses) != len(sizes) {
			return fmt.Errorf("scaling: %w: group %d %q has %d counts of accesses for %d sizes", ErrData, i, g.Name, len(g.Accesses), len(sizes))
		}
	}
	return nil
}

// sortedNames returns the parameters of a point, ascending.
func sortedNames(p fit.Point) []string { return slices.Sorted(maps.Keys(p)) }

func defaulted(v, otherwise float64) float64 {
	switch {
	case v == 0:
		return otherwise
	case v < 0:
		return 0
	}
	return v
}

// times returns the largest value of each parameter, multiplied by k.
func (f *fitter) times(k float64) fit.Point {
	p := fit.Point{}
	for _, name := range f.params {
		for _, s := range f.sizes {
			p[name] = max(p[name], k*s[name])
		}
	}
	return p
}

func rankAll(hists []reuse.Histogram) []ranked {
	out := make([]ranked, len(hists))
	for i := range hists {
		out[i] = newRanked(hists[i].Bins)
	}
	return out
}

// group models one group.
func (f *fitter) group(g *prepared) (GroupModel, error) {
	m := GroupModel{Name: g.Name}
	hists := g.hists
	cold, reuses, accesses := make([]float64, len(hists)), make([]float64, len(hists)), make([]float64, len(hists))
	for i := range hists {
		cold[i], reuses[i] = float64(g.Hists[i].Cold), hists[i].total()
		accesses[i] = cold[i] + reuses[i]
		if g.Accesses != nil {
			accesses[i] = g.Accesses[i]
		}
	}
	var err error
	if m.Cold, err = f.frequency(cold); err != nil {
		return m, err
	}
	if m.Accesses, err = f.counted(ofAccesses, accesses); err != nil {
		return m, err
	}
	s := splitter{fitter: f, hists: hists, twice: fit.At(f.twice)}
	rest := make(part, len(hists))
	for i := range rest {
		rest[i] = span{g.upTo[i], reuses[i]}
	}
	switch {
	case !seen(rest):
	case f.same:
		s.byDistance(rest)
	default:
		s.split(rest, 0)
		s.coalesce()
	}
	if n := len(g.distances) + len(s.parts); n > 0 {
		m.Bins = make([]BinModel, 0, n)
	}
	for k, counts := range constantCounts(hists, g.distances, g.upTo) {
		b := BinModel{Constant: true, Distance: fit.Constant(g.distances[k])}
		if b.Frequency, err = f.frequency(counts); err != nil {
			return m, err
		}
		m.Bins = append(m.Bins, b)
	}
	for _, p := range s.parts {
		var b BinModel
		if b.Frequency, err = f.frequency(p.counts()); err != nil {
			return m, err
		}
		if b.Distance, err = f.distance(hists, p, ofDistance); err != nil {
			return m, err
		}
		m.Bins = append(m.Bins, b)
	}
	m.Warnings = f.doubts(&m)
	return m, nil
}

// frequency models counts over all sizes that depend on the size of blocks.
func (f *fitter) frequency(counts []float64) (fit.Func, error) {
	return f.counted(ofFrequency, counts)
}

// counted models counts over all sizes: with terms that depend on the size of
// blocks, or, of accesses, without, so that they are the same for all blocks.
func (f *fitter) counted(k kind, counts []float64) (fit.Func, error) {
	design, higher := f.design, f.higher
	if k == ofAccesses {
		design, higher = f.plain, f.steep
	}
	at, sum := 0, 0.0
	for _, c := range counts {
		if c >= presence {
			at++
		}
		sum += c
	}
	if at == 0 {
		return fit.Func{Domain: f.design.Domain(), Residuals: counts, R2: 1, Condition: 1}, nil
	}
	if at < minSizes {
		return f.held(sum/float64(len(counts)), at), nil
	}
	known := f.memo.recall(k, counts, func() (out fitted) {
		if f.fewBlocks && len(f.params) == 1 {
			out.f, out.err = f.plainCounts(counts)
			if out.err == nil {
				out.f, out.err = f.steeper(k, out.f, higher, counts)
			}
			return out
		}
		out.f, out.err = f.fit(k, design, f.extents, counts, 0, f.noSpread)
		if out.err == nil {
			out.f, out.err = f.steeper(k, out.f, higher, counts)
		}
		if out.err == nil && f.varies(k) {
			out.f = f.evened(out.f, counts)
		}
		return out
	})
	return known.f, known.err
}

// held models a quantity seen at too few sizes as a constant, so that nothing
// is extrapolated from one or two observations.
func (f *fitter) held(v float64, at int) fit.Func {
	c := fit.Constant(v)
	c.Domain = f.design.Domain()
	c.Warnings = []fit.Warning{{Doubt: HeldConstant, Detail: fmt.Sprintf("seen at %d of %d sizes", at, len(f.sizes))}}
	return c
}

// roughness returns the relative leave-one-out error of the best model of
// counts, with an unrestricted shape.
func (f *fitter) roughness(counts []float64) float64 {
	known := f.memo.recall(ofRoughness, counts, func() (out fitted) {
		out.loo, out.err = f.design.LeaveOneOut(counts, fit.Options{Weights: weights(f.extents, counts, usual), Cancellation: cancellation})
		return out
	})
	if known.err != nil {
		return 1
	}
	return known.loo
}

// distance models the average distance of a part over the sizes where it was
// seen. While parts are being split only its value matters, so drafts have no
// spread.
func (f *fitter) distance(hists []ranked, p part, k kind) (fit.Func, error) {
	means := make([]float64, len(p))
	sum, count, seenAt := 0.0, 0.0, 0
	for i, sp := range p {
		if sp.count() < presence {
			means[i] = absent
			continue
		}
		means[i] = hists[i].mean(sp)
		sum += means[i] * sp.count()
		count += sp.count()
		seenAt++
	}
	if seenAt < minSizes {
		return f.held(sum/count, seenAt), nil
	}
	if k == ofDraft && f.noSpread {
		k = ofDistance // they are the same
	}
	known := f.memo.recall(k, means, func() (out fitted) {
		out.f, out.err = f.fitDistance(means, k == ofDraft || f.noSpread)
		return out
	})
	return known.f, known.err
}

// fitDistance models distances over the sizes where they are not absent.
func (f *fitter) fitDistance(means []float64, noSpread bool) (fit.Func, error) {
	d, err := f.designFor(means)
	if err != nil {
		return fit.Func{}, err
	}
	extents, y := make([]float64, 0, len(means)), make([]float64, 0, len(means))
	for i, v := range means {
		if !math.IsNaN(v) {
			extents, y = append(extents, f.extents[i]), append(y, v)
		}
	}
	if f.fewBlocks && len(f.params) == 1 {
		return f.lowestPower(means, extents, y, noSpread)
	}
	return f.fit(ofDistance, d, extents, y, distanceSlack, noSpread)
}

// doubts compares the bins with the totals at the sizes and beyond.
func (f *fitter) doubts(m *GroupModel) []fit.Warning {
	var out []fit.Warning
	if m.Accesses.RMS > totalsLimit {
		out = append(out, fit.Warning{Doubt: PoorFit, Detail: fmt.Sprintf("the number of accesses is off by %.0f%% at the sizes of the model", 100*m.Accesses.RMS)})
	}
	for _, p := range slices.Concat(f.sizes, f.beyond) {
		at := fit.At(p)
		total, sum := math.Max(0, at.Of(&m.Accesses)-math.Max(0, at.Of(&m.Cold))), 0.0
		for i := range m.Bins {
			sum += at.Of(&m.Bins[i].Frequency)
		}
		if d := sum - total; d > totalsLimit*total || -d > totalsLimit*total {
			out = append(out, fit.Warning{Doubt: TotalsDisagree, Detail: fmt.Sprintf("bins have %.4g reuses at %v, the total's model %.4g", sum, p, total)})
			break
		}
	}
	return out
}

// fit is fitTo, or continued for what is there to be continued and may have noise.
func (f *fitter) fit(k kind, d *fit.Design, extents, y []float64, slack float64, noSpread bool) (fit.Func, error) {
	if f.varies(k) {
		return continued(d, f.shape, extents, y, slack, noSpread)
	}
	return fitTo(d, f.shape, extents, y, slack, noSpread)
}

// varies reports whether quantities of a kind may have noise. In pages, of which a program
// touches a few dozen, it is where data begin in a page that they are off by, and not
// chance; accesses are the same in blocks of all sizes.
func (f *fitter) varies(k kind) bool {
	return f.chance && (k == ofAccesses || !OfPages(f.blockBytes))
}
