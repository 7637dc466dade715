// Package native is the engine for x86-64 Linux programs on x86-64 Linux: it runs
// an unmodified executable at nearly its own speed and records its references to
// memory. It implements engine.Engine and engine.Discoverer.
//
//	executable ─ launch ─▶ process, traced (ptrace), with shared memory
//	                          │ decode, translate (once per block; the plan is
//	                          ▼                    compiled in here)
//	        code zones ─ run ─▶ buffers ─ reader ─▶ batches, counts
//	            │ breakpoints
//	            ▼
//	  system calls, signals, threads, events
//
// Everything that the program is told by chance or by time is the same in every
// run: addresses, the order of threads, clocks (one nanosecond per instruction),
// random bytes. What it reads from the system's files is not.
//
// Not modelled: memory that the kernel accesses on the program's behalf; the
// processes that it starts, which run unrecorded and are counted. A program that
// replaces itself (exec) is followed.
package native

import (
	"context"
	"errors"
	"fmt"

	"presage/perf/engine"
	"presage/perf/objfile"
)

// Version is raised with every change that alters an address or a count in the
// trace of any program, or what the outcome of its run says about it, which
// invalidates earlier recordings.
const Version = 3

const name = "native"

const capabilities = engine.CapWindows | engine.CapFlow | engine.CapChanges | engine.CapFreeThreads

// Engine is the native engine. The zero Engine is ready to use.
//
// Programs run with the rights of the user, as if started from a shell: they can
// read and change the user's files and use the network, unless they are Confined.
type Engine struct {
	// Confined keeps the program from writing to files, from reading others than the
	// system's, its executable and those in Request.Grants, from the network, and from
	// other processes. It needs the kernel's Landlock and seccomp (ErrConfine). What a
	// program does within these bounds is recorded in the same way. README.md says what
	// they are.
	//
	// Grants are of folders at their own paths, to read, with Devices. The first is the
	// working directory; without grants it is the engine's.
	Confined bool

	// CPU is the level of the processor that CPUID describes: "x86-64-v2",
	// "x86-64-v3", "x86-64-v4"; empty: the one that there is.
	CPU string

	singly bool // record every iteration of a loop and join no blocks: for tests

	landlock int // the latest version of Landlock that is used, 0: that of the kernel: for tests

	stopping bool // calls of allocators stop the program instead of being recorded: for tests
}

var (
	_ engine.Discoverer = Engine{}
	_ engine.Moded      = Engine{}
	_ engine.CPUChooser = Engine{}
)

// confinedName is the mode of a Confined engine.
const confinedName = "confined"

// Modes implements engine.Moded.
func (Engine) Modes() []string { return []string{confinedName} }

// InMode implements engine.Moded.
func (e Engine) InMode(name string) (engine.Engine, error) {
	if name != confinedName {
		return nil, fmt.Errorf("native: mode %q: want %s", name, confinedName)
	}
	e.Confined = true
	return e, nil
}

// Identity implements engine.Engine. The name has the level of the CPU, if it is
// chosen.
func (e Engine) Identity() engine.Identity {
	id := engine.Identity{Name: name, Version: Version}
	if e.CPU != "" {
		id.Name += "-" + e.CPU
	}
	return id
}

// Capabilities implements engine.Engine.
func (Engine) Capabilities() engine.Capabilities { return capabilities }

// Accepts implements engine.Engine: f must be an x86-64 executable that was opened
// from a file, on an x86-64 Linux system.
func (Engine) Accepts(f *objfile.File) error {
	switch {
	case f == nil || len(f.Segments) == 0:
		return errors.New("native: the executable has nothing to load")
	case f.Target == nil || f.Target.Name != "amd64":
		return fmt.Errorf("native: the executable is not for amd64")
	case f.Path == "":
		return errors.New("native: the executable is not in a file: write it to one")
	}
	return supported()
}

// Run implements engine.Engine.
func (e Engine) Run(ctx context.Context, f *objfile.File, r engine.Request) (*engine.Outcome, error) {
	out, _, err := e.run(ctx, f, r, false)
	return out, err
}

// Discover implements engine.Discoverer.
func (e Engine) Discover(ctx context.Context, f *objfile.File, r engine.Request) (*engine.Discovery, error) {
	if r.Plan != nil || r.Sink != nil || len(r.Windows) > 0 {
		return nil, errors.New("native: discovery needs no plan, sink or windows")
	}
	_, found, err := e.run(ctx, f, r, true)
	return found, err
}
