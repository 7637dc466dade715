package replayed

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"

	"presage/perf/locality"
	"presage/perf/misses"
	"presage/perf/subject"
)

// mayProfile reports whether the program may be profiled at other sizes than those of the
// profiles.
func (c *Corrector) mayProfile() bool {
	w := c.program.sweep
	return !c.opt.TrainedSizesOnly && !w.apart && w.runs[0].Recorded.SampleOneIn <= 1
}

// profiling is locality.Runs.Elsewhere, or And.
type profiling func(context.Context, []subject.Point, []subject.Inputs, locality.FurtherOptions) (*locality.Runs, error)

// fitted returns a model like that of the profiles, of runs at some sizes; nil if there is
// none, such as where the program fails at one of them. Why there is none this time is a
// passingError.
func (c *Corrector) fitted(ctx context.Context, sizes []int64, by profiling) (*misses.Model, error) {
	runs, err := c.profiled(ctx, sizes, by)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case passes(err):
		return nil, &passingError{fmt.Errorf("no model of runs at %s = %s: %w", c.program.sweep.name, listed(sizes), err)}
	case err != nil:
		return nil, nil // such as a program that fails at one of them
	}
	model, err := misses.Fit(ctx, runs, c.model.Options())
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, nil // such as one that does not reproduce the runs
	}
	return model, nil
}

// passes reports whether runs that could not be made may be another time: files changed or
// could not be read or written, or a process could not be started. What a program does, and
// what the engine refuses, is the same each time.
func passes(err error) bool {
	return errors.As(err, new(*staleError)) || errors.As(err, new(*fs.PathError)) || errors.As(err, new(*os.SyscallError)) || errors.As(err, new(*exec.Error))
}

func (c *Corrector) profiled(ctx context.Context, sizes []int64, by profiling) (*locality.Runs, error) {
	w := c.program.sweep
	if err := w.stale(); err != nil {
		return nil, err
	}
	points, inputs := make([]subject.Point, len(sizes)), make([]subject.Inputs, len(sizes))
	for i, n := range sizes {
		var err error
		points[i] = subject.Point{w.name: float64(n)}
		if inputs[i], err = w.inputs(w.runs[0].Program, n); err != nil {
			return nil, err
		}
	}
	return by(ctx, points, inputs, locality.FurtherOptions{Store: c.program.store, Progress: c.report})
}
