// Package embedded has the embedded engine run programs for package metasim: an
// executable and its input go in, a metasim.Runner comes out.
package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"presage/perf/engine/rv64"
	"presage/perf/metasim"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// Program is an executable with what it is run with. It implements
// metasim.Runner.
type Program struct {
	File *objfile.File
	// Options is what the runs have in common: arguments, environment, grants,
	// memory, engine, seed. Stdout and Stderr, if set, get the output of every
	// run, from several goroutines if runs are side by side. The rest is set by
	// each run.
	Options rv64.Options
	// Stdin is what the program reads.
	Stdin []byte
}

var _ metasim.Runner = (*Program)(nil)

// checkpoint is a snapshot of a program.
type checkpoint struct {
	*rv64.Snapshot
}

// Run implements metasim.Runner.
func (p *Program) Run(ctx context.Context, r metasim.Request) (*metasim.Outcome, error) {
	opt := p.Options
	opt.Stdin = bytes.NewReader(p.Stdin)
	opt.Plan, opt.Sink, opt.Progress = r.Plan, r.Sink, r.Progress
	opt.Windows = nil
	for _, w := range r.Windows {
		opt.Windows = append(opt.Windows, rv64.Window(w))
	}
	limited := r.Until > 0 && (opt.MaxInstructions == 0 || r.Until < opt.MaxInstructions)
	if limited {
		opt.MaxInstructions = r.Until
	}
	if r.From != nil {
		c, ok := r.From.(checkpoint)
		if !ok {
			return nil, fmt.Errorf("embedded: a checkpoint of type %T, not of this package", r.From)
		}
		opt.Resume = c.Snapshot
	}
	opt.SnapshotAt, opt.Snapshot = nil, nil
	if len(r.CheckpointAt) > 0 {
		opt.SnapshotAt = slices.Clone(r.CheckpointAt)
		opt.Snapshot = func(s *rv64.Snapshot) error { return r.Take(checkpoint{s}) }
	}
	res, err := rv64.Run(ctx, p.File, opt)
	stopped := limited && errors.Is(err, rv64.ErrInstructionLimit)
	if err != nil && !stopped {
		return nil, fmt.Errorf("embedded: %w", err)
	}
	if !stopped && (res.ExitCode != 0 || res.Signal != 0) {
		return nil, fmt.Errorf("embedded: the program ended with exit status %d after %d instructions", res.ExitCode, res.Instructions)
	}
	return outcome(res, r.Plan), nil
}

func outcome(res *rv64.Result, plan *trace.Plan) *metasim.Outcome {
	out := &metasim.Outcome{Instructions: res.Instructions, Elapsed: res.Elapsed}
	for _, w := range res.Windows {
		out.Windows = append(out.Windows, metasim.Window(w))
	}
	if plan != nil && len(plan.Refs) > 0 && res.UnplannedRefs > 0 {
		out.Warnings = append(out.Warnings, fmt.Errorf("embedded: %d memory references that the plan does not have were executed and not recorded", res.UnplannedRefs))
	}
	for _, s := range res.UnknownSyscalls {
		out.Warnings = append(out.Warnings, fmt.Errorf("embedded: system call %d, made %d times, is not emulated: the program was told so (ENOSYS)", s.Number, s.Count))
	}
	return out
}
