package metasim

import (
	"context"
	"time"

	"presage/perf/trace"
)

// Runner runs one program with one input under an engine, as often as it is
// asked to; the same thing happens each time.
type Runner interface {
	// Run runs the program to its end, or as far as the request says. It may be
	// called by several goroutines at once. A program that fails by itself is an
	// error.
	Run(ctx context.Context, r Request) (*Outcome, error)
}

// Request says what is wanted of a run.
type Request struct {
	// Plan says what to record, and Sink takes it; both nil: nothing is.
	Plan *trace.Plan
	Sink trace.Sink
	// Windows say when, ascending and apart; none: always. A batch holds events
	// of one window, and Batch.Start is in it.
	Windows []Window
	// Until ends the run after so many instructions; 0: at the program's end.
	Until uint64
	// From makes the run go on from a checkpoint; nil: begin.
	From Checkpoint
	// Take is called with a checkpoint at each of CheckpointAt, which ascend.
	CheckpointAt []uint64
	Take         func(Checkpoint) error
	// Progress is called now and then.
	Progress func(instructions uint64)
}

// Window is a stretch of a run, in instructions since the program's start.
type Window struct{ From, To uint64 }

// Checkpoint is the state of a program, for the Runner that took it. Several
// runs may go on from it at once.
type Checkpoint interface {
	Instructions() uint64 // executed so far
}

// Outcome is what a run tells.
type Outcome struct {
	Instructions uint64   // executed since the program's start
	Windows      []Window // as they were, of those that began
	Elapsed      time.Duration
	Warnings     []error
}
