package reuse

// past is the LRU stack at a point of a run, against which chunks are resolved.
// It is not fast for single accesses.
type past struct {
	layout
	table  table
	line   timeline
	taker  taker
	blocks uint64 // distinct blocks touched

	entries   []entry
	distances []uint32
	touched   uint32 // keeps the loads that bring table entries near alive
}

func newPast(l layout, window int) *past {
	return &past{
		layout:    l,
		table:     newTable(l.blockBits()),
		line:      newTimeline(window, leafSize-1),
		entries:   make([]entry, sieve),
		distances: make([]uint32, sieve),
	}
}

// twins finds the leaves of the past's table for those of a worker's: a leaf once made
// stays.
type twins []uint32 // leaf of the worker's table → that of the past's

// extend adds the leaves that a worker's table has got.
func (w *twins) extend(p *past, of *table) {
	for leaf := len(*w); leaf < len(of.base); leaf++ {
		var e entry
		if leaf > 0 { // 0 is that of ghosts in both
			e = p.entryOf(of.base[leaf])
		}
		*w = append(*w, uint32(e>>leafBits))
	}
}

// of returns the past's entry for a worker's.
func (w twins) of(e entry) entry { return entry(w[e>>leafBits]<<leafBits) | e&(leafSize-1) }

// resolve takes a chunk's first touches from the stack, in order, and calls found with
// the distance of each, or never, and its entry here: some at a time, from the i-th on.
func (p *past) resolve(chunk *stack, w twins, found func(i int, entries []entry, distances []uint32)) {
	p.taker.on(&p.line)
	for from := 0; from < chunk.firsts.n; from += sieve {
		firsts := chunk.firsts.from(from)
		entries, distances := p.entries[:len(firsts)], p.distances[:len(firsts)]
		for i, f := range firsts {
			entries[i] = w.of(f.entry)
		}
		p.near(entries)
		for i, e := range entries {
			if s := p.table.last[e]; s != 0 {
				distances[i] = uint32(from+i) + p.taker.take(s)
			} else {
				distances[i] = never
				p.blocks++
			}
		}
		found(from, entries, distances)
	}
	p.taker.done()
}

// near looks up entries before any is used, so that the cache misses of the table
// overlap, and then those of the time line.
func (p *past) near(entries []entry) {
	var touched uint32
	for _, e := range entries {
		touched += p.table.last[e]
	}
	for _, e := range entries {
		touched += uint32(p.line.lines[p.table.last[e]>>lineBits][lineCount])
	}
	p.touched = touched
}

// stack puts the blocks of a chunk on top, ordered by last access.
func (p *past) stack(chunk *stack, w twins) {
	chunk.each(func(entries []entry) {
		for _, e := range entries {
			if e >= leafSize { // no ghost
				p.push(w.of(e))
			}
		}
	})
}

func (p *past) entryOf(block uint64) entry {
	e, ok := p.table.find(block)
	if !ok {
		e = p.table.add(block)
	}
	return e
}

func (p *past) push(e entry) {
	if p.line.full() {
		p.line.renumber(p.table.last)
	}
	p.table.last[e] = p.line.put(e)
}
