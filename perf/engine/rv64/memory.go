package rv64

import (
	"encoding/binary"
	"fmt"
	"sort"
	"unsafe"
)

// pageBytes is the guest's page size.
const pageBytes = 4096

// Permissions of a guest page. An inaccessible page of a reservation has only
// pageMapped; pageUsed marks a page that may have been written to, and remains set
// until the page is unmapped.
const (
	pageRead uint8 = 1 << iota
	pageWrite
	pageExec
	pageMapped
	pageUsed

	pageAccess = pageRead | pageWrite | pageExec
)

const (
	// maxSpans bounds the number of separate mapped ranges, as Linux does
	// (vm.max_map_count): the cost of a mapping grows with it.
	maxSpans = 65530
	// maxEdges bounds the number of page boundaries at which permissions
	// change. Each costs a host mapping, and Linux by default allows 65530 of
	// those for the whole process.
	maxEdges = 16384
)

// hostFailure is the panic value when the host refuses a change of mappings
// half-way; machine.run turns it into an error.
type hostFailure struct{ err error }

// span is a run of mapped guest pages, as addresses.
type span struct{ start, end uint64 }

// memory is the guest's address space, from 0 to size, as one reserved region of
// host address space. A guest address is an offset from base. Pages that the guest
// has not mapped are inaccessible on the host too, so that a bad access within the
// region faults on the host; a guard follows the region.
//
// Invariants: a newly mapped page reads as zeros; perm is authoritative for every
// page, and the host's protection follows it. On hosts with larger pages the
// protection is the union of the guest pages' permissions, so a stray access
// close to mapped memory may go unnoticed.
type memory struct {
	base  unsafe.Pointer
	size  uint64
	perm  []uint8 // of each page
	spans []span  // mapped, sorted, merged where they touch
	host  hostRegion

	mmapTop uint64 // mappings are placed below
	mapped  uint64 // bytes
	usable  uint64 // bytes of accessible pages
	limit   uint64 // bound of usable
	edges   int    // see maxEdges
	peak    uint64 // the largest usable

	generation uint64 // counts changes of perm

	footprint *footprint // nil: not asked for
}

func newMemory(size uint64) (*memory, error) {
	m := &memory{size: size, limit: size, perm: make([]uint8, size/pageBytes)}
	var err error
	if m.host, err = reserve(size); err != nil {
		return nil, fmt.Errorf("rv64: reserving %d bytes of guest address space: %w", size, err)
	}
	m.base = m.host.base
	return m, nil
}

func (m *memory) close() { m.host.release() }

// contains reports whether a host address lies in the region or its guard.
func (m *memory) contains(host uintptr) bool {
	base := uintptr(m.base)
	return host >= base && host < base+uintptr(m.size)+hostGuard
}

// valid reports whether [addr, addr+n) is a page range inside the space.
func (m *memory) valid(addr, n uint64) bool {
	return addr%pageBytes == 0 && n%pageBytes == 0 && n <= m.size && addr <= m.size-n
}

// mapRange maps fresh zero pages, in place of what was there.
func (m *memory) mapRange(addr, n uint64, perm uint8) error {
	m.unmapRange(addr, n)
	m.insert(span{addr, addr + n})
	return m.protectRange(addr, n, perm)
}

func (m *memory) unmapRange(addr, n uint64) {
	m.edges = m.edgesAfter(addr, n, 0)
	touched := false
	m.generation++
	if m.footprint != nil {
		m.survey(addr, n)
	}
	for p := addr / pageBytes; p < (addr+n)/pageBytes; p++ {
		touched = touched || m.perm[p]&pageUsed != 0
		if m.perm[p]&pageAccess != 0 {
			m.usable -= pageBytes
		}
		m.perm[p] = 0
	}
	if touched {
		m.discard(addr, n)
	}
	m.remove(span{addr, addr + n})
}

