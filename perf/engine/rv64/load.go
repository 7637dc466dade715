package rv64

import (
	"encoding/binary"
	"fmt"
	"math"
	"path"

	"presage/perf/engine"
	"presage/perf/objfile"
)

const (
	// loadBias is where position-independent executables are loaded.
	loadBias = 0x200000
	// topGap is left free at the top of the address space.
	topGap = 64 << 10
	// stackGap is left free below the stack.
	stackGap = 16 * pageBytes
	// brkRoom is the space kept free after the image for brk to grow into, if
	// the address space is large enough.
	brkRoom = 256 << 20
	// firstID is the id of the process and of its first thread.
	firstID = 1000
)

// load maps the executable, the signal trampoline and the stack, and creates the
// first thread.
func (m *machine) load() error {
	end, err := m.loadSegments()
	if err != nil {
		return err
	}
	at := layoutOf(m.mem.size, m.opt.Stack, end)
	stack, stackTop := at.Stack.Lo, at.Stack.Hi
	m.trampoline = stackTop + pageBytes
	m.stack = stackRange{stack, stackTop}
	m.mem.mmapTop = at.Mappings.Hi
	if end >= m.mem.mmapTop {
		return fmt.Errorf("rv64: %s needs addresses up to %#x, but the address space ends at %#x: raise Memory: %w",
			m.program(), end, m.mem.size, engine.ErrMemoryLimit)
	}
	m.brk.start, m.brk.end, m.brk.limit = at.Heap.Lo, at.Heap.Lo, at.Heap.Hi
	if err := m.mem.mapRange(m.trampoline, pageBytes, pageRead|pageWrite); err != nil {
		return m.hostError(err)
	}
	// li a7, 139 (rt_sigreturn); ecall
	m.mem.store32(m.trampoline, 0x08b00893)
	m.mem.store32(m.trampoline+4, 0x00000073)
	if err := m.mem.protectRange(m.trampoline, pageBytes, pageRead|pageExec); err != nil {
		return m.hostError(err)
	}
	if !m.mem.affords(stack, m.opt.Stack, pageWrite) {
		return m.tooLittle()
	}
	if err := m.mem.mapRange(stack, m.opt.Stack, pageRead|pageWrite); err != nil {
		return m.hostError(err)
	}
	t := m.newThread()
	t.pc = m.file.Entry + Bias(m.file)
	return m.buildStack(t, stackTop)
}

func (m *machine) hostError(err error) error {
	return fmt.Errorf("rv64: the host refused guest memory: %w", err)
}

func (m *machine) tooLittle() error {
	return fmt.Errorf("rv64: %s needs more memory; %s: %w", m.program(), m.space(), engine.ErrMemoryLimit)
}

// space says how much memory the program may use, and which options say so.
func (m *machine) space() string {
	text := fmt.Sprintf("its address space is %d bytes (Memory)", m.opt.Memory)
	if m.opt.MemoryLimit < m.opt.Memory {
		text += fmt.Sprintf(", of which it may use %d (MemoryLimit)", m.opt.MemoryLimit)
	}
	return text
}

func segmentPerm(s *objfile.Segment) uint8 {
	var p uint8
	if s.Read {
		p |= pageRead
	}
	if s.Write {
		p |= pageRead | pageWrite
	}
	if s.Execute {
		p |= pageRead | pageExec
	}
	return p
}

// loadSegments maps the executable's segments and returns the end address of the
// highest. A page shared by two segments gets the permissions of both.
func (m *machine) loadSegments() (end uint64, err error) {
	for i := range m.file.Segments {
		if err := m.checkSegment(i); err != nil {
			return 0, err
		}
		if m.file.Segments[i].MemSize == 0 {
			continue
		}
		last, err := m.fillSegment(i)
		if err != nil {
			return 0, err
		}
		end = max(end, last)
	}
	return end, m.protectSegments()
}

// checkSegment returns an error if segment i cannot be loaded.
func (m *machine) checkSegment(i int) error {
	s, start := &m.file.Segments[i], m.file.Segments[i].Addr+Bias(m.file)
	if start < s.Addr || s.MemSize > math.MaxInt64 || start+s.MemSize < start || uint64(len(s.Data)) > s.MemSize {
		return fmt.Errorf("rv64: %s: segment %d at %#x of %d bytes makes no sense", m.program(), i, s.Addr, s.MemSize)
	}
	if i > 0 {
		if before := &m.file.Segments[i-1]; s.Addr < before.Addr || s.Addr-before.Addr < before.MemSize {
			return fmt.Errorf("rv64: %s: segment %d at %#x overlaps the one before, or stands below it", m.program(), i, s.Addr)
		}
	}
	if last := start + s.MemSize; last > m.mem.size {
		return fmt.Errorf("rv64: %s: segment %d ends at %#x, outside of the address space of %d bytes (Memory): %w",
			m.program(), i, last, m.mem.size, engine.ErrMemoryLimit)
	}
	if start < pageBytes && s.MemSize > 0 {
		return fmt.Errorf("rv64: %s: segment %d lies at %#x, in the page that stays unmapped for null pointers", m.program(), i, s.Addr)
	}
	return nil
}

