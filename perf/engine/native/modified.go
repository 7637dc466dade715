//go:build linux && amd64

package native

import "golang.org/x/sys/unix"

// Code that the program can write to is translated like any other, but its pages
// are made read-only: the first write to one drops all translated code, and makes the
// page writable until code in it is translated again.

// guard makes the pages of new blocks read-only, if they are writable.
func (m *machine) guard(blocks []*block) error {
	if len(m.maps.both.list) == 0 {
		return nil
	}
	for _, b := range blocks {
		for page := b.pc &^ (pageBytes - 1); page < b.end; page += pageBytes {
			if _, _, both := m.maps.both.around(page); !both || m.guarded[page] {
				continue
			}
			if _, err := m.child.inject(unix.SYS_MPROTECT, page, pageBytes, unix.PROT_READ|unix.PROT_EXEC); err != nil {
				return err
			}
			m.guarded[page] = true
			if m.parallel {
				m.unlocked[page] = true
			}
		}
	}
	return nil
}

// codeWritten handles a write of block b to a page that holds translated code.
func (m *machine) codeWritten(t *thread, b *block, addr uint64) error {
	m.cutAt(t, b, false)
	page := addr &^ (pageBytes - 1)
	if err := m.flushCode(); err != nil {
		return err
	}
	return m.unguard(page)
}

// unguard makes a page writable again.
func (m *machine) unguard(page uint64) error {
	delete(m.guarded, page)
	_, err := m.child.inject(unix.SYS_MPROTECT, page, pageBytes, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC)
	return err
}

// unguardAll makes all code writable again, for a process that the engine does not
// follow or the kernel.
func (m *machine) unguardAll() error {
	if err := m.flushCode(); err != nil {
		return err
	}
	for page := range m.guarded {
		if err := m.unguard(page); err != nil {
			return err
		}
	}
	return nil
}

// forget notes that the protection of a range is no longer the engine's.
func (m *machine) forget(lo, hi uint64) {
	for page := range m.guarded {
		if page >= lo && page < hi {
			delete(m.guarded, page)
		}
	}
}
