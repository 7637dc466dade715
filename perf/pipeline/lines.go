package pipeline

import "math/bits"

// lines is the content of a cache or a TLB with exact LRU replacement. For each
// block it records when it arrived, or will arrive, and from where.
type lines struct {
	shift uint   // log2 of the block size
	sets  uint64 // number of sets
	mask  uint64 // sets-1 if that is the way to index them, else 0
	ways  uint64

	tags  []uint64 // block+1, or 0
	info  []line
	by    []*uint8 // of blocks ahead, with Memory.Prefetchers: the levels that the prefetch missed in and that no access has used, a bit each
	hints []uint32 // by the low bits of a block, a place where it may be
	clock uint64   // of accesses
}

type line struct {
	used uint64 // clock of its last access
	// ready is when an access that finds the block can proceed; asked when the
	// access that brought it in began.
	ready, asked int64
	from         uint8 // index of the level that it came from
	dirty        bool
	ahead        bool // prefetched, and not used since
}

const maxHints = 1 << 12

func newLines(blocks, bytes uint64, ways int) lines {
	w := uint64(ways)
	if w == 0 {
		w = blocks
	}
	l := lines{
		shift: uint(bits.TrailingZeros64(bytes)), sets: blocks / w, ways: w,
		tags: make([]uint64, blocks), info: make([]line, blocks),
	}
	if l.sets&(l.sets-1) == 0 {
		l.mask = l.sets - 1
	}
	hints := 16
	for uint64(hints) < 4*blocks && hints < maxHints {
		hints *= 2
	}
	l.hints = make([]uint32, hints)
	return l
}

func (l *lines) first(block uint64) uint64 {
	set := block & l.mask
	if l.mask == 0 && l.sets > 1 {
		set = block % l.sets
	}
	return set * l.ways
}

// find returns where block is, or -1.
func (l *lines) find(block uint64) int {
	hint := &l.hints[block&uint64(len(l.hints)-1)]
	if l.tags[*hint] == block+1 {
		return int(*hint)
	}
	from := l.first(block)
	for i, t := range l.tags[from : from+l.ways] {
		if t == block+1 {
			*hint = uint32(from) + uint32(i)
			return int(*hint)
		}
	}
	return -1
}

// touch makes the block at a place the most recently used of its set.
func (l *lines) touch(at int) {
	l.clock++
	l.info[at].used = l.clock
}

// replace brings block in, and returns its place and the tag and state of the evicted
// block; tag 0 if none was evicted.
func (l *lines) replace(block uint64) (at int, tag uint64, old line) {
	from := l.first(block)
	at = int(from)
	least := l.info[at].used
	for i := from; i < from+l.ways; i++ {
		if l.tags[i] == 0 {
			at = int(i)
			break
		}
		if u := l.info[i].used; u < least {
			at, least = int(i), u
		}
	}
	tag, old = l.tags[at], l.info[at]
	l.tags[at], l.info[at] = block+1, line{}
	if l.by != nil {
		l.by[at] = nil
	}
	l.hints[block&uint64(len(l.hints)-1)] = uint32(at)
	l.touch(at)
	return at, tag, old
}
