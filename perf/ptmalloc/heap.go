package ptmalloc

import (
	"errors"
	"fmt"
)

// Layout is where the operating system places memory.
type Layout struct {
	Page uint64 // bytes; 0: 4096
	Top  uint64 // mappings are placed below, as high as there is room
	// Heap is where the first chunk of the heap begins; 0: not known yet. See Heap.Begin.
	Heap uint64
}

// Defaults of glibc.
const (
	topPad       = 128 << 10
	mapThreshold = 128 << 10
	mapsMost     = 32 << 20 // what is mapped beyond it says nothing of what is to come
	mapsNumber   = 1 << 16
	searched     = 10000 // chunks of the unsorted bin, for one request
)

// Heap is the state of the allocator. The zero Heap is not ready: see New.
type Heap struct {
	layout        Layout
	threshold     uint64 // from which on a chunk is a mapping
	trim          uint64 // free bytes at the heap's end that are given back
	maps          *maps
	mapped        int // chunks that are mappings
	ready         bool
	chunks        map[uint64]*chunk // in use, by the address given
	top           *chunk
	end           uint64 // of the heap
	caches        [cachedBins][]*chunk
	fast          [fastChunk/align + 1][]*chunk
	anyFast       bool
	unsorted      []*chunk
	bins          [bins][]*chunk
	lastRemainder uint64 // address
}

// New returns a heap that nothing has been asked of.
func New(l Layout) *Heap {
	if l.Page == 0 {
		l.Page = 4096
	}
	return &Heap{layout: l, threshold: mapThreshold, trim: 128 << 10, maps: &maps{top: l.Top}, chunks: make(map[uint64]*chunk)}
}

// ErrUnplaced means that a request is for memory of the heap, and where that begins is not
// known.
var ErrUnplaced = errors.New("ptmalloc: where the heap begins is not known")

// Begin says where the heap begins, by the address of the first memory in it that was
// given to the program.
func (h *Heap) Begin(first uint64) {
	if h.layout.Heap == 0 {
		h.layout.Heap = first - header - request(cacheBytes)
	}
}

// Placed reports whether it is known where the heap begins.
func (h *Heap) Placed() bool { return h.layout.Heap != 0 }

// Begins returns where the heap begins, for Layout.Heap; 0 if that is not known.
func (h *Heap) Begins() uint64 { return h.layout.Heap }

// InHeap reports whether a request of so many bytes is not a mapping of its own.
func (h *Heap) InHeap(bytes uint64) bool { return !h.isMapping(request(bytes)) }

// isMapping reports whether a chunk of a size is a mapping, unless bins have one.
func (h *Heap) isMapping(size uint64) bool { return size >= h.threshold && h.mapped < mapsNumber }

// prepare makes the thread's cache, before the first request.
func (h *Heap) prepare() error {
	switch {
	case h.ready:
		return nil
	case h.layout.Heap == 0:
		return ErrUnplaced
	}
	h.ready = true
	h.top = &chunk{addr: h.layout.Heap}
	h.end = h.layout.Heap
	h.take(request(cacheBytes))
	return nil
}

// Malloc returns the address of new memory.
func (h *Heap) Malloc(bytes uint64) (uint64, error) {
	size := request(bytes)
	if !h.ready && h.isMapping(size) {
		return h.give(h.mapChunk(size)), nil // whatever is in the heap, it has no such chunk
	}
	if err := h.prepare(); err != nil {
		return 0, err
	}
	if c := h.fromCache(size); c != nil {
		return h.give(c), nil
	}
	return h.give(h.take(size)), nil
}

// Calloc returns the address of new memory, which is cleared. It takes none from the
// thread's cache.
func (h *Heap) Calloc(bytes uint64) (uint64, error) {
	size := request(bytes)
	if !h.ready && h.isMapping(size) {
		return h.give(h.mapChunk(size)), nil
	}
	if err := h.prepare(); err != nil {
		return 0, err
	}
	return h.give(h.take(size)), nil
}

func (h *Heap) give(c *chunk) uint64 {
	at := c.addr + header
	if c.mapped {
		at = c.addr
	}
	h.chunks[at] = c
	return at
}

// Free takes memory back.
func (h *Heap) Free(addr uint64) error {
	c := h.chunks[addr]
	if c == nil {
		return fmt.Errorf("ptmalloc: %#x was not given", addr)
	}
	delete(h.chunks, addr)
	if c.mapped {
		if c.size > h.threshold && c.size <= mapsMost {
			h.threshold, h.trim = c.size, 2*c.size
		}
		h.unmapChunk(c)
		return nil
	}
	if err := h.prepare(); err != nil {
		return err
	}
	if !h.cache(c) {
		h.release(c)
	}
	return nil
}

// release gives a chunk back to the heap.
func (h *Heap) release(c *chunk) {
	if c.size <= fastChunk {
		h.fast[c.size/align] = append(h.fast[c.size/align], c)
		h.anyFast = true
		return
	}
	if c = h.merge(c); c.size < bigChunk {
		return
	}
	if h.anyFast {
		h.consolidate()
	}
	if h.top.size >= h.trim {
		h.trimTop()
	}
}

// merge joins a chunk with its free neighbours, and puts it where it belongs.
func (h *Heap) merge(c *chunk) *chunk {
	if b := c.before; b != nil && b.free {
		h.unlink(b)
		b.size += c.size
		h.remove(c)
		c = b
	}
	next := c.after
	if next == h.top {
		c.size += next.size
		h.remove(next)
		h.top = c
		return c
	}
	if next.free {
		h.unlink(next)
		c.size += next.size
		h.remove(next)
	}
	h.unsort(c)
	return c
}

// remove takes a chunk out of the heap, whose memory another has.
func (h *Heap) remove(c *chunk) {
	if c.before != nil {
		c.before.after = c.after
	}
	if c.after != nil {
		c.after.before = c.before
	}
}

// consolidate merges the chunks of fast bins.
func (h *Heap) consolidate() {
	h.anyFast = false
	for i := range h.fast {
		list := h.fast[i]
		h.fast[i] = nil
		for len(list) > 0 {
			h.merge(pop(&list))
		}
	}
}

// trimTop gives memory at the heap's end back.
func (h *Heap) trimTop() {
	area := h.top.size - minChunk - 1
	if area <= topPad {
		return
	}
	extra := (area - topPad) &^ (h.layout.Page - 1)
	h.top.size -= extra
	h.end -= extra
}

// split cuts the end off a chunk, which is as large as size.
func (h *Heap) split(c *chunk, size uint64) *chunk {
	rest := &chunk{addr: c.addr + size, size: c.size - size, before: c, after: c.after}
	if c.after != nil {
		c.after.before = rest
	}
	c.after, c.size = rest, size
	return rest
}
