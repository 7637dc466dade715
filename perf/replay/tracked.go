package replay

import (
	"slices"

	"presage/perf/trace"
)

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
		case (r.copies || r.clears) && p.exact && p.sureBranch: // elsewhere the address is a guess
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
