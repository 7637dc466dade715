package allocation

import "presage/perf/trace"

// heap says which object each word of the memory belongs to that allocators gave.
type heap struct {
	chunks map[uint64]*chunk
	number uint64 // of the chunk looked up last
	chunk  *chunk
}

const (
	granuleBits = 3 // allocators give whole words
	pageBits    = 12
	chunkBits   = 21

	granules = 1 << (pageBits - granuleBits)
	pages    = 1 << (chunkBits - pageBits)
)

// moduleBytes bounds a file that is loaded.
const moduleBytes = 1 << 36

// chunk is memory of 2 MiB, page is one of 4 KiB: of one object, or divided.
type chunk struct {
	pages *[pages]page
	of    int32
}

type page struct {
	words *[granules]int32
	of    int32
}

// at returns the object at an address, and the addresses around it that are looked at
// together.
func (h *heap) at(addr uint64) trace.Extent {
	number := addr >> chunkBits
	if h.chunk == nil || h.number != number {
		c := h.chunks[number]
		if c == nil {
			return trace.Extent{Object: None, Lo: number << chunkBits, Hi: (number + 1) << chunkBits}
		}
		h.chunk, h.number = c, number
	}
	if h.chunk.pages == nil {
		return trace.Extent{Object: h.chunk.of, Lo: number << chunkBits, Hi: (number + 1) << chunkBits}
	}
	first := addr >> pageBits << pageBits
	p := &h.chunk.pages[addr>>pageBits%pages]
	if p.words == nil {
		return trace.Extent{Object: p.of, Lo: first, Hi: first + 1<<pageBits}
	}
	const reach = 32 // words
	i := int(addr >> granuleBits % granules)
	of, from, to := p.words[i], i, i+1
	for from > max(0, i-reach) && p.words[from-1] == of {
		from--
	}
	for to < min(granules, i+reach) && p.words[to] == of {
		to++
	}
	return trace.Extent{Object: of, Lo: first + uint64(from)<<granuleBits, Hi: first + uint64(to)<<granuleBits}
}

// set makes the words that hold addresses from lo to below hi an object's. It reports
// whether some were another's.
func (h *heap) set(lo, hi uint64, object int32) (moved bool) {
	lo, hi = lo>>granuleBits, (hi+1<<granuleBits-1)>>granuleBits
	const each = pages * granules
	for lo < hi {
		number := lo / each
		end := min(hi, (number+1)*each)
		c := h.chunks[number]
		if c == nil {
			if c = (&chunk{of: None}); object != None {
				h.chunks[number] = c
			}
		}
		moved = c.set(lo%each, lo%each+end-lo, object) || moved
		lo = end
	}
	return moved
}

// set is that of a part of a chunk, in words.
func (c *chunk) set(lo, hi uint64, object int32) (moved bool) {
	if c.pages == nil {
		if c.of == object {
			return false
		}
		if lo == 0 && hi == pages*granules {
			c.of = object
			return true
		}
		c.pages = new([pages]page)
		for i := range c.pages {
			c.pages[i].of = c.of
		}
	}
	if lo == 0 && hi == pages*granules {
		c.pages, c.of = nil, object
		return true
	}
	for lo < hi {
		end := min(hi, (lo/granules+1)*granules)
		moved = c.pages[lo/granules].set(lo%granules, lo%granules+end-lo, object) || moved
		lo = end
	}
	return moved
}

// set is that of a part of a page, in words.
func (p *page) set(lo, hi uint64, object int32) (moved bool) {
	if lo == 0 && hi == granules {
		moved = p.words != nil || p.of != object
		p.words, p.of = nil, object
		return moved
	}
	if p.words == nil {
		if p.of == object {
			return false
		}
		p.words = new([granules]int32)
		for i := range p.words {
			p.words[i] = p.of
		}
	}
	for i := lo; i < hi; i++ {
		moved = moved || p.words[i] != object
		p.words[i] = object
	}
	return moved
}
