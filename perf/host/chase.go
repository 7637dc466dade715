package host

import (
	"math/rand/v2"
	"unsafe"
)

// chain is a cycle of pointers through a region: each place holds the address
// of the next.
type chain struct {
	region *region
	order  []uint32                // the places, in the order in which they are visited
	at     func(place uint32) uint // offset of a place in the region
}

// shuffled returns 0..n-1 in random order, in dst if it has room. Visiting them
// in this order and then starting over is one cycle through all of them, and
// all such cycles are equally likely.
func shuffled(dst []uint32, n int, rng *rand.Rand) []uint32 {
	dst = ascending(dst, n)
	rng.Shuffle(n, func(i, j int) { dst[i], dst[j] = dst[j], dst[i] })
	return dst
}

// ascending returns 0..n-1, in dst if it has room.
func ascending(dst []uint32, n int) []uint32 {
	if cap(dst) < n {
		dst = make([]uint32, n)
	}
	dst = dst[:n]
	for i := range dst {
		dst[i] = uint32(i)
	}
	return dst
}

// link writes the pointers, in the order of the chain, so that caches are left
// as after a lap of the chain.
func (c *chain) link() {
	base := unsafe.Pointer(unsafe.SliceData(c.region.data))
	last := len(c.order) - 1
	for i, place := range c.order {
		next := c.order[0]
		if i < last {
			next = c.order[i+1]
		}
		// Stored as a number: the garbage collector does not manage this
		// memory.
		*(*uintptr)(unsafe.Add(base, c.at(place))) = uintptr(unsafe.Add(base, c.at(next)))
	}
}

// start returns the address of the i-th of n evenly spaced places in the order
// of the chain.
func (c *chain) start(i, n int) unsafe.Pointer {
	place := c.order[i*len(c.order)/n]
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(c.region.data)), c.at(place))
}

// dense places one pointer at the beginning of each line.
func dense(lineBytes uint64) func(uint32) uint {
	return func(place uint32) uint { return uint(place) * uint(lineBytes) }
}

// sparse places one pointer in each page, in the page's next line each time, so
// that the lines do not compete for one set of a cache.
func sparse(pageBytes, lineBytes uint64) func(uint32) uint {
	lines := uint(pageBytes / lineBytes)
	return func(place uint32) uint {
		p := uint(place)
		return p*uint(pageBytes) + p%lines*uint(lineBytes)
	}
}

// loadsPerRound is the number of loads in a round of chase: enough to hide the
// loop's own instructions, which do not depend on the loads.
const loadsPerRound = 32

// chase follows a chain and returns the address reached. Each load's address is
// the result of the one before.
//
//go:noinline
func chase(p unsafe.Pointer, rounds int) unsafe.Pointer {
	for range rounds {
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
		p = *(*unsafe.Pointer)(p)
	}
	return p
}

// chaseMany follows several chains at once, one load of each in turn. Positions
// are offsets from base, which are no pointers to the garbage collector.
//
//go:noinline
func chaseMany(base unsafe.Pointer, at []uintptr, rounds int) {
	for range rounds {
		for i := range at {
			at[i] = *(*uintptr)(unsafe.Add(base, at[i])) - uintptr(base)
		}
	}
}

// maxWarmLoads bounds the warm-up lap. A working set of more lines is far
// larger than a cache, and building the chain left it as a lap would.
const maxWarmLoads = 1 << 20

// latency returns the time of a load of the chain in ns.
func (c *chain) latency(m *meter) (Sample, error) {
	p := chase(c.start(0, 1), min(len(c.order), maxWarmLoads)/loadsPerRound+1)
	s, err := m.time(func(rounds int) { p = chase(p, rounds) })
	return s.scaled(1.0 / loadsPerRound), err
}
