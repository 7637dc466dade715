package misses

import (
	"errors"
	"fmt"
	"slices"

	"presage/perf/fit"
	"presage/perf/internal/num"
	"presage/perf/locality"
	"presage/perf/scaling"
)

// notReproduced is the error of a model that is off at a run that it was fitted to. It
// wraps ErrNotReproduced.
type notReproduced struct {
	error
	run int     // index in the runs
	off float64 // relative, with its sign
}

func (e *notReproduced) Unwrap() error { return e.error }

// leastLeft is the number of runs that stay if others are left out.
const leastLeft = enoughRuns - 1

// withoutOdd returns the model that fitted makes of the runs, or, if it does not
// reproduce one of them that is not the largest, of those without it, as long as there
// are leastLeft. At the smallest sizes a program may do something else than at all
// others: loops with fewer iterations than a vector has elements, a routine that the
// compiler has unrolled. Nothing is left out if the caller chose the functions, which may
// be what is off.
func withoutOdd(runs *locality.Runs, opt FitOptions, fitted func(*locality.Runs) (*Model, error)) (*Model, error) {
	var out []string
	for {
		m, err := fitted(runs)
		if err == nil {
			m.Warnings = append(m.Warnings, out...)
			m.about = append(m.about, out...)
			return m, nil
		}
		var odd *notReproduced
		if !errors.As(err, &odd) || len(runs.Runs) <= leastLeft || opt.Basis != "" || opt.Shape != "" || odd.run == largestRun(runs) {
			return nil, err
		}
		at := runs.Runs[odd.run].Point.String()
		out = append(out, fmt.Sprintf("the run at %s is left out: a model of all runs is %s off its accesses, so that the program does something else there than at other sizes",
			at, num.Percent(max(odd.off, -odd.off))))
		rest, chosen := runs.Chosen(func(r *locality.Run) bool { return r.Point.String() != at })
		if chosen != nil {
			return nil, errors.Join(err, chosen)
		}
		runs = rest
	}
}

// largestRun returns the index of the run of the largest size.
func largestRun(runs *locality.Runs) int {
	indices := make([]int, len(runs.Runs))
	for i := range indices {
		indices[i] = i
	}
	return slices.MaxFunc(indices, func(a, b int) int {
		return scaling.CompareSizes(fit.Point(runs.Runs[a].Point), fit.Point(runs.Runs[b].Point))
	})
}
