package replay

import "presage/perf/trace"

// unshown is the code of an executable of its own that the start of a run has not shown
// to be that of the others, as it may have been written otherwise: #if N > 100. A block
// is shown once the run was in it, in one calling context, and each index that its
// addresses depend on there has changed: if it still went where it was to go.
type unshown struct {
	block  []trace.BlockID // by place
	first  [][]int64       // by place: the iteration vector of the first execution
	lacks  []uint64        // by place: the coordinates that have not changed, as bits
	shown  map[trace.BlockID]bool
	counts map[trace.BlockID]bool // whether a noticeable part of the accesses is the block's
	matter int                    // blocks of which it is, that are not shown
}

// never marks a place that was not executed; iteration vectors are shorter.
const never = 1 << 63

func newUnshown(in *Instance) *unshown {
	n := len(in.places)
	u := &unshown{
		block: make([]trace.BlockID, n), first: make([][]int64, n), lacks: make([]uint64, n),
		shown: make(map[trace.BlockID]bool), counts: make(map[trace.BlockID]bool),
	}
	total := in.Accesses()
	for i := range in.places {
		p := &in.places[i]
		u.block[i], u.lacks[i] = p.block, never
		for j := range p.refs {
			u.lacks[i] |= p.refs[j].depends()
		}
		if share := float64(max(0, in.values[in.prog.Places[i].Counts].At)) * float64(len(p.refs)); share > minShare*total {
			u.counts[p.block] = true
		}
	}
	u.matter = len(u.counts)
	return u
}

// depends returns the coordinates that an address depends on, as bits.
func (ref *liveRef) depends() uint64 {
	set := uint64(0)
	for _, c := range ref.classes {
		for k, x := range c[1:] {
			switch {
			case x == 0:
			case ref.kind == triangular && k == len(c)-2:
				set |= ref.form.Triangle.coords()
			default:
				set |= 1 << k
			}
		}
	}
	for _, list := range ref.jumps {
		for _, j := range list {
			set |= 1 << j.coord
		}
	}
	if ref.kind == classed || ref.kind == wrapped {
		set |= ref.split.coords()
	}
	if ref.kind == wrapped && ref.form.Table > 0 {
		set |= 1 << (ref.form.Table - 1)
	}
	return set
}

// visit takes an execution of a place.
func (u *unshown) visit(place int32, v []int64) {
	lacks := u.lacks[place]
	if lacks == 0 {
		return
	}
	if lacks&never != 0 {
		u.first[place] = append([]int64(nil), v...)
	}
	lacks &^= never
	for k, x := range u.first[place] {
		if x != v[k] {
			lacks &^= 1 << k
		}
	}
	u.lacks[place] = lacks
	if id := u.block[place]; lacks == 0 && !u.shown[id] {
		if u.shown[id] = true; u.counts[id] {
			u.matter--
		}
	}
}

// shows returns what gives the doubts about places of a replay that the start of the run
// did not dispel.
func (u *unshown) shows(in *Instance, replayed *Outcome) func(i int) doubt {
	if u == nil {
		return func(int) doubt { return 0 }
	}
	if in.says == nil {
		return func(i int) doubt {
			if u.shown[u.block[i]] {
				return 0
			}
			return notShown
		}
	}
	p := newProofs(in, in.says)
	denied, unproved := p.since(denies, u.shown, replayed), p.since(silent, u.shown, replayed)
	return func(i int) doubt {
		after := func(since []uint64) bool {
			at := since[in.prog.Places[i].Context]
			return at > 0 && at < replayed.last[i]
		}
		switch {
		case u.shown[u.block[i]]:
			return 0
		case !p.addresses(i) || after(denied):
			return notShown
		case after(unproved):
			return notCounted
		}
		return 0
	}
}
