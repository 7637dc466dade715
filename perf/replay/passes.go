package replay

import "presage/perf/cfg"

// passesLoop reports whether block to, to which control never went on from a place,
// is where it would go if there was nothing to do in a loop that all runs entered
// there. That does not happen at larger sizes, if, as far as the condition
// shows, it is not one that larger sizes fail.
func (w *ways) passesLoop(place int32, to int) bool {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	if len(p.Next) != 1 || p.Next[0].To < 0 || w.upperBound(r, b.index, w.code.Plan.Blocks[p.Next[0].Block].PC) {
		return false
	}
	loop := w.enters(p.Next[0].To, p.Context, b.index, r)
	if loop < 0 {
		return false
	}
	// What could be executed instead, as far as no run has been there.
	todo, seen := []int{to}, map[int]bool{to: true}
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		id := w.code.blockAt(r.Blocks[at].PC())
		if id == noBlock || r.Contains(loop, at) {
			return false
		}
		if there, ok := w.at[placeKey{p.Context, id}]; ok {
			if there != place && w.enters(there, p.Context, b.index, r) == loop {
				return false
			}
			continue
		}
		if l := r.Blocks[at].Loop; w.code.blocks[id].exit == calls || r.Blocks[at].Exit == cfg.TailJump || w.code.blocks[id].refs > 0 && l >= 0 && !r.Contains(l, b.index) {
			return false
		}
		for _, e := range r.Blocks[at].Succs {
			if next := r.Edges[e].To; !seen[next] {
				seen[next] = true
				todo = append(todo, next)
			}
		}
	}
	return true
}

// enters returns the loop of routine r, not around block from, that control comes to
// from a place by all ways that runs went, such as those that choose the lesser of two
// bounds, in the same context and without going through from; -1 if there is none.
func (w *ways) enters(place, context int32, from int, r *cfg.Routine) int {
	loop := -1
	todo, seen := []int32{place}, map[int32]bool{place: true}
	for len(todo) > 0 {
		p := &w.prog.Places[todo[0]]
		todo = todo[1:]
		b := &w.code.blocks[p.Block]
		if p.Context != context || w.code.graph.Routines[b.routine] != r || b.index == from {
			return -1
		}
		if l := r.Blocks[b.index].Loop; l >= 0 && r.Loops[l].Header == b.index && !r.Contains(l, from) {
			if loop >= 0 && l != loop {
				return -1
			}
			loop = l
			continue
		}
		if len(p.Next) == 0 {
			return -1
		}
		for _, n := range p.Next {
			if n.To < 0 {
				return -1
			}
			if !seen[n.To] {
				seen[n.To] = true
				todo = append(todo, n.To)
			}
		}
	}
	return loop
}

// passesLoops reports whether block to, to which control never went on from a place, is
// where it comes to in any case, after one of several loops, of which every run entered
// some. As with passesLoop, going there at once is what happens when there is nothing to
// do, and not at larger sizes.
func (w *ways) passesLoops(place int32, to int) bool {
	p := &w.prog.Places[place]
	b := &w.code.blocks[p.Block]
	r := w.code.graph.Routines[b.routine]
	if len(p.Next) != 1 || p.Next[0].To < 0 || w.upperBound(r, b.index, w.code.Plan.Blocks[p.Next[0].Block].PC) {
		return false
	}
	end, been := w.at[placeKey{p.Context, w.code.blockAt(r.Blocks[to].PC())}]
	return been && w.loopsBetween(p.Next[0].To, place, end, r)
}

// loopsBetween reports whether all ways that runs went from a place to another, in the same
// call and not over a third, avoid, go through loops that hold neither.
func (w *ways) loopsBetween(from, avoid, to int32, r *cfg.Routine) bool {
	context, outside := w.prog.Places[avoid].Context, [2]int{w.index(avoid), w.index(to)}
	type step struct {
		place  int32
		looped bool
	}
	todo, seen := []step{{from, false}}, make(map[step]bool)
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		if seen[s] {
			continue
		}
		seen[s] = true
		if s.place == to {
			if !s.looped {
				return false
			}
			continue
		}
		p := &w.prog.Places[s.place]
		b := &w.code.blocks[p.Block]
		if s.place == avoid || p.Context != context || w.code.graph.Routines[b.routine] != r || len(p.Next) == 0 {
			return false
		}
		if l := r.Blocks[b.index].Loop; l >= 0 && r.Loops[l].Header == b.index && !r.Contains(l, outside[0]) && !r.Contains(l, outside[1]) {
			s.looped = true
		}
		for _, n := range p.Next {
			if n.To < 0 {
				return false
			}
			todo = append(todo, step{n.To, s.looped})
		}
	}
	return true
}

// index returns the block of a place, in its routine.
func (w *ways) index(place int32) int { return w.code.blocks[w.prog.Places[place].Block].index }
