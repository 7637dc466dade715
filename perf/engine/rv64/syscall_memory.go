package rv64

const (
	mapShared         = 0x01
	mapFixed          = 0x10
	mapAnonymous      = 0x20
	mapFixedNoReplace = 0x100000

	madvDontNeed  = 4
	madvRemove    = 9
	mremapMayMove = 1
	mremapFixed   = 2
)

func (m *machine) addMemoryCalls(c map[uint64]systemCall) {
	c[214] = func(_ *thread, a [6]uint64) int64 { return m.sysBrk(a[0]) }
	c[215] = func(_ *thread, a [6]uint64) int64 { return m.sysMunmap(a[0], a[1]) }
	c[216] = func(_ *thread, a [6]uint64) int64 { return m.sysMremap(a) }
	c[222] = func(_ *thread, a [6]uint64) int64 { return m.sysMmap(a) }
	c[226] = func(_ *thread, a [6]uint64) int64 { return m.sysMprotect(a[0], a[1], permOf(a[2])) }
	for _, n := range []uint64{227, 228, 229, 230, 231, 284} { // msync, mlock, munlock, mlockall, munlockall, mlock2
		c[n] = always(0)
	}
	c[232] = func(_ *thread, a [6]uint64) int64 { return m.sysMincore(a[0], a[1], a[2]) }
	c[233] = func(_ *thread, a [6]uint64) int64 { return m.sysMadvise(a[0], a[1], a[2]) }
	c[259] = func(*thread, [6]uint64) int64 { // riscv_flush_icache
		m.flushCode()
		return 0
	}
}

func (m *machine) sysMunmap(addr, size uint64) int64 {
	n := pageUp(size)
	if size == 0 || n < size || !m.mem.valid(addr, n) {
		return -eINVAL
	}
	if !m.mem.mayUnmap(addr, n) {
		m.refused = true
		return -eNOMEM
	}
	m.codeChanges(addr, n)
	m.mem.unmapRange(addr, n)
	return 0
}

func (m *machine) sysMprotect(addr, size uint64, perm uint8) int64 {
	n := pageUp(size)
	if addr%pageBytes != 0 || n < size {
		return -eINVAL
	}
	if !m.mem.valid(addr, n) || !m.mem.allMapped(addr, n) {
		return -eNOMEM
	}
	if !m.afford(addr, n, perm) {
		return -eNOMEM
	}
	m.codeChanges(addr, n)
	return m.hosted(m.mem.protectRange(addr, n, perm))
}

func (m *machine) sysMadvise(addr, size, advice uint64) int64 {
	n := pageUp(size)
	if addr%pageBytes != 0 || n < size {
		return -eINVAL
	}
	if !m.mem.valid(addr, n) || !m.mem.allMapped(addr, n) {
		return -eNOMEM
	}
	if advice == madvDontNeed && n > 0 {
		return m.hosted(m.mem.zeroRange(addr, n))
	}
	return 0
}

// sysMincore reports every mapped page as resident.
func (m *machine) sysMincore(addr, size, vec uint64) int64 {
	n := pageUp(size)
	if !m.mem.valid(addr, n) || !m.mem.allMapped(addr, n) {
		return -eNOMEM
	}
	b, ok := m.mem.view(vec, n/pageBytes, pageWrite)
	if !ok {
		return -eFAULT
	}
	for i := range b {
		b[i] = 1
	}
	return 0
}

// hosted ends the run if the host failed to provide memory, as it may have made
// part of the change.
func (m *machine) hosted(err error) int64 {
	if err != nil {
		m.failed = m.hostError(err)
		return -eNOMEM
	}
	return 0
}

// afford reports whether the limits allow a change of mappings. It notes a refusal,
// to explain the failure of a program that then gives up.
func (m *machine) afford(addr, n uint64, perm uint8) bool {
	ok := m.mem.affords(addr, n, perm)
	m.refused = m.refused || !ok
	return ok
}

// permOf converts PROT_ bits to page permissions. As on Linux, executable and
// writable pages are readable too.
func permOf(prot uint64) uint8 {
	var p uint8
	if prot&1 != 0 {
		p |= pageRead
	}
	if prot&2 != 0 {
		p |= pageRead | pageWrite
	}
	if prot&4 != 0 {
		p |= pageRead | pageExec
	}
	return p
}

// codeChanges discards decoded code if a range that changes contains executable
// pages.
func (m *machine) codeChanges(addr, n uint64) {
	if m.mem.anyExec(addr, n) {
		m.flushCode()
	}
}

func (m *machine) sysBrk(want uint64) int64 {
	if want < m.brk.start || want > m.brk.limit {
		if want > m.brk.limit {
			m.refused = true
		}
		return int64(m.brk.end)
	}
	old, end := pageUp(m.brk.end), pageUp(want)
	switch {
	case end > old:
		if !m.mem.free(old, end-old) || !m.afford(old, end-old, pageWrite) {
			m.refused = true
			return int64(m.brk.end)
		}
		if m.hosted(m.mem.mapRange(old, end-old, pageRead|pageWrite)) != 0 {
			return int64(m.brk.end)
		}
	case end < old:
		m.mem.unmapRange(end, old-end)
	}
	m.brk.end = want
	m.counted.HeapPeak = max(m.counted.HeapPeak, want-m.brk.start)
	return int64(want)
}

