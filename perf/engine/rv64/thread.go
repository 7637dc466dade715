package rv64

import (
	"unsafe"

	"presage/perf/engine/rv64/softfloat"
)

// never is a deadline that does not come.
const never = ^uint64(0)

// thread is a guest thread. Threads take turns on the single hart.
type thread struct {
	// x is the register file: x1 to x31 at their numbers, f0 at regFloat.
	// 256 entries, so that an 8-bit index needs no bounds check.
	x   [256]uint64
	jit jitFrame // for translated code, valid while it runs
	pc  uint64

	fflags      softfloat.Flags
	frm         uint8
	fast        bool // see float.go
	badRounding bool // a reserved dynamic rounding mode was used

	reservedAddr uint64 // of LR/SC
	reserved     bool

	id    int   // as the guest sees it
	index int32 // in order of creation, from 0

	clearTID uint64 // to zero and wake at exit

	mask     uint64 // blocked signals, bit n-1 for signal n
	pending  []sigInfo
	altStack sigStack
	restore  *uint64 // sigsuspend: mask to restore after the handler

	// While the thread is blocked, deadline and poll determine what wakes it. poll
	// is called at every turn; it returns the call's result and whether it is
	// complete.
	blocked     bool
	deadline    uint64
	timeout     int64 // the call's result when the deadline passes
	poll        func() (int64, bool)
	restartable bool // the call is repeated after a handler with SA_RESTART
	futex       *futexWait
	exited      bool

	// The system call that the thread is in, with the guest time when it was made:
	// a snapshot has no other record of what the thread waits for.
	call               [6]uint64 // its arguments
	callNumber, callAt uint64

	giving giving
	passed uint64 // pc of the hook that is behind the thread; 0: none

	keepA0 bool // the system call set the registers itself
	lost   bool // control went away from pc; see machine.left
}

const (
	regRA = 1
	regSP = 2
	regTP = 4
	regA0 = 10
	regA1 = 11
	regA2 = 12
	regA7 = 17
)

// block suspends a thread in a system call.
func (t *thread) block(deadline uint64, timeout int64, poll func() (int64, bool)) int64 {
	t.blocked, t.deadline, t.timeout, t.poll = true, deadline, timeout, poll
	t.keepA0 = true
	return 0
}

// resume completes a blocking system call with its result.
func (t *thread) resume(result int64) {
	t.blocked, t.poll, t.restartable = false, nil, false
	t.x[regA0] = uint64(result)
}

// atomic performs an LR, SC or AMO on naturally aligned memory at p. LR sets a
// reservation that any other thread's turn, or any SC, ends. It returns the op.
func (m *machine) atomic(t *thread, o *op, p unsafe.Pointer) *op {
	var old uint64
	word := o.rm == 2
	if atomicKind(o.imm) != atomicSC {
		if word {
			old = uint64(int64(*(*int32)(p)))
		} else {
			old = *(*uint64)(p)
		}
	}
	operand := t.x[o.rs2]
	store := func(v uint64) {
		if word {
			*(*uint32)(p) = uint32(v)
		} else {
			*(*uint64)(p) = v
		}
	}
	switch k := atomicKind(o.imm); k {
	case atomicLR:
		t.reserved, t.reservedAddr = true, t.x[o.rs1]
	case atomicSC:
		// Even a failing SC requires a writable address.
		ok := t.reserved && t.reservedAddr == t.x[o.rs1]
		t.reserved = false
		if ok {
			store(operand)
		} else {
			m.touch(p)
		}
		old = bit(!ok)
	default:
		store(amo(k, old, operand, word))
	}
	t.x[o.rd] = old
	return o
}

// touch rewrites the value at p, to fault exactly where a store would.
func (m *machine) touch(p unsafe.Pointer) {
	b := (*byte)(p)
	m.touched = *b
	*b = m.touched
}

func amo(k atomicKind, old, operand uint64, word bool) uint64 {
	if word {
		operand = uint64(int64(int32(operand)))
	}
	switch k {
	case atomicSwap:
		return operand
	case atomicAdd:
		return old + operand
	case atomicXor:
		return old ^ operand
	case atomicAnd:
		return old & operand
	case atomicOr:
		return old | operand
	case atomicMin:
		return uint64(min(int64(old), int64(operand)))
	case atomicMax:
		return uint64(max(int64(old), int64(operand)))
	case atomicMinu:
		// Sign extension keeps the order of unsigned words.
		return min(old, operand)
	}
	return max(old, operand)
}
