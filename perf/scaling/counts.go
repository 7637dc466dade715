package scaling

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"sync"

	"presage/perf/fit"
)

// Series is the execution count of something at each size.
type Series struct {
	Name   string
	Counts []float64
}

// CountModel gives execution counts as functions of the size. It is plain data
// for encoding/gob and encoding/json.
type CountModel struct {
	Params []string
	Sizes  []fit.Point
	Domain map[string]fit.Interval
	Names  []string   // of the series
	Funcs  []fit.Func // of the series

	// Warnings are doubts about the model as a whole, and numbers of those
	// about its functions.
	Warnings []fit.Warning
}

// FitCounts models each execution count by itself, in the same way as the
// frequencies of bins (2004 paper, section 2.3.1: quadratic programming over a
// basis, restricted to functions that are convex or concave and do not
// oscillate). Of the options it uses Basis, Reach, Chance and Workers. It fails where
// Fit does, and for counts that are negative or not finite.
func FitCounts(ctx context.Context, sizes []fit.Point, series []Series, opt Options) (*CountModel, error) {
	f, err := newFitter(sizes, nil, opt)
	if err != nil {
		return nil, err
	}
	f.chance = opt.Chance && opt.Basis == nil
	for i, s := range series {
		if len(s.Counts) != len(sizes) {
			return nil, fmt.Errorf("scaling: %w: series %d %q has %d counts for %d sizes", ErrData, i, s.Name, len(s.Counts), len(sizes))
		}
		for k, c := range s.Counts {
			if !(c >= 0) || math.IsInf(c, 0) {
				return nil, fmt.Errorf("scaling: %w: count %d of series %d %q is %g", ErrData, k, i, s.Name, c)
			}
		}
	}
	m := &CountModel{Params: f.params, Sizes: sizes, Domain: f.design.Domain(), Names: make([]string, len(series)), Funcs: make([]fit.Func, len(series))}
	errs := make([]error, len(series))
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(series) && ctx.Err() == nil; i += workers {
				m.Names[i] = series[i].Name
				m.Funcs[i], errs[i] = f.frequency(series[i].Counts)
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	for i, err := range errs {
		if err != nil {
			return nil, fmt.Errorf("scaling: series %d %q: %w", i, series[i].Name, err)
		}
	}
	m.Warnings = m.summary()
	return m, nil
}

// summary counts the doubts about functions, by kind.
func (m *CountModel) summary() []fit.Warning {
	count := make(doubts)
	for i := range m.Funcs {
		count.add(m.Funcs[i].Warnings)
	}
	return count.summary(len(m.Sizes), "functions")
}
