package ptmalloc

// take returns a chunk of a size that the thread's cache does not have (_int_malloc).
func (h *Heap) take(size uint64) *chunk {
	if size <= fastChunk {
		if list := &h.fast[size/align]; len(*list) > 0 {
			c := pop(list)
			for len(*list) > 0 && h.cacheHasRoom(size) {
				h.cache(pop(list))
			}
			return c
		}
	}
	if size < largeChunk {
		if c := h.oldest(size); c != nil {
			for h.cacheHasRoom(size) {
				o := h.oldest(size)
				if o == nil {
					break
				}
				h.cache(o)
			}
			return c
		}
	} else if h.anyFast {
		h.consolidate()
	}
	for {
		if c := h.search(size); c != nil {
			return c
		}
		if h.top.size >= size+minChunk {
			return h.fromTop(size)
		}
		if !h.anyFast {
			return h.fromSystem(size)
		}
		h.consolidate()
	}
}

func (h *Heap) cacheHasRoom(size uint64) bool {
	i, ok := cached(size)
	return ok && len(h.caches[i]) < cachedEach
}

// oldest takes the oldest chunk from the bin of a small size.
func (h *Heap) oldest(size uint64) *chunk {
	list := h.bins[binOf(size)]
	if len(list) == 0 {
		return nil
	}
	c := list[len(list)-1]
	h.unlink(c)
	return c
}

// search sorts what was freed into bins, and returns a chunk from there if one fits.
func (h *Heap) search(size uint64) *chunk {
	kept := false // chunks that fit, in the thread's cache
	for n := 0; len(h.unsorted) > 0 && n < searched; n++ {
		c := h.unsorted[len(h.unsorted)-1]
		if size < largeChunk && len(h.unsorted) == 1 && c.addr == h.lastRemainder && c.size > size+minChunk {
			h.unlink(c)
			rest := h.split(c, size)
			h.lastRemainder = rest.addr
			h.unsort(rest)
			return c
		}
		h.unlink(c)
		if c.size != size {
			h.put(c)
			continue
		}
		if !h.cache(c) {
			return c
		}
		kept = true
	}
	if kept {
		return h.fromCache(size)
	}
	if size >= largeChunk {
		if c := h.fit(size, binOf(size)); c != nil {
			return h.cut(c, size, false)
		}
	}
	for b := binOf(size) + 1; b < bins; b++ {
		if list := h.bins[b]; len(list) > 0 {
			return h.cut(list[len(list)-1], size, size < largeChunk)
		}
	}
	return nil
}

// fit returns the smallest chunk of a bin that is large enough; of equal ones the second.
func (h *Heap) fit(size uint64, bin int) *chunk {
	list := h.bins[bin]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].size < size {
			continue
		}
		first := i
		for first > 0 && list[first-1].size == list[i].size {
			first--
		}
		if first < i {
			return list[first+1]
		}
		return list[i]
	}
	return nil
}

// cut takes a chunk from its bin and leaves what is not needed.
func (h *Heap) cut(c *chunk, size uint64, last bool) *chunk {
	h.unlink(c)
	if c.size-size < minChunk {
		return c
	}
	rest := h.split(c, size)
	h.unsort(rest)
	if last {
		h.lastRemainder = rest.addr
	}
	return c
}

func (h *Heap) fromTop(size uint64) *chunk {
	c := h.top
	h.top = h.split(c, size)
	return c
}

// fromSystem returns a chunk of memory that the heap did not have (sysmalloc).
func (h *Heap) fromSystem(size uint64) *chunk {
	if h.isMapping(size) {
		return h.mapChunk(size)
	}
	page := h.layout.Page
	more := size + topPad + minChunk - h.top.size
	if first := h.end == h.layout.Heap; first {
		h.end = pageUp(h.end+pageUp(more, page), page)
	} else {
		h.end += pageUp(more, page)
	}
	h.top.size = h.end - h.top.addr
	return h.fromTop(size)
}

func pageUp(n, page uint64) uint64 { return (n + page - 1) &^ (page - 1) }
