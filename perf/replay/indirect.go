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
