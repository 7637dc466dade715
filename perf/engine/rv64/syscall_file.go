package rv64

import (
	"encoding/binary"
	"io/fs"
	"os"
	"path"
)

// Open flags of the generic ABI.
const (
	oAccess   = 3
	oCreate   = 0o100
	oExcl     = 0o200
	oTrunc    = 0o1000
	oAppend   = 0o2000
	oNonblock = 0o4000
	oDir      = 0o200000
	oCloexec  = 0o2000000
)

func (m *machine) addFileCalls(c map[uint64]systemCall) {
	m.addReadWrite(c)
	m.addPaths(c)
	t := m.files
	c[56] = func(_ *thread, a [6]uint64) int64 { return m.sysOpen(a[0], a[1], a[2], a[3]) }
	c[57] = func(_ *thread, a [6]uint64) int64 { // close
		if !t.drop(a[0] & 0xffffffff) {
			return -eBADF
		}
		return 0
	}
	c[436] = func(_ *thread, a [6]uint64) int64 { // close_range
		for fd := a[0]; fd <= min(a[1], maxFiles); fd++ {
			t.drop(fd)
		}
		return 0
	}
	c[23] = func(_ *thread, a [6]uint64) int64 { return m.dup(a[0], 0, false) }
	c[24] = func(_ *thread, a [6]uint64) int64 { // dup3
		d := t.open[a[0]]
		if d == nil || a[1] >= maxFiles {
			return -eBADF
		}
		if a[0] == a[1] {
			return -eINVAL
		}
		t.drop(a[1])
		return t.addFrom(&descriptor{d.file, d.shared, d.flags, a[2]&oCloexec != 0}, a[1])
	}
	c[25] = m.sysFcntl
	c[29] = always(-eNOTTY)                      // ioctl: nothing is a terminal
	c[32] = always(0)                            // flock
	c[62] = func(_ *thread, a [6]uint64) int64 { // lseek
		f := t.get(a[0])
		if f == nil {
			return -eBADF
		}
		v, e := f.seek(int64(a[1]), int(a[2]))
		if e != 0 {
			return -e
		}
		return v
	}
	for _, n := range []uint64{82, 83, 81, 84, 223} { // fsync, fdatasync, sync, sync_file_range, fadvise64
		c[n] = always(0)
	}
	c[46] = func(_ *thread, a [6]uint64) int64 { // ftruncate
		h, ok := t.get(a[0]).(*hostFile)
		if !ok {
			return -eINVAL
		}
		return -h.resize(int64(a[1]))
	}
	c[47] = m.sysFallocate
	c[61] = m.sysGetdents
	c[80] = func(_ *thread, a [6]uint64) int64 { // fstat
		f := t.get(a[0])
		if f == nil {
			return -eBADF
		}
		s, e := f.stat()
		if e != 0 {
			return -e
		}
		return m.putStat(a[1], s)
	}
	c[79] = func(_ *thread, a [6]uint64) int64 { // newfstatat
		s, e := m.statAt(a[0], a[1], a[3])
		if e != 0 {
			return -e
		}
		return m.putStat(a[2], s)
	}
	c[291] = m.sysStatx
}

func (m *machine) dup(fd, least uint64, cloexec bool) int64 {
	d := m.files.open[fd&0xffffffff]
	if d == nil {
		return -eBADF
	}
	return m.files.addFrom(&descriptor{d.file, d.shared, d.flags, cloexec}, least)
}

func (m *machine) sysFcntl(_ *thread, a [6]uint64) int64 {
	const dupFD, getFD, setFD, getFL, setFL, dupCloexec = 0, 1, 2, 3, 4, 1030
	const getLock, setLock, setLockWait = 5, 6, 7
	d := m.files.open[a[0]&0xffffffff]
	if d == nil {
		return -eBADF
	}
	switch a[1] {
	case dupFD, dupCloexec:
		return m.dup(a[0], a[2], a[1] == dupCloexec)
	case getFD:
		return int64(bit(d.cloexe))
	case setFD:
		d.cloexe = a[2]&1 != 0
		return 0
	case getFL:
		return int64(d.flags)
	case setFL:
		d.flags = d.flags&(oAccess|oCreate) | a[2]&^uint64(oAccess)
		return 0
	case setLock, setLockWait:
		return 0
	case getLock:
		return -eINVAL
	}
	return -eINVAL
}

