package reuse

// past is the LRU stack at a point of a run, against which chunks are resolved.
// It is not fast for single accesses.
type past struct {
	layout
	table  table
	line   timeline
	blocks uint64 // distinct blocks touched

	entries []entry
	touched uint32 // keeps the loads that bring table entries near alive
}

func newPast(l layout, window int) past {
	return past{
		layout:  l,
		table:   newTable(l.blockBits()),
		line:    newTimeline(window, leafSize-1),
		entries: make([]entry, sieve),
	}
}

// join resolves the first touches of chunk, adds them to its counts, and puts
// its blocks, ordered by last access, on top.
func (p *past) join(chunk *stack, order []uint64) {
	n := uint32(0)
	for from := 0; from < len(chunk.firsts); from += sieve {
		firsts := chunk.firsts[from:min(from+sieve, len(chunk.firsts))]
		p.lookUp(firsts)
		for i, f := range firsts {
			if s := p.table.last[p.entries[i]]; s != 0 {
				chunk.counts.add(f.group, n+p.line.take(s))
			} else {
				chunk.counts.cold[f.group]++
				p.blocks++
			}
			n++
		}
	}
	for _, block := range order {
		e, _ := p.table.find(block) // a first touch made its leaf
		p.push(e)
	}
}

// lookUp finds the entries of all touches before any is used, so that the cache
// misses of the table overlap.
func (p *past) lookUp(touches []touch) {
	var touched uint32
	for i, f := range touches {
		p.entries[i] = p.entryOf(f.block)
		touched += p.table.last[p.entries[i]]
	}
	p.touched = touched
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
