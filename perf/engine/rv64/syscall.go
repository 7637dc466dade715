package rv64

import "encoding/binary"

// Error numbers that system calls return, negated.
const (
	ePERM        = 1
	eNOENT       = 2
	eSRCH        = 3
	eINTR        = 4
	eIO          = 5
	eBADF        = 9
	eCHILD       = 10
	eAGAIN       = 11
	eNOMEM       = 12
	eACCES       = 13
	eFAULT       = 14
	eEXIST       = 17
	eXDEV        = 18
	eNOTDIR      = 20
	eISDIR       = 21
	eINVAL       = 22
	eMFILE       = 24
	eNOTTY       = 25
	eNOSPC       = 28
	eSPIPE       = 29
	eROFS        = 30
	ePIPE        = 32
	eRANGE       = 34
	eNAMETOOLONG = 36
	eNOSYS       = 38
	eNOTEMPTY    = 39
	eLOOP        = 40
	eTIMEDOUT    = 110
	eOPNOTSUPP   = 95
)

// Numbers of system calls that the engine treats specially: those that do not return
// to the instruction after them, and those that wait or fail in a way of their own.
const (
	callExit           = 93
	callExitGroup      = 94
	callNanosleep      = 101
	callClockNanosleep = 115
	callSigtimedwait   = 137 // rt_sigtimedwait
	callClone          = 220
	callSigreturn      = 139 // rt_sigreturn
)

// systemCall implements one system call. It returns the result, or a negated
// error number.
type systemCall func(t *thread, a [6]uint64) int64

// maxUnknown bounds the number of distinct unknown system calls reported.
const maxUnknown = 256

// serveSyscall executes the system call that a thread has just made.
func (m *machine) serveSyscall(t *thread) {
	n := t.x[regA7]
	m.countSyscall(t, n)
	call := m.calls[n]
	if call == nil {
		m.countUnknown(n)
		t.x[regA0] = ^uint64(eNOSYS - 1)
		return
	}
	t.keepA0 = false
	args := [6]uint64(t.x[regA0 : regA0+6])
	v := call(t, args)
	if t.blocked {
		t.call, t.callNumber, t.callAt = args, n, m.now()
	}
	if !t.keepA0 {
		t.x[regA0] = uint64(v)
	}
}

// countUnknown counts a call that fails because it is not emulated.
func (m *machine) countUnknown(n uint64) {
	if _, seen := m.unknown[n]; !seen && len(m.unknown) >= maxUnknown {
		n = ^uint64(0)
	}
	m.unknown[n]++
}

// syscalls returns the table of system calls by number (the generic 64-bit
// table, include/uapi/asm-generic/unistd.h, and arch/riscv's two).
func (m *machine) syscalls() map[uint64]systemCall {
	c := make(map[uint64]systemCall)
	m.addProcessCalls(c)
	m.addSignalCalls(c)
	m.addTimeCalls(c)
	m.addTimerCalls(c)
	m.addMemoryCalls(c)
	m.addFileCalls(c)
	m.addEventCalls(c)
	return c
}

// always returns a system call that does nothing and returns v.
func always(v int64) systemCall {
	return func(*thread, [6]uint64) int64 { return v }
}

// put writes little-endian words to guest memory and returns 0 or a negated error
// number.
func (m *machine) put(addr uint64, words ...uint64) int64 {
	buf := make([]byte, 0, 8*len(words))
	for _, w := range words {
		buf = binary.LittleEndian.AppendUint64(buf, w)
	}
	if !m.mem.store(addr, buf) {
		return -eFAULT
	}
	return 0
}
