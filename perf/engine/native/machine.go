//go:build linux && amd64

package native

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"presage/perf/engine"
	"presage/perf/objfile"
	"presage/perf/trace"
)

// machine runs one program. Its methods are called on one locked thread.
type machine struct {
	ctx  context.Context
	file *objfile.File
	opt  engine.Request

	child    *child
	maps     *space
	zones    []*zone
	blocks   []*block    // by id
	sizes    []blockSize // of the blocks that have been asked for
	stops    map[uint64]*stop
	pages    map[uint64][]byte
	guarded  map[uint64]bool // pages with translated code that the program may write to
	written  map[uint64]*writtenPage
	miss     uint64
	caches   [tables]*cache // traced, untraced
	cache    *cache
	plan     index
	discover bool
	progress chan uint64 // nil: nobody asks
	reported uint64      // the last count there
	confined bool
	landlock int // see Engine
	hide     features
	name     string // of the engine
	singly   bool   // loops are not recorded as such, and no blocks joined
	joining  bool   // see join.go
	stopping bool   // calls of allocators are not recorded, but stop the program

	threads []*thread
	current *thread
	created int   // threads
	slots   []int // of threads that have ended

	// While threads run at the same time: see free.go.
	parallel bool
	total    uint64 // instructions executed by all threads, as far as is known
	base     uint64 // of them, by others than the running one
	runners  int    // the most threads that may hold a buffer
	crowded  bool   // a thread waits for a buffer
	resumes  uint64 // how often threads have been resumed
	settled  bool   // threads have been stopped that are to go on
	polled   time.Time
	unlocked map[uint64]bool // pages that were guarded at some time

	place
	next   uint64 // the instruction count of the next event
	free   chan freed
	unread []unread // in the order in which it was sent; none while threads run at the same time
	full   chan segment
	reader *reader

	times timetable
	out   engine.Outcome
	ended bool

	entry   uint64 // of the program
	slept   uint64 // nanoseconds
	actions [65]action64
	pending []queued
	futexes []futexWait    // in order of arrival
	randoms map[int32]bool // file descriptors of random numbers

	returns map[uint64]backKind // addresses that allocators return to
	deep    map[uint64]bool     // those whose callers lie deep in the stack
	frames  frames

	random *rand.ChaCha8
}

// thread is a thread of the program.
type thread struct {
	*task
	index int32 // in order of creation
	slot  int   // of its state
	id    int   // as the program knows it

	// While the thread is parked, its registers are the program's, apart from Rip:
	// it is about to execute resumeAt.
	regs     unix.PtraceRegs
	parked   bool
	resumeAt key

	gone    bool   // it left the flow of control: it exits, or faulted
	clearAt uint64 // to set to zero, and wake, when it ends
	top     uint64 // its stack pointer when it began; 0: of the first thread

	// While it waits in a system call:
	blocked  bool
	nudged   bool   // a signal was sent to it that may not have arrived
	restarts bool   // its system call is made again after a handler that asks for that
	deadline uint64 // by the clock
	late     uint64 // result when the deadline passes
	poll     func() (result uint64, done bool, err error)

	// While threads run at the same time:
	running bool   // until its next stop
	resumed uint64 // machine.resumes when it last was
	stopped unix.Signal
	place   place  // unless it is the current thread
	until   uint64 // likewise: machine.next
	counted uint64 // of its instructions, in machine.total
	held    *stop  // where it has stopped, yet to be handled
	retried retry  // the last fault that was tried again

	restored bool   // the registers come from a signal frame
	hidden   uint64 // signals that the program blocks and the engine does not

	back          uint64 // where the last call of an allocator that stopped returns to; 0: none
	firstArgument uint64 // of it
}

func newMachine(ctx context.Context, f *objfile.File, r engine.Request, discover bool) *machine {
	m := &machine{
		ctx: ctx, file: f, opt: r, discover: discover, stops: make(map[uint64]*stop), pages: make(map[uint64][]byte), guarded: make(map[uint64]bool), written: make(map[uint64]*writtenPage), randoms: make(map[int32]bool), miss: missAt,
		free: make(chan freed, maxBuffers), full: make(chan segment, 64), next: never,
	}
	m.plan.Plan = r.Plan
	if m.plan.Plan == nil {
		m.plan.Plan = new(trace.Plan)
	}
	m.runFreely(r.FreeThreads)
	for i := range m.buffers() {
		m.free <- freed{buffer: i}
	}
	m.random = newRandom(r.Seed)
	m.frames.file = f
	if r.Progress != nil {
		m.progress = make(chan uint64, 1)
	}
	m.caches = [tables]*cache{newCache(0, true), newCache(1, false)}
	m.times = newTimetable(&r)
	m.cache = m.caches[1]
	if (r.Plan != nil || discover) && len(r.Windows) == 0 {
		m.cache = m.caches[0]
	}
	m.reader = newReader(m)
	return m
}

// newRandom returns the source of a run's random numbers.
func newRandom(seed uint64) *rand.ChaCha8 {
	key := [32]byte{'p', 'r', 'e', 's', 'a', 'g', 'e'}
	binary.LittleEndian.PutUint64(key[24:], seed)
	return rand.NewChaCha8(key)
}

