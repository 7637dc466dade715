package engine

import (
	"errors"
	"fmt"
	"strings"
)

// Reasons for which a run ends before the program does, for use with errors.Is. A
// cancelled context gives the context's own error.
var (
	// ErrInstructionLimit means that Request.MaxInstructions was reached.
	ErrInstructionLimit = errors.New("instruction limit reached")
	// ErrMemoryLimit means that the program failed after it was refused memory
	// beyond Request.Memory or Request.MemoryLimit.
	ErrMemoryLimit = errors.New("guest memory limit reached")
	// ErrOutputLimit means that the program wrote more than Request.OutputLimit.
	ErrOutputLimit = errors.New("output limit reached")
	// ErrDeadlock means that every thread waits and none can be woken.
	ErrDeadlock = errors.New("all threads of the program are blocked")
	// ErrSnapshot means that a snapshot is damaged, of another engine or
	// version, or of another program or run.
	ErrSnapshot = errors.New("unusable snapshot")
)

// The Linux signals that correspond to a Fault, the same on every architecture.
const (
	sigTRAP = 5
	sigBUS  = 7
)

// Fault is a trap that the program did not handle: a bad memory access, an
// illegal instruction, a breakpoint.
type Fault struct {
	Engine      string // name of the engine
	Signal      int    // the one Linux would have sent: 4 SIGILL, 5 SIGTRAP, 7 SIGBUS, 11 SIGSEGV
	PC          uint64 // of the instruction
	Instruction string // as disassembled; empty if it could not be fetched
	Routine     string // containing the instruction; empty if unknown
	File        string // of the source line; empty if unknown
	Line        int
	Addr        uint64 // accessed, for SIGSEGV and SIGBUS
	Access      string // "load", "store", "fetch", or empty
	Size        uint64 // bytes accessed
	Stack       uint64 // bytes of the thread's stack, if the access lies beyond its end; else 0
	StackLimit  string // where the size of the stack is set, such as "Stack" of a Request; empty if unknown
	Thread      int32
	Backtrace   []Frame // callers, innermost first, as far as they are known
}

// Frame is a caller in a backtrace.
type Frame struct {
	PC      uint64 // the call's return address
	Routine string
	Guessed bool // found on the stack, without call frame information: it may be over
}

// String describes the frame as one line of a backtrace.
func (f Frame) String() string {
	how := "called from"
	if f.Guessed {
		how = "possibly called from"
	}
	return fmt.Sprintf("%s %s, pc %#x", how, f.Routine, f.PC)
}

// Error describes the fault in one line, without the backtrace.
func (f *Fault) Error() string {
	var s strings.Builder
	s.WriteString(f.Engine + ": ")
	switch {
	case f.Access == "fetch":
		fmt.Fprintf(&s, "jump to address %#x, which is not executable", f.PC)
	case f.Stack > 0:
		fmt.Fprintf(&s, "stack overflow: %s of %d bytes at address %#x, below the stack of %d bytes", f.Access, f.Size, f.Addr, f.Stack)
		if f.StackLimit != "" {
			fmt.Fprintf(&s, " (%s)", f.StackLimit)
		}
	case f.Signal == sigBUS:
		fmt.Fprintf(&s, "unaligned atomic access of %d bytes at address %#x", f.Size, f.Addr)
	case f.Access != "":
		fmt.Fprintf(&s, "%s of %d bytes at address %#x, which the program may not access", f.Access, f.Size, f.Addr)
	case f.Signal == sigTRAP:
		s.WriteString("breakpoint")
	default:
		s.WriteString("illegal instruction")
	}
	fmt.Fprintf(&s, ": pc %#x", f.PC)
	if f.Instruction != "" {
		fmt.Fprintf(&s, " (%s)", f.Instruction)
	}
	if f.Routine != "" {
		fmt.Fprintf(&s, " in %s", f.Routine)
	}
	if f.File != "" {
		fmt.Fprintf(&s, " at %s:%d", f.File, f.Line)
	}
	return s.String()
}
