package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// DefaultMemory is the default size of the program's address space, in bytes. Go
// programs reserve about 0.7 GiB without using it.
const DefaultMemory = 4 << 30

// DefaultStack is the default size of the first thread's stack, in bytes, as on
// most Linux systems.
const DefaultStack = 8 << 20

// Request specifies how to run a program and what to record. The zero Request
// provides no input, files or arguments, discards the output, and records
// nothing.
type Request struct {
	Args []string // argv[1:]; argv[0] is the executable's base name
	Env  []string // "KEY=value"

	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer // nil: discarded

	// OutputLimit ends the run with ErrOutputLimit once the program has written
	// more than that many bytes to Stdout and Stderr together; 0: no limit.
	OutputLimit uint64

	// Grants are the host folders in which the program may open files; none: no
	// files. The first is its working directory, or "/" if there is none. For
	// engines with CapSandbox; others may refuse them, or some of them.
	Grants []Grant

	// Memory is the size of the program's address space in bytes; 0:
	// DefaultMemory. MemoryLimit bounds the number of bytes accessible at a
	// time, and thus the host memory that the program can use; 0: Memory.
	// Beyond the limit the program is refused memory, and if it then fails, the
	// error is ErrMemoryLimit. For engines with CapMemory.
	Memory, MemoryLimit uint64

	// Stack is the size of the first thread's stack in bytes, which the program
	// sees as its limit (RLIMIT_STACK); 0: DefaultStack. For engines with
	// CapMemory.
	Stack uint64

	// FreeThreads lets the program's threads run at the same time, as they would
	// without an engine, rather than one at a time in a fixed order: faster on
	// several processors, but two runs may differ in the order of the threads'
	// batches and in whatever the program makes depend on the order of its threads.
	// Windows cannot be combined with it. For engines with CapFreeThreads.
	FreeThreads bool

	// Seed determines the random numbers that the operating system provides.
	Seed uint64

	// MaxInstructions ends the run with ErrInstructionLimit at the first
	// transfer of control after that many instructions since the program's
	// start; 0: no limit.
	MaxInstructions uint64

	// Until ends the run in the same way, but without an error and with
	// Outcome.Stopped set; 0: the run ends with the program. If it is not less
	// than MaxInstructions, that limit applies.
	Until uint64

	// Plan specifies what to record, and Sink receives it. Addresses in the plan
	// are those in the file, whatever the load bias; recorded addresses are the
	// running program's. Both nil: untraced. A plan with only a Flow needs no
	// Sink.
	Plan *trace.Plan
	Sink trace.Sink

	// Windows are the times at which the plan is in force: recording and
	// counting start at the first transfer of control at or after From, and stop
	// at the first at or after To; Outcome.Windows has the exact instruction
	// counts. Between windows the program runs as fast as without a plan. None:
	// always. They are ascending and do not overlap; To may be beyond the
	// program's end. For engines with CapWindows.
	//
	// A batch holds events of one window only: the one that contains
	// Batch.Start. The first batch of a window starts at its exact beginning
	// unless another thread ran before the first event.
	Windows []trace.Window

	// Pages asks for Outcome.Pages. It costs a few thousandths of the run. Not together
	// with Snapshot.
	Pages bool

	// Snapshot is called with the state of the program at the first transfer
	// of control at or after each count of SnapshotAt, which are ascending; its
	// error ends the run. Counts up to that of Resume are skipped. For engines
	// with CapSnapshots.
	SnapshotAt []uint64
	Snapshot   func(Snapshot) error

	// Resume continues from a snapshot of the same engine instead of starting
	// the program. The executable, Args, Env, Memory and Grants must be the
	// same; Stdin is read from its beginning again, skipping what the program
	// had consumed. The rest of the run is what it would have been:
	// instructions, the clock and Windows count from the program's start, while
	// the Outcome's counts of recorded events are those of this run only.
	Resume Snapshot

	// Progress, if not nil, is called every few tens of millions of
	// instructions, from the goroutine that called Run.
	Progress func(instructions uint64)
}

// Grant makes a host folder visible to the program. Symbolic links that lead out
// of the folder do not work.
type Grant struct {
	Guest string // absolute path that the program uses
	Host  string // the folder
	Write bool   // may files be created, changed and removed?

	// Devices allows device files, pipes and sockets in the folder to be opened.
	Devices bool

	// Quota bounds the number of bytes that the program may write into the folder,
	// gaps that it leaves in files included; 0: DefaultQuota. Beyond it the
	// program is told that the disk is full.
	Quota uint64
}

