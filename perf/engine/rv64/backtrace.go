package rv64

import (
	"slices"

	"presage/perf/engine"
	"presage/perf/objfile"
)

// maxFrames bounds a backtrace.
const maxFrames = 64

// backtrace returns the callers of the instruction at the thread's pc. It follows call
// frame information; where that ends before the first routine does, it adds what it
// finds on the stack as guesses.
func (m *machine) backtrace(t *thread) []engine.Frame {
	u := unwinder{m: m, pc: t.pc}
	copy(u.x[:], t.x[:32])
	frames, complete := u.callers()
	if complete {
		return frames
	}
	return append(frames, m.guess(u.x[regRA], u.x[regSP], len(frames) == 0)...)
}

// unwinder is the state of registers as a routine's caller has them.
type unwinder struct {
	m    *machine
	x    [32]uint64
	pc   uint64
	call bool // pc is a return address: the call lies before it
}

// callers unwinds and reports whether it reached a routine that nothing called.
func (u *unwinder) callers() (frames []engine.Frame, complete bool) {
	for len(frames) < maxFrames {
		frame, ok := u.m.file.CallFrameAt(u.place() - Bias(u.m.file))
		if !ok {
			return frames, false
		}
		if frame.Outermost {
			return frames, true
		}
		if !u.up(&frame) {
			return frames, false
		}
		name := u.m.routine(u.place() - Bias(u.m.file))
		if name == "" {
			return frames, u.pc == 0 // a thread's first routine returns to 0
		}
		frames = append(frames, engine.Frame{PC: u.pc, Routine: name})
	}
	return frames, true
}

// place returns an address within the instruction whose frame counts: of a caller, the
// call.
func (u *unwinder) place() uint64 {
	if u.call {
		return u.pc - 1
	}
	return u.pc
}

// up moves to the caller and reports whether it can be found.
func (u *unwinder) up(f *objfile.CallFrame) bool {
	if f.CFARegister >= 32 || f.Return >= 32 {
		return false
	}
	top := u.x[f.CFARegister] + uint64(f.CFAOffset)
	inner := u.x
	for _, s := range f.Saved {
		if s.Register >= 32 {
			continue // a floating-point register
		}
		v, ok := u.m.mem.load64(top + uint64(s.Offset))
		if !ok {
			return false
		}
		u.x[s.Register] = v
	}
	// Without a store of its own, the return address is in its register only in the
	// innermost routine.
	kept := !slices.ContainsFunc(f.Saved, func(s objfile.SavedRegister) bool { return s.Register == f.Return })
	if kept && u.call || top < inner[regSP] || top == inner[regSP] && u.x[f.Return] == u.pc {
		return false
	}
	u.x[regSP] = top
	u.pc, u.call = u.x[f.Return], true
	return true
}

// guess lists the words on the stack from sp on that point behind a call, after the
// return address ra if it counts: routines that called, or that have returned since.
func (m *machine) guess(ra, sp uint64, withRA bool) []engine.Frame {
	const most, maxWords = 16, 512
	var frames []engine.Frame
	bias := Bias(m.file)
	add := func(pc uint64) {
		if pc&1 != 0 || pc < 4 || !m.follows(pc) {
			return
		}
		if n := len(frames); n > 0 && frames[n-1].PC == pc {
			return
		}
		if name := m.routine(pc - bias); name != "" {
			frames = append(frames, engine.Frame{PC: pc, Routine: name, Guessed: true})
		}
	}
	if withRA {
		add(ra)
	}
	for i := uint64(0); i < maxWords && len(frames) < most; i++ {
		v, ok := m.mem.load64(sp + 8*i)
		if !ok {
			break
		}
		add(v)
	}
	return frames
}

// follows reports whether the instruction before pc is a call.
func (m *machine) follows(pc uint64) bool {
	for _, size := range []uint64{4, 2} {
		src, ok := m.mem.view(pc-size, size, pageExec)
		if !ok {
			continue
		}
		d, ok := m.code.decode(src)
		if !ok || uint64(d.size) != size {
			continue
		}
		if l := m.code.lower(d, pc-size); (l.op.code == opJal || l.op.code == opJalr) && l.op.rd == regRA {
			return true
		}
	}
	return false
}