// sysOpen opens a device, or a file inside a grant.
func (m *machine) sysOpen(dirFD, nameAt, flags, mode uint64) int64 {
	text, ok := m.mem.text(nameAt)
	if !ok {
		return -eFAULT
	}
	name, e := m.files.resolve(dirFD, text)
	if e != 0 {
		return -e
	}
	if d := m.device(name); d != nil {
		return m.files.add(d, flags)
	}
	f, flags, e := m.openGranted(name, flags, mode)
	if e != 0 {
		return -e
	}
	return m.files.add(f, flags)
}

// openGranted opens a file in the grant that holds it. It returns the flags that
// the grant leaves, and an error number, 0 on success.
func (m *machine) openGranted(name string, flags, mode uint64) (*hostFile, uint64, int64) {
	mt, rel := m.files.find(name)
	if mt == nil {
		m.files.refuse(name, "no granted folder holds it")
		return nil, 0, eNOENT
	}
	writes := flags&oAccess != 0 || flags&(oCreate|oTrunc) != 0
	if writes && !mt.write {
		if flags&oCreate == 0 || flags&oAccess != 0 || flags&oTrunc != 0 {
			m.files.refuse(name, "the granted folder is read-only")
			return nil, 0, eROFS
		}
		flags &^= oCreate // reads the file if it exists
	}
	if info, err := mt.root.Stat(rel); err == nil && !mt.devices && !info.Mode().IsRegular() && !info.IsDir() {
		m.files.refuse(name, "it is a device, pipe or socket") // opening it might wait, or reach beyond the folder
		return nil, 0, eACCES
	}
	f, err := mt.root.OpenFile(rel, hostFlags(flags), fs.FileMode(mode&0o777))
	if err != nil {
		return nil, 0, errno(err)
	}
	if flags&oDir != 0 {
		if info, err := f.Stat(); err != nil || !info.IsDir() {
			_ = f.Close() // opened for reading only
			return nil, 0, eNOTDIR
		}
	}
	return &hostFile{f: f, guest: name, mount: mt, append: flags&oAppend != 0}, flags, 0
}

func hostFlags(flags uint64) int {
	h := os.O_RDONLY
	switch flags & oAccess {
	case 1:
		h = os.O_WRONLY
	case 2:
		h = os.O_RDWR
	}
	for guest, host := range map[uint64]int{oCreate: os.O_CREATE, oExcl: os.O_EXCL, oTrunc: os.O_TRUNC, oAppend: os.O_APPEND} {
		if flags&guest != 0 {
			h |= host
		}
	}
	return h
}

func (m *machine) device(name string) file {
	switch name {
	case "/dev/null":
		return &device{name: name, fill: func([]byte) int { return 0 }}
	case "/dev/zero":
		return &device{name: name, fill: func(p []byte) int { clear(p); return len(p) }}
	case "/dev/urandom", "/dev/random":
		return &device{name: name, fill: func(p []byte) int { m.random.fill(p); return len(p) }}
	}
	return nil
}

// statAt implements the common part of newfstatat and statx.
func (m *machine) statAt(dirFD, nameAt, flags uint64) (fileStat, int64) {
	const emptyPath, noFollow = 0x1000, 0x100
	text, ok := m.mem.text(nameAt)
	if !ok {
		return fileStat{}, eFAULT
	}
	if text == "" && flags&emptyPath != 0 {
		f := m.files.get(dirFD)
		if f == nil {
			return fileStat{}, eBADF
		}
		return f.stat()
	}
	name, e := m.files.resolve(dirFD, text)
	if e != 0 {
		return fileStat{}, e
	}
	if d := m.device(name); d != nil {
		return d.stat()
	}
	mt, rel := m.files.find(name)
	if mt == nil {
		if name == "/" {
			return fileStat{mode: modeDir | 0o555, ino: 1}, 0
		}
		return fileStat{}, eNOENT
	}
	stat := mt.root.Stat
	if flags&noFollow != 0 {
		stat = mt.root.Lstat
	}
	info, err := stat(rel)
	if err != nil {
		return fileStat{}, errno(err)
	}
	return statOf(info, name), 0
}

const blockBytes = 4096 // preferred I/O size

// putStat writes struct stat of the generic 64-bit ABI.
func (m *machine) putStat(addr uint64, s fileStat) int64 {
	b := make([]byte, 128)
	le := binary.LittleEndian
	le.PutUint64(b[0:], 1)
	le.PutUint64(b[8:], s.ino)
	le.PutUint32(b[16:], s.mode)
	le.PutUint32(b[20:], 1)
	le.PutUint32(b[24:], firstID)
	le.PutUint32(b[28:], firstID)
	le.PutUint64(b[48:], uint64(s.size))
	le.PutUint32(b[56:], blockBytes)
	le.PutUint64(b[64:], uint64(s.size+511)/512)
	for _, at := range []int{72, 88, 104} { // access, modification, change
		le.PutUint64(b[at:], uint64(s.mtime/second))
		le.PutUint64(b[at+8:], uint64(s.mtime%second))
	}
	if !m.mem.store(addr, b) {
		return -eFAULT
	}
	return 0
}