// fillSegment maps segment i, copies its data and returns its end address.
func (m *machine) fillSegment(i int) (end uint64, err error) {
	s := &m.file.Segments[i]
	start := s.Addr + Bias(m.file)
	end = start + s.MemSize
	// Pages shared with another segment may be mapped already.
	first := pageDown(start)
	if err := m.mapMissing(first, pageUp(end)-first); err != nil {
		return 0, err
	}
	if !m.mem.store(start, s.Data) {
		return 0, fmt.Errorf("rv64: %s: segment %d at %#x cannot be filled", m.program(), i, s.Addr)
	}
	return end, nil
}

// protectSegments sets the permissions of all segments' pages, in file order. Only
// the first and last page of a segment can be shared with others.
func (m *machine) protectSegments() error {
	var edges []uint64 // pages, two per segment
	shared := make(map[uint64]uint8)
	for i := range m.file.Segments {
		s := &m.file.Segments[i]
		if s.MemSize == 0 {
			continue
		}
		start, perm := s.Addr+Bias(m.file), segmentPerm(s)
		first, end := pageDown(start), pageUp(start+s.MemSize)
		if err := m.mem.protectRange(first, end-first, perm); err != nil {
			return m.hostError(err)
		}
		for _, e := range []uint64{first, end - pageBytes} {
			shared[e] |= perm
			edges = append(edges, e)
		}
	}
	for _, e := range edges {
		if err := m.mem.protectRange(e, pageBytes, shared[e]|m.mem.perm[e/pageBytes]); err != nil {
			return m.hostError(err)
		}
	}
	return nil
}

// mapMissing maps as writable the pages of a range that are not mapped yet.
func (m *machine) mapMissing(addr, n uint64) error {
	for at := addr; at < addr+n; {
		if m.mem.perm[at/pageBytes] != 0 {
			at += pageBytes
			continue
		}
		end := at
		for end < addr+n && m.mem.perm[end/pageBytes] == 0 {
			end += pageBytes
		}
		if !m.mem.affords(at, end-at, pageWrite) {
			return m.tooLittle()
		}
		if err := m.mem.mapRange(at, end-at, pageRead|pageWrite); err != nil {
			return m.hostError(err)
		}
		at = end
	}
	return nil
}

// Auxiliary vector entries (include/uapi/linux/auxvec.h).
const (
	atNull   = 0
	atPHdr   = 3
	atPHEnt  = 4
	atPHNum  = 5
	atPageSz = 6
	atBase   = 7
	atFlags  = 8
	atEntry  = 9
	atUID    = 11
	atEUID   = 12
	atGID    = 13
	atEGID   = 14
	atHWCap  = 16
	atClkTck = 17
	atSecure = 23
	atRandom = 25
	atExecFn = 31
)

// hwcap has the bit of each single-letter extension: A, C, D, F, I, M.
const hwcap = 1 | 1<<('C'-'A') | 1<<('D'-'A') | 1<<('F'-'A') | 1<<('I'-'A') | 1<<('M'-'A')

// buildStack writes argc, argv, the environment and the auxiliary vector.
func (m *machine) buildStack(t *thread, top uint64) error {
	bias := Bias(m.file)
	sp := top
	push := func(b []byte) uint64 {
		sp -= uint64(len(b))
		m.mem.store(sp, b)
		return sp
	}
	args := append([]string{m.program()}, m.opt.Args...)
	total := 0
	for _, s := range append(args, m.opt.Env...) {
		total += len(s) + 1 + 8
	}
	if most := m.opt.Stack / 4; uint64(total) > most {
		return fmt.Errorf("rv64: arguments and environment take %d bytes; at most %d are possible, a quarter of the stack", total, most)
	}
	exec := push([]byte(path.Join("/", m.program()) + "\x00"))
	seed := make([]byte, 16)
	m.random.fill(seed)
	random := push(seed)
	strings := func(list []string) []uint64 {
		var at []uint64
		for _, s := range list {
			at = append(at, push([]byte(s+"\x00")))
		}
		return append(at, 0)
	}
	words := []uint64{uint64(len(args))}
	argv, env := strings(args), strings(m.opt.Env)
	words = append(append(words, argv...), env...)
	phdr := m.file.PHdrAddr
	if phdr != 0 {
		phdr += bias
	}
	words = append(words,
		atPHdr, phdr, atPHEnt, uint64(m.file.PHdrSize), atPHNum, uint64(m.file.PHdrCount),
		atPageSz, pageBytes, atBase, 0, atFlags, 0, atEntry, m.file.Entry+bias,
		atUID, firstID, atEUID, firstID, atGID, firstID, atEGID, firstID,
		atHWCap, hwcap, atClkTck, 100, atSecure, 0, atRandom, random, atExecFn, exec, atNull, 0)
	sp = (sp - uint64(8*len(words))) &^ 15
	buf := make([]byte, 0, 8*len(words))
	for _, w := range words {
		buf = binary.LittleEndian.AppendUint64(buf, w)
	}
	m.mem.store(sp, buf)
	t.x[regSP] = sp
	return nil
}
