// Package rv64 is the embedded engine: it runs a static linux/riscv64
// executable on an emulated RV64GC processor with Zba, Zbb, Zbs and Zicond
// under an emulated Linux user ABI, hands the memory accesses and basic blocks
// that a trace.Plan asks for to a trace.Sink, and counts the executions and
// transfers of control that it asks for.
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
// clocks (one nanosecond an instruction), random bytes. The same run gives the
// same trace.
//
// Not modelled: more than one hart; real time; networking; fork and exec;
// memory shared between processes. What the operating system writes on the
// program's behalf is not traced.
package rv64

import (
	"context"
	"fmt"
	"io"
	"path"
	"slices"
	"time"

	"presage/perf/objfile"
	"presage/perf/trace"
)

// Version is raised with every change that moves an address or a count in the
// trace of any program, so that what was recorded before is not taken for what
// would be recorded now.
const Version = 1

// DefaultMemory is the size of the guest's address space, in bytes, where
// Options say nothing. Go programs reserve, without using it, about 0.7 GiB.
const DefaultMemory = 4 << 30

// minMemory holds a stack and a small program.
const minMemory = 32 << 20

// Options say how a program is run. The zero Options give it no input, no
// files, no arguments, and discard its output.
type Options struct {
	Args []string // argv[1:]; argv[0] is the executable's base name
	Env  []string // "KEY=value"

	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer // nil: discarded

	// Grants are the host's folders that the program may open files in; none:
	// no files. The first one is its working directory, else that is "/".
	Grants []Grant

	// Memory is the size of the guest's address space in bytes, a multiple of
	// 4096 from 32 MiB to 1 TiB; 0: DefaultMemory. The host's memory is used
	// only for pages that the program touches.
	Memory uint64

	// MemoryLimit bounds the bytes of guest memory mapped accessible at a time
	// (Result.MemoryPeak is their maximum), and with them the host's memory
	// that the program can take; 0: Memory. Beyond it the program is refused
	// memory (ENOMEM), and if it then fails, Run gives ErrMemoryLimit.
	MemoryLimit uint64

	// Engine chooses between interpretation and translation to machine code.
	Engine Engine

	heat int // how often a block is interpreted before it is translated; 0: hot

	// MaxInstructions ends the program at the first transfer of control after
	// that many instructions; 0: no limit.
	MaxInstructions uint64

	// Seed determines what getrandom and AT_RANDOM give.
	Seed uint64

	// Plan says what to record, and Sink takes it. The plan's addresses are
	// those in the file; of a position-independent executable, the recorded
	// addresses are Bias higher, those of Result.Flow are not. Both nil:
	// untraced. A plan of nothing but a Flow needs no Sink.
	Plan *trace.Plan
	Sink trace.Sink

	// Windows say when the plan is in force: recording and counting go on at
	// the first transfer of control at or after From, and off at the first at
	// or after To; Result.Windows has the exact counts. Between windows the
	// program runs as fast as without a plan. None: always. They are ascending
	// and do not overlap; To may lie beyond the program's end.
	//
	// A batch holds events of one window only. The window is the one that
	// contains Batch.Start; the first batch of a window starts at its exact
	// beginning unless another thread's turn came before the first event.
	Windows []Window

	// Snapshot is called with the state of the program at the first transfer
	// of control at or after each count of SnapshotAt, which are ascending;
	// its error ends the run. Counts up to that of Resume are passed over.
	SnapshotAt []uint64
	Snapshot   func(*Snapshot) error

	// Resume makes the run go on from a snapshot instead of the beginning. It
	// takes the same executable, Args, Env, Memory and Grants; Stdin is read
	// from its beginning again, and what the program had consumed is skipped.
	// The rest of the run is what it would have been: instructions, the clock
	// and Windows count from the program's start, while Result's counts of
	// what was recorded are those of this run.
	Resume *Snapshot

	// Progress is called about every 2^26 instructions.
	Progress func(instructions uint64)
}

// Grant makes a folder of the host visible to the program. Symbolic links that
// lead out of the folder do not work.
type Grant struct {
	Guest string // absolute path that the program uses
	Host  string // the folder
	Write bool   // may files be created, changed and removed?
}

