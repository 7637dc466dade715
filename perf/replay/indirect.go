package replay

import (
	"slices"

	"presage/perf/trace"
)

// An address that no function of the loops around it gives may be computed from a number in
// memory that was stored in other loops:
//
//	for (e = k = 0; k < n; k++)              for (e = 0; e < n·n; e++)
//	  for (j = 0; j < n; j++, e++)             for (i = 0; i < 4; i++)
//	    node[4·e] = k·(n+1) + j; …               f[node[4·e+i]] += …
//
// Which node it is depends on e in no way that an affine function, or one with jumps, could
// say: rows have an end, of which the loop over elements knows nothing. But it is affine in
// (k, j), the iteration vector at which the number was stored. So the collector keeps, of
// each word that an integer was stored in, which reference did so and at which vector, and
// looks for functions of the vectors of each writer. The number itself is never seen, and
// need not be: it is the only thing that both have in common.
//
// With that the lists that describe meshes and matrices are as good as loops, as long as the
// program computes them, and copies them word by word if at all. What else was read or
// drawn is irregular.

// maxWriters is the number of references that may store the numbers of one index.
const maxWriters = 64

// indirect is a load from which an address may follow, with what is known of the numbers
// that it loads, while a run is collected.
type indirect struct {
	place  *place
	ref    int
	shared int // coordinates of the vector that the load's place has, too
	by     []written
}

// written is a function of the vector at which a writer stored a number, and of the
// coordinates that are not shared with the load.
type written struct {
	writer int32
	affine affine
	bent   bool // it is not affine
	jumps  separable
	lost   bool   // nor a sum of functions with jumps
	counts affine // of how often places had been executed, in place of the vector
	other  bool   // nor that
}

// RunIndirect is how the addresses of a reference follow from numbers that another loads.
type RunIndirect struct {
	Load    RunAt
	Shared  int
	Writers []RunWritten
}

// RunAt is a reference of a run: of a place, by its index; and which of the words that it stores.
type RunAt struct{ Place, Ref, Word int }

// RunWritten is the function for the numbers that a reference stored: an affine one, and its
// jumps.
type RunWritten struct {
	By       RunAt
	Function RunAffine
	Jumps    []RunJump
	Counts   bool // of how often places had been executed, in place of the vector: see storing
}

// writer is a reference of a place.
type writer struct {
	place    *place
	ref      int
	word     int      // of the two that it may store at once
	counters []*place // nil for what has not been executed yet
}

func (w *writer) at() RunAt { return RunAt{w.place.index, w.ref, w.word} }

// memory follows where numbers come from, in a run that is collected.
type memory struct {
	sources map[trace.RefID]bool // loads of which addresses are computed
	cells   *cells
	writers []writer

	vector, counts []int64
}

// findSources decides whether it is followed where numbers come from: if there are irregular
// references whose addresses are computed from loads.
func (c *Collector) findSources() {
	sources := make(map[trace.RefID]bool)
	add := func(loads []indexLoad) {
		for _, l := range loads {
			sources[c.code.blocks[l.block].firstRef+trace.RefID(l.ref)] = true
		}
	}
	for ref := range c.hints.Refs {
		if id, j := c.code.blockOf(ref); id != noBlock {
			add(c.code.indexLoads(id, j))
		}
	}
	for id := range c.hints.Branches {
		add(c.code.comparedLoads(id))
	}
	if len(sources) > 0 {
		c.memory = &memory{cells: newCells(), sources: sources}
	}
}

// prepare finds out what a place has to do with numbers in memory.
func (c *Collector) prepare(p *place) {
	p.storings = c.code.storings(p.block)
	if c.hints.Branches[p.block] && p.depth > 0 && c.code.blocks[p.block].exit == plain {
		p.numbers = c.numbers(p)
	}
	first := c.code.blocks[p.block].firstRef
	for j := range p.refs {
		if c.hints.Refs[first+trace.RefID(j)] && p.depth > 0 {
			p.refs[j].indirects = c.indirects(p, j)
		}
		p.remembers = p.remembers || p.storings[j].writes || len(p.refs[j].indirects) > 0 || c.memory.sources[first+trace.RefID(j)]
	}
}

