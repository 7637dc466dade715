package replay

import (
	"cmp"
	"math/bits"
	"slices"

	"presage/perf/trace"
)

// A program that gives memory back and asks for more finds it where the allocator has some:
// at one size where a buffer was, at the next in a mapping of its own. No function of the
// size says where. But what an allocator is asked for, and what is given back, the loops
// around its calls say, and where it then places memory a model of the allocator does:
// package ptmalloc. So addresses in memory of which one call has no more than a few blocks
// in use at a time, each in a slot, are learned from where a block begins. They stand for the block, as placed
// addresses, from which a replay computes real ones.

// FollowAllocations has collectors learn from calls of allocators, which the plan for engines
// asks for then. Mappings are placed below top.
func (c *Code) FollowAllocations(plan *trace.MemoryPlan, top uint64) {
	c.Recorded.Memory, c.mappings = plan, top
	c.entries, c.givers = make(map[trace.BlockID]trace.Role), make(map[int]bool)
	for _, a := range plan.Allocators {
		if id := c.blockAt(uint64(a.PC)); id != noBlock {
			c.entries[id] = a.Role
			c.givers[c.blocks[id].routine] = true
		}
	}
}

// AnchorAllocations has collectors learn from where memory lies that allocators give, where
// nothing else is to be learned from their calls: they are no C library's, and give little back.
func (c *Code) AnchorAllocations(plan *trace.MemoryPlan) { c.Recorded.Memory, c.anchors = plan, true }

// GivenMemory is memory that an allocator gave: from At on, 0: none.
type GivenMemory struct{ At, Bytes uint64 }

// given returns what the first thread was given before a batch.
func (c *Code) given(b *trace.Batch) (given GivenMemory) {
	if !c.anchors || b.Thread != 0 {
		return given
	}
	for _, change := range b.Changes {
		if change.Kind == trace.Allocated {
			given = GivenMemory{change.Addr, change.Size}
		}
	}
	return given
}

// asks reports whether a place is the beginning of an allocator that none other has called.
func (c *Code) asks(contexts []Context, p placeKey) bool {
	if _, ok := c.entries[p.block]; !ok {
		return false
	}
	for at := p.context; at > 0; at = contexts[at].Parent {
		if c.givers[c.blocks[contexts[at].Call].routine] {
			return false
		}
	}
	return true
}

// gives reports whether a place belongs to an allocator, or to what one has called.
func (c *Code) gives(contexts []Context, p placeKey) bool {
	if c.givers[c.blocks[p.block].routine] {
		return true
	}
	for at := p.context; at > 0; at = contexts[at].Parent {
		if c.givers[c.blocks[contexts[at].Call].routine] {
			return true
		}
	}
	return false
}

// Placed addresses: the number of a site and what lies between its memory's beginning and
// the address.
const (
	placedBit  = 1 << 39
	siteBits   = 9
	offsetBits = 30
	maxSites   = 1<<siteBits - 1
	maxSlots   = 8 // sites of one call: what is in use of it at a time
	maxOffset  = 1 << offsetBits
)

func placedAt(site int32) uint64 { return placedBit | uint64(site)<<offsetBits }

func isPlaced(addr uint64) bool { return addr&placedBit != 0 }

func siteOf(addr uint64) int32 { return int32(addr >> offsetBits & maxSites) }

// holding is memory in use.
type holding struct {
	lo, hi uint64
	call   int32 // that asked for it
	site   int32 // 0: addresses in it are real
	slot   int32
}

// slots says which slots of a call are taken.
type slots uint32

// take takes the first that is free; false if none is.
func (s *slots) take() (int32, bool) {
	k := bits.TrailingZeros32(^uint32(*s))
	if k >= maxSlots {
		return 0, false
	}
	*s |= 1 << k
	return int32(k), true
}

func (s *slots) free(k int32) { *s &^= 1 << k }

// holdings are all memory in use, by ascending address.
type holdings struct {
	list []holding
	near int // the last one that was looked up
}

// find returns the index of the holding that begins at or last before an address; -1: none.
func (m *holdings) find(addr uint64) int {
	i, found := slices.BinarySearchFunc(m.list, addr, func(p holding, addr uint64) int { return cmp.Compare(p.lo, addr) })
	if !found {
		i--
	}
	return i
}

func (m *holdings) add(p holding) {
	m.list = slices.Insert(m.list, m.find(p.lo)+1, p)
	m.near = 0
}

// take removes the holding that begins at an address; false if there is none.
func (m *holdings) take(addr uint64) (holding, bool) {
	i := m.find(addr)
	if i < 0 || m.list[i].lo != addr {
		return holding{}, false
	}
	p := m.list[i]
	m.list, m.near = slices.Delete(m.list, i, i+1), 0
	return p, true
}

// placed returns the placed address of a real one, which is the same where it is in none
// of a site.
func (m *holdings) placed(addr uint64) uint64 {
	if len(m.list) == 0 {
		return addr
	}
	if p := &m.list[m.near]; addr < p.lo || addr >= p.hi {
		i := m.find(addr)
		if i < 0 {
			return addr
		}
		m.near = i
	}
	if p := &m.list[m.near]; p.site > 0 && addr < p.hi {
		return placedAt(p.site) + addr - p.lo
	}
	return addr
}
