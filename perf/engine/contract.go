package engine

import (
	"context"
	"fmt"
	"io"
	"strings"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// Engine runs programs. It has no state of its own: several runs may be in
// progress at once. Package enginetest tests this contract.
type Engine interface {
	// Identity names the engine and its version.
	Identity() Identity

	// Capabilities returns the optional features that a Request may use.
	Capabilities() Capabilities

	// Accepts returns nil if the engine can run f, and otherwise the reason why
	// it cannot.
	Accepts(f *objfile.File) error

	// Run executes f until it exits or reaches a limit of the Request. A program
	// that exits with a nonzero status, or is killed by a signal that it sent
	// itself, is not an error: see Outcome. An unhandled trap gives a *Fault;
	// limits give ErrInstructionLimit and ErrMemoryLimit, cancellation the
	// context's error. Once the program has started the Outcome is not nil,
	// whatever the error.
	Run(ctx context.Context, f *objfile.File, r Request) (*Outcome, error)
}

// Capabilities is a set of optional features.
type Capabilities uint

// Features of Requests.
const (
	CapWindows     Capabilities = 1 << iota // Request.Windows
	CapSnapshots                            // Request.SnapshotAt and Resume; the engine is a Snapshotter
	CapFlow                                 // Plan.Flow
	CapSandbox                              // the program can open no files outside Request.Grants
	CapMemory                               // Request.Memory, MemoryLimit and Stack
	CapChanges                              // Plan.Memory
	CapFreeThreads                          // Request.FreeThreads
	CapAllocations                          // Plan.Memory, of which allocations alone are told, with the place of the call for callers
)

var capabilityNames = [...]string{"windows", "snapshots", "flow counts", "sandbox", "memory limits", "changes of memory", "free-running threads", "allocations"}

// Has reports whether all features of want are in c.
func (c Capabilities) Has(want Capabilities) bool { return c&want == want }

func (c Capabilities) String() string {
	var names []string
	for i, name := range capabilityNames {
		if c.Has(1 << i) {
			names = append(names, name)
		}
	}
	if rest := c >> len(capabilityNames); rest != 0 {
		names = append(names, fmt.Sprintf("%#x", uint(rest<<len(capabilityNames))))
	}
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// A Snapshotter is an engine with CapSnapshots.
type Snapshotter interface {
	Engine

	// ReadSnapshot reads a snapshot written by WriteTo. Damaged data, or data
	// that are not a snapshot of this engine, give an error that is ErrSnapshot.
	ReadSnapshot(r io.Reader) (Snapshot, error)
}

// Snapshot is the state of a program between two instructions. It is immutable:
// several runs may resume from it at once. It does not hold what the program
// wrote to files and streams.
type Snapshot interface {
	io.WriterTo
	Instructions() uint64 // executed so far
}

// A Discoverer is an engine that finds the code of a program by running it.
type Discoverer interface {
	Engine

	// Discover runs f once, untraced, and returns the code that it executed. The
	// Request has no Plan, Sink, Windows or snapshots. A program that fails gives
	// the same error as from Run, with what was discovered up to that point.
	Discover(ctx context.Context, f *objfile.File, r Request) (*Discovery, error)
}

// Discovery is the code that a run executed.
type Discovery struct {
	// Plan has every memory reference, each in a group of its own, and every
	// basic block that was executed.
	Plan *trace.Plan

	// Modules are the files whose code ran, by ascending Base; none if
	// addresses in the plan are those in the executable.
	Modules []Module

	Outcome *Outcome
}

// Module is a file that was mapped into the program.
type Module struct {
	Path string   // as the program named it
	Base trace.PC // the plan's address of the file's address 0
	Size uint64   // bytes from there that belong to the module
}

// Moded is an engine that can execute programs in several ways, such as by
// interpretation and by translation, all with the same results, unless a mode keeps the
// program from something that it would have done.
type Moded interface {
	Engine
	Modes() []string // the names, excluding the engine's automatic choice
	InMode(name string) (Engine, error)
}

// CPUChooser is an engine that can show programs a lesser processor than there is,
// so that libraries choose other routines. Results on different processors differ,
// and so do the engines' identities.
type CPUChooser interface {
	Engine
	CPUs() []string                    // the names, from the least; the default is none of them
	OnCPU(name string) (Engine, error) // an unknown name is an error
}
