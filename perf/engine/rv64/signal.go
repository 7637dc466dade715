package rv64

import (
	"encoding/binary"

	"presage/perf/engine"
)

// Signal numbers that the engine itself raises or treats specially.
const (
	sigILL    = 4
	sigTRAP   = 5
	sigBUS    = 7
	sigKILL   = 9
	sigSEGV   = 11
	sigPIPE   = 13
	sigALRM   = 14
	sigCHLD   = 17
	sigCONT   = 18
	sigSTOP   = 19
	sigURG    = 23
	sigVTALRM = 26
	sigPROF   = 27
	sigWINCH  = 28
	signals   = 64
)

// Signal action flags and special handlers.
const (
	saSigInfo  = 4
	saOnStack  = 0x08000000
	saRestart  = 0x10000000
	saNoDefer  = 0x40000000
	saReset    = 0x80000000
	sigDefault = 0
	sigIgnore  = 1
)

// sigAction is a handler as rt_sigaction sets it.
type sigAction struct {
	handler, flags, mask uint64
}

type sigStack struct {
	sp, size uint64
	off      bool
}

// sigInfo is a pending signal.
type sigInfo struct {
	number  int
	code    int32
	addr    uint64        // of a fault
	pid     uint32        // of the sender, or the timer's id
	overrun uint32        // of a timer
	value   uint64        // of a timer
	fault   *engine.Fault // the cause, if it is a trap
}

// The layout of a signal frame (Linux arch/riscv rt_sigframe): siginfo of 128
// bytes, then ucontext: flags, link, stack, 128 bytes of mask, padding to 16,
// then sigcontext: pc, x1 to x31, f0 to f31, fcsr in a 528-byte union.
const (
	frameContext = 128
	contextStack = 16
	contextMask  = 40
	contextRegs  = 176
	contextFloat = contextRegs + 32*8
	frameBytes   = frameContext + contextFloat + 528
)

// maxPending bounds a thread's queue of pending signals; further ones are lost.
const maxPending = 1024

func bitOf(sig int) uint64 { return 1 << (sig - 1) }

// ignored reports whether a signal is ignored, explicitly or by default.
func (m *machine) ignored(sig int) bool {
	switch m.actions[sig].handler {
	case sigIgnore:
		return true
	case sigDefault:
		return sig == sigCHLD || sig == sigCONT || sig == sigURG || sig == sigWINCH
	}
	return false
}

// send makes a signal pending for a thread.
func (m *machine) send(t *thread, s sigInfo) {
	if m.ignored(s.number) && t.mask&bitOf(s.number) == 0 {
		return
	}
	for _, p := range t.pending {
		if p.number == s.number && s.number < 32 {
			return // standard signals do not queue
		}
	}
	if len(t.pending) < maxPending {
		t.pending = append(t.pending, s)
	}
}

// trap delivers a synchronous signal at once; if it is blocked or has no handler,
// the program ends.
func (m *machine) trap(t *thread, s sigInfo) {
	m.broke(t, t.pc)
	if m.actions[s.number].handler <= sigIgnore || t.mask&bitOf(s.number) != 0 {
		m.kill(s)
		return
	}
	m.handle(t, s)
}

// deliverable returns the index of the first pending signal that is not
// blocked, or -1.
func (t *thread) deliverable() int {
	for i, s := range t.pending {
		if t.mask&bitOf(s.number) == 0 || s.number == sigKILL {
			return i
		}
	}
	return -1
}

// deliver enters the handlers of pending signals, or ends the program.
func (m *machine) deliver(t *thread) {
	for !m.over {
		i := t.deliverable()
		if i < 0 {
			return
		}
		s := t.pending[i]
		t.pending = append(t.pending[:i:i], t.pending[i+1:]...)
		if m.ignored(s.number) {
			continue
		}
		m.left(t)
		if m.actions[s.number].handler == sigDefault || s.number == sigKILL {
			m.kill(s)
			return
		}
		if t.blocked {
			m.interrupt(t, m.actions[s.number].flags&saRestart != 0)
		}
		m.handle(t, s)
		return
	}
}

