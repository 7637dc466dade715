package engine

import (
	"fmt"
	"time"

	"presage/perf/trace"
)

// Outcome is how a run ended and what it did.
type Outcome struct {
	ExitCode int  // of exit; 128 + Signal if killed; 0 if Stopped
	Signal   int  // that killed the program; 0 if none
	Stopped  bool // at Request.Until, before the program's end

	Instructions uint64         // executed since the program's start, by all threads
	Accesses     uint64         // recorded
	Blocks       uint64         // block executions recorded
	Batches      uint64         // handed over
	Windows      []trace.Window // the exact extent of those of Request.Windows that began
	Threads      int            // that ran in all

	MemoryPeak uint64 // largest number of bytes of memory accessible at a time

	UnknownSyscalls []SyscallCount // by number

	// Flow is what Plan.Flow asked to be counted, while it was in force: as a
	// window begins each thread enters, as it ends each leaves, and likewise at
	// the resumption from a snapshot and the end of the run. Nil if nothing was
	// asked for.
	Flow *trace.Flow

	// UnplannedRefs is the number of static memory references that were decoded
	// for execution but are missing from the plan (0 without a plan).
	UnplannedRefs int

	Clock   time.Duration // that passed for the program
	Elapsed time.Duration // that passed for the host
}

// SyscallCount counts calls of a system call that the engine does not have, and
// that returned ENOSYS. An engine may count all beyond the first 256 numbers
// under the largest uint64.
type SyscallCount struct {
	Number uint64
	Count  uint64
}

// String describes the calls in a sentence without its full stop.
func (s SyscallCount) String() string {
	return fmt.Sprintf("system call %d, made %d times, is not emulated: the program was told so (ENOSYS)", s.Number, s.Count)
}

// Failure says how the program ended if it failed by itself, as "exit status 1"
// or "signal 9"; "" if it did not.
func (o *Outcome) Failure() string {
	switch {
	case o.Signal != 0:
		return fmt.Sprintf("signal %d", o.Signal)
	case o.ExitCode != 0:
		return fmt.Sprintf("exit status %d", o.ExitCode)
	}
	return ""
}

// Err returns an error if the program failed by itself.
func (o *Outcome) Err() error {
	if failure := o.Failure(); failure != "" {
		return fmt.Errorf("the program ended with %s after %d instructions", failure, o.Instructions)
	}
	return nil
}
