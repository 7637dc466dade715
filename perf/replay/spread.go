package replay

import (
	"math"
	"slices"

	"presage/perf/trace"
)

// judgement is what is certain about each place in the light of a replay.
type judgement struct {
	*Instance
	replayed *Outcome
	doubts   []doubt // by place

	// Branches in doubt whose ways runs have tried: they decide about a region,
	// and what comes after it is as certain as it was.
	confined map[int32]region
	never    []neverRef // what could have been done on ways that no run went, and that only they lead to
	loose    []int32    // other places after which nothing is certain
	seldom   uint64     // when a confined branch was first executed of which some way was gone in few runs; 0: before the replay

	index map[placeKey]int32 // see placeOf
}

// judge returns the doubts about each place, with those that others bring.
func (in *Instance) judge(start *Follower, replayed *Outcome) *judgement {
	var real *Outcome
	var hidden *unshown
	if start != nil {
		real, hidden = &start.Real, start.unshown
	}
	j := &judgement{Instance: in, replayed: replayed, doubts: make([]doubt, len(in.prog.Places)), confined: make(map[int32]region), seldom: math.MaxUint64}
	main := uint64(0) // when main is called, in a replay from the start on
	if real == nil {
		main = in.mainAt(replayed)
	}
	shows := hidden.shows(in, replayed)
	for i := range j.doubts {
		d := in.doubts[i]
		if replayed.Visits[i] > 0 {
			d |= in.doubtsAt(i, real, replayed) | shows(i)
			if replayed.last[i] < main {
				if d &^= untested | allocates; d&aboutControl == 0 {
					d &^= control
				}
			}
		}
		if in.code.links(in.prog.Places[i].Block) {
			d &^= untested | control
		}
		j.doubts[i] = d
	}
	j.confine(real)
	j.spread()
	j.spreadAllocation(main)
	j.spreadAsked()
	j.spreadStored()
	return j
}

// aboutControl are the doubts with which control may stand.
const aboutControl = drawnBranch | fewSizes | failsTraining | failsHeldOut | otherBranch | otherCount | otherClass | untested | allocates | otherWays | fewBounds | overlap

// triedRuns is the least number of runs that must have gone each way from a branch for
// what comes after its region to be certain without further ado: as many as determine
// a constant with sizes to spare.
const triedRuns = spareSizes + 1

// confinable are the doubts about where control goes on that say nothing about what
// comes after the region of a branch.
const confinable = drawnAddress | drawnBranch | fewSizes | otherBranch | otherWays | fewBounds | failsTraining | failsHeldOut | otherAddress | lostBase | otherCount | decided | control

// confine finds the branches in doubt that decide about a region alone, and
// the other places that bring doubts about what follows. real is what the run at the size had
// before; nil: nothing is known of it.
func (j *judgement) confine(real *Outcome) {
	find := newRegions(j.prog, j.code)
	var others []int32
	decides := make([]bool, len(j.doubts))
	for i, d := range j.doubts {
		switch {
		case d&control == 0 || j.replayed.Visits[i] == 0:
		case d&untested != 0 && d&^(confinable|untested) == 0 && j.setAside(int32(i), decides):
		case d&^confinable == 0 && j.tried(i) > 0:
			r := find.of(int32(i))
			j.confined[int32(i)] = r
			switch {
			case j.tried(i) >= triedRuns:
			case real != nil && real.Visits[i] > 0:
				j.seldom = 0
			default:
				j.seldom = min(j.seldom, j.replayed.first[i])
			}
			for _, k := range r.places {
				decides[k] = true
			}
		default:
			others = append(others, int32(i))
		}
	}
	for _, i := range others {
		// What is executed as data decide is not executed as often as expected; where
		// it cannot go on in several ways, that has no other effect.
		if decides[i] && j.doubts[i]&^confinable == 0 && !j.prog.Places[i].Forks {
			continue
		}
		j.loose = append(j.loose, i)
	}
	for k, d := range decides {
		if d {
			j.doubts[k] |= decided
		}
		// The runs that went a way that is seldom gone may not be of the class of what comes then.
		if j.replayed.last[k] > j.seldom && j.places[k].classes {
			j.doubts[k] |= follows
		}
	}
}

