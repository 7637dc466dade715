package trace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// DefaultRegionAlign is the default of Regions.Align: 32 MiB, far above the 2 MiB
// of a huge page and of one way of today's last-level caches.
const DefaultRegionAlign = 32 << 20

// ErrRegionsFull means that the synthetic address space has no gap for another
// region.
var ErrRegionsFull = errors.New("the trace's address space is exhausted")

// Regions maps the regions of a wide address space (modules, heap, stacks and
// mappings of a native 47-bit process) into the AddrLimit bytes that an Access
// can hold:
//
//	real       0x5555_5540_1000 ─ heap ─   0x7fff_f7a0_0000 ─ libc ─
//	                 │ offset in Align kept      │
//	synthetic  0x00_0340_1000              0x00_07a0_0000
//
// A synthetic address is congruent to the real one modulo Align, so that block
// numbers modulo a cache's sets, offsets in pages and the alignment of data are
// preserved. Distances are preserved within a region, but not between regions.
//
// Bases depend only on the sequence of calls to Add and Remove and on the real
// addresses modulo Align: a region is placed in the lowest gap that can hold it.
// An engine that adds modules and allocations in program order, and has the
// operating system not randomise the layout, gives every run the same addresses.
//
// The zero Regions is empty and ready to use. It is not safe for concurrent
// use.
type Regions struct {
	// Align is the alignment that bases preserve, a power of two up to
	// AddrLimit/2; 0: DefaultRegionAlign. It must not change after the first Add.
	Align uint64

	byReal []region // by ascending start
	byBase []region // the same, by ascending base
	last   region   // last one looked up: most accesses hit the same region again
}

// region is a region of real addresses with its synthetic base.
type region struct {
	start, base uint64
	size        uint64 // mapped bytes
	room        uint64 // bytes to which it may grow; at least size
}

// Add maps size bytes of real addresses from start, with space for the region to
// Grow to room bytes, and returns the synthetic address of start. A room below
// size means size.
func (r *Regions) Add(start, size, room uint64) (base uint64, err error) {
	align := cmp.Or(r.Align, DefaultRegionAlign)
	if align&(align-1) != 0 || align > AddrLimit/2 {
		return 0, fmt.Errorf("trace: regions are aligned to %d bytes; want a power of two up to %d", align, uint64(AddrLimit/2))
	}
	room = max(room, size)
	if size == 0 || start+room < start {
		return 0, fmt.Errorf("trace: region of %d bytes at %#x, with room for %d, is empty or wraps around", size, start, room)
	}
	if room > AddrLimit {
		return 0, fmt.Errorf("trace: region of %d bytes at %#x: %w", room, start, ErrRegionsFull)
	}
	i, _ := slices.BinarySearchFunc(r.byReal, start, region.compareStart)
	if i > 0 && r.byReal[i-1].start+r.byReal[i-1].size > start || i < len(r.byReal) && r.byReal[i].start < start+size {
		return 0, fmt.Errorf("trace: region of %d bytes at %#x overlaps another", size, start)
	}
	at, base, ok := r.gap(align, start&(align-1), room)
	if !ok {
		return 0, fmt.Errorf("trace: region of %d bytes at %#x: %w", room, start, ErrRegionsFull)
	}
	g := region{start: start, base: base, size: size, room: room}
	r.byReal = slices.Insert(r.byReal, i, g)
	r.byBase = slices.Insert(r.byBase, at, g)
	return base, nil
}

// gap returns the lowest base that is congruent to offset modulo align and has room
// free bytes; at is the index in byBase at which to insert it. The first align
// bytes stay free, so that no small number is an address.
func (r *Regions) gap(align, offset, room uint64) (at int, base uint64, ok bool) {
	base = align + offset
	for i, g := range r.byBase {
		if base+room <= g.base {
			return i, base, true
		}
		end := g.base + g.room
		base = max(base, (end+align-1-offset)/align*align+offset)
	}
	return len(r.byBase), base, base <= AddrLimit-room
}

// Grow grows the region that starts at start to size bytes, within the room given to
// Add.
func (r *Regions) Grow(start, size uint64) error {
	i, ok := slices.BinarySearchFunc(r.byReal, start, region.compareStart)
	if !ok {
		return fmt.Errorf("trace: no region starts at %#x", start)
	}
	g := &r.byReal[i]
	if size < g.size || size > g.room {
		return fmt.Errorf("trace: region at %#x cannot grow from %d to %d bytes: it has room for %d", start, g.size, size, g.room)
	}
	if i+1 < len(r.byReal) && r.byReal[i+1].start < start+size {
		return fmt.Errorf("trace: region at %#x cannot grow to %d bytes: it would overlap the one at %#x", start, size, r.byReal[i+1].start)
	}
	g.size = size
	at, _ := slices.BinarySearchFunc(r.byBase, g.base, region.compareBase)
	r.byBase[at] = *g
	r.last = region{}
	return nil
}

// Remove unmaps the region that starts at start. Its synthetic addresses become
// available to later regions.
func (r *Regions) Remove(start uint64) error {
	i, ok := slices.BinarySearchFunc(r.byReal, start, region.compareStart)
	if !ok {
		return fmt.Errorf("trace: no region starts at %#x", start)
	}
	at, _ := slices.BinarySearchFunc(r.byBase, r.byReal[i].base, region.compareBase)
	r.byReal = slices.Delete(r.byReal, i, i+1)
	r.byBase = slices.Delete(r.byBase, at, at+1)
	r.last = region{}
	return nil
}

// Synthetic returns the trace address of a real address; ok is false if no region
// contains it.
func (r *Regions) Synthetic(real uint64) (addr uint64, ok bool) {
	if real-r.last.start < r.last.size {
		return real - r.last.start + r.last.base, true
	}
	i, found := slices.BinarySearchFunc(r.byReal, real, region.compareStart)
	if !found {
		i-- // the last that starts before
	}
	if i < 0 || real-r.byReal[i].start >= r.byReal[i].size {
		return 0, false
	}
	r.last = r.byReal[i]
	return real - r.last.start + r.last.base, true
}

// Real returns the real address of a trace address; ok is false if no region
// contains it.
func (r *Regions) Real(addr uint64) (real uint64, ok bool) {
	i, found := slices.BinarySearchFunc(r.byBase, addr, region.compareBase)
	if !found {
		i--
	}
	if i < 0 || addr-r.byBase[i].base >= r.byBase[i].size {
		return 0, false
	}
	return addr - r.byBase[i].base + r.byBase[i].start, true
}

func (g region) compareStart(start uint64) int { return cmp.Compare(g.start, start) }

func (g region) compareBase(base uint64) int { return cmp.Compare(g.base, base) }
