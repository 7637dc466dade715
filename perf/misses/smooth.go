package misses

import (
	"context"
	"fmt"
	"math"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/scaling"
)

const (
	// enoughRuns are more than functions of four terms can follow wherever they go.
	enoughRuns = 6
	// unsmooth is the part of a run's instructions that a smooth function may miss.
	unsmooth = 0.05
)

// roughness says that the work of the runs does not follow their size, as where it
// depends on the data: the instructions that they executed are far from every
// monotone function of one curvature. It is empty if they are near one, or if
// there are too few runs to tell.
func roughness(ctx context.Context, runs *locality.Runs) string {
	if len(runs.Runs) < enoughRuns {
		return ""
	}
	var sizes []fit.Point
	counts := make([]float64, len(runs.Runs))
	for i := range runs.Runs {
		sizes = append(sizes, fit.Point(runs.Runs[i].Point))
		counts[i] = float64(runs.Runs[i].Instructions)
	}
	model, err := scaling.FitCounts(ctx, sizes, []scaling.Series{{Name: "instructions", Counts: counts}}, scaling.Options{})
	if err != nil {
		return "" // fitting the histograms will tell
	}
	most, at := 0.0, 0
	for i, size := range sizes {
		if off := math.Abs(model.Funcs[0].Eval(size)/counts[i] - 1); off > most {
			most, at = off, i
		}
	}
	if !(most > unsmooth) {
		return ""
	}
	return fmt.Sprintf("the work may depend on the data and not only on the size: the instructions executed at %s are %s away from what a smooth function of the size gives",
		runs.Runs[at].Point, num.Percent(most))
}
