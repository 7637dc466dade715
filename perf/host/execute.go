package host

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"presage/perf/internal/child"
)

// Command is a native program with its arguments and environment.
type Command struct {
	Path  string
	Args  []string
	Env   []string // nil: that of this process
	Stdin string

	Stdout, Stderr io.Writer // nil: what the program writes is lost
}

// Execution is the resources of one run of a program from start to end,
// including the start of the process, some tenths of a millisecond to a few
// milliseconds.
type Execution struct {
	Wall, CPU time.Duration // CPU: of all threads, in the program and in the system
	Counts    Counts
	// NoCounts is the reason why there are no counts; nil if there are.
	NoCounts error
}

// Counts are hardware counters of a program, its threads and child processes,
// outside the operating system.
type Counts struct {
	Cycles, Instructions, CacheMisses, BranchMisses float64
	// Running is the least share of the time in which an event had a counter;
	// below 1 the counts are extrapolated.
	Running float64
}

// Execute runs a program once. It returns an error if the program fails.
func Execute(ctx context.Context, c Command) (Execution, error) {
	// Counters are opened on this thread and inherited by the process that is
	// forked from it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	counters, noCounts := openCounters(hardwareEvents)
	if noCounts == nil {
		defer counters.close()
	}
	cmd := child.Command(ctx, c.Path, c.Args...)
	cmd.Env, cmd.Stdout, cmd.Stderr = c.Env, c.Stdout, c.Stderr
	cmd.Stdin = strings.NewReader(c.Stdin)
	begin := time.Now()
	if err := cmd.Start(); err != nil {
		return Execution{}, fmt.Errorf("host: %w", err)
	}
	err := cmd.Wait()
	e := Execution{Wall: time.Since(begin), NoCounts: noCounts}
	if ctx.Err() != nil {
		return Execution{}, ctx.Err()
	}
	if err != nil {
		return Execution{}, fmt.Errorf("host: %w", err)
	}
	e.CPU = cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	if noCounts == nil {
		values, running, err := counters.read()
		if err != nil {
			e.NoCounts = err
			return e, nil
		}
		e.Counts = Counts{values[0], values[1], values[2], values[3], running}
	}
	return e, nil
}
