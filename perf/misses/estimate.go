package misses

import (
	"context"
	"fmt"
	"math"
	"slices"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/predict"
	"presage/perf/scaling"
	"presage/perf/subject"
)

// histograms are what models say of a program at a point, for one block size.
type histograms struct {
	at       fit.Point
	model    *scaling.Model   // that they come from
	groups   []groupHistogram // by its groups
	accesses []float64        // by its groups, as the model has them
	of       []Group          // by its groups; nil: they are the Model's
	key      loopKey          // of the model by loop that they come from
	limit    float64          // no distance is larger; 0: no limit
	touched  fit.Interval
	warnings []fit.Warning
}

// group returns the Model's group that the g-th histogram is of.
func (h *histograms) group(g int) Group {
	if h.of == nil {
		return Group(g)
	}
	return h.of[g]
}

// groupHistogram is the histogram of one group.
type groupHistogram struct{ scaling.Histogram }

func (h *groupHistogram) reuses() float64 { return h.Accesses() - h.Cold }

// setCold changes the cold accesses at the expense of the reuses.
func (h *groupHistogram) setCold(cold float64) {
	if reuses := h.reuses(); reuses > 0 {
		left := math.Max(0, reuses+h.Cold-cold) / reuses
		for i := range h.Bins {
			h.Bins[i].Count *= left
		}
	}
	h.Cold = cold
}

// evaluate returns the histogram of each group at a point. Unless the method is
// the papers' formula, cold accesses are as many as the program touches blocks, and
// no reuse distance is larger than that: a reuse has at most all other blocks
// between it and the use before.
func (m *Model) evaluate(blockBytes uint64, point subject.Point, by predict.Method) (*histograms, error) {
	if by == predict.MethodBinomial {
		return evaluate(m.byBlock[blockBytes], nil, blockBytes, point)
	}
	return evaluate(m.byBlock[blockBytes], m.footprint, blockBytes, point)
}

// evaluate is Model.evaluate for one of several models of the same runs. A nil
// footprint bounds nothing.
func evaluate(fitted *scaling.Model, footprint *scaling.Footprint, blockBytes uint64, point subject.Point) (*histograms, error) {
	return evaluateOf(fitted, nil, nil, footprint, blockBytes, point)
}

// evaluateOf is evaluate for a model of parts of groups: it is told whose, and how
// many accesses each group has, to which those of its parts are scaled.
func evaluateOf(fitted *scaling.Model, of []Group, accesses []float64, footprint *scaling.Footprint, blockBytes uint64, point subject.Point) (*histograms, error) {
	p := fit.Point(point)
	if err := fitted.Check(p); err != nil {
		return nil, err
	}
	return bounded(fitted, fitted.Histograms(p), of, accesses, footprint, blockBytes, p), nil
}

// bounded is evaluateOf for histograms of the groups that are known.
func bounded(fitted *scaling.Model, known []scaling.Histogram, of []Group, accesses []float64, footprint *scaling.Footprint, blockBytes uint64, p fit.Point) *histograms {
	h := &histograms{at: p, model: fitted, of: of, groups: make([]groupHistogram, len(fitted.Groups)), warnings: fitted.Doubts(p)}
	h.accesses = make([]float64, len(fitted.Groups))
	sum := 0.0
	for g, own := range known {
		h.groups[g].Histogram, h.accesses[g] = own, own.Accesses()
		sum += own.Cold
	}
	if footprint == nil {
		h.scaleTo(accesses)
		return h
	}
	touched := footprint.Blocks(blockBytes, p)
	h.touched = footprint.Range(blockBytes, p)
	if !finite(touched) || !finite(sum) {
		return h // the rows report it
	}
	h.limit = math.Max(0, touched-1)
	if of == nil {
		h.share(touched)
	} else {
		h.shareParts(touched, accesses)
	}
	h.settle(accesses)
	for g := range h.groups {
		for i := range h.groups[g].Bins {
			bin := &h.groups[g].Bins[i]
			bin.Distance = math.Min(bin.Distance, h.limit)
		}
	}
	return h
}

// scaleTo makes the reuses of the parts of each group add up to its accesses, with the
// cold ones. It does nothing if there are no parts.
func (h *histograms) scaleTo(accesses []float64) {
	if h.of == nil {
		return
	}
	reuses, cold := h.byGroup(len(accesses))
	for g := range cold {
		cold[g] = math.Min(cold[g], accesses[g])
		if reuses[g] <= 0 { // as in scaling.GroupModel.Histogram, all are cold
			cold[g] = accesses[g]
		}
	}
	h.setParts(accesses, cold)
}