// protectRange sets the permissions of mapped pages.
func (m *memory) protectRange(addr, n uint64, perm uint8) error {
	m.edges = m.edgesAfter(addr, n, perm)
	pages := m.perm[addr/pageBytes : (addr+n)/pageBytes]
	// A reservation that stays inaccessible needs no host call.
	perm = perm&pageAccess | pageMapped
	same := perm == pageMapped
	if !same {
		perm |= pageUsed
	}
	m.generation++
	for i := range pages {
		if pages[i]&pageAccess != 0 {
			same = false
			m.usable -= pageBytes
		}
		pages[i] = perm | pages[i]&pageUsed
	}
	if perm&pageAccess != 0 {
		m.usable += n
		m.peak = max(m.peak, m.usable)
	}
	if same || n == 0 {
		return nil
	}
	return m.follow(addr, n)
}

// follow updates the host's protection of a range from perm. If the host refuses,
// follow revokes all permissions of the range: perm must never grant an access
// that the host does not, as translated code relies on it.
func (m *memory) follow(addr, n uint64) error {
	err := m.host.protect(addr, n, m.perm)
	if err == nil {
		return nil
	}
	m.generation++
	pages := m.perm[addr/pageBytes : (addr+n)/pageBytes]
	for i := range pages {
		if pages[i]&^pageMapped != 0 {
			m.usable -= pageBytes
		}
		pages[i] &= pageMapped
	}
	return err
}

// affords reports whether the limits allow giving the pages of a range the
// permissions perm.
func (m *memory) affords(addr, n uint64, perm uint8) bool {
	if len(m.spans) >= maxSpans {
		return false
	}
	if edges := m.edgesAfter(addr, n, perm); edges > maxEdges && edges > m.edges {
		return false
	}
	if perm&pageAccess == 0 || m.usable+n <= m.limit {
		return true
	}
	var more uint64
	for _, p := range m.perm[addr/pageBytes : (addr+n)/pageBytes] {
		if p&pageAccess == 0 {
			more += pageBytes
		}
	}
	return m.usable+more <= m.limit
}

// edgesAfter returns the value of edges once a range has permissions perm.
func (m *memory) edgesAfter(addr, n uint64, perm uint8) int {
	if n == 0 {
		return m.edges
	}
	first, last := addr/pageBytes, (addr+n)/pageBytes
	var before, after uint8 // permissions of the neighbours
	if first > 0 {
		before = m.perm[first-1] & pageAccess
	}
	if last < uint64(len(m.perm)) {
		after = m.perm[last] & pageAccess
	}
	perm &= pageAccess
	edges, left := m.edges, before
	for _, p := range m.perm[first:last] {
		edges -= int(bit(p&pageAccess != left))
		left = p & pageAccess
	}
	edges -= int(bit(after != left))
	return edges + int(bit(perm != before)+bit(perm != after))
}

// mayUnmap reports whether the limits allow unmapping a range, which may split a
// mapped range in two.
func (m *memory) mayUnmap(addr, n uint64) bool {
	edges := m.edgesAfter(addr, n, 0)
	return len(m.spans) < maxSpans && edges <= maxEdges || edges <= m.edges && !m.splits(addr, n)
}

// splits reports whether unmapping a range would split a span in two.
func (m *memory) splits(addr, n uint64) bool {
	i := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].end > addr })
	return i < len(m.spans) && m.spans[i].start < addr && addr+n < m.spans[i].end
}

// zeroRange makes mapped pages read as zeros again.
func (m *memory) zeroRange(addr, n uint64) error {
	if m.footprint != nil {
		m.survey(addr, n)
	}
	m.discard(addr, n)
	return m.follow(addr, n)
}

// discard is that of the host, of small pages if they are to be told apart.
func (m *memory) discard(addr, n uint64) {
	m.host.discard(addr, n, m.perm)
	if m.footprint != nil {
		m.host.small(addr, n)
	}
}

// allMapped reports whether every page of the range is mapped.
func (m *memory) allMapped(addr, n uint64) bool {
	for _, p := range m.perm[addr/pageBytes : (addr+n)/pageBytes] {
		if p == 0 {
			return false
		}
	}
	return true
}