// run executes the program from start to end.
func (m *machine) run(io *stdio) error {
	var bounds *confinement
	if m.confined {
		var err error
		if bounds, err = newConfinement(m.file.Path, m.opt.Grants, m.landlock); err != nil {
			io.started()
			return err
		}
		defer bounds.close()
	}
	c, err := launch(m.file.Path, &m.opt, io.child, m.buffers(), bounds)
	io.started()
	if err != nil {
		return err
	}
	m.child = c
	defer c.close()
	release := context.AfterFunc(m.ctx, c.interrupt)
	defer release()
	go m.reader.run()
	err = m.start()
	switch {
	case err != nil:
	case m.parallel:
		err = m.loopFreely()
		m.finishAll()
	default:
		err = m.loop()
	}
	if m.place.limit != 0 && m.current != nil && m.place.buffer >= 0 {
		m.finish()
	}
	close(m.full)
	<-m.reader.done
	var ended *endedError
	if m.ctx.Err() != nil {
		err = context.Cause(m.ctx)
		m.out.Instructions = max(m.reader.count, m.total)
	} else if errors.As(err, &ended) {
		err = m.killed(ended.status)
	}
	if m.ctx.Err() == nil {
		err = errors.Join(err, m.reader.err)
	}
	return err
}

// finish sends what the last thread recorded, unless the run was cancelled: nobody reads it
// then, and the buffer may end with half of a record.
func (m *machine) finish() {
	if m.ctx.Err() != nil {
		return
	}
	pos := m.stateWord(m.current, gsBuffer)
	start := buffersAt + uint64(m.place.buffer)*bufferStride
	if pos >= m.place.from && pos <= start+bufferBytes {
		m.send(pos, true)
	}
}

// start prepares the program's first thread.
func (m *machine) start() error {
	m.maps = newSpace(m.child.pid)
	for _, c := range m.caches {
		m.clearTable(c)
	}
	t, err := m.newThread(m.child.task, &m.child.injected)
	if err != nil {
		return err
	}
	t.parked, t.resumeAt = true, key{pc: t.regs.Rip}
	m.use(t)
	m.child.ignores = m.ignores
	m.child.keep = m.keep
	if err := m.prepareStack(t); err != nil {
		return err
	}
	main, bias, err := m.mainModule()
	if err != nil {
		return err
	}
	if err := m.maps.start(main, bias, 0); err != nil {
		return err
	}
	m.setStackEnd(t)
	m.full <- segment{chunks: m.maps.chunks}
	m.place.unit = ringUnit
	if err := m.tellStart(); err != nil {
		return err
	}
	if m.cache.traced {
		m.enterAll()
	}
	return m.reach()
}

// loop runs the program until it ends or fails.
func (m *machine) loop() error {
	for !m.ended {
		t := m.current
		if t.parked {
			if err := m.unpark(t); err != nil {
				return err
			}
		}
		if err := t.setRegisters(&t.regs); err != nil {
			return err
		}
		if err := t.resume(0); err != nil {
			return err
		}
		status, err := m.await(t)
		if err != nil {
			return err
		}
		if err := m.stopped(t, status.StopSignal()); err != nil {
			return err
		}
	}
	return nil
}

// await waits until a thread has stopped, and takes its registers. The error is an
// *endedError if the thread has ended.
func (m *machine) await(t *thread) (unix.WaitStatus, error) {
	status, err := m.child.waitFor(t.pid)
	if err != nil {
		return status, err
	}
	if !status.Stopped() {
		return status, &endedError{status}
	}
	return status, t.registers(&t.regs)
}

// unpark makes a parked thread ready to run.
func (m *machine) unpark(t *thread) error {
	if err := m.aim(); err != nil {
		return err
	}
	if t.back != 0 {
		if err := m.awaitReturn(t); err != nil {
			return err
		}
	}
	b, err := m.translated(t.resumeAt)
	if err != nil {
		return err
	}
	t.regs.Rip = m.entryOf(b)
	t.parked = false
	return nil
}

// translated returns a block while the running thread is parked, so that all
// translated code may be dropped to make room.
func (m *machine) translated(k key) (*block, error) {
	clear(m.pages)
	b, err := m.blockFor(k, own)
	if errors.Is(err, errZoneFull) {
		if err := m.flushCode(); err != nil {
			return nil, err
		}
		b, err = m.blockFor(k, own)
	}
	return b, err
}

// use makes t the running thread.
func (m *machine) use(t *thread) { m.current, m.child.agent = t, t.task }

// flushCode drops all translated code. The running thread must be parked, as others
// are or will be.
func (m *machine) flushCode() error {
	if err := m.quiesce(); err != nil {
		return err
	}
	for _, c := range m.caches {
		clear(c.blocks)
		clear(c.once)
		clear(c.heads)
		c.links = newLinks()
		m.clearTable(c)
	}
	for _, z := range m.zones {
		z.hot.p, z.cold.p, z.blocks = 0, 0, nil
	}
	clear(m.stops)
	clear(m.pages)
	return nil
}

