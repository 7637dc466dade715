package ptmalloc

import (
	"cmp"
	"fmt"
	"slices"
)

// maps are mappings, placed as high as there is room below top.
type maps struct {
	top   uint64
	spans []span // from the highest
}

type span struct{ lo, hi uint64 }

// add returns the address of a new mapping.
func (m *maps) add(n uint64) uint64 {
	top, at := m.top, 0
	for at < len(m.spans) && top-m.spans[at].hi < n {
		top = m.spans[at].lo
		at++
	}
	m.spans = slices.Insert(m.spans, at, span{top - n, top})
	return top - n
}

// remove takes memory away, of one mapping or several.
func (m *maps) remove(lo, hi uint64) {
	var out []span
	for _, s := range m.spans {
		if s.hi > hi {
			out = append(out, span{max(s.lo, hi), s.hi})
		}
		if s.lo < lo {
			out = append(out, span{s.lo, min(s.hi, lo)})
		}
	}
	slices.SortFunc(out, func(a, b span) int { return cmp.Compare(b.lo, a.lo) })
	m.spans = slices.DeleteFunc(out, func(s span) bool { return s.lo >= s.hi })
}

// mapChunk returns a chunk that is a mapping of its own.
func (h *Heap) mapChunk(size uint64) *chunk {
	n := pageUp(size+8, h.layout.Page)
	at := h.maps.add(n)
	h.mapped++
	return &chunk{addr: at + header, size: n, mapped: true, mapping: at, pages: n}
}

func (h *Heap) unmapChunk(c *chunk) {
	h.mapped--
	h.maps.remove(c.mapping, c.mapping+c.pages)
}

// Map returns the address of a mapping that the program asks for itself.
func (h *Heap) Map(bytes uint64) uint64 { return h.maps.add(pageUp(bytes, h.layout.Page)) }

// Unmap takes back what Map gave.
func (h *Heap) Unmap(addr, bytes uint64) { h.maps.remove(addr, addr+pageUp(bytes, h.layout.Page)) }

// Memalign returns the address of new memory that is a multiple of alignment, a power
// of two.
func (h *Heap) Memalign(alignment, bytes uint64) (uint64, error) {
	if alignment <= align {
		return h.Malloc(bytes)
	}
	size := request(bytes)
	whole := request(size + alignment + minChunk)
	mapped := !h.ready && h.isMapping(whole)
	if !mapped {
		if err := h.prepare(); err != nil {
			return 0, err
		}
	}
	var c *chunk
	if mapped {
		c = h.mapChunk(whole)
	} else {
		c = h.take(whole)
	}
	if c.mapped {
		if at := c.addr &^ (alignment - 1); at != c.addr {
			c.addr = at + alignment
			c.size -= c.addr - header - c.mapping
		}
		return h.give(c), nil
	}
	if at := c.addr + header; at%alignment != 0 {
		at = (at + alignment - 1) &^ (alignment - 1)
		if at-header-c.addr < minChunk {
			at += alignment
		}
		lead := c
		c = h.split(lead, at-header-lead.addr)
		h.back(lead)
	}
	if c.size > size+minChunk {
		h.back(h.split(c, size))
	}
	return h.give(c), nil
}

// back frees a chunk that nobody was given.
func (h *Heap) back(c *chunk) {
	if !h.cache(c) {
		h.release(c)
	}
}

// Realloc returns where memory of another size is, with what the old one held; old may be
// 0.
func (h *Heap) Realloc(old, bytes uint64) (uint64, error) {
	if old == 0 {
		return h.Malloc(bytes)
	}
	if bytes == 0 {
		return 0, h.Free(old)
	}
	c, size := h.chunks[old], request(bytes)
	switch {
	case c == nil:
		return 0, fmt.Errorf("ptmalloc: %#x was not given", old)
	case c.mapped:
		return h.remap(old, c, size)
	}
	delete(h.chunks, old)
	switch next := c.after; {
	case c.size >= size:
	case next == h.top && c.size+next.size >= size+minChunk:
		c.size += next.size
		h.remove(next)
		h.top = h.split(c, size)
		return h.give(c), nil
	case next != h.top && next.free && c.size+next.size >= size:
		h.unlink(next)
		c.size += next.size
		h.remove(next)
	default:
		n := h.take(size)
		if n != next {
			h.back(c)
			return h.give(n), nil
		}
		c.size += n.size
		h.remove(n)
	}
	if c.size-size >= minChunk {
		h.back(h.split(c, size))
	}
	return h.give(c), nil
}

// remap is Realloc of a mapping. Whether the kernel moves one that grows is not modelled.
func (h *Heap) remap(old uint64, c *chunk, size uint64) (uint64, error) {
	n := pageUp(size+8, h.layout.Page)
	switch {
	case n == c.pages:
		return old, nil
	case n < c.pages && c.addr == c.mapping+header:
		h.maps.remove(c.mapping+n, c.mapping+c.pages)
		c.size, c.pages = n, n
		return old, nil
	}
	return 0, fmt.Errorf("ptmalloc: a mapping of %d bytes that becomes one of %d is not modelled", c.pages, n)
}
