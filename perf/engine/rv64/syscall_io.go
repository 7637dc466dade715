package rv64

// maxVector is the largest number of buffers of one readv or writev.
const maxVector = 1024

// addReadWrite adds the calls that transfer data.
func (m *machine) addReadWrite(c map[uint64]systemCall) {
	c[63] = func(t *thread, a [6]uint64) int64 { return m.transfer(t, a[0], [][2]uint64{{a[1], a[2]}}, false) }
	c[64] = func(t *thread, a [6]uint64) int64 { return m.transfer(t, a[0], [][2]uint64{{a[1], a[2]}}, true) }
	vector := func(write bool) systemCall {
		return func(t *thread, a [6]uint64) int64 {
			v, e := m.vector(a[1], a[2])
			if e != 0 {
				return -e
			}
			return m.transfer(t, a[0], v, write)
		}
	}
	c[65], c[66] = vector(false), vector(true)
	at := func(write bool) systemCall {
		return func(_ *thread, a [6]uint64) int64 {
			return m.transferAt(a[0], [][2]uint64{{a[1], a[2]}}, int64(a[3]), write)
		}
	}
	c[67], c[68] = at(false), at(true)
	vectorAt := func(write bool) systemCall {
		return func(_ *thread, a [6]uint64) int64 {
			v, e := m.vector(a[1], a[2])
			if e != 0 {
				return -e
			}
			return m.transferAt(a[0], v, int64(a[3]), write)
		}
	}
	c[69], c[70] = vectorAt(false), vectorAt(true)
	// Refused, so that programs copy through their own memory: sendfile,
	// splice, copy_file_range.
	c[71], c[76], c[285] = always(-eINVAL), always(-eINVAL), always(-eOPNOTSUPP)
}

func (m *machine) vector(addr, n uint64) ([][2]uint64, int64) {
	if n > maxVector {
		return nil, eINVAL
	}
	v := make([][2]uint64, n)
	for i := range v {
		base, ok1 := m.mem.load64(addr + 16*uint64(i))
		size, ok2 := m.mem.load64(addr + 16*uint64(i) + 8)
		if !ok1 || !ok2 {
			return nil, eFAULT
		}
		v[i] = [2]uint64{base, size}
	}
	return v, 0
}

// transfer reads or writes at the file's position, and blocks the thread if the
// file would block.
func (m *machine) transfer(t *thread, fd uint64, bufs [][2]uint64, write bool) int64 {
	d := m.files.open[fd&0xffffffff]
	if d == nil {
		return -eBADF
	}
	if access := d.flags & oAccess; write && access == 0 || !write && access == 1 {
		return -eBADF
	}
	try := func() (int64, bool) {
		in, out := d.file.ready()
		if write && !out || !write && !in {
			if d.flags&oNonblock != 0 {
				return -eAGAIN, true
			}
			return 0, false
		}
		op := d.file.read
		if write {
			op = d.file.write
		}
		v := m.each(bufs, write, op)
		if v == -ePIPE {
			m.send(t, sigInfo{number: sigPIPE, pid: firstID})
		}
		return v, true
	}
	if v, done := try(); done {
		return v
	}
	t.restartable = true
	return t.block(never, 0, try)
}

func (m *machine) transferAt(fd uint64, bufs [][2]uint64, off int64, write bool) int64 {
	d := m.files.open[fd&0xffffffff]
	if d == nil {
		return -eBADF
	}
	if access := d.flags & oAccess; write && access == 0 || !write && access == 1 {
		return -eBADF
	}
	if off < 0 {
		return -eINVAL
	}
	return m.each(bufs, write, func(p []byte) (int, int64) {
		op := d.file.readAt
		if write {
			op = d.file.writeAt
		}
		n, e := op(p, off)
		off += int64(n)
		return n, e
	})
}

// each applies an operation to the buffers in turn, up to and including the first
// that it does not fill.
func (m *machine) each(bufs [][2]uint64, write bool, op func([]byte) (int, int64)) int64 {
	perm := pageWrite
	if write {
		perm = pageRead
	}
	var total int64
	for _, b := range bufs {
		if b[1] == 0 && len(bufs) > 1 {
			continue
		}
		p, ok := m.mem.view(b[0], b[1], perm)
		if !ok && b[1] > 0 {
			if total > 0 {
				return total
			}
			return -eFAULT
		}
		n, e := op(p)
		if e != 0 {
			if total > 0 {
				return total
			}
			return -e
		}
		total += int64(n)
		if n < len(p) {
			break
		}
	}
	return total
}
