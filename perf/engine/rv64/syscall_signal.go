package rv64

func (m *machine) addSignalCalls(c map[uint64]systemCall) {
	c[129] = func(t *thread, a [6]uint64) int64 { // kill
		if pid := int64(int32(a[0])); pid != firstID && pid != 0 && pid != -1 {
			return -eSRCH
		}
		return m.signalProcess(t, a[1])
	}
	c[130] = func(_ *thread, a [6]uint64) int64 { return m.signalThread(a[0], a[1]) } // tkill
	c[131] = func(_ *thread, a [6]uint64) int64 {                                     // tgkill
		if a[0] != firstID {
			return -eSRCH
		}
		return m.signalThread(a[1], a[2])
	}
	c[132] = m.sysSigaltstack
	c[133] = m.sysSigsuspend
	c[134] = m.sysSigaction
	c[135] = m.sysSigprocmask
	c[136] = func(t *thread, a [6]uint64) int64 { // rt_sigpending
		var set uint64
		for _, s := range t.pending {
			set |= bitOf(s.number) & t.mask
		}
		return m.put(a[0], set)
	}
	c[callSigtimedwait] = m.sysSigtimedwait
	c[callSigreturn] = func(t *thread, _ [6]uint64) int64 {
		m.sigreturn(t)
		return 0
	}
}

// Causes of a signal (si_code).
const (
	siTKill  = -6
	siTimer  = -2
	siKernel = 0x80
)

func (m *machine) signalThread(id, sig uint64) int64 {
	if sig > signals {
		return -eINVAL
	}
	t := m.threadOf(int(id))
	if t == nil {
		return -eSRCH
	}
	if sig > 0 {
		m.send(t, sigInfo{number: int(sig), code: siTKill, pid: firstID})
	}
	return 0
}

// receiver returns the first thread that waits for a signal or does not block it,
// or else self.
func (m *machine) receiver(self *thread, sig int) *thread {
	for _, t := range m.threads {
		if t.mask&bitOf(sig) == 0 || m.awaits(t, sig) {
			return t
		}
	}
	return self
}

// signalProcess sends to the first thread that does not block the signal.
func (m *machine) signalProcess(self *thread, sig uint64) int64 {
	if sig > signals {
		return -eINVAL
	}
	if sig == 0 {
		return 0
	}
	m.send(m.receiver(self, int(sig)), sigInfo{number: int(sig), pid: firstID})
	return 0
}

func (m *machine) sysSigaltstack(t *thread, a [6]uint64) int64 {
	const disable = 2
	old := t.altStack
	oldFlags := old.flags(t.x[regSP])
	if a[0] != 0 {
		sp, ok1 := m.mem.load64(a[0])
		flags, ok2 := m.mem.load32(a[0] + 8)
		size, ok3 := m.mem.load64(a[0] + 16)
		if !ok1 || !ok2 || !ok3 {
			return -eFAULT
		}
		if oldFlags&1 != 0 {
			return -ePERM
		}
		t.altStack = sigStack{sp: sp, size: size, off: flags&disable != 0}
	}
	if a[1] != 0 {
		return m.put(a[1], old.sp, uint64(oldFlags), old.size)
	}
	return 0
}

// sysSigaction implements rt_sigaction. RISC-V's struct sigaction is handler,
// flags, mask.
func (m *machine) sysSigaction(_ *thread, a [6]uint64) int64 {
	sig := a[0]
	if sig < 1 || sig > signals || a[3] != 8 {
		return -eINVAL
	}
	old := m.actions[sig]
	if a[1] != 0 {
		if sig == sigKILL || sig == sigSTOP {
			return -eINVAL
		}
		var n sigAction
		var ok [3]bool
		n.handler, ok[0] = m.mem.load64(a[1])
		n.flags, ok[1] = m.mem.load64(a[1] + 8)
		n.mask, ok[2] = m.mem.load64(a[1] + 16)
		if ok != [3]bool{true, true, true} {
			return -eFAULT
		}
		m.actions[sig] = n
	}
	if a[2] != 0 {
		return m.put(a[2], old.handler, old.flags, old.mask)
	}
	return 0
}

func (m *machine) sysSigprocmask(t *thread, a [6]uint64) int64 {
	const block, unblock, set = 0, 1, 2
	old := t.mask
	if a[1] != 0 {
		v, ok := m.mem.load64(a[1])
		if !ok {
			return -eFAULT
		}
		switch a[0] {
		case block:
			t.mask |= v
		case unblock:
			t.mask &^= v
		case set:
			t.mask = v
		default:
			return -eINVAL
		}
		t.mask &^= bitOf(sigKILL) | bitOf(sigSTOP)
	}
	if a[2] != 0 {
		return m.put(a[2], old)
	}
	return 0
}

func (m *machine) sysSigsuspend(t *thread, a [6]uint64) int64 {
	v, ok := m.mem.load64(a[0])
	if !ok {
		return -eFAULT
	}
	old := t.mask
	t.restore, t.mask = &old, v
	return t.block(never, 0, nil)
}

// sysSigtimedwait takes a pending signal of the set, or waits for one.
func (m *machine) sysSigtimedwait(t *thread, a [6]uint64) int64 {
	set, ok := m.mem.load64(a[0])
	if !ok {
		return -eFAULT
	}
	deadline := uint64(never)
	if a[2] != 0 {
		ns, errno := m.timespec(a[2])
		if errno != 0 {
			return -errno
		}
		deadline = m.deadline(ns, false, false)
	}
	take := func() (int64, bool) {
		for i, s := range t.pending {
			if set&bitOf(s.number) == 0 {
				continue
			}
			t.pending = append(t.pending[:i:i], t.pending[i+1:]...)
			if a[1] != 0 {
				if e := m.put(a[1], uint64(s.number), uint64(uint32(s.code)), uint64(s.pid)|uint64(s.overrun)<<32, s.value); e != 0 {
					return e, true
				}
			}
			return int64(s.number), true
		}
		return 0, false
	}
	if v, done := take(); done {
		return v
	}
	return t.block(deadline, -eAGAIN, take)
}
