package misses

import (
	"context"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"presage/perf/fit"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
	"presage/perf/subject"
)

const (
	// worse is the ratio of errors at the largest size from which the groups of
	// references as they are are better, beyond an error that is tolerated: of a size
	// so near, small ones say little.
	worse           = 1.5
	toleratedLoops  = 0.01
	toleratedScaled = 0.3
	// heldOutFrom is the index of the first of loopKeys that is held against the largest
	// size.
	heldOutFrom = 2
)

// histogramsAt returns what is known of a level's blocks at a point. Beyond the sizes
// of the model, reuses are modelled by the loop that carries them, and pages scaled,
// unless these foretell the largest size from smaller ones worse than the groups of
// references as they are. These are taken with a warning, too, if the program cannot
// be run again.
func (m *Model) histogramsAt(ctx context.Context, blockBytes uint64, point subject.Point, by predict.Method) (*histograms, error) {
	param := m.beyondRuns(point, by)
	if param == "" {
		return m.evaluate(blockBytes, point, by)
	}
	keys := m.loopKeys(param, blockBytes, point)
	if len(keys) == 0 {
		return m.evaluate(blockBytes, point, by)
	}
	better, err := m.loopsForetell(ctx, param, keys[heldOutFrom:])
	if err == nil && better {
		h, err := m.partsAt(ctx, keys[0], point, m.footprint)
		if !errors.Is(err, errNotRun) {
			return h, err
		}
	}
	if err != nil && !errors.Is(err, errNotRun) {
		return nil, err
	}
	h, plainErr := m.evaluate(blockBytes, point, by)
	if why := m.refits.whyNotRun(); plainErr == nil && why != nil {
		h.warnings = append(h.warnings, fit.Warning{Doubt: NotByLoop, Detail: why.Error()})
	}
	return h, plainErr
}

// loopsForetell reports whether models by loop foretell the largest size from smaller
// ones not much worse than the groups of references do, or well enough.
func (m *Model) loopsForetell(ctx context.Context, param string, keys []loopKey) (bool, error) {
	if known, ok := m.refits.foretold(keys[0]); ok {
		return known, nil
	}
	within, err := m.Range(param)
	if err != nil {
		return false, err
	}
	top := subject.Point{param: within[1]}
	b := m.blockIndex(keys[0].block)
	byLoop, byGroup := 0.0, 0.0
	for _, key := range keys {
		footprint, err := m.heldOutFootprint(key.without)
		if err != nil {
			return false, err
		}
		parts, err := m.partsAt(ctx, key, top, footprint)
		if err != nil {
			return false, err
		}
		fitted, err := m.fitted(ctx, refit{block: b, without: key.without})
		if err != nil {
			return false, err
		}
		plain, err := evaluate(fitted, footprint, key.block, top)
		if err != nil {
			return false, err
		}
		off := (*histograms).off
		if key.scaled() {
			off = (*histograms).mostlyOff
		}
		truth := m.refits.largest(b)
		byLoop, byGroup = byLoop+off(parts, truth), byGroup+off(plain, truth)
	}
	n := float64(len(keys))
	allowed := toleratedLoops
	if keys[0].scaled() {
		allowed = toleratedScaled
	}
	better := byLoop <= allowed*n+worse*byGroup
	m.refits.foretells(keys[0], better)
	return better, nil
}

// foretold returns whether a model by loop is better, if that is known.
func (r *refits) foretold(key loopKey) (better, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	better, known = r.better[key]
	return better, known
}

func (r *refits) foretells(key loopKey, better bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.better[key] = better
}

// top returns the index of the run of the largest size.
func (r *refits) top() int {
	return slices.MaxFunc(r.kept(0), func(a, b int) int { return scaling.CompareSizes(r.sizes[a], r.sizes[b]) })
}

// largest returns the histogram of the whole program at the largest size, for the
// b-th block size.
func (r *refits) largest(b int) *reuse.Histogram {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.atLargest[b]; known != nil {
		return known
	}
	total := r.runs.Runs[r.top()].Reuse[b].Total()
	r.atLargest[b] = &total
	return &total
}

// off returns how far the misses of the whole program are from those of a histogram,
// as the mean over fully associative caches of the logarithm of their ratio.
func (h *histograms) off(truth *reuse.Histogram) float64 { return stat.Mean(h.offs(truth), nil) }

// mostlyOff is off with the median in place of the mean. A cache that holds just as many
// pages as are used at a time has a hundred times the misses of the next larger one, and
// says little of both.
func (h *histograms) mostlyOff(truth *reuse.Histogram) float64 {
	all := h.offs(truth)
	slices.Sort(all)
	return stat.Quantile(0.5, stat.LinInterp, all, nil)
}

// offs returns the logarithm of that ratio for each cache.
func (h *histograms) offs(truth *reuse.Histogram) []float64 {
	var out []float64
	touched := float64(truth.Cold)
	for c := uint64(leastCapacity); float64(c) <= 2*touched || len(out) == 0; c *= 2 {
		out = append(out, h.offAt(truth, c))
	}
	return out
}

// offAt is off for one fully associative cache of so many blocks.
func (h *histograms) offAt(truth *reuse.Histogram, blocks uint64) float64 {
	got := 0.0
	for g := range h.groups {
		misses := h.missesIn(g, predict.FullyAssociative(blocks))
		got += misses.Total()
	}
	return math.Abs(math.Log((got + someMisses) / (float64(truth.Misses(blocks)) + someMisses)))
}
