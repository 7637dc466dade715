package rv64

import (
	"cmp"
	"maps"
	"slices"

	"presage/perf/engine"
	"presage/perf/engine/rv64/softfloat"
	"presage/perf/trace"
)

// snapshotState is the state of a machine except the contents of memory. Threads
// are identified by their index in Threads, which is the order of their turns.
type snapshotState struct {
	Program string // SHA-256 of the executable
	Args    []string
	Env     []string
	Memory  uint64
	Stack   uint64 `json:",omitempty"` // 0: engine.DefaultStack
	Grants  []grantState

	Executed, Idle, TurnEnd  uint64
	Random                   uint64
	BrkStart, BrkEnd, BrkMax uint64
	MmapTop, Trampoline      uint64
	Peak                     uint64
	Refused                  bool
	Unknown                  map[uint64]uint64 // system calls
	Foreign                  []uint64          // memory instructions outside the plan

	Created, NextID, Current int
	Threads                  []threadState
	Waits                    []waitState // in order of arrival
	Actions                  []actionState
	Timers                   []timerState `json:",omitempty"`

	Cwd         string
	Files       []fileState
	Descriptors []descriptorState

	Regions []regionState // disjoint, by ascending Start
}

type grantState struct {
	Guest string
	Write bool
}

type threadState struct {
	X, F         [32]uint64
	PC           uint64
	Flags, Mode  uint8 // fflags and frm
	Reserved     bool
	ReservedAddr uint64
	ID           int
	Index        int32
	ClearTID     uint64
	Mask         uint64
	Restore      *uint64
	Pending      []signalState
	StackAt      uint64
	StackBytes   uint64
	StackOff     bool

	Blocked     bool
	Deadline    uint64
	Timeout     int64
	Restartable bool
	Polls       bool
	Call        [6]uint64
	CallNumber  uint64
	CallAt      uint64
}

type signalState struct {
	Number int
	Code   int32
	PID    uint32

	Overrun uint32 `json:",omitempty"`
	Value   uint64 `json:",omitempty"`
}

type timerState struct {
	Made, CPU, Real bool
	Notify          uint32
	Signal, Thread  int
	Value           uint64
	Next, Interval  uint64
	Overrun         uint64
}

type waitState struct {
	Thread int
	Addr   uint64
	Bits   uint32
}

type actionState struct{ Handler, Flags, Mask uint64 }

// regionState is a run of pages with the same permissions.
type regionState struct {
	Start, Pages uint64 // page numbers
	Perm         uint8
}

// takeSnapshot passes a snapshot of the current state to the request's callback.
func (m *machine) takeSnapshot(at uint64) error {
	s := &Snapshot{state: snapshotState{
		Program: m.file.SHA256, Args: m.opt.Args, Env: m.opt.Env, Memory: m.opt.Memory, Stack: m.opt.Stack, Grants: m.grants(),
		Executed: at, Idle: m.idle, TurnEnd: m.times.turnEnd, Random: uint64(m.random),
		BrkStart: m.brk.start, BrkEnd: m.brk.end, BrkMax: m.brk.limit,
		MmapTop: m.mem.mmapTop, Trampoline: m.trampoline, Peak: m.mem.peak, Refused: m.refused,
		Unknown: maps.Clone(m.unknown), Foreign: slices.Sorted(maps.Keys(m.codes[0].foreign)),
		Created: m.created, NextID: m.nextID, Current: slices.Index(m.threads, m.current),
	}}
	for _, t := range m.threads {
		s.state.Threads = append(s.state.Threads, t.state())
	}
	for _, w := range m.futexes {
		s.state.Waits = append(s.state.Waits, waitState{slices.Index(m.threads, w.thread), w.addr, w.bits})
	}
	for _, a := range m.actions {
		s.state.Actions = append(s.state.Actions, actionState{a.handler, a.flags, a.mask})
	}
	for _, t := range m.timers {
		s.state.Timers = append(s.state.Timers, timerState{
			t.made, t.cpu, t.real, t.notify, t.signal, t.thread, t.value, t.next, t.interval, t.overrun,
		})
	}
	if err := m.files.save(&s.state); err != nil {
		return err
	}
	if err := m.mem.save(s); err != nil {
		return err
	}
	return m.opt.Snapshot(s)
}

func (m *machine) grants() []grantState {
	var list []grantState
	for _, g := range m.files.mounts {
		list = append(list, grantState{g.guest, g.write})
	}
	return list
}