// shareParts makes the parts of each group add up to its accesses, and their cold
// accesses to the blocks touched: in proportion to what they are, but that a group
// without reuses has cold ones only, and none has more than accesses. What is missing
// then goes to groups in proportion to the reuses that they have left.
func (h *histograms) shareParts(touched float64, accesses []float64) {
	reuses, weights := h.byGroup(len(accesses))
	cold := make([]float64, len(accesses))
	left := touched
	for g := range cold {
		if reuses[g] <= 0 {
			cold[g], weights[g] = accesses[g], 0
			left -= cold[g]
		}
	}
	left = fill(cold, weights, accesses, left)
	for g := range weights {
		weights[g] = accesses[g] - cold[g]
	}
	fill(cold, weights, accesses, left)
	h.setParts(accesses, cold)
}

// fill adds an amount to what is in vessels, in proportion to weights, but to none more
// than it holds, and returns what is left.
func fill(in, weights, holds []float64, amount float64) float64 {
	for range in { // each time but the last, one is filled
		total := 0.0
		for i, w := range weights {
			if in[i] < holds[i] {
				total += w
			}
		}
		if amount <= 0 || total <= 0 {
			break
		}
		rest := amount
		for i, w := range weights {
			if in[i] < holds[i] {
				more := math.Min(amount*w/total, holds[i]-in[i])
				in[i] += more
				rest -= more
			}
		}
		if rest == amount {
			break
		}
		amount = rest
	}
	return math.Max(0, amount)
}

// byGroup returns the reuses and cold accesses of each group of the Model, that is of
// all its parts.
func (h *histograms) byGroup(groups int) (reuses, cold []float64) {
	reuses, cold = make([]float64, groups), make([]float64, groups)
	for g := range h.groups {
		reuses[h.group(g)] += h.groups[g].reuses()
		cold[h.group(g)] += h.groups[g].Cold
	}
	return reuses, cold
}

// setParts gives the parts of each group so many accesses, and of these so many cold
// ones.
func (h *histograms) setParts(accesses, cold []float64) {
	reuses, had := h.byGroup(len(accesses))
	parts := make([]int, len(accesses))
	for g := range h.groups {
		parts[h.group(g)]++
	}
	for g := range h.groups {
		of, own := h.group(g), &h.groups[g]
		share := num.Ratio(own.Cold, had[of])
		if had[of] <= 0 { // none is known to have more than another
			share = 1 / float64(parts[of])
		}
		own.Cold = cold[of] * share
		k := num.Ratio(math.Max(0, accesses[of]-cold[of]), reuses[of])
		for i := range own.Bins {
			own.Bins[i].Count *= k
		}
	}
}

// share gives the groups so many cold accesses in all, and keeps the accesses of
// each group. What is too many is taken from all in proportion, where a
// group has reuses that they can become. What is missing
// goes first to groups whose cold accesses are no function of the size, in
// proportion to these and then to their reuses; no group has more than accesses.
func (h *histograms) share(touched float64) {
	sum, fixed, unsure := 0.0, 0.0, false
	for g := range h.groups {
		sum += h.groups[g].Cold
		if h.groups[g].reuses() <= 0 {
			fixed += h.groups[g].Cold
		}
		unsure = unsure || fitsBadly(&h.model.Groups[g].Cold)
	}
	if touched <= sum {
		for g := range h.groups {
			if h.groups[g].reuses() > 0 {
				h.groups[g].setCold(h.groups[g].Cold * math.Max(0, touched-fixed) / (sum - fixed))
			}
		}
		return
	}
	for _, weight := range []func(g int) float64{
		func(g int) float64 {
			if unsure && !fitsBadly(&h.model.Groups[g].Cold) {
				return 0
			}
			return h.groups[g].Cold
		},
		func(g int) float64 { return h.groups[g].reuses() },
	} {
		total := 0.0
		for g := range h.groups {
			total += weight(g)
		}
		if missing := touched - sum; missing > 0 && total > 0 {
			for g := range h.groups {
				more := math.Min(missing*weight(g)/total, h.groups[g].reuses())
				h.groups[g].setCold(h.groups[g].Cold + more)
				sum += more
			}
		}
	}
}

// estimate is what is predicted of each group at a level and point.
type estimate struct {
	*histograms
	by       predict.Method
	misses   []predict.Misses // by Group
	full     []predict.Misses // in a fully associative cache; misses, if the method takes the level for one and nothing sweeps
	doubtful []float64        // of the misses
	methods  []string
	exact    []bool // counted by a Corrector; nil if there is none
	// corrected are groups that a Corrector knew better, counted or not; nil if there is
	// none.
	corrected []bool
	evenly    []bool       // groups that fill sets evenly; nil: none
	held      string       // how misses of pages were held against smaller blocks, if they were replaced; a method
	replayed  []bool       // the Corrector's counts are of the level as the machine has it; nil if there is none
	off       []float64    // misses by which a Corrector may be wrong; nil if there is none
	expected  *expectation // what runs say of conflicts; nil: that there are none, or nothing
	more      int          // pages that the level holds beside its entries, as others are above it
	warnings  []string
}

