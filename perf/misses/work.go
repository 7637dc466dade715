package misses

import (
	"errors"
	"fmt"
	"maps"

	"presage/perf/locality"
)

// ErrSameRuns is wrapped by the error for runs that do not depend on the size.
var ErrSameRuns = errors.New("all runs are the same")

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
