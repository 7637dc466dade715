package misses

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/scaling"
)

// span is a prediction of a scope's misses that are not counted, and how far off it
// may be.
type span struct{ misses, low, high float64 }

// widen extends s to two values.
func (s *span) widen(a, b float64) {
	s.low, s.high = math.Min(s.low, math.Min(a, b)), math.Max(s.high, math.Max(a, b))
}

// intervals sets the intervals of the rows. An interval contains what the functions
// compatible with the data say (predict.Intervals), and what other models of the
// same runs do:
//
//   - of all sizes but the largest. Where functions go astray, a further size moves
//     them, and the next would again;
//   - of the groups of references as they are, where reuses are modelled by loop, and
//     the other way round: two ways to look at the same runs, neither of which is
//     always better;
//   - what a Corrector that models them says that it may be wrong by;
//   - in caches a little smaller and larger;
//   - of pages, as large a share of the accesses as missed in each of the largest runs in
//     a level that held as large a part of what they touch;
//   - of pages that are not scaled, and outgrow a level only beyond the sizes of the
//     model, the bounds that smaller blocks give;
//   - in caches of sets, as many times the misses as the runs had there of those without
//     conflicts;
//   - in caches of sets that sweeps fill evenly, a fully associative one;
//   - in caches of few ways, the binomial formula, which knows nothing of where
//     data lie; and where steps come to a part of the sets, the cache of that part.
//
// An interval of 90% goes part of the way to the farthest of these others (see
// calibrated); other levels scale that as a normal distribution would.
//
// All this is about the groups whose misses a Corrector did not count. Of those that it
// counted, an interval goes as large a part of the way to what it may be wrong by
// (GroupCorrection.Off), which a trial may have shown; and an access that it did not
// count, or was wrong about, may have pushed out a block of theirs too many or too few.
func (d *doubter) intervals(ctx context.Context, rows []Row, coverage float64) error {
	k := d.partWay() * normalQuantile(cmp.Or(coverage, predict.DefaultLevel)) / normalQuantile(predict.DefaultLevel)
	spans, off := make([]span, len(rows)), make([]float64, len(rows))
	for g := range d.misses {
		if i := d.scopes.Of[g]; d.counted(Group(g)) {
			off[i] += k * d.offOf(Group(g))
		} else {
			spans[i].misses += d.misses[g].Total()
		}
	}
	for i := range spans {
		spans[i].low, spans[i].high = spans[i].misses, spans[i].misses
	}
	if slices.ContainsFunc(spans, func(s span) bool { return s.misses > 0 }) {
		if err := d.uncounted(ctx, rows, spans, k, coverage); err != nil {
			return err
		}
	}
	all, wrong := 0.0, 0.0
	for i := range spans {
		all += rows[i].Misses - spans[i].misses
		wrong += spans[i].high + off[i]
	}
	for i := range rows {
		counted := math.Max(0, rows[i].Misses-spans[i].misses)
		if d.exact != nil {
			off[i] = math.Min(counted, off[i]+k*wrong*num.Ratio(counted, all))
		}
		rows[i].Low = math.Max(0, counted-off[i]+spans[i].low)
		rows[i].High = counted + off[i] + spans[i].high
	}
	return nil
}

// partWay returns how far intervals of 90% go on the way to other predictions.
func (d *doubter) partWay() float64 {
	switch l := d.level; {
	case scaling.OfPages(l.BlockBytes):
		return calibratedPages
	case l.Sets > 1 && l.Ways < fewWays:
		return calibratedFew
	}
	return calibrated
}

// counted reports whether a Corrector counted the misses of a group.
func (d *doubter) counted(g Group) bool {
	return d.exact != nil && (d.exact[g] || d.replayed[g])
}

// offOf returns by how many misses a Corrector that counted those of a group may be wrong.
func (d *doubter) offOf(g Group) float64 {
	if d.exact[g] {
		return 0
	}
	return d.off[g] + leastDoubt*d.misses[g].Total()
}

// uncounted sets the intervals of the misses that are not counted; k is how far they go on
// the way from the prediction to what other models say.
func (d *doubter) uncounted(ctx context.Context, rows []Row, spans []span, k, coverage float64) error {
	if err := d.ofFunctions(ctx, spans, coverage); err != nil || d.by == predict.MethodBinomial {
		return err
	}
	others, err := d.others(ctx)
	if err != nil {
		return err
	}
	off := make([]float64, len(spans))
	for g := range d.off {
		if !d.counted(Group(g)) {
			off[d.scopes.Of[g]] += d.off[g]
		}
	}
	for i := range spans {
		s := &spans[i]
		by := func(d float64) { s.widen(s.misses-k*d, s.misses+k*d) }
		by(s.misses*leastDoubt + 1)
		by(off[i])
		if d.key.scaled() {
			by(s.misses * scaledDoubt)
		}
		if rows[i].Doubtful > doubtfulShare {
			by(s.misses * rows[i].Doubtful / 2)
		}
		for _, o := range others {
			v := math.Max(0, s.misses-d.base[i]+o.misses[i])
			ratio := math.Pow((v+1)/(s.misses+1), k*cmp.Or(o.power, 1))
			s.widen(s.misses*ratio, s.misses*ratio)
			if o.bothWays {
				s.widen(s.misses/ratio, s.misses/ratio)
			}
		}
		s.low, s.high = math.Max(0, s.low*(1-leastDoubt)), s.high*(1+leastDoubt) // other models have remainders, too
	}
	return nil
}

