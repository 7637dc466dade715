package scaling

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"presage/perf/fit"
	"presage/perf/reuse"
)

func sizesOf(ns ...int) []fit.Point {
	var out []fit.Point
	for _, n := range ns {
		out = append(out, fit.Point{"n": float64(n)})
	}
	return out
}

func (k kernel) groupsAt(ns ...int) []Group {
	out := make([]Group, len(k.groups))
	for _, n := range ns {
		for g, h := range k.histograms(n) {
			out[g].Name = k.groups[g]
			out[g].Hists = append(out[g].Hists, h)
		}
	}
	return out
}

// missesAt counts accesses that miss in a fully associative LRU cache.
func missesAt(h Histogram, blocks float64) float64 {
	n := h.Cold
	for _, b := range h.Bins {
		if b.Distance >= blocks {
			n += b.Count
		}
	}
	return n
}

// errorsAt returns the relative errors of the predicted misses of all groups
// together at size n, for caches of 32, 64, … 8192 blocks, and describes the
// worst.
func errorsAt(m *Model, truth []reuse.Histogram, n int) (errs []float64, worst string) {
	largest := -1.0
	for blocks := uint64(32); blocks <= 8192; blocks *= 2 {
		pred, ref := 0.0, 0.0
		for g := range truth {
			pred += missesAt(m.Groups[g].Histogram(fit.Point{"n": float64(n)}), float64(blocks))
			ref += float64(truth[g].Misses(blocks))
		}
		e := math.Abs(pred-ref) / ref
		errs = append(errs, e)
		if e > largest {
			largest = e
			worst = fmt.Sprintf("%.1f%% at n=%d, %d blocks", 100*e, n, blocks)
		}
	}
	return errs, worst
}

// goal is the project's: median relative error of misses at program level.
const goal = 0.05

// Models trained on sizes up to 40, held against the exact stack distances at
// 60 and 80. The worst cases, which are logged, are where a cache's capacity
// meets a distance: a bin there is all hits or all misses.
func TestPredictsBeyondTraining(t *testing.T) {
	train := []int{8, 14, 20, 26, 32, 40}
	type rule struct {
		name string
		opt  Options
		all  []float64
	}
	rules := []*rule{{name: "own ratios"}, {name: "median ratio", opt: Options{MedianRatio: true}}}
	for _, k := range kernels {
		groups := k.groupsAt(train...)
		truth := map[int][]reuse.Histogram{60: k.histograms(60), 80: k.histograms(80)}
		for _, r := range rules {
			m, err := Fit(context.Background(), sizesOf(train...), groups, r.opt)
			if err != nil {
				t.Fatal(err)
			}
			bins := 0
			for _, g := range m.Groups {
				bins += len(g.Bins)
			}
			e60, w60 := errorsAt(m, truth[60], 60)
			e80, w80 := errorsAt(m, truth[80], 80)
			errs := slices.Concat(e60, e80)
			r.all = append(r.all, errs...)
			t.Logf("%-15s %-12s median %5.2f%%, worst %s, %s; %d bins", k.name, r.name, 100*medianOf(errs), w60, w80, bins)
			if e := medianOf(errs); r.name == "own ratios" && e > goal {
				t.Errorf("%s: median error %.1f%%", k.name, 100*e)
			}
		}
	}
	mean := func(v []float64) float64 {
		s := 0.0
		for _, x := range v {
			s += min(x, 1) / float64(len(v))
		}
		return s
	}
	own, median := mean(rules[0].all), mean(rules[1].all)
	t.Logf("mean error: own ratios %.1f%%, median ratio %.1f%%", 100*own, 100*median)
	if own > median {
		t.Errorf("the default splitting is worse than the papers': mean error %g, %g", own, median)
	}
}

func medianOf(v []float64) float64 { return median(slices.Clone(v)) }