// place chooses the address of a new mapping: the hint if it is free, else the
// highest free range. It notes a failure, to explain that of a program that then
// gives up.
func (m *machine) place(hint, n uint64) (uint64, bool) {
	if hint = pageDown(hint); hint >= pageBytes && m.mem.valid(hint, n) && m.mem.free(hint, n) && hint+n <= m.mem.mmapTop {
		return hint, true
	}
	addr, ok := m.mem.findFree(n)
	// Keep brk's room as long as there is other space.
	if ok && addr < m.brk.limit {
		m.brk.limit = max(pageUp(m.brk.end), addr)
		ok = addr >= m.brk.limit
	}
	m.refused = m.refused || !ok
	return addr, ok
}

func (m *machine) sysMmap(a [6]uint64) int64 {
	hint, length, prot, flags := a[0], a[1], a[2], a[3]
	n := pageUp(length)
	if length == 0 || a[5]%pageBytes != 0 {
		return -eINVAL
	}
	if n < length || n > m.mem.size {
		m.refused = true
		return -eNOMEM
	}
	addr, perm := hint, permOf(prot)
	if flags&(mapFixed|mapFixedNoReplace) != 0 {
		if hint%pageBytes != 0 {
			return -eINVAL
		}
		if !m.mem.valid(hint, n) || hint < pageBytes {
			return -eNOMEM
		}
		if flags&mapFixedNoReplace != 0 && !m.mem.free(hint, n) {
			return -eEXIST
		}
	} else {
		var ok bool
		if addr, ok = m.place(hint, n); !ok {
			return -eNOMEM
		}
	}
	if !m.afford(addr, n, perm) {
		return -eNOMEM
	}
	m.codeChanges(addr, n)
	if flags&mapAnonymous != 0 {
		if e := m.hosted(m.mem.mapRange(addr, n, perm)); e != 0 {
			return e
		}
		m.counted.Mappings++
		return int64(addr)
	}
	return m.mapFile(addr, length, n, perm, flags, a[4], a[5])
}

// mapFile maps a private copy of part of a file. A shared writable mapping is
// refused, as its writes would have to reach the file.
func (m *machine) mapFile(addr, length, n uint64, perm uint8, flags, fd, offset uint64) int64 {
	f := m.files.get(fd)
	if f == nil {
		return -eBADF
	}
	if flags&mapShared != 0 && perm&pageWrite != 0 {
		return -eACCES
	}
	if e := m.hosted(m.mem.mapRange(addr, n, pageRead|pageWrite)); e != 0 {
		return e
	}
	view, _ := m.mem.view(addr, length, pageWrite)
	for done := 0; done < len(view); {
		k, e := f.readAt(view[done:], int64(offset)+int64(done))
		if e != 0 {
			m.mem.unmapRange(addr, n)
			return -e
		}
		if k == 0 {
			break
		}
		done += k
	}
	if e := m.hosted(m.mem.protectRange(addr, n, perm)); e != 0 {
		return e
	}
	return int64(addr)
}

func (m *machine) sysMremap(a [6]uint64) int64 {
	addr, flags := a[0], a[3]
	old, n := pageUp(a[1]), pageUp(a[2])
	if a[2] == 0 || old == 0 || n < a[2] || flags&mremapFixed != 0 {
		return -eINVAL
	}
	if !m.mem.valid(addr, old) || !m.mem.allMapped(addr, old) {
		return -eFAULT
	}
	if n <= old {
		if n < old {
			if !m.mem.mayUnmap(addr+n, old-n) {
				return -eNOMEM
			}
			m.mem.unmapRange(addr+n, old-n)
		}
		return int64(addr)
	}
	perm := m.mem.perm[addr/pageBytes] & pageAccess
	if grow := n - old; m.mem.valid(addr+old, grow) && addr+n <= m.mem.mmapTop && m.mem.free(addr+old, grow) {
		if !m.afford(addr+old, grow, perm) {
			return -eNOMEM
		}
		if e := m.hosted(m.mem.mapRange(addr+old, grow, perm)); e != 0 {
			return e
		}
		return int64(addr)
	}
	if flags&mremapMayMove == 0 || perm&pageRead == 0 {
		return -eNOMEM
	}
	to, ok := m.place(0, n)
	if !ok || !m.afford(to, n, pageWrite) {
		return -eNOMEM
	}
	m.codeChanges(addr, old)
	if e := m.hosted(m.mem.mapRange(to, n, pageRead|pageWrite)); e != 0 {
		return e
	}
	dst, _ := m.mem.view(to, old, pageWrite)
	src, ok := m.mem.view(addr, old, pageRead)
	if !ok {
		m.mem.unmapRange(to, n)
		return -eFAULT
	}
	m.mem.move(dst, src, addr)
	m.mem.unmapRange(addr, old)
	if e := m.hosted(m.mem.protectRange(to, n, perm)); e != 0 {
		return e
	}
	return int64(to)
}
