package ptmalloc

import "slices"

// Sizes of chunks, in bytes, as glibc has them on machines of 64 bits.
const (
	header     = 16      // of a chunk: the sizes of the one before and of itself
	align      = 16      // of all addresses
	minChunk   = 32      // MINSIZE
	largeChunk = 1024    // from which on a bin holds several sizes
	fastChunk  = 128     // up to which freed chunks stay apart
	cachedBins = 64      // of the thread's cache
	cachedEach = 7       // chunks in each
	cacheBytes = 640     // of the cache itself, in the heap
	bigChunk   = 1 << 16 // FASTBIN_CONSOLIDATION_THRESHOLD
)

// chunk is a part of the heap.
type chunk struct {
	addr, size uint64
	free       bool // in a bin: not in a fast one nor in the thread's cache
	mapped     bool // of its own
	mapping    uint64
	pages      uint64 // of mapped

	before, after *chunk // in the heap
}

// request returns the size of the chunk for so many bytes.
func request(bytes uint64) uint64 { return max(minChunk, (bytes+8+align-1)&^(align-1)) }

// binOf returns the number of the bin for chunks of a size (bin_index).
func binOf(size uint64) int {
	switch {
	case size < largeChunk:
		return int(size >> 4)
	case size>>6 <= 48:
		return 48 + int(size>>6)
	case size>>9 <= 20:
		return 91 + int(size>>9)
	case size>>12 <= 10:
		return 110 + int(size>>12)
	case size>>15 <= 4:
		return 119 + int(size>>15)
	case size>>18 <= 2:
		return 124 + int(size>>18)
	}
	return 126
}

const bins = 127

// put puts a chunk into its bin: of equal ones, small bins give the oldest first, large
// bins have the first one stay in front.
func (h *Heap) put(c *chunk) {
	c.free = true
	b := binOf(c.size)
	list := h.bins[b] // the newest, or largest, first
	at := 0
	if c.size >= largeChunk {
		for at < len(list) && list[at].size > c.size {
			at++
		}
		if at < len(list) && list[at].size == c.size {
			at++
		}
	}
	h.bins[b] = slices.Insert(list, at, c)
}

// unlink takes a free chunk out of where it is.
func (h *Heap) unlink(c *chunk) {
	c.free = false
	for _, list := range []*[]*chunk{&h.bins[binOf(c.size)], &h.unsorted} {
		if i := slices.Index(*list, c); i >= 0 {
			*list = slices.Delete(*list, i, i+1)
			return
		}
	}
}

// unsort puts a chunk in front of those that were freed since the last search.
func (h *Heap) unsort(c *chunk) {
	c.free = true
	h.unsorted = slices.Insert(h.unsorted, 0, c)
}

// cached returns the number of the thread's cache for chunks of a size; false if there is
// none.
func cached(size uint64) (int, bool) {
	i := int((size - minChunk) / align)
	return i, i < cachedBins
}

// cache puts a chunk into the thread's cache, if there is room.
func (h *Heap) cache(c *chunk) bool {
	i, ok := cached(c.size)
	if !ok || len(h.caches[i]) >= cachedEach {
		return false
	}
	h.caches[i] = append(h.caches[i], c)
	return true
}

// fromCache takes the last chunk of a size from the thread's cache; nil if there is none.
func (h *Heap) fromCache(size uint64) *chunk {
	i, ok := cached(size)
	if !ok || len(h.caches[i]) == 0 {
		return nil
	}
	return pop(&h.caches[i])
}

func pop(list *[]*chunk) *chunk {
	last := len(*list) - 1
	c := (*list)[last]
	*list = (*list)[:last]
	return c
}