// DefaultQuota is the default of Grant.Quota.
const DefaultQuota = 64 << 30

// Window is an interval of a run, in instructions.
type Window = trace.Window

// Check returns an error if the request contradicts itself, or needs a capability
// that is not in c.
func (r *Request) Check(c Capabilities) error {
	if err := r.supported(c); err != nil {
		return err
	}
	onlyFlow := r.Plan != nil && r.Plan.Flow != nil && len(r.Plan.Refs)+len(r.Plan.Blocks) == 0
	switch {
	case (r.Plan == nil) != (r.Sink == nil) && !onlyFlow:
		return errors.New("engine: Plan and Sink go together: set both or neither")
	case r.FreeThreads && len(r.Windows) > 0:
		return fmt.Errorf("engine: windows are counts of instructions in a fixed order of threads, which FreeThreads does not keep: leave one of them out: %w", errors.ErrUnsupported)
	case len(r.Windows) > 0 && r.Plan == nil:
		return errors.New("engine: Windows say when to record, but there is no Plan that says what")
	case (len(r.SnapshotAt) > 0) != (r.Snapshot != nil) || !slices.IsSorted(r.SnapshotAt):
		return errors.New("engine: SnapshotAt and Snapshot go together, and the counts are ascending")
	case r.Pages && r.Snapshot != nil:
		return errors.New("engine: Pages cannot be listed where snapshots are taken, which touch them")
	}
	for _, g := range r.Grants {
		if !path.IsAbs(g.Guest) {
			return fmt.Errorf("engine: grant of %s: guest path %q is not absolute", g.Host, g.Guest)
		}
	}
	if r.Plan != nil {
		if err := r.Plan.Check(); err != nil {
			return fmt.Errorf("engine: %w", err)
		}
	}
	if err := trace.CheckWindows(r.Windows); err != nil {
		return fmt.Errorf("engine: %w", err)
	}
	return nil
}

// supported returns an error that is errors.ErrUnsupported if the request needs
// a capability that is not in c.
func (r *Request) supported(c Capabilities) error {
	var need Capabilities
	for capability, asked := range map[Capabilities]bool{
		CapWindows:   len(r.Windows) > 0,
		CapSnapshots: len(r.SnapshotAt) > 0 || r.Snapshot != nil || r.Resume != nil,
		CapFlow:      r.Plan != nil && r.Plan.Flow != nil,
		CapSandbox:   len(r.Grants) > 0,
		CapChanges:   r.Plan != nil && r.Plan.Memory != nil,
		CapMemory:    r.Memory != 0 || r.MemoryLimit != 0 || r.Stack != 0,

		CapFreeThreads: r.FreeThreads,
	} {
		if asked {
			need |= capability
		}
	}
	if c.Has(CapAllocations) {
		need &^= CapChanges
	}
	if missing := need &^ c; missing != 0 {
		return fmt.Errorf("engine: the request needs what this engine does not have (%v): %w", missing, errors.ErrUnsupported)
	}
	return nil
}

// End returns the instruction count at which the request ends the run, or 0 if it
// sets none, and whether reaching that count is an error (ErrInstructionLimit).
func (r *Request) End() (at uint64, limit bool) {
	if r.Until > 0 && (r.MaxInstructions == 0 || r.Until < r.MaxInstructions) {
		return r.Until, false
	}
	return r.MaxInstructions, r.MaxInstructions > 0
}

// A Runner runs one program with one input, the same way each time: the Request
// specifies what to record and when, and the Runner supplies everything else.
// Several runs may be in progress at once.
type Runner func(ctx context.Context, r Request) (*Outcome, error)

// Repeat returns a Runner that runs f on e with the arguments, environment,
// grants, limits, seed, mode of threads and outputs of common, and with stdin as input. The
// Runner uses Plan, Sink, Windows, Until, snapshots and Progress of its Request.
func Repeat(e Engine, f *objfile.File, common Request, stdin []byte) Runner {
	return func(ctx context.Context, r Request) (*Outcome, error) {
		r.Args, r.Env, r.Grants = common.Args, common.Env, common.Grants
		r.Stdin, r.Stdout, r.Stderr = bytes.NewReader(stdin), common.Stdout, common.Stderr
		r.Memory, r.MemoryLimit, r.Stack, r.Seed = common.Memory, common.MemoryLimit, common.Stack, common.Seed
		r.FreeThreads = common.FreeThreads
		r.MaxInstructions = common.MaxInstructions
		return e.Run(ctx, f, r)
	}
}
