package metasim

import (
	"context"
	"fmt"
	"time"

	"presage/perf/bbv"
	"presage/perf/engine"
)

// Profile records which code a run executed, and when.
type Profile struct {
	Vectors      *bbv.Vectors
	Executions   []uint64 // of each of Code.Blocks
	Instructions uint64   // of the run
	Elapsed      time.Duration
	Warnings     []error
}

// CollectOptions configure Collect.
type CollectOptions struct {
	Interval uint64 // instructions; 0: bbv.DefaultInterval
	Progress func(instructions uint64)
}

// Collect runs the program once and returns its basic-block vectors and the
// execution count of each block. Longer intervals need no further run: see
// bbv.Vectors.Coarser.
func Collect(ctx context.Context, run engine.Runner, code *Code, opt CollectOptions) (*Profile, error) {
	plan := code.executions()
	c, err := bbv.NewCollector(plan, opt.Interval)
	if err != nil {
		return nil, fmt.Errorf("metasim: %w", err)
	}
	out, warnings, err := record(ctx, run, engine.Request{Plan: plan, Progress: opt.Progress}, c)
	if err != nil {
		return nil, fmt.Errorf("metasim: vectors: %w", err)
	}
	p := &Profile{Instructions: out.Instructions, Elapsed: out.Elapsed, Warnings: warnings}
	p.Vectors, p.Executions = c.Result(out.Instructions)
	var known uint64
	for i, n := range p.Executions {
		known += n * uint64(code.Blocks[i].Instructions)
	}
	// Blocks cut short by a fault or an exit account for a few instructions.
	if total := out.Instructions; known+total/unknown < total {
		p.Warnings = append(p.Warnings, fmt.Errorf("metasim: %.1f%% of the instructions were executed in code that is not in the graphs: no block has them",
			100*(1-float64(known)/float64(total))))
	}
	return p, nil
}

// unknown is the reciprocal of the share of instructions outside known blocks
// above which Collect warns.
const unknown = 100
