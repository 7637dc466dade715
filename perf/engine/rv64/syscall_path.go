package rv64

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// addPaths adds the calls that take paths.
func (m *machine) addPaths(c map[uint64]systemCall) {
	t := m.files
	c[17] = func(_ *thread, a [6]uint64) int64 { // getcwd
		s := append([]byte(t.cwd), 0)
		if uint64(len(s)) > a[1] {
			return -eRANGE
		}
		if !m.mem.store(a[0], s) {
			return -eFAULT
		}
		return int64(len(s))
	}
	c[49] = func(_ *thread, a [6]uint64) int64 { // chdir
		s, e := m.statAt(^uint64(99), a[0], 0)
		if e != 0 {
			return -e
		}
		if s.mode&modeDir == 0 {
			return -eNOTDIR
		}
		text, _ := m.mem.text(a[0])
		t.cwd, _ = t.resolve(^uint64(99), text)
		return 0
	}
	access := func(_ *thread, a [6]uint64) int64 {
		const write = 2
		if _, e := m.statAt(a[0], a[1], 0); e != 0 {
			return -e
		}
		if a[2]&write != 0 {
			text, _ := m.mem.text(a[1])
			name, _ := t.resolve(a[0], text)
			if mt, _ := t.find(name); mt != nil && !mt.write {
				return -eROFS
			}
		}
		return 0
	}
	c[48], c[439] = access, access               // faccessat, faccessat2
	c[78] = func(_ *thread, a [6]uint64) int64 { // readlinkat
		return m.sysReadlink(a)
	}
	c[34] = func(_ *thread, a [6]uint64) int64 { // mkdirat
		return m.change(a[0], a[1], func(mt *mount, rel string) error {
			return mt.root.Mkdir(rel, fs.FileMode(a[2]&0o777))
		})
	}
	c[35] = func(_ *thread, a [6]uint64) int64 { // unlinkat
		return m.change(a[0], a[1], func(mt *mount, rel string) error { return mt.root.Remove(rel) })
	}
	c[38] = func(_ *thread, a [6]uint64) int64 { return m.between(a, (*os.Root).Rename) }
	c[276] = func(_ *thread, a [6]uint64) int64 { // renameat2
		if a[4] != 0 {
			return -eINVAL
		}
		return m.between(a, (*os.Root).Rename)
	}
	c[36] = m.sysSymlink
	c[37] = func(_ *thread, a [6]uint64) int64 { return m.between(a, (*os.Root).Link) } // linkat
	c[45] = m.sysTruncate
	c[53] = func(_ *thread, a [6]uint64) int64 { // fchmodat
		return m.change(a[0], a[1], func(mt *mount, rel string) error {
			return mt.root.Chmod(rel, fs.FileMode(a[2]&0o777))
		})
	}
	c[52] = always(0) // fchmod
	c[88] = always(0) // utimensat
	c[55] = always(0) // fchown
	c[43] = m.sysStatfs
	c[44] = m.sysStatfs
}

// change applies an operation to a path inside a writable grant.
func (m *machine) change(dirFD, nameAt uint64, do func(*mount, string) error) int64 {
	mt, rel, e := m.writable(dirFD, nameAt)
	if e != 0 {
		return -e
	}
	return -errno(do(mt, rel))
}

func (m *machine) writable(dirFD, nameAt uint64) (*mount, string, int64) {
	text, ok := m.mem.text(nameAt)
	if !ok {
		return nil, "", eFAULT
	}
	name, e := m.files.resolve(dirFD, text)
	if e != 0 {
		return nil, "", e
	}
	mt, rel := m.files.find(name)
	switch {
	case mt == nil:
		return nil, "", eNOENT
	case !mt.write:
		return nil, "", eROFS
	}
	return mt, rel, 0
}

// between applies an operation to two paths inside one writable grant.
func (m *machine) between(a [6]uint64, do func(root *os.Root, from, to string) error) int64 {
	from, fromRel, e := m.writable(a[0], a[1])
	if e != 0 {
		return -e
	}
	to, toRel, e := m.writable(a[2], a[3])
	if e != 0 {
		return -e
	}
	if from != to {
		return -eXDEV
	}
	return -errno(do(from.root, fromRel, toRel))
}

// sysSymlink implements symlinkat. It makes no link that leads out of its grant: the
// program could not follow it, but the user might.
func (m *machine) sysSymlink(_ *thread, a [6]uint64) int64 {
	target, ok := m.mem.text(a[0])
	if !ok {
		return -eFAULT
	}
	if target == "" {
		return -eNOENT
	}
	return m.change(a[1], a[2], func(mt *mount, rel string) error {
		if path.IsAbs(target) || !filepath.IsLocal(path.Join(path.Dir(rel), target)) {
			return fs.ErrPermission
		}
		return mt.root.Symlink(target, rel)
	})
}

// sysTruncate implements truncate.
func (m *machine) sysTruncate(_ *thread, a [6]uint64) int64 {
	const writeOnly = 1
	if int64(a[1]) < 0 {
		return -eINVAL
	}
	text, ok := m.mem.text(a[0])
	if !ok {
		return -eFAULT
	}
	name, e := m.files.resolve(^uint64(99), text)
	if e != 0 {
		return -e
	}
	h, _, e := m.openGranted(name, writeOnly, 0)
	if e != 0 {
		return -e
	}
	defer h.close()
	return -h.resize(int64(a[1]))
}

func (m *machine) sysReadlink(a [6]uint64) int64 {
	text, ok := m.mem.text(a[1])
	if !ok {
		return -eFAULT
	}
	name, e := m.files.resolve(a[0], text)
	if e != 0 {
		return -e
	}
	var target string
	if name == "/proc/self/exe" {
		target = path.Join("/", m.program())
	} else {
		mt, rel := m.files.find(name)
		if mt == nil {
			return -eNOENT
		}
		var err error
		if target, err = mt.root.Readlink(rel); err != nil {
			return -errno(err)
		}
	}
	n := min(uint64(len(target)), a[3])
	if !m.mem.store(a[2], []byte(target[:n])) {
		return -eFAULT
	}
	return int64(n)
}

// sysStatfs describes a file system with room to spare.
func (m *machine) sysStatfs(_ *thread, a [6]uint64) int64 {
	const magic, blocks, nameMax = 0x01021994, 1 << 20, 255
	return m.put(a[1], magic, blockBytes, blocks, blocks, blocks, blocks, blocks, 1, nameMax, blockBytes, 0, 0, 0, 0, 0)
}
