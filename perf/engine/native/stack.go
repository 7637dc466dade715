//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
)

// Entries of the auxiliary vector.
const (
	auxNull      = 0
	auxIgnore    = 1
	auxEntry     = 9
	auxRandom    = 25
	auxVDSO      = 33
	auxRseqSize  = 27
	auxRseqAlign = 28
)

// prepareStack changes what the kernel tells the new program: there is no vDSO, whose
// clocks could not be the engine's, no rseq, and the random bytes follow from the
// seed.
func (m *machine) prepareStack(t *thread) error {
	at := t.regs.Rsp
	argc, ok := t.word(at)
	if !ok {
		return errors.New("native: the new program has no stack")
	}
	at += 8 * (argc + 2)
	for v := uint64(1); v != 0; at += 8 { // the environment
		if v, ok = t.word(at); !ok {
			return errors.New("native: the new program's environment is damaged")
		}
	}
	for ; ; at += 16 {
		kind, _ := t.word(at)
		value, ok := t.word(at + 8)
		if !ok {
			return errors.New("native: the new program's auxiliary vector is damaged")
		}
		switch kind {
		case auxNull:
			return m.dropVDSO()
		case auxVDSO, auxRseqSize, auxRseqAlign:
			if err := t.write(at, binary.LittleEndian.AppendUint64(nil, auxIgnore)); err != nil {
				return err
			}
		case auxEntry:
			m.entry = value
		case auxRandom:
			random := make([]byte, 16)
			m.random.Read(random)
			if err := t.write(value, random); err != nil {
				return err
			}
		}
	}
}

// dropVDSO unmaps the code and data that the kernel gives every program.
func (m *machine) dropVDSO() error {
	list, err := readMaps(m.child.pid)
	if err != nil {
		return err
	}
	for _, v := range list {
		switch v.path {
		case "[vdso]", "[vvar]", "[vvar_vclock]":
			if _, err := m.child.inject(unix.SYS_MUNMAP, v.lo, v.hi-v.lo); err != nil {
				return err
			}
		}
	}
	return nil
}

// mainModule returns the path of the executable as the kernel names it, and the
// difference of addresses in memory and in the file.
func (m *machine) mainModule() (path string, bias uint64, err error) {
	path, err = os.Readlink(fmt.Sprintf("/proc/%d/exe", m.child.pid))
	if err != nil {
		return "", 0, fmt.Errorf("native: %w", err)
	}
	return path, m.entry - m.file.Entry, nil
}

// overflowed completes a fault that is due to a stack that is full: the access lies above
// the stack pointer, or closely below it, and what can be accessed next above is the
// stack of the thread.
func (m *machine) overflowed(t *thread, f *engine.Fault) {
	const reach = pageBytes // below the stack pointer: a call, the red zone
	if f.Addr < t.regs.Rsp-min(t.regs.Rsp, reach) {
		return
	}
	list, err := readMaps(m.child.pid)
	if err != nil {
		return // the fault is told as any other
	}
	next := slices.IndexFunc(list, func(v mapping) bool { return v.hi > f.Addr && v.prot[:3] != "---" })
	if next < 0 || list[next].lo <= f.Addr {
		return
	}
	stack := list[next]
	if t.top != 0 {
		if stack.lo < t.top && t.top <= stack.hi { // other mappings may follow it closely
			f.Stack = pageUp(t.top) - stack.lo
		}
		return
	}
	if stack.path != "[stack]" {
		return
	}
	f.Stack = stack.hi - stack.lo
	var limit unix.Rlimit
	if err := unix.Prlimit(m.child.pid, unix.RLIMIT_STACK, nil, &limit); err == nil && limit.Cur < stack.hi-f.Addr {
		f.Stack, f.StackLimit = limit.Cur, "ulimit -s"
	}
}
