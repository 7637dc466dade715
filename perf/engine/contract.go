package engine

import (
	"context"
	"fmt"
	"io"
	"strings"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// Engine runs programs. It has no state of its own: several runs may be under
// way at once. Package enginetest tests what is said here.
type Engine interface {
	// Identity names the engine and its version.
	Identity() Identity

	// Capabilities returns what a Request may ask for.
	Capabilities() Capabilities

	// Accepts returns nil if the engine can run f, and otherwise the reason why
	// it cannot.
	Accepts(f *objfile.File) error

	// Run executes f until it exits, or as far as the Request says. A program
	// that exits with a status other than zero, or is killed by a signal sent
	// by itself, is no error: see Outcome. A trap that it does not handle gives
	// a *Fault; limits give ErrInstructionLimit and ErrMemoryLimit, cancellation
	// the context's error. The Outcome is not nil once the program was started,
	// whatever the error.
	Run(ctx context.Context, f *objfile.File, r Request) (*Outcome, error)
}

// Capabilities is a set of features that not every engine has.
type Capabilities uint

// Features of Requests.
const (
	CapWindows   Capabilities = 1 << iota // Request.Windows
	CapSnapshots                          // Request.SnapshotAt and Resume; the engine is a Snapshotter
	CapFlow                               // Plan.Flow
	CapSandbox                            // the program reaches no files but those of Request.Grants
	CapMemory                             // Request.Memory and MemoryLimit
)

var capabilityNames = [...]string{"windows", "snapshots", "flow counts", "sandbox", "memory limits"}

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

	// ReadSnapshot reads what a snapshot's WriteTo wrote. Data that are not a
	// snapshot of this engine, or are damaged, give an error that is ErrSnapshot.
	ReadSnapshot(r io.Reader) (Snapshot, error)
}

// Snapshot is the state of a program between two instructions. It is not
// modified once taken: several runs may resume from it at once. What the
// program wrote to files and streams is not in it.
type Snapshot interface {
	io.WriterTo
	Instructions() uint64 // executed so far
}

// A Discoverer is an engine that finds the code of a program by running it.
type Discoverer interface {
	Engine

	// Discover runs f once, untraced, and returns what it executed. The Request
	// has neither Plan, Sink, Windows nor snapshots. A program that fails is
	// treated as Run treats it; what was found up to there is returned.
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
// interpretation and by translation, all with the same results.
type Moded interface {
	Engine
	Modes() []string // without the one that the engine chooses by itself
	InMode(name string) (Engine, error)
}