func (t *thread) state() threadState {
	s := threadState{
		PC: t.pc, Flags: uint8(t.fflags), Mode: t.frm, Reserved: t.reserved, ReservedAddr: t.reservedAddr,
		ID: t.id, Index: t.index, ClearTID: t.clearTID, Mask: t.mask, Restore: t.restore,
		StackAt: t.altStack.sp, StackBytes: t.altStack.size, StackOff: t.altStack.off,
		Blocked: t.blocked, Deadline: t.deadline, Timeout: t.timeout, Restartable: t.restartable,
		Polls: t.poll != nil, Call: t.call, CallNumber: t.callNumber, CallAt: t.callAt,
	}
	copy(s.X[1:], t.x[1:32])
	copy(s.F[:], t.x[regFloat:])
	if t.restore != nil {
		s.Restore = new(*t.restore)
	}
	for _, p := range t.pending {
		s.Pending = append(s.Pending, signalState{p.number, p.code, p.pid, p.overrun, p.value})
	}
	return s
}

// save adds the mapped pages to a snapshot.
func (m *memory) save(s *Snapshot) error {
	pack := newPagePacker()
	for _, sp := range m.spans {
		for p := sp.start / pageBytes; p < sp.end/pageBytes; {
			r := regionState{Start: p, Perm: m.perm[p]}
			for ; p < sp.end/pageBytes && m.perm[p] == r.Perm; p++ {
				r.Pages++
			}
			s.state.Regions = append(s.state.Regions, r)
			if r.Perm&pageUsed == 0 {
				continue
			}
			if err := m.saveRegion(s, r, pack); err != nil {
				return err
			}
		}
	}
	return nil
}

// saveRegion copies a region's pages, some of which may be inaccessible.
func (m *memory) saveRegion(s *Snapshot, r regionState, pack *pagePacker) error {
	addr, n := r.Start*pageBytes, r.Pages*pageBytes
	if r.Perm&pageAccess == 0 {
		set := func(perm uint8) error {
			for p := r.Start; p < r.Start+r.Pages; p++ {
				m.perm[p] = perm
			}
			return m.host.protect(addr, n, m.perm)
		}
		if err := set(r.Perm | pageRead); err != nil {
			return err
		}
		if err := m.savePages(s, r, pack); err != nil {
			return err
		}
		return set(r.Perm)
	}
	return m.savePages(s, r, pack)
}

func (m *memory) savePages(s *Snapshot, r regionState, pack *pagePacker) error {
	for p := r.Start; p < r.Start+r.Pages; p++ {
		page, ok := m.view(p*pageBytes, pageBytes, m.perm[p]&pageAccess)
		if !ok {
			return badSnapshot("page %d cannot be read", p)
		}
		if data := pack.pack(page); data != nil {
			s.pages = append(s.pages, snapshotPage{p, data})
		}
	}
	return nil
}

// restore puts a freshly created machine into a snapshot's state.
func (m *machine) restore(s *Snapshot) error {
	st := &s.state
	if err := m.belongs(st); err != nil {
		return err
	}
	if err := m.mem.restore(s); err != nil {
		return err
	}
	m.idle, m.random, m.refused = st.Idle, splitMix(st.Random), st.Refused
	m.brk.start, m.brk.end, m.brk.limit = st.BrkStart, st.BrkEnd, st.BrkMax
	m.mem.mmapTop, m.trampoline, m.mem.peak = st.MmapTop, st.Trampoline, st.Peak
	m.stack = stackRange{st.Trampoline - pageBytes - m.opt.Stack, st.Trampoline - pageBytes}
	m.created, m.nextID = st.Created, st.NextID
	maps.Copy(m.unknown, st.Unknown)
	for _, pc := range st.Foreign {
		m.codes[0].foreign[pc] = true
	}
	for i, a := range st.Actions {
		m.actions[i] = sigAction{a.Handler, a.Flags, a.Mask}
	}
	if len(st.Timers) > 0 {
		m.timers = m.timers[:0]
	}
	for _, t := range st.Timers {
		m.timers = append(m.timers, timer{t.Made, t.CPU, t.Real, t.Notify, t.Signal, t.Thread, t.Value, t.Next, t.Interval, t.Overrun})
	}
	for i := range st.Threads {
		m.threads = append(m.threads, m.thread(&st.Threads[i]))
	}
	for _, w := range st.Waits {
		t := m.threads[w.Thread]
		t.futex = &futexWait{t, w.Addr, w.Bits}
		m.futexes = append(m.futexes, t.futex)
	}
	m.current = m.threads[st.Current]
	m.horizon, m.budget = st.Executed, 0
	m.alarm = m.nextAlarm()
	m.resumeTimes(st)
	return m.files.restore(m, st)
}

