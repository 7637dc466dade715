package cache

// Request is an access of a level as a prefetcher sees it.
type Request struct {
	Block    uint64 // of the level
	Addr     uint64 // the first byte that is wanted
	Fresh    bool   // the block is not held, or was prefetched and not asked for before
	Whole    bool   // Addr is that of the instruction, or of a whole block
	Prefetch bool   // it was itself made by a prefetcher above
	Of       uint32 // the reference, a trace.RefID, that is answered
}

// PrefetchUnit is a prefetcher at work.
type PrefetchUnit struct {
	Prefetcher
	known []known
	clock uint64
}

// known is an instruction or a page that a prefetcher knows.
type known struct {
	of   uint64 // reference, or page
	last uint64 // address, or block
	step int64  // between the last two
	seen int    // how often in a row
	ends uint64 // of Stream: the block farthest ahead that was fetched
	used uint64 // clock
}

// NewPrefetchUnit returns one that has seen nothing. The description must have passed
// Config.Check.
func NewPrefetchUnit(p Prefetcher) *PrefetchUnit {
	one := Prefetching{Prefetchers: []Prefetcher{p}}
	one = one.clone()
	return &PrefetchUnit{Prefetcher: one.Prefetchers[0]}
}

// Answer calls fetch with an address of each block that a request of the level whose
// accesses it sees makes it want. shift and into are the binary logarithms of the block
// sizes of that level and of the one that it fetches into. Only a Stream follows what
// other prefetchers ask.
func (u *PrefetchUnit) Answer(r Request, shift, into uint, fetch func(addr uint64)) {
	if r.Prefetch && u.Kind != Stream {
		return
	}
	inPage := func(addr uint64) {
		if addr&^(u.PageBytes-1) == r.Addr&^(u.PageBytes-1) {
			fetch(addr)
		}
	}
	switch u.Kind {
	case NextLine:
		if r.Fresh {
			for k := range u.Degree {
				inPage((r.Block + uint64(u.Distance+k)) << shift)
			}
		}
	case Pair:
		if r.Fresh {
			inPage((r.Block ^ 1) << shift)
		}
	case Stride:
		if r.Whole {
			u.stride(r, into, inPage)
		}
	case Stream:
		if r.Fresh {
			u.stream(r, shift, inPage)
		}
	}
}

func (u *PrefetchUnit) stride(r Request, into uint, fetch func(addr uint64)) {
	k, ok := u.find(uint64(r.Of))
	if !ok {
		*k = known{of: k.of, last: r.Addr, used: k.used}
		return
	}
	step := int64(r.Addr - k.last)
	k.last = r.Addr
	if step == 0 {
		return
	}
	k.count(step)
	if k.seen < u.Confidence || u.MaxStride > 0 && magnitude(step) > u.MaxStride {
		return
	}
	if block := int64(1) << into; magnitude(step) < uint64(block) {
		if step < 0 {
			block = -block
		}
		step = block
	}
	for i := range u.Degree {
		fetch(r.Addr + uint64(step*int64(u.Distance+i)))
	}
}

func (u *PrefetchUnit) stream(r Request, shift uint, fetch func(addr uint64)) {
	k, ok := u.find(r.Block << shift / u.PageBytes)
	if !ok {
		*k = known{of: k.of, last: r.Block, used: k.used}
		return
	}
	step := int64(1)
	switch {
	case r.Block == k.last:
		return
	case r.Block < k.last:
		step = -1
	}
	k.last = r.Block
	if k.step != step {
		k.ends = r.Block
	}
	k.count(step)
	if k.seen < u.Confidence {
		return
	}
	ahead := max(0, int64(k.ends-r.Block)*step) // how far it has fetched
	for i := 0; i < u.Degree && ahead < int64(u.Distance); i++ {
		ahead++
		k.ends = r.Block + uint64(ahead*step)
		fetch(k.ends << shift)
	}
}

func (k *known) count(step int64) {
	if step != k.step {
		k.step, k.seen = step, 0
	}
	k.seen = min(k.seen+1, maxPrefetch)
}

func magnitude(step int64) uint64 {
	if step < 0 {
		return uint64(-step)
	}
	return uint64(step)
}

// find returns what is known of something, or the place of what was not seen for
// longest, for it, and whether it was known.
func (u *PrefetchUnit) find(of uint64) (k *known, ok bool) {
	u.clock++
	oldest := 0
	for i := range u.known {
		if u.known[i].of == of {
			u.known[i].used = u.clock
			return &u.known[i], true
		}
		if u.known[i].used < u.known[oldest].used {
			oldest = i
		}
	}
	if len(u.known) < u.Entries {
		oldest = len(u.known)
		u.known = append(u.known, known{})
	}
	u.known[oldest].of, u.known[oldest].used = of, u.clock
	return &u.known[oldest], false
}