// anyExec reports whether the range contains executable pages.
func (m *memory) anyExec(addr, n uint64) bool {
	for _, p := range m.perm[addr/pageBytes : (addr+n)/pageBytes] {
		if p&pageExec != 0 {
			return true
		}
	}
	return false
}

// free reports whether no page of the range is mapped.
func (m *memory) free(addr, n uint64) bool {
	i := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].end > addr })
	return i == len(m.spans) || m.spans[i].start >= addr+n
}

// findFree returns the highest free range of n bytes below mmapTop.
func (m *memory) findFree(n uint64) (uint64, bool) {
	top := m.mmapTop
	for i := len(m.spans) - 1; i >= 0; i-- {
		s := m.spans[i]
		if s.end <= top && top-s.end >= n {
			return top - n, true
		}
		top = min(top, s.start)
	}
	return 0, false // only the null page is left below the lowest mapping
}

func (m *memory) insert(s span) {
	m.mapped += s.end - s.start
	i := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].end >= s.start })
	j := i
	for j < len(m.spans) && m.spans[j].start <= s.end {
		s.start = min(s.start, m.spans[j].start)
		s.end = max(s.end, m.spans[j].end)
		j++
	}
	m.spans = append(m.spans[:i], append([]span{s}, m.spans[j:]...)...)
}

func (m *memory) remove(s span) {
	var kept []span
	i := sort.Search(len(m.spans), func(i int) bool { return m.spans[i].end > s.start })
	j := i
	for ; j < len(m.spans) && m.spans[j].start < s.end; j++ {
		o := m.spans[j]
		m.mapped -= min(o.end, s.end) - max(o.start, s.start)
		if o.start < s.start {
			kept = append(kept, span{o.start, s.start})
		}
		if o.end > s.end {
			kept = append(kept, span{s.end, o.end})
		}
	}
	if j > i {
		m.spans = append(m.spans[:i], append(kept, m.spans[j:]...)...)
	}
}

// view returns the guest's bytes [addr, addr+n) and true if every page in the range
// grants perm, else nil and false. The slice stays valid until the guest changes
// its mappings.
func (m *memory) view(addr, n uint64, perm uint8) ([]byte, bool) {
	if addr >= m.size || n > m.size-addr {
		return nil, false
	}
	for p := addr / pageBytes; n > 0 && p <= (addr+n-1)/pageBytes; p++ {
		if m.perm[p]&perm != perm {
			return nil, false
		}
	}
	return unsafe.Slice((*byte)(unsafe.Add(m.base, addr)), n), true
}

// code returns the executable bytes at pc, at most 4.
func (m *memory) code(pc uint64) []byte {
	if b, ok := m.view(pc, 4, pageExec); ok {
		return b
	}
	b, _ := m.view(pc, 2, pageExec)
	return b
}

func (m *memory) load32(addr uint64) (uint32, bool) {
	b, ok := m.view(addr, 4, pageRead)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b), true
}

func (m *memory) load64(addr uint64) (uint64, bool) {
	b, ok := m.view(addr, 8, pageRead)
	if !ok {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b), true
}

func (m *memory) store32(addr uint64, v uint32) bool {
	b, ok := m.view(addr, 4, pageWrite)
	if ok {
		binary.LittleEndian.PutUint32(b, v)
	}
	return ok
}

func (m *memory) store(addr uint64, data []byte) bool {
	b, ok := m.view(addr, uint64(len(data)), pageWrite)
	if ok {
		copy(b, data)
	}
	return ok
}

// text reads a NUL-terminated string of at most 4096 bytes.
func (m *memory) text(addr uint64) (string, bool) {
	var s []byte
	for len(s) < pageBytes {
		b, ok := m.view(addr+uint64(len(s)), 1, pageRead)
		if !ok {
			return "", false
		}
		if b[0] == 0 {
			return string(s), true
		}
		s = append(s, b[0])
	}
	return "", false
}

func pageUp(v uint64) uint64 { return (v + pageBytes - 1) &^ (pageBytes - 1) }

func pageDown(v uint64) uint64 { return v &^ (pageBytes - 1) }