// belongs returns an error if a snapshot was taken of a different run.
func (m *machine) belongs(st *snapshotState) error {
	switch {
	case st.Program != m.file.SHA256:
		return badSnapshot("it is of another executable, with SHA-256 %.16s…; this one has %.16s…", st.Program, m.file.SHA256)
	case !slices.Equal(st.Args, m.opt.Args):
		return badSnapshot("it was taken with arguments %q, not %q", st.Args, m.opt.Args)
	case !slices.Equal(st.Env, m.opt.Env):
		return badSnapshot("it was taken with environment %q, not %q", st.Env, m.opt.Env)
	case st.Memory != m.opt.Memory:
		return badSnapshot("it was taken with Memory of %d, not %d", st.Memory, m.opt.Memory)
	case cmp.Or(st.Stack, engine.DefaultStack) != m.opt.Stack:
		return badSnapshot("it was taken with Stack of %d, not %d", cmp.Or(st.Stack, engine.DefaultStack), m.opt.Stack)
	case !slices.Equal(st.Grants, m.grants()):
		return badSnapshot("it was taken with grants %v, not %v", st.Grants, m.grants())
	}
	return nil
}

// resumeTimes removes past events from the timetable.
func (m *machine) resumeTimes(st *snapshotState) {
	s := &m.times
	s.turnEnd = st.TurnEnd
	s.windows = slices.DeleteFunc(slices.Clone(s.windows), func(w trace.Window) bool { return w.To <= st.Executed })
	s.snapshots = slices.DeleteFunc(slices.Clone(s.snapshots), func(at uint64) bool { return at <= st.Executed })
	s.plan()
}

func (m *machine) thread(s *threadState) *thread {
	t := &thread{
		pc: s.PC, fflags: softfloat.Flags(s.Flags), frm: s.Mode, reserved: s.Reserved, reservedAddr: s.ReservedAddr,
		id: s.ID, index: s.Index, clearTID: s.ClearTID, mask: s.Mask,
		altStack: sigStack{sp: s.StackAt, size: s.StackBytes, off: s.StackOff},
		blocked:  s.Blocked, deadline: s.Deadline, timeout: s.Timeout, restartable: s.Restartable,
		call: s.Call, callNumber: s.CallNumber, callAt: s.CallAt,
	}
	copy(t.x[1:32], s.X[1:])
	copy(t.x[regFloat:], s.F[:])
	t.raise(0)
	if s.Restore != nil {
		t.restore = new(*s.Restore)
	}
	for _, p := range s.Pending {
		t.pending = append(t.pending, sigInfo{number: p.Number, code: p.Code, pid: p.PID, overrun: p.Overrun, value: p.Value})
	}
	if s.Polls {
		t.poll = func() (int64, bool) { return m.callAgain(t) }
	}
	return t
}

// callAgain polls for a thread that was waiting when the snapshot was taken: it
// makes the system call again, as of the time when it was first made. A polling
// call has no effect until it completes. From then on the thread uses the call's
// own poll function.
func (m *machine) callAgain(t *thread) (int64, bool) {
	deadline, timeout, restartable, idle := t.deadline, t.timeout, t.restartable, m.idle
	m.idle -= m.now() - t.callAt
	t.keepA0 = false
	v := m.calls[t.callNumber](t, t.call)
	m.idle = idle
	if !t.keepA0 {
		return v, true
	}
	t.deadline, t.timeout, t.restartable = deadline, timeout, restartable
	return t.poll()
}

// restore maps a snapshot's pages.
func (m *memory) restore(s *Snapshot) error {
	for _, r := range s.state.Regions {
		perm := r.Perm & pageAccess
		if r.Perm&pageUsed != 0 {
			perm = pageRead | pageWrite // to be filled
		}
		if !m.affords(r.Start*pageBytes, r.Pages*pageBytes, r.Perm) {
			return badSnapshot("its memory takes more than MemoryLimit, %d bytes", m.limit)
		}
		if err := m.mapRange(r.Start*pageBytes, r.Pages*pageBytes, perm); err != nil {
			return err
		}
	}
	for i := range s.pages {
		p := &s.pages[i]
		page, ok := m.view(p.number*pageBytes, pageBytes, pageWrite)
		if !ok {
			return badSnapshot("page %d is not mapped", p.number)
		}
		if err := p.unpack(page); err != nil {
			return err
		}
	}
	for _, r := range s.state.Regions {
		if r.Perm&pageUsed == 0 {
			continue
		}
		if err := m.protectRange(r.Start*pageBytes, r.Pages*pageBytes, r.Perm&pageAccess); err != nil {
			return err
		}
	}
	return nil
}
