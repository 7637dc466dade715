package rv64

// stackRange is the first thread's stack, from start up to top.
type stackRange struct{ start, top uint64 }

// maxFrame bounds the distance below the stack at which an access still counts as
// its overflow: a function with a large array moves the stack pointer by that much
// at once.
const maxFrame = 1 << 30

// overflows reports whether an access of the thread failed because its stack is
// full: it lies below the first thread's stack, as does the stack pointer, or
// within the gap that is left there.
func (m *machine) overflows(t *thread, addr uint64) bool {
	low := m.stack.start
	if t.index != 0 || addr >= low || t.altStack.flags(t.x[regSP])&1 != 0 {
		return false
	}
	sp := t.x[regSP]
	return addr >= low-stackGap && sp < m.stack.top && sp >= low-stackGap || sp < low && sp >= low-min(low, maxFrame) && addr >= sp-min(sp, stackGap)
}