// estimateAt predicts the misses of each group at a level.
func (m *Model) estimateAt(ctx context.Context, t *target, l predict.Level, point subject.Point, opt PredictOptions) (*estimate, error) {
	if _, err := m.fittedFor(t, l); err != nil {
		return nil, err
	}
	h, err := m.histogramsAt(ctx, l.BlockBytes, point, opt.Method)
	if err != nil {
		return nil, fmt.Errorf("perf: %s at %s: %w", t.name(l), point, err)
	}
	e := &estimate{histograms: h, by: opt.Method, warnings: slices.Concat(fit.WarningTexts(h.warnings), m.about)}
	if text := m.mayMap(point); text != "" {
		e.warnings = append(e.warnings, text)
	}
	cache := opt.Method.Of(l.Cache())
	e.evenly = m.sweeping(l, opt.Method)
	full := predict.FullyAssociative(l.Blocks())
	e.misses, e.full, e.doubtful = make([]predict.Misses, m.Groups()), make([]predict.Misses, m.Groups()), make([]float64, m.Groups())
	for part := range h.groups {
		g, own := h.group(part), &h.groups[part].Histogram
		if e.evenly == nil {
			e.misses[g] = e.misses[g].Add(h.missesIn(part, cache))
		} else {
			e.misses[g] = e.misses[g].Add(h.missesWithoutConflicts(part, l, l.Blocks(), e.evenly))
		}
		e.full[g] = e.full[g].Add(h.missesIn(part, full))
		e.doubtful[g] += doubtfulMisses(&h.model.Groups[part], own, cache)
		if opt.Method == predict.MethodBinomial && fitsBadly(&h.model.Groups[part].Cold) {
			e.doubtful[g] += own.Cold // otherwise, the footprint says how many they are
		}
	}
	if err := m.checkPages(e, l); err != nil {
		return nil, err
	}
	method := string(opt.Method)
	switch {
	case e.held != "":
		method = e.held
	case h.key.scaled():
		method = MethodScaledPages
	case l.Sets == 1:
		method = string(predict.MethodFullyAssociative)
	}
	e.methods = slices.Repeat([]string{method}, m.Groups())
	e.fillEvenly()
	if opt.Corrector != nil && (l.Sets > 1 || opt.Corrector.Replays()) {
		if err := e.correct(ctx, Uncorrected{Level: t.asIs(l, point), Point: point, Groups: slices.Clone(e.misses)}, opt.Corrector); err != nil {
			return nil, err
		}
	}
	return e, m.collide(ctx, t, e, l, point)
}

// fillEvenly says of which groups sweeps were found to fill sets evenly.
func (e *estimate) fillEvenly() {
	for g, sweeps := range e.evenly {
		full, own := e.full[g].Total(), e.misses[g].Total()
		if sweeps && full-own > noticeablyFewer*full {
			e.methods[g] = MethodEvenly
		}
		e.doubtful[g] = math.Min(e.doubtful[g], own)
	}
}

// doubtfulMisses returns the misses of a group in the bins whose distance or
// frequency is a function that fits badly.
func doubtfulMisses(g *scaling.GroupModel, h *scaling.Histogram, c predict.Cache) float64 {
	sum := 0.0
	for i, bin := range h.Bins {
		if fitsBadly(&g.Bins[i].Distance) || fitsBadly(&g.Bins[i].Frequency) {
			sum += c.MissProbability(bin.Distance) * bin.Count
		}
	}
	return sum
}

func fitsBadly(f *fit.Func) bool {
	return slices.ContainsFunc(f.Warnings, func(w fit.Warning) bool {
		return w.Doubt == scaling.PoorFit || w.Doubt == scaling.Pieces || w.Doubt == scaling.Uneven || w.Doubt == scaling.HeldConstant
	})
}

// fittedFor returns the model for a level's block size.
func (m *Model) fittedFor(t *target, l predict.Level) (*scaling.Model, error) {
	fitted := m.byBlock[l.BlockBytes]
	if fitted == nil {
		return nil, fmt.Errorf("perf: %s has blocks of %d bytes, and the runs were profiled with %v; profile with block sizes %v",
			t.name(l), l.BlockBytes, m.blockSizes(), t.blockBytes)
	}
	return fitted, nil
}
