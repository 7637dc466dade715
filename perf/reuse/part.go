package reuse

import "presage/perf/trace"

// chunks is a way to analyse a run in chunks.
type chunks interface {
	// part returns what a worker needs.
	part() part
	// fill makes c a copy of the next batch of the run, at which a chunk begins or not.
	fill(c *parcel, b *trace.Batch, begins bool)
	// begins reports whether a chunk may begin with c, though fill was not told so.
	begins(c *parcel) bool
	// takesRuns reports whether fill takes runs as they are.
	takesRuns() bool
	// result returns the sum of all workers' results.
	result(parts []part) *Result
}

// part analyses chunks of a run, one at a time.
type part interface {
	observe(c *parcel) // the next batch of the chunk
	// join resolves what depends on earlier chunks, which all are resolved. The chunk
	// has ended.
	join()
	// clear prepares for another chunk. Counts stay.
	clear()
	// bytes returns the memory of tables.
	bytes() uint64
	// shrink gives the memory of tables back. The part was cleared.
	shrink()
}

// stackChunks are chunks of distances by group.
type stackChunks struct {
	layout
	past   *past
	window int
}

func (s *stackChunks) part() part { return newStackPart(s.layout, s.past, s.window) }

func (s *stackChunks) fill(c *parcel, b *trace.Batch, _ bool) {
	d := &c.batch
	d.Reset()
	d.Accesses = append(d.Accesses, b.Accesses...)
	d.Runs = append(d.Runs, b.Runs...)
	d.Strides = append(d.Strides, b.Strides...)
	for i := range d.Runs {
		d.Runs[i].Blocks, d.Runs[i].Body = 0, 0
	}
	c.count()
}

func (s *stackChunks) begins(*parcel) bool { return true }

func (s *stackChunks) takesRuns() bool { return true }

func (s *stackChunks) result(parts []part) *Result {
	r := &Result{Groups: make([]Histogram, s.groups), Blocks: s.past.blocks}
	for _, p := range parts {
		o := p.(*stackPart).result()
		r.Accesses += o.Accesses
		for g := range r.Groups {
			r.Groups[g] = r.Groups[g].merge(&o.Groups[g])
		}
	}
	return r
}

// stackPart finds distances by group, as stack does.
type stackPart struct {
	*stack
	past   *past
	twins  twins
	window int
}

func newStackPart(l layout, p *past, window int) *stackPart {
	s := &stackPart{stack: newStack(l, window), past: p, window: window}
	s.chunk = true
	return s
}

func (s *stackPart) observe(c *parcel) { s.stack.observe(&c.batch) }

func (s *stackPart) join() {
	s.twins.extend(s.past, &s.table)
	firsts, counts := s.firsts, &s.counts
	s.past.resolve(s.stack, s.twins, func(i int, _ entry, d uint32) {
		if d == never {
			counts.cold[firsts[i].group]++
		} else {
			counts.add(firsts[i].group, d)
		}
	})
	s.past.stack(s.stack, s.twins)
}

func (s *stackPart) shrink() {
	s.table, s.line = newTable(s.blockBits()), newTimeline(s.window, leafSize-1)
	s.firsts, s.twins = nil, nil
	s.clear()
}

// parcel is a batch that waits for a worker.
type parcel struct {
	batch trace.Batch
	bytes int
	ahead ahead // of the batch, for carriers
}

// count sets bytes to what the batch takes.
func (c *parcel) count() {
	d := &c.batch
	c.bytes = 8*len(d.Accesses) + 4*(len(d.Blocks)+len(d.Counts)) + 20*len(d.Runs) + 16*len(d.Strides)
}
