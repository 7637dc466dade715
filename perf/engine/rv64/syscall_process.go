package rv64

import "encoding/binary"

const (
	cloneVM        = 0x100
	cloneThread    = 0x10000
	cloneSetTLS    = 0x80000
	cloneParentTID = 0x100000
	cloneChildTID  = 0x200000 // CLONE_CHILD_CLEARTID
	cloneSetChild  = 0x1000000
)

const (
	maxThreads = 4096       // at a time
	maxRandom  = 32<<20 - 1 // bytes of one getrandom, as on Linux
)

func (m *machine) addProcessCalls(c map[uint64]systemCall) {
	c[callExit] = func(t *thread, a [6]uint64) int64 {
		m.exitThread(t, int(a[0]&0xff))
		return 0
	}
	c[callExitGroup] = func(_ *thread, a [6]uint64) int64 {
		m.over, m.exitCode = true, int(a[0]&0xff)
		return 0
	}
	c[96] = func(t *thread, a [6]uint64) int64 { // set_tid_address
		t.clearTID = a[0]
		return int64(t.id)
	}
	c[98] = m.sysFutex
	c[99] = always(0) // set_robust_list: threads do not die holding locks
	c[callClone] = m.sysClone

	for _, n := range []uint64{174, 175, 176, 177} { // getuid, geteuid, getgid, getegid
		c[n] = always(firstID)
	}
	c[172] = always(firstID) // getpid
	c[173] = always(1)       // getppid
	c[178] = func(t *thread, _ [6]uint64) int64 { return int64(t.id) }
	c[155] = always(firstID) // getpgid
	c[156] = always(firstID) // getsid
	c[154] = always(0)       // setpgid
	c[157] = always(-ePERM)  // setsid: already a group leader
	c[158] = always(0)       // getgroups
	c[148] = m.sysGetres     // getresuid
	c[150] = m.sysGetres     // getresgid
	c[166] = always(0o22)    // umask
	c[141] = always(20)      // getpriority, which the kernel returns as 20 - nice
	c[140] = always(0)       // setpriority
	c[92] = always(0)        // personality

	c[118] = always(0) // sched_setparam
	c[119] = always(0) // sched_setscheduler
	c[120] = always(0) // sched_getscheduler: SCHED_OTHER
	c[121] = func(_ *thread, a [6]uint64) int64 { return int64(bit(!m.mem.store32(a[1], 0))) * -eFAULT }
	c[122] = always(0)                            // sched_setaffinity
	c[123] = func(_ *thread, a [6]uint64) int64 { // sched_getaffinity: one processor
		if a[1] < 8 {
			return -eINVAL
		}
		if e := m.put(a[2], 1); e != 0 {
			return e
		}
		return 8
	}
	c[124] = func(t *thread, _ [6]uint64) int64 { // sched_yield ends the turn
		m.endTurn()
		return 0
	}
	c[125] = always(0)                            // sched_get_priority_max
	c[126] = always(0)                            // sched_get_priority_min
	c[168] = func(_ *thread, a [6]uint64) int64 { // getcpu
		for _, p := range a[:2] {
			if p != 0 && !m.mem.store32(p, 0) {
				return -eFAULT
			}
		}
		return 0
	}

	c[160] = m.sysUname
	c[163] = func(_ *thread, a [6]uint64) int64 { return m.rlimit(a[0], a[1]) }
	c[164] = always(0) // setrlimit
	c[261] = func(_ *thread, a [6]uint64) int64 {
		if a[3] == 0 {
			return 0
		}
		return m.rlimit(a[1], a[3])
	}
	c[165] = m.sysGetrusage
	c[179] = m.sysSysinfo
	c[167] = always(0)    // prctl: names of threads and mappings, mostly
	c[283] = m.membarrier //
	c[258] = m.sysHwprobe
	c[278] = func(_ *thread, a [6]uint64) int64 { // getrandom
		a[1] = min(a[1], maxRandom)
		b, ok := m.mem.view(a[0], a[1], pageWrite)
		if !ok && a[1] > 0 {
			return -eFAULT
		}
		m.random.fill(b)
		return int64(len(b))
	}
	c[260] = always(-eCHILD) // wait4
	c[95] = always(-eCHILD)  // waitid

	// Known and refused, so that programs fall back; UnknownSyscalls omits them:
	// rseq, clone3, io_uring, seccomp, pidfd_open and the like.
	for _, n := range []uint64{293, 435, 425, 277, 434, 424, 449, 221, 281} {
		c[n] = always(-eNOSYS)
	}
}

// endTurn lets the next thread run after the current system call.
func (m *machine) endTurn() {
	m.times.turnEnd = m.executed()
}

