package locality

import (
	"context"
	"fmt"
	"slices"

	"presage/perf/progress"
	"presage/perf/store"
	"presage/perf/subject"
)

// Elsewhere profiles the executable of the runs, which must be one, at other points, each
// with its inputs, for the block sizes of the runs: a sweep of its own, without carriers.
// What the store has is not run again.
func (r *Runs) Elsewhere(ctx context.Context, points []subject.Point, inputs []subject.Inputs, opt FurtherOptions) (*Runs, error) {
	out, err := r.further(ctx, points, inputs, opt)
	if err != nil {
		return nil, err
	}
	return out.common()
}

// And returns the runs together with those that Elsewhere makes, which come last.
func (r *Runs) And(ctx context.Context, points []subject.Point, inputs []subject.Inputs, opt FurtherOptions) (*Runs, error) {
	out, err := r.further(ctx, points, inputs, opt)
	if err != nil {
		return nil, err
	}
	out.Runs, out.Warnings = slices.Concat(r.Runs, out.Runs), slices.Concat(r.Warnings, out.Warnings)
	return out.common()
}

// common returns the runs once they have their groups in common, and an error if they do
// not differ.
func (r *Runs) common() (*Runs, error) {
	if err := r.share(); err != nil {
		return nil, err
	}
	return r, r.Varies()
}

// further returns runs at other points, of which nothing is shared yet.
func (r *Runs) further(ctx context.Context, points []subject.Point, inputs []subject.Inputs, opt FurtherOptions) (*Runs, error) {
	if len(points) != len(inputs) || len(r.Runs) == 0 || r.Matched() {
		return nil, fmt.Errorf("perf: %s: other sizes of %d runs, with %d inputs: want the runs of one executable, and as many inputs as sizes", r.Label(), len(r.Runs), len(inputs))
	}
	st, err := store.OrDefault(opt.Store)
	if err != nil {
		return nil, err
	}
	like := &r.Runs[0]
	out := &Runs{Name: r.Name}
	for i, point := range points {
		rec := like.Recorded
		rec.Inputs, rec.Carriers, rec.Memory, rec.Allocation = inputs[i], 0, false, 0
		p := profiler{
			prog: like.Program, point: point, rec: rec, sizes: r.BlockBytes(), store: st,
			report: func(instructions uint64, stored bool) {
				opt.Progress.Report(progress.Report{Task: point.String(), Done: i, Total: len(points), Instructions: instructions, Stored: stored})
			},
		}
		run, err := p.profile(ctx)
		if err != nil {
			return nil, err
		}
		out.Runs = append(out.Runs, run)
		out.Warnings = slices.Concat(out.Warnings, p.warnings, run.warnings, run.sampled())
	}
	return out, nil
}