// indirects returns the candidates of a reference: loads in the same context that were
// executed before.
func (c *Collector) indirects(p *place, j int) []indirect {
	var list []indirect
	for _, l := range c.code.indexLoads(p.block, j) {
		of := p
		if l.block != p.block {
			i, been := c.known[placeKey{p.context, l.block}]
			if !been {
				continue
			}
			of = c.places[i]
		} else if l.ref >= j {
			continue
		}
		shared := int(c.walk.within(p.placeKey, &c.code.blocks[l.block]).keep)
		list = append(list, indirect{place: of, ref: l.ref, shared: shared})
	}
	return list
}

// remember takes an access of reference i of a place: of addresses that may follow from
// numbers in memory, and of such numbers.
func (c *Collector) remember(p *place, i int, addr uint64) {
	m, r := c.memory, &p.refs[i]
	r.at = addr
	kept := 0
	for k := range r.indirects {
		if m.add(&r.indirects[k], c.vector, addr) {
			if kept < k {
				r.indirects[kept] = r.indirects[k]
			}
			kept++
		}
	}
	r.indirects = r.indirects[:kept]
	s := p.storings[i]
	if !s.writes || s.copies && m.cells.copy(addr, p.refs[s.from].at, c.code.Plan.Refs[int(c.code.blocks[p.block].firstRef)+i].Size) {
		return
	}
	words := int32(s.words)
	if r.writer == 0 {
		r.writer = int32(len(m.writers) + 1)
		for k := range words {
			m.writers = append(m.writers, writer{p, i, int(k), make([]*place, len(s.counters))})
		}
	}
	counts := c.countsOf(&m.writers[r.writer-1], s.counters)
	for k := range words {
		m.cells.set(addr+uint64(k)*wordBytes, r.writer+k, c.vector, counts)
	}
}

// countsOf returns how often the counters of a writer have been executed.
func (c *Collector) countsOf(w *writer, blocks []trace.BlockID) []int64 {
	m := c.memory
	m.counts = m.counts[:0]
	for k, p := range w.counters {
		if p == nil {
			i, been := c.known[placeKey{w.place.context, blocks[k]}]
			if !been {
				m.counts = append(m.counts, 0)
				continue
			}
			p = c.places[i]
			w.counters[k] = p
		}
		m.counts = append(m.counts, int64(p.count))
	}
	return m.counts
}

// add takes an address. It returns false if it does not follow from the number.
func (m *memory) add(x *indirect, v []int64, addr uint64) bool {
	by, w := m.cells.of(x.place.refs[x.ref].at, m.vector[:0])
	m.vector = w
	if by == 0 {
		return false
	}
	k := slices.IndexFunc(x.by, func(f written) bool { return f.writer == by })
	if k < 0 {
		if k = len(x.by); k == maxWriters {
			return false
		}
		x.by = append(x.by, written{writer: by})
	}
	m.vector = append(w, v[x.shared:]...)
	return x.by[k].add(m.vector, m.writers[by-1].place.depth, len(w), int64(addr))
}

// add takes a point: a vector of a depth, counts up to an index, and further coordinates. It
// returns false if no function goes through all.
func (f *written) add(w []int64, depth, counted int, y int64) bool {
	if !f.other {
		f.other = !f.counts.add(w[depth:], y)
	}
	if f.bent && f.lost {
		return !f.other
	}
	if counted > depth {
		w = slices.Delete(w, depth, counted)
	}
	f.bent = f.bent || !f.affine.add(w, y)
	f.lost = f.lost || !f.jumps.add(w, y)
	return !f.bent || !f.lost || !f.other
}