// sysClone starts a thread. It refuses to create a process.
func (m *machine) sysClone(t *thread, a [6]uint64) int64 {
	flags, stack, parentTID, tls, childTID := a[0], a[1], a[2], a[3], a[4]
	if flags&cloneVM == 0 || flags&cloneThread == 0 {
		m.countUnknown(callClone) // fork
		return -eNOSYS
	}
	if len(m.threads) >= maxThreads {
		return -eAGAIN
	}
	n := m.newThread()
	n.x, n.pc = t.x, t.pc
	n.fflags, n.frm = t.fflags, t.frm
	n.raise(0)
	n.mask = t.mask
	n.altStack.off = true
	n.x[regA0] = 0
	if stack != 0 {
		n.x[regSP] = stack
	}
	if flags&cloneSetTLS != 0 {
		n.x[regTP] = tls
	}
	ok := true
	if flags&cloneParentTID != 0 {
		ok = m.mem.store32(parentTID, uint32(n.id))
	}
	if flags&cloneSetChild != 0 {
		ok = ok && m.mem.store32(childTID, uint32(n.id))
	}
	if flags&cloneChildTID != 0 {
		n.clearTID = childTID
	}
	if !ok {
		m.threads = m.threads[:len(m.threads)-1]
		return -eFAULT
	}
	m.entered(n)
	return int64(n.id)
}

func (m *machine) sysGetres(_ *thread, a [6]uint64) int64 {
	for _, p := range a[:3] {
		if !m.mem.store32(p, firstID) {
			return -eFAULT
		}
	}
	return 0
}

func (m *machine) sysUname(_ *thread, a [6]uint64) int64 {
	const field = 65
	buf := make([]byte, 6*field)
	for i, s := range []string{"Linux", "presage", "6.6.0", "#1 presage", "riscv64", "(none)"} {
		copy(buf[i*field:], s)
	}
	if !m.mem.store(a[0], buf) {
		return -eFAULT
	}
	return 0
}

// rlimit writes a resource limit to guest memory: the true stack size, the maximum
// number of files, or else no limit.
func (m *machine) rlimit(which, addr uint64) int64 {
	const stack, core, files, space = 3, 4, 7, 9
	limit := ^uint64(0)
	switch which {
	case stack:
		limit = m.stack.top - m.stack.start
	case core:
		limit = 0
	case files:
		limit = maxFiles
	case space:
		limit = m.mem.size
	}
	return m.put(addr, limit, limit)
}

func (m *machine) sysGetrusage(_ *thread, a [6]uint64) int64 {
	us := m.executed() / 1000
	words := make([]uint64, 18)
	words[0], words[1] = us/1_000_000, us%1_000_000
	words[4] = m.mem.peak / 1024
	return m.put(a[1], words...)
}

func (m *machine) sysSysinfo(_ *thread, a [6]uint64) int64 {
	buf := make([]byte, 112)
	le := binary.LittleEndian
	le.PutUint64(buf[0:], m.now()/second)
	le.PutUint64(buf[32:], m.mem.size)              // totalram
	le.PutUint64(buf[40:], m.mem.size-m.mem.mapped) // freeram
	le.PutUint16(buf[80:], uint16(len(m.threads)))  // procs
	le.PutUint32(buf[104:], 1)                      // mem_unit
	if !m.mem.store(a[0], buf) {
		return -eFAULT
	}
	return 0
}

// membarrier has nothing to do: threads take turns, so memory is always in order.
func (m *machine) membarrier(_ *thread, a [6]uint64) int64 {
	const query, all = 0, 0x1ff
	if a[0] == query {
		return all
	}
	return 0
}

// sysHwprobe answers riscv_hwprobe(2), Documentation/arch/riscv/hwprobe.rst.
func (m *machine) sysHwprobe(_ *thread, a [6]uint64) int64 {
	const (
		ima            = 1
		fd, c          = 1 << 0, 1 << 1
		zba, zbb, zbs  = 1 << 3, 1 << 4, 1 << 5
		zbc            = 1 << 7
		zicond         = 1 << 35
		misalignedFast = 3
		unknownKey     = ^uint64(0)
		timeFrequency  = second
	)
	values := map[uint64]uint64{
		0: 0, 1: 0, 2: 0, // vendor, architecture, implementation
		3: ima,
		4: fd | c | zba | zbb | zbc | zbs | zicond,
		5: misalignedFast,
		7: m.mem.size - 1,
		8: timeFrequency,
		9: misalignedFast,
	}
	if a[1] > 64 || a[4] != 0 {
		return -eINVAL
	}
	for i := range a[1] {
		p := a[0] + 16*i
		key, ok := m.mem.load64(p)
		if !ok {
			return -eFAULT
		}
		v, known := values[key]
		if !known {
			key = unknownKey
		}
		if e := m.put(p, key, v); e != 0 {
			return e
		}
	}
	return 0
}
