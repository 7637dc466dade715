package metasim

import (
	"context"
	"fmt"
	"time"

	"presage/perf/bbv"
	"presage/perf/engine"
)

// Profile is what one run shows of which code a program executes, and when.
type Profile struct {
	Vectors      *bbv.Vectors
	Executions   []uint64 // of each of Code.Blocks
	Instructions uint64   // of the run
	Elapsed      time.Duration
	Warnings     []error
}

// Accesses returns the number of memory references that a block executed.
func (p *Profile) Accesses(code *Code, block int) uint64 {
	return p.Executions[block] * uint64(code.Blocks[block].Refs)
}

// CollectOptions say how a run is profiled.
type CollectOptions struct {
	Interval uint64 // instructions; 0: bbv.DefaultInterval
	Progress func(instructions uint64)
}

// Collect runs the program once, and collects its basic-block vectors and how
// often each block is executed in all. Longer intervals are joined from those
// it returns (bbv.Vectors.Coarser), without another run.
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
	// What a fault or an exit cuts short makes a few instructions.
	if total := out.Instructions; known+total/unknown < total {
		p.Warnings = append(p.Warnings, fmt.Errorf("metasim: %.1f%% of the instructions were executed in code that is not in the graphs: no block has them",
			100*(1-float64(known)/float64(total))))
	}
	return p, nil
}

// unknown is one over the share of instructions outside of known blocks that is
// worth a warning.
const unknown = 100