// keepIndirects puts what numbers in memory say about an irregular reference into what is kept
// of it.
func (r *reference) keepIndirects(m *memory, out *RunRef) {
	for i := range r.indirects {
		x := &r.indirects[i]
		list := make([]RunWritten, 0, len(x.by))
		for k := range x.by {
			if w := x.by[k].result(m); w != nil {
				list = append(list, *w)
			}
		}
		if len(list) == len(x.by) && len(list) > 0 {
			out.Indirects = append(out.Indirects, RunIndirect{Load: RunAt{Place: x.place.index, Ref: x.ref}, Shared: x.shared, Writers: list})
		}
	}
}

func (f *written) result(m *memory) *RunWritten {
	w := m.writers[f.writer-1]
	out := &RunWritten{By: w.at()}
	if !f.bent && !f.affine.coarse {
		out.Function = f.affine.result()
		return out
	}
	if !f.lost && len(f.jumps.pending) == 0 {
		var ok bool
		if out.Function, out.Jumps, ok = f.jumps.result(); ok {
			return out
		}
	}
	if f.other || f.counts.coarse {
		return nil
	}
	out.Function, out.Jumps, out.Counts = f.counts.result(), nil, true
	return out
}

// executeTracked is execute for a place that has to do with numbers of which addresses are
// computed.
func (r *player) executeTracked(cur int32, v []int64) {
	p := &r.places[cur]
	at := len(r.batch.Accesses)
	p.count++
	for i := range p.refs {
		ref := &p.refs[i]
		addr, ok := uint64(0), true
		if ref.kind == irregular {
			addr = r.draw(ref, v, r.batch.Accesses[at:])
		} else if addr, ok = r.address(ref, v); !ok {
			r.doubts[cur] |= unstored
			addr = r.anywhere(ref)
		}
		addr &= trace.AddrLimit - 1
		r.batch.Accesses = append(r.batch.Accesses, ref.tag|trace.Access(addr))
		r.track(p, i, addr, v)
	}
	r.batch.Blocks = append(r.batch.Blocks, p.block)
}

// address returns the address of a reference, which is not irregular; false if it follows from
// a number of which it is not known where it was stored.
func (in *Instance) address(ref *liveRef, v []int64) (uint64, bool) {
	if ref.kind == followed {
		return in.follow(ref, v)
	}
	return ref.address(v), true
}

// track keeps in mind what an access of reference i of a place says about where numbers come
// from.
func (in *Instance) track(p *livePlace, i int, addr uint64, v []int64) {
	r := &p.refs[i]
	r.at = addr
	if r.copies && in.cells.copy(addr, p.refs[r.from].at, uint8(r.size)) {
		return
	}
	for k, w := range r.writers {
		switch at := addr + uint64(k)*wordBytes; {
		case w > 0:
			in.cells.set(at, w, v, in.countsOf(w))
		case r.copies || r.clears:
			in.cells.clear(at)
		}
	}
}

// forget says that code that is not known has accessed memory.
func (in *Instance) forget(accesses []trace.Access) {
	if in.cells == nil {
		return
	}
	for _, a := range accesses {
		if ref := &in.code.Plan.Refs[a.Ref()]; ref.Kind.Writes() {
			for k := uint64(0); k < uint64(ref.Size); k += wordBytes {
				in.cells.clear(a.Addr() + k)
			}
		}
	}
}

// countsOf returns how often the counters of a writer have been executed.
func (in *Instance) countsOf(writer int32) []int64 {
	in.counts = in.counts[:0]
	for _, p := range in.counters[writer-1] {
		n := int64(0)
		if p >= 0 {
			n = in.places[p].count
		}
		in.counts = append(in.counts, n)
	}
	return in.counts
}

