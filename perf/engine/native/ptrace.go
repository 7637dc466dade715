//go:build linux && amd64

package native

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Numbers of the kernel's interface that package unix does not name.
const (
	ptraceGetSigInfo = 0x4202
	ptraceGetRegSet  = 0x4204
	ptraceSetRegSet  = 0x4205

	sigInfoBytes = 128
)

// task is a stopped or running thread of the program. Its methods must be called
// on the operating system thread that attached to it, while it is stopped.
type task struct {
	pid int
	mem *os.File // of its process, at offset = address
}

// attach opens the memory of a stopped task.
func attach(pid int) (*task, error) {
	mem, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return nil, fmt.Errorf("native: the program's memory: %w", err)
	}
	return &task{pid: pid, mem: mem}, nil
}

func (t *task) registers(r *unix.PtraceRegs) error {
	if err := unix.PtraceGetRegs(t.pid, r); err != nil {
		return fmt.Errorf("native: read registers of the program: %w", err)
	}
	return nil
}

func (t *task) setRegisters(r *unix.PtraceRegs) error {
	if err := unix.PtraceSetRegs(t.pid, r); err != nil {
		return fmt.Errorf("native: set registers of the program: %w", err)
	}
	return nil
}

// resume lets the task run, with a signal to deliver unless it is 0.
func (t *task) resume(signal unix.Signal) error {
	if err := unix.PtraceCont(t.pid, int(signal)); err != nil {
		return fmt.Errorf("native: resume the program: %w", err)
	}
	return nil
}

// step executes one instruction, or delivers a signal and stops at the first
// instruction of its handler.
func (t *task) step(signal unix.Signal) error {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, unix.PTRACE_SINGLESTEP, uintptr(t.pid), 0, uintptr(signal), 0, 0)
	if errno != 0 {
		return fmt.Errorf("native: step the program: %w", errno)
	}
	return nil
}

// sigInfo returns the siginfo of the signal that stopped the task.
func (t *task) sigInfo() (info [sigInfoBytes]byte, err error) {
	_, _, errno := unix.RawSyscall6(unix.SYS_PTRACE, ptraceGetSigInfo, uintptr(t.pid), 0, uintptr(unsafe.Pointer(&info)), 0, 0)
	if errno != 0 {
		return info, fmt.Errorf("native: read a signal of the program: %w", errno)
	}
	return info, nil
}

// The fields of a siginfo that the engine reads.
func sigCode(info *[sigInfoBytes]byte) int32 { return int32(binary.LittleEndian.Uint32(info[8:])) }

func sigAddr(info *[sigInfoBytes]byte) uint64 { return binary.LittleEndian.Uint64(info[16:]) }

// read fills b from the program's memory at addr; it returns how many bytes are
// readable.
func (t *task) read(addr uint64, b []byte) int {
	n, _ := t.mem.ReadAt(b, int64(addr)) // short where memory ends
	return n
}

// write changes the program's memory, even where it is read-only.
func (t *task) write(addr uint64, b []byte) error {
	if _, err := t.mem.WriteAt(b, int64(addr)); err != nil {
		return fmt.Errorf("native: write to the program's memory at %#x: %w", addr, err)
	}
	return nil
}

func (t *task) word(addr uint64) (uint64, bool) {
	var b [8]byte
	ok := t.read(addr, b[:]) == len(b)
	return binary.LittleEndian.Uint64(b[:]), ok
}

// register returns the general register i in the processor's numbering.
func register(r *unix.PtraceRegs, i int) *uint64 {
	switch i {
	case rax:
		return &r.Rax
	case rcx:
		return &r.Rcx
	case rdx:
		return &r.Rdx
	case rbx:
		return &r.Rbx
	case rsp:
		return &r.Rsp
	case rbp:
		return &r.Rbp
	case rsi:
		return &r.Rsi
	case rdi:
		return &r.Rdi
	case r8:
		return &r.R8
	case r9:
		return &r.R9
	case r10:
		return &r.R10
	case r11:
		return &r.R11
	case r12:
		return &r.R12
	case r13:
		return &r.R13
	case r14:
		return &r.R14
	}
	return &r.R15
}
