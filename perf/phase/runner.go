package phase

import (
	"context"
	"fmt"

	"presage/perf/engine"
	"presage/perf/subject"
)

// blockRunner runs a program for package metasim.
type blockRunner struct {
	prog *subject.Program
	in   subject.Inputs
}

// run is an engine.Runner, to which a program that fails is an error.
func (r *blockRunner) run(ctx context.Context, q engine.Request) (*engine.Outcome, error) {
	stdout, stderr := new(subject.Tail), new(subject.Tail)
	do, err := r.prog.Runner(r.in, stdout, stderr)
	if err != nil {
		return nil, err
	}
	out, err := do(ctx, q)
	if err == nil {
		err = out.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w%s", r.in.Command(), err, subject.Quote(stderr, stdout))
	}
	return out, nil
}
