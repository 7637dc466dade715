package scaling_test

import (
	"testing"

	"presage/perf/fit"
	"presage/perf/predict"
	"presage/perf/reuse"
	"presage/perf/scaling"
)

// held counts intervals, those that hold the truth, and of these how many are
// narrow.
type held struct{ all, held, narrow int }

func (h *held) add(i predict.Interval, truth float64) {
	h.all++
	if i.Low > truth*(1+rounding)+rounding || i.High < truth*(1-rounding)-rounding {
		return
	}
	h.held++
	if i.High-i.Low <= truth/2 {
		h.narrow++
	}
}

func (h *held) share() float64 { return float64(h.held) / float64(h.all) }

// rounding is what counts of up to 10^8 accesses lose in a fit, relative: the
// interval of an exact function has no width.
const rounding = 1e-6

// TestCoverageOnKernels counts how often the misses of exact histograms beyond
// the training sizes lie in their intervals. The errors of these models are not
// noise, so fewer do than the level says: the figures are logged and stand in
// the comment of predict.Intervals. The test fails where intervals tell next to
// nothing: if they hold less than half, or are as good as unbounded.
func TestCoverageOnKernels(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	trains := [][]int{{8, 14, 20, 26, 32, 40}, {12, 17, 23, 29, 35, 42}}
	var caches []predict.Cache
	for blocks := uint64(32); blocks <= 8192; blocks *= 2 {
		caches = append(caches, predict.FullyAssociative(blocks))
	}
	sizes, train := make([][]fit.Point, len(trains)), make([][]scaling.Kernel, len(trains))
	for i, ns := range trains {
		sizes[i], train[i] = scaling.KernelsAt(ns...)
	}
	programs, groups := make([]held, len(trains)), make([]held, len(trains))
	for k := range train[0] {
		truth := map[float64][]reuse.Histogram{60: train[0][k].Histograms(60), 80: train[0][k].Histograms(80)}
		for i := range trains {
			m, err := scaling.Fit(t.Context(), sizes[i], train[i][k].Train, scaling.Options{BlockBytes: 64})
			if err != nil {
				t.Fatal(err)
			}
			var ofKernel held
			for n, hists := range truth {
				cover(t, m, n, caches, hists, &ofKernel, &groups[i])
			}
			t.Logf("sizes %v, %-15s %d of %d held, %d narrower than half the misses", trains[i], train[i][k].Name, ofKernel.held, ofKernel.all, ofKernel.narrow)
			programs[i].all += ofKernel.all
			programs[i].held += ofKernel.held
			programs[i].narrow += ofKernel.narrow
		}
	}
	for i := range trains {
		p := &programs[i]
		t.Logf("sizes %v: intervals of 90%% hold %.0f%% of %d programs (%d narrower than half the misses), %.0f%% of %d groups",
			trains[i], 100*p.share(), p.all, p.narrow, 100*groups[i].share(), groups[i].all)
		if p.share() < 0.5 || 2*p.narrow < p.held {
			t.Errorf("sizes %v: %.2f of the misses are held, %d of %d by an interval narrower than half the misses", trains[i], p.share(), p.narrow, p.held)
		}
	}
}

// cover adds the intervals of a model at size n: of all groups together and of
// each.
func cover(t *testing.T, m *scaling.Model, n float64, caches []predict.Cache, truth []reuse.Histogram, program, groups *held) {
	t.Helper()
	size := fit.Point{"n": n}
	byGroup := make([]int, len(truth))
	for g := range byGroup {
		byGroup[g] = g
	}
	whole, err := predict.Intervals(t.Context(), m, size, caches, make([]int, len(truth)), predict.IntervalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	parts, err := predict.Intervals(t.Context(), m, size, caches, byGroup, predict.IntervalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for c, cache := range caches {
		p, err := predict.At(m, size, cache)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for g := range truth {
			misses := float64(truth[g].Misses(cache.Blocks()))
			sum += misses
			groups.add(parts[c][g].Including(p.Groups[g].Total()), misses)
		}
		program.add(whole[c][0].Including(p.Program.Total()), sum)
	}
}
