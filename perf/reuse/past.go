package reuse

// past is the LRU stack at a point of a run, against which chunks are resolved.
// It is not fast for single accesses.
type past struct {
	layout
	table  table
	line   timeline
	taker  taker
	blocks uint64 // distinct blocks touched

	entries []entry
	touched uint32 // keeps the loads that bring table entries near alive
}

func newPast(l layout, window int) *past {
	return &past{
		layout:  l,
		table:   newTable(l.blockBits()),
		line:    newTimeline(window, leafSize-1),
		entries: make([]entry, sieve),
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

// resolve takes a chunk's first touches from the stack, in order, and calls found for
// each with its distance, or never.
func (p *past) resolve(chunk *stack, w twins, found func(i int, e entry, d uint32)) {
	p.taker.on(&p.line)
	n := uint32(0)
	for from := 0; from < len(chunk.firsts); from += sieve {
		firsts := chunk.firsts[from:min(from+sieve, len(chunk.firsts))]
		for i, f := range firsts {
			p.entries[i] = w.of(f.entry)
		}
		p.near(len(firsts))
		for i := range firsts {
			e := p.entries[i]
			d := uint32(never)
			if s := p.table.last[e]; s != 0 {
				d = n + p.taker.take(s)
			} else {
				p.blocks++
			}
			found(from+i, e, d)
			n++
		}
	}
	p.taker.done()
}

// near looks up the first n entries before any is used, so that the cache misses of the
// table overlap, and then those of the time line.
func (p *past) near(n int) {
	var touched uint32
	for _, e := range p.entries[:n] {
		touched += p.table.last[e]
	}
	for _, e := range p.entries[:n] {
		touched += uint32(p.line.lines[p.table.last[e]>>lineBits][lineCount])
	}
	p.touched = touched
}

// stack puts the blocks of a chunk on top, ordered by last access.
func (p *past) stack(chunk *stack, w twins) {
	chunk.each(func(e entry) { p.push(w.of(e)) })
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
