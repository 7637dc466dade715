package rv64

import "unsafe"

// jitFrame is the state that translated code uses besides the register file. It
// follows the register file in thread, so that one base register reaches both.
type jitFrame struct {
	budget int64
	// The window is a run of readable and writable pages. An address a in it
	// has a+negStart < last, for an access of up to 8 bytes.
	negStart   uint64
	host       uintptr // host address of the window's start
	last       uint64
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
	horizon    uint64 // machine.horizon and idle, for the counters
	idle       uint64
	mxcsr      uint32
}

// Displacements from the base register of translated code, which points at x16 so
// that a signed byte reaches every integer register.
const (
	jitBias  = 16 * 8
	jitFirst = int32(unsafe.Offsetof(thread{}.jit)) - jitBias
)
