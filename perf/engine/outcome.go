package engine

import (
	"fmt"
	"strings"
	"time"

	"presage/perf/trace"
)

// Outcome describes how a run ended and what it did.
type Outcome struct {
	ExitCode int  // of exit; 128 + Signal if killed; 0 if Stopped
	Signal   int  // the signal that killed the program; 0 if none
	Stopped  bool // at Request.Until, before the program's end

	Instructions uint64         // executed since the program's start, by all threads
	Accesses     uint64         // recorded
	Blocks       uint64         // block executions recorded
	Batches      uint64         // passed to the sink
	Windows      []trace.Window // the exact extent of those of Request.Windows that began
	Threads      int            // total number of threads that ran
	FreeThreads  bool           // they ran at the same time: another run may differ

	// Processes is the number of processes that the program started (fork, vfork,
	// posix_spawn), which ran and of which nothing is recorded or counted here. What
	// these started in turn is not among them: whether that happened before the
	// program ended may depend on time.
	Processes int

	// Images are the paths of the executables that ran in the program's place, one
	// after the other, because it replaced itself (exec); nil if it did not.
	Images []string

	MemoryPeak uint64 // largest number of bytes accessible at a time

	// Pages are the pages of memory that the program touched, ascending, if
	// Request.Pages asks for them and the engine and its host can tell; nil
	// otherwise. Those that were filled before the run began, from the executable or
	// with its arguments, are not among them, whether it touched them or not.
	Pages []PageRun

	// HeapPeak is the most bytes that the program had by moving the program break
	// (brk), Mappings how often it mapped memory of its own; both 0 if the engine
	// does not count them.
	HeapPeak, Mappings uint64

	UnknownSyscalls []SyscallCount // by number

	// Refused are the files that the program could not open because no grant
	// allows it, in order of the first attempt; at most 64. Those of the operating
	// system, in /proc and /sys, are left out.
	Refused []RefusedFile

	// Full are the granted folders, as the program sees them, in which a write was
	// refused because of Grant.Quota.
	Full []string

	// Flow holds the counts that Plan.Flow requested, for the time it was in
	// force: every thread enters when a window begins and leaves when it ends,
	// and likewise on resumption from a snapshot and at the end of the run. Nil
	// if nothing was requested.
	Flow *trace.Flow

	// UnplannedRefs is the number of static memory references that were decoded
	// for execution but are missing from the plan (0 without a plan).
	UnplannedRefs int

	// Unplanned are the addresses of their instructions in the file, ascending;
	// an engine that does not keep them leaves it nil.
	Unplanned []trace.PC

	Clock   time.Duration // time that passed for the program
	Elapsed time.Duration // time that passed on the host
}

// PageBytes is the size of the pages of Outcome.Pages.
const PageBytes = 4096

// PageRun is a number of pages, one after the other, that were touched at about the
// same time.
type PageRun struct {
	First, Count uint64 // number of the first (address / PageBytes), and how many
	// Before is the number of Outcome.Windows that had begun when they were found
	// touched. An engine looks when a window begins that does not follow on the one
	// before, when memory is given back, and at the end.
	Before int
}

// RefusedFile is a file that the program was not allowed to open.
type RefusedFile struct {
	Path   string // absolute, as the program sees it
	Reason string // such as "no granted folder holds it"
	Count  uint64 // attempts
}

// String describes the refusal in a sentence without its full stop.
func (f RefusedFile) String() string {
	return fmt.Sprintf("%s could not be opened: %s", f.Path, f.Reason)
}

// SyscallCount counts calls of a system call that the engine does not implement
// and that returned ENOSYS. An engine may count all numbers beyond the first 256
// under the largest uint64.
type SyscallCount struct {
	Number uint64
	Name   string // what the call was to do; empty: unknown
	Count  uint64
}

// String describes the calls in a sentence without its full stop.
func (s SyscallCount) String() string {
	name, times := "", "once"
	if s.Name != "" {
		name = " (" + s.Name + ")"
	}
	if s.Count != 1 {
		times = fmt.Sprintf("%d times", s.Count)
	}
	return fmt.Sprintf("system call %d%s, made %s, is not emulated: the program was told so (ENOSYS)", s.Number, name, times)
}

// Unrecorded describes the processes that are not recorded in a sentence without its full
// stop; "" if there are none.
func (o *Outcome) Unrecorded() string {
	switch o.Processes {
	case 0:
		return ""
	case 1:
		return "a process that the program started is not recorded: what it did is in no count"
	}
	return fmt.Sprintf("%d processes that the program started are not recorded: what they did is in no count", o.Processes)
}

// Failure returns how the program failed by itself, such as "exit status 1" or
// "signal 9", or "" if it did not.
func (o *Outcome) Failure() string {
	switch {
	case o.Signal != 0:
		return fmt.Sprintf("signal %d", o.Signal)
	case o.ExitCode != 0:
		return fmt.Sprintf("exit status %d", o.ExitCode)
	}
	return ""
}

// Err returns an error if the program failed by itself, with Refusals.
func (o *Outcome) Err() error {
	if failure := o.Failure(); failure != "" {
		return fmt.Errorf("the program ended with %s after %d instructions%s", failure, o.Instructions, o.Refusals())
	}
	return nil
}

// Refusals returns an indented line for each file that the program could not open, with
// a newline before it, to end the text of its failure with.
func (o *Outcome) Refusals() string {
	var s strings.Builder
	for _, f := range o.Refused {
		fmt.Fprintf(&s, "\n\t%v", f)
	}
	return s.String()
}
