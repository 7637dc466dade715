package misses

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"

	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/scaling"
)

// ErrSameRuns is wrapped by the error for runs that do not depend on the size.
var ErrSameRuns = errors.New("all runs are the same")

// smoothWork is the relative leave-one-out error of the number of accesses from
// which work counts as no function of the size.
const smoothWork = 0.05

// checkRunsDiffer returns an error if runs at different points executed and accessed
// the same.
func checkRunsDiffer(runs *locality.Runs) error {
	first := &runs.Runs[0]
	for i := range runs.Runs {
		run := &runs.Runs[i]
		if run.Instructions != first.Instructions || run.Accesses != first.Accesses || coldOf(run, 0) != coldOf(first, 0) {
			return nil
		}
		if i > 0 && maps.Equal(run.Point, first.Point) {
			return nil // the fit says that a size repeats
		}
	}
	if len(runs.Runs) < 2 {
		return nil
	}
	return fmt.Errorf("perf: %w: %d instructions and %d accesses at %s as at %s; the size does not reach the program: name it in the arguments, such as --args \"-n {n}\"",
		ErrSameRuns, first.Instructions, first.Accesses, first.Point, runs.Runs[len(runs.Runs)-1].Point)
}

// coldOf returns the number of blocks that a run touched, for its b-th block size.
func coldOf(run *locality.Run, b int) uint64 {
	cold := uint64(0)
	for g := range run.Reuse[b].Groups {
		cold += run.Reuse[b].Groups[g].Cold
	}
	return cold
}

// doubtsAboutWork returns a warning if the number of accesses is no smooth function
// of the size.
func doubtsAboutWork(ctx context.Context, runs *locality.Runs, sizes []fit.Point) ([]string, error) {
	accesses := scaling.Series{Name: "accesses"}
	for i := range runs.Runs {
		accesses.Counts = append(accesses.Counts, float64(runs.Runs[i].Accesses))
	}
	m, err := scaling.FitCounts(ctx, sizes, []scaling.Series{accesses}, scaling.Options{})
	if err != nil {
		return nil, fmt.Errorf("perf: fit: %w", err)
	}
	if loo := m.Funcs[0].LOO; loo > smoothWork {
		return []string{fmt.Sprintf("work is no function of the size alone: the number of accesses at a size is %.0f%% off what the others suggest; it may depend on data, or on how much memory is allocated", 100*math.Min(loo, 10))}, nil
	}
	return nil, nil
}
