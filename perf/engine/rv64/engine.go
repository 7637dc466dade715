// Package rv64 is the embedded engine: it runs a static linux/riscv64
// executable on an emulated RV64GC processor with Zba, Zbb, Zbs and Zicond
// under an emulated Linux user ABI. It implements engine.Engine: it records the
// memory accesses and basic blocks of a trace.Plan and counts executions and
// transfers of control.
//
//	objfile.File ─ load ─▶ memory
//	                         │ decode, lower, fuse (once per block; the plan
//	                         ▼                      is compiled in here)
//	             blocks ─ exec ─▶ batches ─▶ trace.Sink
//	                       │ ecall
//	                       ▼
//	        system calls: memory, threads, signals, time, files
//
// Everything that the program can observe is a function of the executable, its
// arguments, environment, input and granted files: addresses, the interleaving
// of threads (round-robin by instruction count, independent of the plan),
// clocks (one nanosecond per instruction), random bytes. Repeating a run repeats
// its trace.
//
// Not modelled: more than one hart; real time; networking; fork and exec;
// memory shared between processes. Memory that the operating system
// writes on the program's behalf is not traced.
package rv64

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"presage/perf/engine"
	"presage/perf/isa"
	"presage/perf/isa/rv64"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// Version is raised with every change that alters an address or a count in the
// trace of any program, which invalidates earlier recordings.
const Version = 2

// name is the engine's name, which also prefixes its errors.
const name = "rv64"

// minMemory is the smallest address space in bytes: room for a stack and a small
// program.
const minMemory = 32 << 20

// minStack is the smallest stack in bytes: it holds arguments and environment in a
// quarter.
const minStack = 64 << 10

// capabilities is the set of everything that the contract defines.
const capabilities = engine.CapWindows | engine.CapSnapshots | engine.CapFlow | engine.CapSandbox | engine.CapMemory | engine.CapAllocations

// Engine is the embedded engine. The zero Engine is ready to use.
type Engine struct {
	Mode Mode
}

var (
	_ engine.Snapshotter = Engine{}
	_ engine.Moded       = Engine{}
)

// Mode chooses how instructions are executed. The outcome of a run does not
// depend on it.
type Mode uint8

const (
	// Auto translates to machine code where that is possible (linux/amd64 on
	// a processor with AVX2, BMI2, FMA, LZCNT and POPCNT), else interprets.
	Auto Mode = iota
	// Interpret executes every instruction in the interpreter.
	Interpret
	// Translate translates to machine code; where that is impossible, Run fails.
	Translate
)

// Names of modes, for Engine.InMode.
const (
	interpretName = "interp"
	translateName = "jit"
)

// Identity implements engine.Engine. This engine predates engine names in store
// keys: its profiles are keyed by the version number alone.
func (Engine) Identity() engine.Identity {
	return engine.Identity{Name: name, Version: Version, Numbered: true}
}

// Capabilities implements engine.Engine.
func (Engine) Capabilities() engine.Capabilities { return capabilities }

// Accepts implements engine.Engine. It accepts every riscv64 executable; whether
// one fits into the memory of a Request shows when it is loaded.
func (Engine) Accepts(f *objfile.File) error {
	switch {
	case f == nil || len(f.Segments) == 0:
		return errors.New("rv64: the executable has nothing to load")
	case f.Target != rv64.Target():
		return fmt.Errorf("rv64: the executable is for %s, not %s", nameOf(f.Target), rv64.Target().Name)
	}
	return nil
}

func nameOf(t *isa.Target) string {
	if t == nil {
		return "no known instruction set"
	}
	return t.Name
}

// Modes implements engine.Moded.
func (Engine) Modes() []string { return []string{interpretName, translateName} }

// InMode implements engine.Moded.
func (e Engine) InMode(name string) (engine.Engine, error) {
	switch name {
	case interpretName:
		e.Mode = Interpret
	case translateName:
		e.Mode = Translate
	default:
		return nil, fmt.Errorf("rv64: mode %q: want %s", name, strings.Join(e.Modes(), " or "))
	}
	return e, nil
}

// ReadSnapshot implements engine.Snapshotter. Whatever the input, its memory is
// bounded by a small multiple of the input's size.
func (Engine) ReadSnapshot(r io.Reader) (engine.Snapshot, error) {
	s, err := readSnapshot(r)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Run implements engine.Engine. Cancellation is checked every few tens of
// thousands of instructions, but not during a read of Request.Stdin. The
// program's clock advances by one nanosecond per instruction; when all threads
// sleep it jumps to the first deadline.
func (e Engine) Run(ctx context.Context, f *objfile.File, r engine.Request) (*engine.Outcome, error) {
	res, err := run(ctx, f, options{Request: r, mode: e.Mode})
	if res == nil {
		return nil, err
	}
	return &res.Outcome, err
}

// options are a Request and the settings for executing it.
type options struct {
	engine.Request
	mode Mode
	heat int // executions of a block before it is translated; 0: hot
}

// result is an Outcome with a counter for tests.
type result struct {
	engine.Outcome
	translated uint64 // instructions executed in blocks that machine code entered
}

func run(ctx context.Context, f *objfile.File, opt options) (*result, error) {
	start := time.Now()
	m, err := newMachine(f, opt)
	if err != nil {
		return nil, err
	}
	defer m.close()
	err = m.run(ctx)
	m.flush(m.executed())
	m.tellRest()
	r := m.result()
	r.Elapsed = time.Since(start)
	return r, err
}

// Bias returns the offset added to the addresses of f when it is loaded: 0
// unless f is position-independent.
func Bias(f *objfile.File) uint64 {
	if f.PIE {
		return loadBias
	}
	return 0
}

// fill validates the options and sets defaults.
func (o *options) fill() error {
	if err := o.Check(capabilities); err != nil {
		return err
	}
	if o.Memory == 0 {
		o.Memory = engine.DefaultMemory
	}
	if o.Memory < minMemory || o.Memory > trace.AddrLimit || o.Memory%pageBytes != 0 {
		return fmt.Errorf("rv64: Memory is %d bytes; it must be a multiple of %d from %d to %d",
			o.Memory, pageBytes, minMemory, uint64(trace.AddrLimit))
	}
	if o.Stack == 0 {
		o.Stack = engine.DefaultStack
	}
	if o.Stack < minStack || o.Stack > o.Memory/2 || o.Stack%pageBytes != 0 {
		return fmt.Errorf("rv64: Stack is %d bytes; it must be a multiple of %d from %d to half of Memory, %d",
			o.Stack, pageBytes, minStack, o.Memory/2)
	}
	if o.MemoryLimit == 0 {
		o.MemoryLimit = o.Memory
	}
	if o.mode > Translate {
		return fmt.Errorf("rv64: Mode is %d; it must be Auto, Interpret or Translate", o.mode)
	}
	return nil
}