// SyscallCount counts calls of a system call that the engine does not have,
// and that returned ENOSYS. After the first 256 different numbers the rest are
// counted together under the largest uint64.
type SyscallCount struct {
	Number uint64
	Count  uint64
}

// Result tells how a program ended and what it did.
type Result struct {
	ExitCode int // of exit; 128 + Signal if killed
	Signal   int // that killed the program; 0 if none

	Instructions uint64   // executed, by all threads
	Accesses     uint64   // recorded
	Blocks       uint64   // block executions recorded
	Batches      uint64   // handed over
	Windows      []Window // as they were, of Options.Windows that began
	Threads      int      // that ran in all

	MemoryPeak uint64 // bytes of guest memory mapped accessible, at most

	UnknownSyscalls []SyscallCount // by number

	// Flow has what Plan.Flow asked to be counted, while it was in force: as a
	// window begins each thread enters, as it ends each leaves, and so at a
	// snapshot's resumption and the run's end. Nil if nothing was asked for.
	Flow *trace.Flow

	// UnplannedRefs is the number of static memory references that were
	// decoded for execution but do not stand in the plan (0 without a plan).
	UnplannedRefs int

	// Clock is the guest's own time from start to end: a nanosecond for each
	// instruction, and sleep while nothing else ran.
	Clock time.Duration

	Elapsed time.Duration // of the host

	translated uint64 // instructions executed in blocks that machine code entered
}

// Run executes f until it exits. A program that exits with a status other than
// zero, or is killed by a signal sent by itself, is no error: see Result. A
// trap that it does not handle gives a *Fault; limits give ErrInstructionLimit
// and ErrMemoryLimit, cancellation the context's error, checked every few tens
// of thousands of instructions (not during a read of Options.Stdin). The
// Result is not nil once the program was started, whatever the error.
func Run(ctx context.Context, f *objfile.File, opt Options) (*Result, error) {
	start := time.Now()
	m, err := newMachine(f, opt)
	if err != nil {
		return nil, err
	}
	defer m.close()
	err = m.run(ctx)
	m.flush(m.executed())
	r := m.result()
	r.Elapsed = time.Since(start)
	return r, err
}

// Bias returns what is added to the addresses of f when it is loaded: 0 unless
// it is position-independent.
func Bias(f *objfile.File) uint64 {
	if f.PIE {
		return loadBias
	}
	return 0
}

func checkOptions(opt *Options) error {
	if opt.Memory == 0 {
		opt.Memory = DefaultMemory
	}
	if opt.Memory < minMemory || opt.Memory > trace.AddrLimit || opt.Memory%pageBytes != 0 {
		return fmt.Errorf("rv64: Options.Memory is %d bytes; it must be a multiple of %d from %d to %d",
			opt.Memory, pageBytes, minMemory, uint64(trace.AddrLimit))
	}
	if opt.MemoryLimit == 0 {
		opt.MemoryLimit = opt.Memory
	}
	onlyFlow := opt.Plan != nil && opt.Plan.Flow != nil && len(opt.Plan.Refs)+len(opt.Plan.Blocks) == 0
	if (opt.Plan == nil) != (opt.Sink == nil) && !onlyFlow {
		return fmt.Errorf("rv64: Options.Plan and Options.Sink go together: set both or neither")
	}
	if opt.Engine > JIT {
		return fmt.Errorf("rv64: Options.Engine is %d; it must be Auto, Interp or JIT", opt.Engine)
	}
	if opt.Plan != nil {
		if err := opt.Plan.Check(); err != nil {
			return fmt.Errorf("rv64: %w", err)
		}
	}
	if err := checkWindows(opt); err != nil {
		return err
	}
	if (len(opt.SnapshotAt) > 0) != (opt.Snapshot != nil) || !slices.IsSorted(opt.SnapshotAt) {
		return fmt.Errorf("rv64: Options.SnapshotAt and Options.Snapshot go together, and the counts are ascending")
	}
	for _, g := range opt.Grants {
		if !path.IsAbs(g.Guest) {
			return fmt.Errorf("rv64: grant of %s: guest path %q is not absolute", g.Host, g.Guest)
		}
	}
	return nil
}