// interrupt ends a blocking call early.
func (m *machine) interrupt(t *thread, restart bool) {
	if t.futex != nil {
		m.futexRemove(t)
	}
	m.sleptShort(t)
	t.deadline = never
	if restart && t.restartable {
		a0 := t.x[regA0] // unchanged since the call
		t.resume(0)
		t.x[regA0] = a0
		t.pc -= 4
		return
	}
	t.resume(-eINTR)
}

// handle builds the signal frame and enters the handler.
func (m *machine) handle(t *thread, s sigInfo) {
	act := &m.actions[s.number]
	sp := t.x[regSP]
	onAlt := sp-t.altStack.sp < t.altStack.size
	if act.flags&saOnStack != 0 && !t.altStack.off && t.altStack.size > 0 && !onAlt {
		sp = t.altStack.sp + t.altStack.size
	}
	sp = (sp - frameBytes) &^ 15
	frame, ok := m.mem.view(sp, frameBytes, pageWrite)
	if !ok {
		m.kill(sigInfo{number: sigSEGV, fault: s.fault}) // no stack for the handler
		return
	}
	clear(frame)
	le := binary.LittleEndian
	le.PutUint32(frame[0:], uint32(s.number))
	le.PutUint32(frame[8:], uint32(s.code))
	if s.fault != nil {
		le.PutUint64(frame[16:], s.addr)
	} else {
		le.PutUint32(frame[16:], s.pid)
		le.PutUint32(frame[20:], s.overrun)
		le.PutUint64(frame[24:], s.value)
	}
	ctx := frame[frameContext:]
	le.PutUint64(ctx[contextStack:], t.altStack.sp)
	le.PutUint32(ctx[contextStack+8:], t.altStack.flags(t.x[regSP]))
	le.PutUint64(ctx[contextStack+16:], t.altStack.size)
	mask := t.mask
	if t.restore != nil {
		mask, t.restore = *t.restore, nil
	}
	le.PutUint64(ctx[contextMask:], mask)
	le.PutUint64(ctx[contextRegs:], t.pc)
	for i := 1; i < 32; i++ {
		le.PutUint64(ctx[contextRegs+8*i:], t.x[i])
	}
	for i := range 32 {
		le.PutUint64(ctx[contextFloat+8*i:], t.x[regFloat+i])
	}
	le.PutUint32(ctx[contextFloat+32*8:], uint32(t.fflags)|uint32(t.frm)<<5)

	t.reserved = false
	t.x[regSP] = sp
	t.x[regRA] = m.trampoline
	t.x[regA0] = uint64(s.number)
	t.x[regA1] = sp
	t.x[regA2] = sp + frameContext
	t.pc = act.handler
	m.entered(t)
	t.mask |= act.mask
	if act.flags&saNoDefer == 0 {
		t.mask |= bitOf(s.number)
	}
	t.mask &^= bitOf(sigKILL) | bitOf(sigSTOP)
	if act.flags&saReset != 0 {
		act.handler = sigDefault
	}
}

func (s sigStack) flags(sp uint64) uint32 {
	const onStack, disabled = 1, 2
	switch {
	case s.off || s.size == 0:
		return disabled
	case sp-s.sp < s.size:
		return onStack
	}
	return 0
}

// sigreturn restores the thread's state from the signal frame at sp.
func (m *machine) sigreturn(t *thread) {
	t.keepA0 = true
	frame, ok := m.mem.view(t.x[regSP], frameBytes, pageRead)
	if !ok {
		m.trap(t, sigInfo{number: sigSEGV, addr: t.x[regSP], fault: m.fault(t, sigSEGV)})
		return
	}
	ctx := frame[frameContext:]
	le := binary.LittleEndian
	t.mask = le.Uint64(ctx[contextMask:]) &^ (bitOf(sigKILL) | bitOf(sigSTOP))
	t.pc = le.Uint64(ctx[contextRegs:])
	m.entered(t)
	for i := 1; i < 32; i++ {
		t.x[i] = le.Uint64(ctx[contextRegs+8*i:])
	}
	for i := range 32 {
		t.x[regFloat+i] = le.Uint64(ctx[contextFloat+8*i:])
	}
	fcsr := le.Uint32(ctx[contextFloat+32*8:])
	t.setFCSR(uint64(fcsr))
	t.reserved = false
}
