//go:build linux && amd64

package native

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"presage/perf/trace"
)

// zone holds translated code for modules within 2 GiB of it, so that operands
// relative to the instruction pointer need only another displacement.
type zone struct {
	hot, cold asm
	blocks    []*block // by ascending address in hot
}

// has reports whether an address of translated code lies in z.
func (z *zone) has(addr uint64) bool { return addr-z.hot.base < zoneBytes }

// taken are the registers that a block uses for the engine: the position in the
// buffer and a scratch register; -1: none.
type taken struct{ pos, scratch int8 }

// own means that every register holds the program's content.
var own = taken{-1, -1}

// block is a translated piece of straight-line code.
type block struct {
	id    uint32
	pc    uint64
	end   uint64 // of the last instruction
	flows bool   // control arrives from the instruction before, not by a transfer
	slow  bool   // not to be recorded as a loop
	past  bool   // behind what tells of an allocator's first instruction
	back  bool   // tells of an allocator's return
	once  bool   // entered by the engine alone: see modified.go
	code  []byte // what was translated, if once
	regs  taken
	zone  *zone
	cache *cache

	warm  uint64 // entry with the registers taken
	entry uint64 // entry with the program's registers; 0: not made yet
	via   uint64 // entry for indirect jumps: rcx is the target

	lo, hi   uint64   // its code in the zone
	left     uint64   // where its transfer of control begins
	leftRegs taken    // the registers taken while it loads an indirect target
	advanced uint64   // from here on the position is that of the next block
	offsets  []uint16 // from lo, of each instruction
	starts   []int32  // from pc, of each instruction
	parts    []*block // that it joins: see join.go

	memory    memoryKind
	allocator trace.Allocator // of a memoryCall
	copies    uint64          // where that copies the stack

	recipe

	found []found // for discovery
}

// key identifies a block in a cache.
type key struct {
	pc          uint64
	flows, slow bool
	past, back  bool // see memory.go
	alone       bool // one instruction, executed once: see modified.go
}

// cache is the code translated for one plan, or without one.
type cache struct {
	number int // selects the jump table
	traced bool
	blocks map[key]*block
	once   map[key]*block    // see modified.go
	heads  map[uint16]uint64 // first entry of the chain of a slot of the jump table
	queue  []key
	links
}

func newCache(number int, traced bool) *cache {
	return &cache{number: number, traced: traced, blocks: make(map[key]*block), once: make(map[key]*block), heads: make(map[uint16]uint64), links: newLinks()}
}

// table is the jump table of the cache.
func (m *machine) table(c *cache) []byte {
	return m.child.mem[fileTables+c.number*tableBytes:][:tableBytes]
}

// clearTable makes every slot lead to the stop for unknown targets.
func (m *machine) clearTable(c *cache) {
	t := m.table(c)
	binary.LittleEndian.PutUint64(t, m.miss)
	for n := 8; n < len(t); n *= 2 {
		copy(t[n:], t[:n])
	}
}

func (m *machine) setSlot(c *cache, slot uint16, to uint64) {
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&m.table(c)[8*int(slot)])), to)
}

// zoneFor returns the zone for the code at pc, creating it if there is none.
func (m *machine) zoneFor(pc uint64) (*zone, error) {
	mod := m.maps.module(pc)
	if mod == nil {
		return nil, fmt.Errorf("native: code at %#x is in no mapping that the engine knows", pc)
	}
	if mod.zone != nil {
		return mod.zone, nil
	}
	for _, z := range m.zones {
		if reaches(z.hot.base, mod) {
			mod.zone = z
			return z, nil
		}
	}
	z, err := m.newZone(mod)
	if err != nil {
		return nil, err
	}
	mod.zone = z
	return z, nil
}

// reaches reports whether code in a zone at base can address all of a module, and
// some way beyond.
func reaches(base uint64, mod *module) bool {
	const limit = 1<<31 - 1<<20
	lo, hi := min(base, mod.lo), max(base+zoneBytes, mod.hi)
	return hi-lo < limit
}

// newZone maps a zone near a module: at the first free place above it, with room
// for a heap, or below it.
func (m *machine) newZone(mod *module) (*zone, error) {
	if len(m.zones) == maxZones {
		return nil, fmt.Errorf("native: the program's code is spread over more than %d GiB-sized areas", maxZones)
	}
	base, ok := m.maps.place(mod)
	if !ok {
		return nil, fmt.Errorf("native: no room for translated code near %s at %#x", mod.path, mod.lo)
	}
	at := fileZones + len(m.zones)*zoneBytes
	if err := m.child.mapShared(base, zoneBytes, unix.PROT_READ|unix.PROT_EXEC, at); err != nil {
		return nil, err
	}
	mem := m.child.mem[at:][:zoneBytes]
	const hot = zoneBytes * 5 / 8
	z := &zone{hot: asm{mem: mem[:hot], base: base}, cold: asm{mem: mem[hot:], base: base + hot}}
	m.zones = append(m.zones, z)
	return z, nil
}

// find returns the block whose code contains an address of the cache.
func (m *machine) find(addr uint64) *block {
	for _, z := range m.zones {
		if !z.has(addr) {
			continue
		}
		i, exact := slices.BinarySearchFunc(z.blocks, addr, func(b *block, a uint64) int { return cmp.Compare(b.lo, a) })
		if !exact {
			i--
		}
		if i >= 0 && addr < z.blocks[i].hi {
			return z.blocks[i]
		}
	}
	return nil
}

// at returns the index of the instruction of b whose code contains addr.
func (b *block) at(addr uint64) int {
	i, exact := slices.BinarySearch(b.offsets, uint16(addr-b.lo))
	if !exact {
		i--
	}
	return i
}