// follow returns the address that follows from the number that was loaded last; false if it is
// not known where it was stored.
func (in *Instance) follow(r *liveRef, v []int64) (uint64, bool) {
	x := r.indirect
	by, w := in.cells.of(in.places[x.place].refs[x.ref].at, in.scratch[:0])
	if by == 0 || x.class[by] < 0 {
		return 0, false
	}
	c := x.class[by]
	counted := len(w)
	w = append(w, v[x.shared:]...)
	in.scratch = w
	if depth := in.prog.Places[in.prog.Writers[by-1].Place].Depth; x.counts[c] {
		w = w[depth:]
	} else if counted > depth {
		w = slices.Delete(w, depth, counted)
	}
	if len(r.classes[c]) > len(w)+1 { // what is stored of a run is not what it should be
		return 0, false
	}
	sum := valueOf(r.classes[c], w)
	for _, j := range r.jumps[c] {
		if w[j.coord] >= j.from {
			sum += j.by
		}
	}
	return uint64(sum) / scale, true
}

// liveIndirect is an Indirect at a size.
type liveIndirect struct {
	place, ref, shared int
	class              []int // by writer of the Program, from 1: of liveRef.classes; -1: none
	counts             []bool
}

func (in *Instance) buildIndirect(ref *Ref) *liveIndirect {
	x := &liveIndirect{place: int(ref.Indirect.Load.Place), ref: ref.Indirect.Load.Ref, shared: ref.Indirect.Shared, counts: ref.Indirect.Counts}
	x.class = slices.Repeat([]int{-1}, len(in.prog.Writers)+1)
	for k, w := range ref.Indirect.Writers {
		x.class[w+1] = k
	}
	return x
}

// buildTracks finds the places that have to do with numbers of which addresses are computed.
func (in *Instance) buildTracks() {
	if len(in.prog.Writers) == 0 {
		return
	}
	in.cells, in.counters = newCells(), nil
	counted := in.counted()
	for k, w := range in.prog.Writers {
		in.places[w.Place].refs[w.Ref].writers[w.Word] = int32(k + 1)
		in.places[w.Place].track()
		var counters []int32
		if counted[k] {
			counters = in.countersOf(w)
		}
		in.counters = append(in.counters, counters)
	}
	for i := range in.places {
		p := &in.places[i]
		if p.numbers != nil {
			for _, l := range p.numbers.loads {
				in.places[l.Place].track()
			}
		}
		for j, s := range in.code.storings(p.block) {
			if s.writes && !s.copies {
				p.refs[j].clears = true
				p.track()
			}
			if s.copies {
				p.refs[j].copies, p.refs[j].from = true, s.from
				p.track()
			}
		}
		for j := range p.refs {
			if x := p.refs[j].indirect; x != nil {
				p.track()
				in.places[x.place].track()
			}
		}
	}
}

// counted reports, by writer of the Program, whether something is a function of how often its
// counters have been executed.
func (in *Instance) counted() []bool {
	out := make([]bool, len(in.prog.Writers))
	for i := range in.prog.Places {
		p := &in.prog.Places[i]
		for j := range p.Refs {
			if x := p.Refs[j].Indirect; x != nil {
				for k, w := range x.Writers {
					out[w] = out[w] || x.Counts[k]
				}
			}
		}
		if p.Numbers != nil {
			for _, e := range p.Numbers.Endings {
				for _, w := range e.By {
					out[w] = true
				}
			}
		}
	}
	return out
}

// countersOf returns the places of which one may count what a writer stores, -1 for such as were
// executed in no run.
func (in *Instance) countersOf(w PlaceRef) (places []int32) {
	p := &in.prog.Places[w.Place]
	for _, id := range in.code.storings(p.Block)[w.Ref].counters {
		k := slices.IndexFunc(in.prog.Places, func(o Place) bool { return o.Context == p.Context && o.Block == id })
		if k >= 0 {
			in.places[k].track()
		}
		places = append(places, int32(k))
	}
	return places
}

// track has a place executed step by step.
func (p *livePlace) track() { p.tracks, p.spins = true, false }