// stopped handles a stop of the running thread.
func (m *machine) stopped(t *thread, signal unix.Signal) error {
	r := &t.regs
	switch signal {
	case unix.SIGTRAP:
		at := r.Rip - 1
		if at == m.miss {
			return m.missed(t)
		}
		if s := m.stops[at]; s != nil {
			return m.reached(t, s)
		}
	case unix.SIGSEGV:
		info, err := t.sigInfo()
		if err != nil {
			return err
		}
		if b := m.find(r.Rip); b != nil {
			switch addr := sigAddr(&info); {
			case m.inHole(addr):
				return m.placeFull(t, r, b)
			case b.memory != noMemory:
				return m.copyFailed(t, b)
			case m.guarded[addr&^(pageBytes-1)]:
				return m.codeWritten(t, b, addr)
			case m.mayRepeat(t, addr):
				m.cutAt(t, b, false)
				return nil
			}
		}
	}
	return m.signalled(t, signal)
}

// missed handles an indirect jump whose target is not in the jump table.
func (m *machine) missed(t *thread) error {
	r := &t.regs
	clear(m.pages)
	k := m.arrival(r.Rcx)
	var b *block
	once := m.runsOnce(k)
	var err error
	if !once {
		b, err = m.blockFor(k, standardRegisters(m.cache))
	}
	if full := errors.Is(err, errZoneFull); once || full {
		t.resumeAt, t.parked = k, true
		r.Rcx, r.Rax = m.stateWord(t, gsRcx), m.stateWord(t, gsRax)
		m.restore(t, r, standardRegisters(m.cache))
		if full {
			return m.flushCode()
		}
		return nil
	}
	if err != nil {
		return err
	}
	r.Rip = m.viaEntry(b)
	return nil
}

// reached handles a breakpoint in translated code.
func (m *machine) reached(t *thread, s *stop) error {
	r := &t.regs
	switch s.kind {
	case stopLink:
		clear(m.pages)
		if m.runsOnce(s.target) {
			m.restore(t, r, s.regs)
			t.resumeAt, t.parked = s.target, true
			return nil
		}
		b, err := m.blockFor(s.target, s.regs)
		if errors.Is(err, errZoneFull) {
			m.restore(t, r, s.regs)
			t.resumeAt, t.parked = s.target, true
			return m.flushCode()
		}
		if err != nil {
			return err
		}
		r.Rip = m.follow(r.Rip-1, s, b)
		return nil
	case stopCall:
		t.resumeAt, t.parked = key{pc: s.inst.next()}, true
		return m.systemCall(t, s.inst)
	case stopSpecial:
		t.resumeAt, t.parked = key{pc: s.inst.next(), flows: true}, true
		return m.special(t, s.inst)
	case stopCredit:
		return m.creditUsed(t, s)
	case stopMemory:
		return m.memoryStop(t, s.target)
	}
	r.Rip = s.pc
	return m.noCode(t, s.pc)
}

// report tells how far the program has come, every few tens of millions of
// instructions.
func (m *machine) report(count uint64) {
	const often = 32 << 20
	if m.progress == nil || count < m.reported+often {
		return
	}
	select {
	case m.progress <- count:
		m.reported = count
	default: // the last report is still being read
	}
}

// pause checks whether the run is to end early.
func (m *machine) pause() error {
	return context.Cause(m.ctx)
}

// result returns the outcome.
func (m *machine) result(start time.Time) (out *engine.Outcome, err error) {
	if m.child == nil {
		return nil, nil
	}
	o := m.out
	rd := m.reader
	o.Accesses, o.Blocks, o.Batches, o.UnplannedRefs = rd.accesses, rd.blocksRecorded, rd.batches, len(rd.unplanned)
	if m.opt.Plan == nil {
		o.UnplannedRefs = 0
	} else {
		for u := range rd.unplanned {
			o.Unplanned = append(o.Unplanned, u.planPC)
		}
		slices.Sort(o.Unplanned)
		o.Unplanned = slices.Compact(o.Unplanned)
	}
	o.Threads, o.FreeThreads, o.Processes = m.created, m.parallel, m.child.started
	if rd.flow != nil {
		o.Flow, err = rd.flow.result()
	}
	if m.maps != nil {
		o.MemoryPeak, o.HeapPeak, o.Mappings = m.maps.peak, m.maps.heapPeak, m.maps.anonymousMaps
	}
	o.Clock = time.Duration(o.Instructions)
	o.Elapsed = time.Since(start)
	return &o, err
}

// bufferWords returns a buffer as words.
func (m *machine) bufferWords(i int) []uint64 {
	b := m.child.mem[fileBuffers+i*bufferBytes:][:bufferBytes]
	return unsafe.Slice((*uint64)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/8)
}

// killed returns the outcome of a program that the engine did not end.
func (m *machine) killed(status unix.WaitStatus) error {
	m.ended = true
	if status.Signaled() {
		m.out.Signal = int(status.Signal())
		m.out.ExitCode = 128 + m.out.Signal
		return nil
	}
	return fmt.Errorf("native: the program ended by itself with status %d", status.ExitStatus())
}