// normalQuantile returns the number of standard deviations within which a normal
// variable is with a probability.
func normalQuantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(p) }

// ofFunctions sets intervals to what the functions compatible with the data say.
func (d *doubter) ofFunctions(ctx context.Context, spans []span, coverage float64) error {
	cache := d.by.Of(d.level.Cache())
	all, err := predict.Intervals(ctx, d.model, fit.Point(d.point), []predict.Cache{cache}, d.scopesOf(d.histograms), predict.IntervalOptions{Level: coverage})
	if err != nil {
		return err
	}
	plain := make([]float64, len(spans))
	d.base = make([]float64, len(spans))
	for g, h := range d.model.Histograms(fit.Point(d.point)) {
		if d.counted(d.group(g)) {
			continue
		}
		misses := predict.OfHistogram(&h, cache)
		scope := d.scopes.Of[d.group(g)]
		plain[scope] += misses.Total()
		if d.evenly != nil {
			misses = d.missesWithoutConflicts(g, d.level, d.level.Blocks(), d.evenly)
		} else {
			misses = d.missesIn(g, cache)
		}
		d.base[scope] += misses.Total()
	}
	if d.held != "" { // what pages say is not the base of anything
		for i := range spans {
			d.base[i] = spans[i].misses
		}
	}
	for i := range spans {
		if i < len(all[0]) {
			// What a footprint or a Corrector changes moves the interval.
			k := num.Ratio(spans[i].misses, plain[i])
			spans[i].widen(k*all[0][i].Low, k*all[0][i].High)
		}
	}
	return nil
}

// scopesOf returns the scope of each of some histograms; one more than there are of
// those whose misses are counted.
func (d *doubter) scopesOf(h *histograms) []int {
	of := make([]int, len(h.groups))
	for g := range of {
		if of[g] = d.scopes.Of[h.group(g)]; d.counted(h.group(g)) {
			of[g] = len(d.scopes.Names)
		}
	}
	return of
}

// other is what another model predicts of each scope.
type other struct {
	misses   []float64
	bothWays bool    // the truth may be as far on the other side
	power    float64 // of its ratio to the prediction that the truth may be off by; 0: 1
}

// nearby returns the ratio of two capacities whose predictions an interval contains,
// and the power of what the model without the largest size says.
//
// Each array that lies in one piece has as many blocks in every set, but for one. So
// where data hardly fit, or hardly do not, sets overflow, or do not yet, as if they had
// a way more or less (derived here).
func (d *doubter) nearby() (near, power float64) {
	near, power = nearCapacity, 1.0
	if d.key.scaled() {
		near, power = scaledNear, scaledPower
	}
	if d.level.Sets > 1 {
		near = math.Max(near, 1+1/float64(d.level.Ways))
	}
	return near, power
}

func (d *doubter) others(ctx context.Context) ([]other, error) {
	if d.held != "" {
		return d.othersOfPages()
	}
	blocks := float64(d.level.Blocks())
	near, power := d.nearby()
	out := []other{
		{misses: d.sumAt(d.histograms, blocks/near)},
		{misses: d.sumAt(d.histograms, math.Ceil(blocks*near))},
	}
	if d.more != 0 {
		out = append(out, other{misses: d.sumAt(d.histograms, blocks-float64(d.more))})
	}
	if d.evenly != nil {
		out = append(out, other{misses: d.sum(d.histograms, predict.FullyAssociative(d.level.Blocks()))})
	}
	if d.level.Sets > 1 && d.level.Ways <= fewWays {
		out = append(out, other{misses: d.sum(d.histograms, d.level.Cache())})
		d.addCollisions(out[len(out)-1].misses, nil)
	}
	if d.expected != nil {
		for _, more := range d.expected.others {
			o := other{misses: slices.Clone(d.base)}
			d.addCollisions(o.misses, more)
			out = append(out, o)
		}
	}
	held, err := d.heldOut(ctx)
	if err != nil {
		return nil, err
	}
	if held != nil {
		out = append(out, other{misses: d.sumAt(held, blocks), bothWays: true, power: power})
	}
	second, err := d.secondOpinion(ctx)
	if err != nil {
		return nil, err
	}
	if second != nil {
		out = append(out, other{misses: d.sumAt(second, blocks)})
	}
	if scaling.OfPages(d.level.BlockBytes) {
		for _, h := range []*histograms{limited(d.histograms, d.touched.Lo), limited(d.histograms, d.touched.Hi)} {
			out = append(out, other{misses: d.sumAt(h, blocks)})
		}
		out = append(out, d.bySharesHeld()...)
		if d.trainedWithin() && !d.key.scaled() {
			bounds, err := d.bySmallerBlocks()
			if err != nil {
				return nil, err
			}
			out = append(out, bounds...)
		}
	}
	if stride, _ := d.collidingStride(); stride > 0 && d.level.Sets > 1 {
		share := d.setsOf(stride) / float64(d.level.Sets)
		out = append(out, other{misses: d.sumAt(d.histograms, blocks*share)})
	}
	return append(out, d.asSeen()...), nil
}