func (m *machine) sysStatx(_ *thread, a [6]uint64) int64 {
	const basicStats = 0x7ff
	s, e := m.statAt(a[0], a[1], a[2])
	if e != 0 {
		return -e
	}
	b := make([]byte, 256)
	le := binary.LittleEndian
	le.PutUint32(b[0:], basicStats)
	le.PutUint32(b[4:], blockBytes)
	le.PutUint32(b[16:], 1)
	le.PutUint32(b[20:], firstID)
	le.PutUint32(b[24:], firstID)
	le.PutUint16(b[28:], uint16(s.mode))
	le.PutUint64(b[32:], s.ino)
	le.PutUint64(b[40:], uint64(s.size))
	le.PutUint64(b[48:], uint64(s.size+511)/512)
	for _, at := range []int{64, 96, 112} {
		le.PutUint64(b[at:], uint64(s.mtime/second))
		le.PutUint32(b[at+8:], uint32(s.mtime%second))
	}
	le.PutUint32(b[140:], 1) // device 0:1
	if !m.mem.store(a[4], b) {
		return -eFAULT
	}
	return 0
}

// sysGetdents lists a folder: itself, the one that holds it, then the others in name
// order.
func (m *machine) sysGetdents(_ *thread, a [6]uint64) int64 {
	h, ok := m.files.get(a[0]).(*hostFile)
	if !ok {
		return -eBADF
	}
	if !h.listed {
		if e := h.list(); e != 0 {
			return -e
		}
	}
	var out []byte
	for ; h.next < len(h.entries)+2; h.next++ {
		name, kind := h.entry(h.next)
		size := (19 + len(name) + 1 + 7) &^ 7
		if uint64(len(out)+size) > a[2] {
			break
		}
		rec := make([]byte, size)
		le := binary.LittleEndian
		le.PutUint64(rec[0:], statInode(path.Join(h.guest, name)))
		le.PutUint64(rec[8:], uint64(h.next+1))
		le.PutUint16(rec[16:], uint16(size))
		rec[18] = kind
		copy(rec[19:], name)
		out = append(out, rec...)
	}
	if len(out) == 0 && h.next < len(h.entries)+2 {
		return -eINVAL
	}
	if !m.mem.store(a[1], out) && len(out) > 0 {
		return -eFAULT
	}
	return int64(len(out))
}

// entry returns the name and type (DT_…) of a folder's entry i. The first two are
// the folder itself and the one that holds it.
func (h *hostFile) entry(i int) (name string, kind byte) {
	const folder, regular, link = 4, 8, 10
	if i < 2 {
		return ".."[:i+1], folder
	}
	switch e := h.entries[i-2]; {
	case e.IsDir():
		return e.Name(), folder
	case e.Type()&fs.ModeSymlink != 0:
		return e.Name(), link
	default:
		return e.Name(), regular
	}
}

// list reads a folder's entries.
func (h *hostFile) list() int64 {
	entries, err := fs.ReadDir(dirFS{h.f}, ".")
	if err != nil {
		return errno(err)
	}
	h.entries, h.next, h.listed = entries, 0, true
	return 0
}

// dirFS adapts an open folder so that fs.ReadDir lists it in name order.
type dirFS struct{ f *os.File }

func (d dirFS) Open(string) (fs.File, error) { return keepOpen{d.f}, nil }

// keepOpen is a folder whose Close does nothing, so that its reader leaves it open.
type keepOpen struct{ *os.File }

func (keepOpen) Close() error { return nil }

// sysFallocate implements fallocate(2) without modes: it makes the file as large as
// the range needs.
func (m *machine) sysFallocate(_ *thread, a [6]uint64) int64 {
	d := m.files.open[a[0]&0xffffffff]
	if d == nil || d.flags&oAccess == 0 {
		return -eBADF
	}
	h, ok := d.file.(*hostFile)
	off, n := int64(a[2]), int64(a[3])
	switch {
	case !ok:
		return -eSPIPE
	case a[1] != 0:
		return -eOPNOTSUPP
	case off < 0 || n <= 0 || off+n < off:
		return -eINVAL
	}
	info, err := h.f.Stat()
	if err != nil {
		return -errno(err)
	}
	if off+n <= info.Size() {
		return 0
	}
	return -h.resize(off + n)
}
