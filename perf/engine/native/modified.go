//go:build linux && amd64

package native

import (
	"bytes"
	"slices"

	"golang.org/x/sys/unix"
)

// Code that the program can write to is translated like any other, but its pages
// are made read-only: the first write to one drops all translated code, and makes the
// page writable until code in it is translated again. The instruction that writes is
// executed alone before anything else is translated: it may lie in the page itself, or
// lead there.
//
// Where code and data that change share a page, as with trampolines on the stack, this
// would drop all code at each write. So code in a page that was written to often is
// compared with what was translated each time that it is executed, and the page stays
// writable. That ends after a number of executions, in case the writes have, and comes
// back for twice as many if they have not.

const (
	oftenWritten = 8 // writes that drop code, from which on a page's code runs once

	// Executions of blocks of a page that is written to often: at first, and at most.
	firstTerm = 256
	lastTerm  = 64 << 10
)

// writtenPage is a page of code that was written to.
type writtenPage struct {
	writes int // that dropped translated code, up to oftenWritten
	term   int // executions for which its code ran once, the last time
	left   int // of them
}

// runsOnce reports whether the block of a key is to be translated for one execution.
func (m *machine) runsOnce(k key) bool {
	const most = 15 // bytes of an instruction
	return k.alone || len(m.written) > 0 && (m.unsteady(k.pc) != nil || m.unsteady(k.pc+most-1) != nil)
}

// unsteady returns the page of an address if its code runs once, else nil.
func (m *machine) unsteady(addr uint64) *writtenPage {
	if w := m.written[addr&^(pageBytes-1)]; w != nil && w.left > 0 {
		return w
	}
	return nil
}

// onceFor returns the block of a key that runs once.
func (m *machine) onceFor(k key, before taken) (*block, error) {
	b := m.cache.once[k]
	if b == nil || !m.holds(b.pc, b.code) {
		first, budget := len(m.blocks), 1
		if err := m.chain(k, before, &budget); err != nil {
			return nil, err
		}
		b = m.blocks[first]
		b.code = make([]byte, b.end-b.pc)
		b.code = b.code[:m.child.read(b.pc, b.code)]
		m.cache.once[k] = b
	}
	if w := m.unsteady(k.pc); w != nil {
		w.left--
	}
	return b, nil
}

// holds reports whether the program's memory has code at pc.
func (m *machine) holds(pc uint64, code []byte) bool {
	now := make([]byte, len(code))
	return m.child.read(pc, now) == len(code) && bytes.Equal(now, code)
}

// stores reports whether the instruction writes to memory.
func (i *inst) stores() bool {
	return slices.ContainsFunc(i.refs, func(r ref) bool { return r.kind.Writes() })
}

// guard makes the pages of new blocks read-only, if they are writable.
func (m *machine) guard(blocks []*block) error {
	if len(m.maps.both.list) == 0 {
		return nil
	}
	for _, b := range blocks {
		if err := m.guard(b.parts); err != nil {
			return err
		}
		if err := m.guardPages(b); err != nil {
			return err
		}
	}
	return nil
}

// guardPages makes the pages of a block read-only, if they are writable.
func (m *machine) guardPages(b *block) error {
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
	return nil
}

// codeWritten handles a write of block b to a page that holds translated code.
func (m *machine) codeWritten(t *thread, b *block, addr uint64) error {
	m.cutAt(t, b, false)
	t.resumeAt.alone = true
	page := addr &^ (pageBytes - 1)
	if err := m.flushCode(); err != nil {
		return err
	}
	w := m.written[page]
	if w == nil {
		w = new(writtenPage)
		m.written[page] = w
	}
	if w.writes++; w.writes >= oftenWritten {
		w.writes = oftenWritten - 1
		w.term = min(max(firstTerm, 2*w.term), lastTerm)
		w.left = w.term
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
	for page := range m.written {
		if page >= lo && page < hi {
			delete(m.written, page)
		}
	}
}
