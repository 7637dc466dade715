package locality

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/progress"
	"presage/perf/reuse"
	"presage/perf/store"
)

// FurtherOptions configures Run.Further.
type FurtherOptions struct {
	// Loops finds the loop that carries each reuse, for Runs.Classes, in half the time
	// that ProfileOptions.Carriers takes: nothing of objects and scopes.
	Loops bool
	// Store keeps the results; nil: the default store.
	Store *store.Store
	// Progress, if not nil, is called now and then while the run is made.
	Progress progress.Func
}

// Further returns the histograms of a run in blocks of further sizes, in the order
// of the sizes, which may be any numbers of bytes. What the store lacks is collected
// in one more run of the program. It returns an error if files that the program reads
// have changed since.
func (r *Run) Further(ctx context.Context, sizes []uint64, opt FurtherOptions) ([]*reuse.Result, error) {
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	if err := r.Repeatable(st); err != nil {
		return nil, err
	}
	rec := r.Recorded
	rec.Carriers, rec.Memory, rec.Allocation = 0, false, 0
	if opt.Loops {
		rec.Loops = loopsVersion
	}
	unique := slices.Clone(sizes)
	slices.Sort(unique)
	p := profiler{
		prog: r.Program, point: r.Point, rec: rec, sizes: slices.Compact(unique),
		store: st, report: func(instructions uint64, stored bool) {
			opt.Progress.Report(progress.Report{Task: r.Point.String(), Total: 1, Instructions: instructions, Stored: stored})
		},
	}
	found, err := p.profile(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]*reuse.Result, len(sizes))
	for i, size := range sizes {
		if out[i], err = found.At(size); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Repeatable returns an error if the program would not run again as it did, since
// files that it reads have changed or are gone.
func (r *Run) Repeatable(st *store.Store) error {
	was := r.Recorded.Inputs
	run := was.Options()
	run.Store = st
	in, err := r.Program.InputsOf(was.Args, run)
	if err != nil {
		return err
	}
	if !slices.Equal(in.Files, was.Files) {
		return fmt.Errorf("perf: %s: files that the program reads have changed since it was profiled; profile again", r.Point)
	}
	return nil
}
