package target

import "presage/perf/iperf"

// store is one cache: its blocks, set by set, each set from the most to the
// least recently used.
type store struct {
	sets       uint64
	ways       int
	blockShift uint
	subShift   uint
	pageShift  uint // of physical addresses; 0: the program's own
	frames     framer
	lines      []line
}

// line is a block with the bits of its valid sub-blocks.
type line struct {
	block uint64 // +1; 0: empty
	valid uint64
}

// newStore returns an empty cache. frames are the places of pages; nil: those of the
// program's addresses.
func newStore(l *iperf.Level, pageBytes uint64, frames framer) store {
	s := store{
		sets: l.Sets, ways: int(l.Ways), frames: frames,
		blockShift: log2(l.BlockBytes), subShift: log2(l.BlockBytes),
		lines: make([]line, l.Sets*l.Ways),
	}
	if l.SubBlockBytes != 0 {
		s.subShift = log2(l.SubBlockBytes)
	}
	if l.Physical && frames != nil && pageBytes > 0 {
		s.pageShift = log2(pageBytes)
	}
	return s
}

func log2(v uint64) uint {
	n := uint(0)
	for ; v > 1; v >>= 1 {
		n++
	}
	return n
}

// set returns the lines of an address's set. Blocks are named by the program's
// addresses, so that two pages never share one.
func (s *store) set(addr uint64) []line {
	at := addr
	if s.pageShift > 0 {
		at = s.frames.frame(addr>>s.pageShift)<<s.pageShift | addr&(1<<s.pageShift-1)
	}
	first := (at >> s.blockShift) % s.sets * uint64(s.ways)
	return s.lines[first : first+uint64(s.ways)]
}

// touch accesses an address. It reports whether its sub-block was valid and, if
// not, fetches it if allocate is set.
func (s *store) touch(addr uint64, allocate bool) (hit bool) {
	set := s.set(addr)
	name := addr>>s.blockShift + 1
	bit := uint64(1) << (addr & (1<<s.blockShift - 1) >> s.subShift & 63)
	if set[0].block == name && set[0].valid&bit != 0 {
		return true
	}
	for i := range set {
		if set[i].block != name {
			continue
		}
		hit = set[i].valid&bit != 0
		if !hit && !allocate {
			return false
		}
		l := set[i]
		l.valid |= bit
		copy(set[1:i+1], set[:i])
		set[0] = l
		return hit
	}
	if allocate {
		copy(set[1:], set)
		set[0] = line{block: name, valid: bit}
	}
	return false
}

// tlb is a fully associative LRU translation buffer: pages in a ring from the
// most to the least recently used, found by number.
type tlb struct {
	shift   uint
	entries int
	base    uint64           // of the pages in near
	near    []int32          // slot by page less base, of nearPages from base on; 0: none
	far     map[uint64]int32 // and of the others
	nodes   []node           // nodes[0] is the ring's anchor
	last    uint64           // the page accessed last, +1
}

// nearPages is the number of pages whose slots are in an array that grows to
// the highest of them, at most 4 MiB; they begin at the first page accessed,
// rounded down to a quarter of that number.
const nearPages = 1 << 20

func (t *tlb) slot(page uint64) int32 {
	at := page - t.base
	if at >= nearPages {
		return t.far[page]
	}
	if at >= uint64(len(t.near)) {
		return 0
	}
	return t.near[at]
}

// setSlot records the slot of a page, 0 for none.
func (t *tlb) setSlot(page uint64, slot int32) {
	at := page - t.base
	switch {
	case at < nearPages:
		if more := int(at) + 1 - len(t.near); more > 0 {
			t.near = append(t.near, make([]int32, more)...)
		}
		t.near[at] = slot
	case slot == 0:
		delete(t.far, page)
	default:
		t.far[page] = slot
	}
}

type node struct {
	page       uint64
	prev, next int32
}

func newTLB(t iperf.TLB) *tlb {
	if t.Entries == 0 {
		return nil
	}
	return &tlb{
		shift: log2(t.PageBytes), entries: int(t.Entries),
		far: make(map[uint64]int32), nodes: make([]node, 1, t.Entries+1),
	}
}

// touch reports whether the page of an address was present, and inserts it.
func (t *tlb) touch(addr uint64) (hit bool) {
	page := addr >> t.shift
	if page+1 == t.last {
		return true
	}
	if t.last == 0 {
		t.base = page &^ (nearPages/4 - 1)
	}
	t.last = page + 1
	slot := t.slot(page)
	hit = slot != 0
	switch {
	case hit:
		t.unlink(slot)
	case len(t.nodes) <= t.entries:
		slot = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{})
	default:
		slot = t.nodes[0].prev
		t.setSlot(t.nodes[slot].page, 0)
		t.unlink(slot)
	}
	if !hit {
		t.setSlot(page, slot)
	}
	n := &t.nodes[slot]
	n.page, n.prev, n.next = page, 0, t.nodes[0].next
	t.nodes[n.next].prev = slot
	t.nodes[0].next = slot
	return hit
}

func (t *tlb) unlink(slot int32) {
	n := t.nodes[slot]
	t.nodes[n.prev].next = n.next
	t.nodes[n.next].prev = n.prev
}
