package reuse

import "presage/perf/trace"

// chunks is a way to analyse a run in chunks.
type chunks interface {
	// part returns what a worker needs.
	part() part
	// copy makes dst a copy of what workers need of a batch.
	copy(dst, b *trace.Batch)
	// prepare adds to c, which has the next batch of the run, what a worker must know
	// before it. With that batch a chunk begins or not.
	prepare(c *parcel, changes []trace.Change, begins bool)
	// begins reports whether a chunk may begin with c, though prepare was not told so.
	begins(c *parcel) bool
	// takesRuns reports whether workers take runs as they are.
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

func (s *stackChunks) copy(dst, b *trace.Batch) {
	dst.Reset()
	dst.Accesses = append(dst.Accesses, b.Accesses...)
	dst.Runs = append(dst.Runs, b.Runs...)
	dst.Strides = append(dst.Strides, b.Strides...)
	for i := range dst.Runs {
		dst.Runs[i].Blocks, dst.Runs[i].Body = 0, 0
	}
}

func (s *stackChunks) prepare(*parcel, []trace.Change, bool) {}

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
	s.past.resolve(s.stack, s.twins, func(from int, _ []entry, distances []uint32) {
		for i, f := range s.firsts.from(from) {
			if d := distances[i]; d == never {
				s.counts.cold[f.group]++
			} else {
				s.counts.add(f.group, d)
			}
		}
	})
	s.past.stack(s.stack, s.twins)
}

func (s *stackPart) shrink() {
	s.table, s.line = newTable(s.blockBits()), newTimeline(s.window, leafSize-1)
	s.firsts, s.twins = touches{}, nil
	s.forgetLeaves()
	s.clear()
}