// tried returns how many runs went each way from a place, at least, from which control
// went on in several ways within one run; 0 if each run went one way alone, for then
// the size may decide, or if a way ends the program.
func (j *judgement) tried(i int) int {
	p := &j.prog.Places[i]
	least := p.Mixed
	for _, n := range p.Next {
		if n.To < 0 {
			return 0
		}
		least = min(least, n.Runs)
	}
	return least
}

// spread adds the doubts about what comes after places in doubt, in the same call of
// a routine.
func (j *judgement) spread() {
	in, replayed := j.Instance, j.replayed
	since := make([]uint64, len(in.prog.Contexts)) // the first of them, of each context
	for _, i := range j.loose {
		if c := in.prog.Places[i].Context; since[c] == 0 || replayed.first[i] < since[c] {
			since[c] = replayed.first[i]
		}
	}
	for i := 1; i < len(since); i++ { // what a routine calls follows, too
		if in.mains[int32(i)] { // the library's start is the same at all sizes, as far as runs were
			continue
		}
		if s := since[in.prog.Contexts[i].Parent]; s > 0 && (since[i] == 0 || s < since[i]) {
			since[i] = s
		}
	}
	for i := range j.doubts {
		if s := since[in.prog.Places[i].Context]; s > 0 && replayed.last[i] > s {
			j.doubts[i] |= follows
		}
	}
}

// spreadAllocation adds the doubts about data that may have been allocated in the
// replay, after main was called.
func (j *judgement) spreadAllocation(main uint64) {
	allocated := j.firstAllocation(j.replayed, main)
	if allocated == 0 || j.heap != nil {
		return
	}
	for i := range j.doubts {
		p := &j.prog.Places[i]
		if j.replayed.last[i] > allocated && slices.ContainsFunc(p.Refs, func(r Ref) bool { return j.movable(r.Base) }) {
			j.doubts[i] |= allocates
		}
	}
}

// movable reports whether it may not be where it was taken to be, if it has been allocated since a
// replay began. Go's large objects were allocated before, if it is known where they lie.
func (j *judgement) movable(base int32) bool {
	b := &j.prog.Bases[base]
	return b.Kind == Data && !(j.code.anchors && len(b.Anchors) > 0)
}

// uncertainBlocks returns the blocks that control may come to from places in doubt.
func (j *judgement) uncertainBlocks() map[trace.BlockID]bool {
	all := make(map[trace.BlockID]bool)
	for _, i := range j.loose {
		j.code.reach(all, j.prog.Places[i].Block, noBlock)
	}
	find := newRegions(j.prog, j.code)
	for i, r := range j.confined {
		seen := make(map[trace.BlockID]bool)
		j.code.reach(seen, j.prog.Places[i].Block, find.meetBlock(r))
		for id := range seen {
			all[id] = true
		}
	}
	return all
}

// reach adds to seen the blocks that control may come to from a block, by the code,
// without going through another, stop.
func (c *Code) reach(seen map[trace.BlockID]bool, from, stop trace.BlockID) {
	var todo []trace.BlockID
	visit := func(pc uint64) {
		id := c.blockAt(pc)
		if id == noBlock || id == stop || seen[id] || c.blocks[id].index == 0 && c.routine(id) == "main" {
			return
		}
		seen[id] = true
		todo = append(todo, id)
	}
	after := func(id trace.BlockID) {
		b := &c.blocks[id]
		r := c.graph.Routines[b.routine]
		for _, e := range r.Blocks[b.index].Succs {
			visit(r.Blocks[r.Edges[e].To].PC())
		}
		if last := r.Blocks[b.index].Last(); last.HasTarget {
			visit(last.Target)
		}
	}
	for after(from); len(todo) > 0; {
		id := todo[0]
		todo = todo[1:]
		after(id)
	}
}
