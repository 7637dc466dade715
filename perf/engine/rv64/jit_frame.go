package rv64

import "unsafe"

// maxSpan is the most bytes, from the first to the last, that accesses checked
// together may be apart.
const maxSpan = 1024

// jitFrame is the state that translated code uses besides the register file. It
// follows the register file in thread, so that one base register reaches both.
type jitFrame struct {
	budget int64
	// The windows are runs of readable and writable pages: one that follows the
	// accesses, and one around the stack pointer. An address a in the first has
	// a+negStart < last, for an access of up to 8 bytes, and a+negStart < lastSpan,
	// for accesses of up to maxSpan bytes together; likewise in the other.
	negStart   uint64
	last       uint64
	lastSpan   uint64
	lastReach  uint64 // for accesses of up to maxReach bytes together
	stackNeg   uint64
	stackLast  uint64
	stackSpan  uint64
	host       uintptr // host address of the guest's address 0
	perm       uintptr // memory.perm
	sizeLess8  uint64  // of the address space
	record     uintptr // the next access goes here
	recordEnd  uintptr
	id         uintptr // the next block ID goes here
	idEnd      uintptr
	exit       uint64 // index of the exit taken
	target     uint64 // pc that an indirect jump goes to
	jumps      uintptr
	counts     uintptr // flow's counters
	misses     uint64  // accesses outside the window
	missedAddr uint64
	base       uint64 // RDX, while a check outside the window needs it
	horizon    uint64 // machine.horizon and idle, for the counters
	idle       uint64
	rest       int64 // of the budget, while the fast part of a loop is executed
	mxcsr      uint32
}

// Displacements from the base register of translated code, which points at x16 so
// that a signed byte reaches every integer register.
const (
	jitBias  = 16 * 8
	jitFirst = int32(unsafe.Offsetof(thread{}.jit)) - jitBias
)
