//go:build linux && amd64

package native

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
	"presage/perf/isa/amd64"
)

// special executes an instruction that the engine does not leave to the processor,
// for the running thread, which is parked behind it.
func (m *machine) special(t *thread, i *inst) error {
	r := &t.regs
	switch i.Name() {
	case "cpuid":
		m.cpuid(t)
		return nil
	case "rdtsc", "rdtscp":
		now := m.clock()
		r.Rax, r.Rdx = now&0xffffffff, now>>32
		if i.Name() == "rdtscp" {
			r.Rcx = 0
		}
		return nil
	case "rdpid":
		*register(r, int(i.RM)) = 0
		return nil
	case "rdrand", "rdseed":
		m.drawRandom(r, i)
		return nil
	case "int3", "int1":
		r.Rip = i.next()
		t.resumeAt = key{pc: i.next()}
		m.changed(broke, t, i.pc)
		if m.actions[unix.SIGTRAP].handler > handlerIgnore && t.hidden&bit(unix.SIGTRAP) == 0 {
			info := newSigInfo(unix.SIGTRAP)
			return m.deliver(t, unix.SIGTRAP, &info)
		}
		return m.fatal(t, unix.SIGTRAP, &engine.Fault{PC: i.pc, Instruction: i.Name()})
	case "xbegin":
		// Every transaction aborts at once, which the program must expect.
		const mayNotRetry = 0
		r.Rax = mayNotRetry
		t.resumeAt = key{pc: i.next() + uint64(i.Imm)}
		return nil
	}
	if i.Segment == amd64.GS {
		return fmt.Errorf("native: the program uses the segment register gs at pc %#x, which the engine needs", i.pc)
	}
	m.changed(broke, t, i.pc)
	return m.fatal(t, unix.SIGILL, &engine.Fault{PC: i.pc, Instruction: i.Name()})
}

// newSigInfo returns the siginfo of a signal from the kernel.
func newSigInfo(s unix.Signal) (info [sigInfoBytes]byte) {
	const fromKernel = 0x80
	binary.LittleEndian.PutUint32(info[:], uint32(s))
	binary.LittleEndian.PutUint32(info[8:], fromKernel)
	return info
}

// drawRandom executes rdrand and rdseed with the engine's random numbers.
func (m *machine) drawRandom(r *unix.PtraceRegs, i *inst) {
	const flags, carry = 0x8d5, 1
	p := register(r, int(i.RM))
	v := m.random.Uint64()
	switch i.OperandBytes() {
	case 2:
		*p = *p&^0xffff | v&0xffff
	case 4:
		*p = v & 0xffffffff
	default:
		*p = v
	}
	r.Eflags = r.Eflags&^flags | carry
}

// Bits of CPUID.
const (
	leafFeatures   = 1
	leafStructured = 7
	leafExtended   = 0x80000001

	ecxRDRAND = 1 << 30
	ebxHLE    = 1 << 4
	ebxRTM    = 1 << 11
	ebxRDSEED = 1 << 18
)

// askProcessor executes cpuid: EAX, EBX, ECX and EDX of a leaf.
//
//go:noescape
func askProcessor(leaf, sub uint32, r *[4]uint32)

// cpuid does what cpuid would in the program, which may run on the same processors, and
// hides what it must not use.
func (m *machine) cpuid(t *thread) {
	leaf, sub := uint32(t.regs.Rax), uint32(t.regs.Rcx)
	var r [4]uint32
	askProcessor(leaf, sub, &r)
	t.regs.Rax, t.regs.Rbx, t.regs.Rcx, t.regs.Rdx = uint64(r[0]), uint64(r[1]), uint64(r[2]), uint64(r[3])
	switch {
	case leaf == leafFeatures:
		t.regs.Rcx &^= ecxRDRAND | uint64(m.hide.ecx1)
		t.regs.Rbx &= 0x00ffffff // which processor it runs on
	case leaf == leafStructured && sub == 0:
		t.regs.Rbx &^= ebxHLE | ebxRTM | ebxRDSEED | uint64(m.hide.ebx7)
		t.regs.Rcx &^= uint64(m.hide.ecx7)
		t.regs.Rdx &^= uint64(m.hide.edx7)
	case leaf == leafStructured && sub == 1:
		t.regs.Rax &^= uint64(m.hide.eax7)
	case leaf == leafExtended:
		t.regs.Rcx &^= uint64(m.hide.ecx81)
	case leaf == 0xb || leaf == 0x1f:
		t.regs.Rdx = 0
	case leaf == 0x8000001e:
		t.regs.Rax = 0
	}
}