// addCollisions puts other conflicts in place of those that are predicted, in what another
// model says of each scope: to be compared with the base, which has none.
func (d *doubter) addCollisions(misses, more []float64) {
	if d.expected == nil {
		return
	}
	for g := range d.misses {
		if d.corrected != nil && d.corrected[g] {
			continue
		}
		misses[d.scopes.Of[g]] -= d.expected.more[g]
		if more != nil {
			misses[d.scopes.Of[g]] += more[g]
		}
	}
}

// othersOfPages returns what an interval contains of a level whose misses distances in
// pages do not know: as much more or less as pages may be used otherwise than wholly, or
// the bounds that smaller blocks give.
func (d *doubter) othersOfPages() ([]other, error) {
	if d.held == MethodPagesBounded {
		return d.bySmallerBlocks()
	}
	more, less := slices.Clone(d.base), slices.Clone(d.base)
	floats.Scale(wholly, more)
	floats.Scale(1/wholly, less)
	return []other{{misses: more}, {misses: less}}, nil
}

// sumAt returns the misses of each scope that are not counted, without conflicts, in a
// level of another capacity in blocks.
func (d *doubter) sumAt(h *histograms, blocks float64) []float64 {
	out := make([]float64, len(d.scopes.Names))
	for g := range h.groups {
		if !d.counted(h.group(g)) {
			m := h.missesWithoutConflicts(g, d.level, uint64(math.Max(1, blocks)), d.evenly)
			out[d.scopes.Of[h.group(g)]] += m.Total()
		}
	}
	return out
}

// sum returns the misses of each scope that are not counted.
func (d *doubter) sum(h *histograms, c predict.Cache) []float64 {
	out := make([]float64, len(d.scopes.Names))
	for g := range h.groups {
		if !d.counted(h.group(g)) {
			m := h.missesIn(g, c)
			out[d.scopes.Of[h.group(g)]] += m.Total()
		}
	}
	return out
}

// secondOpinion returns what the groups of references as they are say where reuses are
// modelled by loop, and the other way round; nil where pages are scaled, which groups
// know little of, or where there are no models by loop.
func (d *doubter) secondOpinion(ctx context.Context) (*histograms, error) {
	if d.key.scaled() {
		return nil, nil
	}
	if d.of != nil {
		return d.evaluate(d.level.BlockBytes, d.point, d.by)
	}
	param := d.beyondRuns(d.point, d.by)
	if param == "" {
		return nil, nil
	}
	keys := d.loopKeys(param, d.level.BlockBytes, d.point)
	if len(keys) == 0 || keys[0].scaled() {
		return nil, nil
	}
	h, err := d.partsAt(ctx, keys[0], d.point, d.footprint)
	if errors.Is(err, errNotRun) {
		return nil, nil
	}
	return h, err
}

// limited returns h with a limit of distances for another number of blocks touched.
func limited(h *histograms, touched float64) *histograms {
	out := &histograms{model: h.model, of: h.of, key: h.key, groups: make([]groupHistogram, len(h.groups))}
	for g := range h.groups {
		own := &h.model.Groups[g]
		out.groups[g] = h.groups[g]
		out.groups[g].Bins = slices.Clone(h.groups[g].Bins)
		for i := range own.Bins {
			far := math.Max(0, own.Bins[i].Distance.Eval(h.at))
			out.groups[g].Bins[i].Distance = math.Min(far, math.Max(0, touched-1))
		}
	}
	return out
}

// heldOut returns what the model without the largest size says; nil if too few are
// left.
func (d *doubter) heldOut(ctx context.Context) (*histograms, error) {
	if len(d.Points)-1 < leastSizes {
		return nil, nil
	}
	footprint, err := d.heldOutFootprint(1)
	if err != nil {
		return nil, err
	}
	if d.of != nil {
		return d.partsAt(ctx, loopKey{d.key.block, d.key.at, 1}, d.point, footprint)
	}
	fitted, err := d.fitted(ctx, refit{block: d.blockIndex(d.level.BlockBytes), without: 1})
	if err != nil {
		return nil, err
	}
	return evaluate(fitted, footprint, d.level.BlockBytes, d.point)
}
