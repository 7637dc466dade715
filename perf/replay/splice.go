package replay

import (
	"fmt"
	"slices"

	"presage/perf/trace"
)

// leaveOut returns the places of a run of from without the blocks that only pass on.
func (t *translator) leaveOut(places []RunPlace) []RunPlace {
	out := make([]RunPlace, 0, len(places))
	for i := range places {
		if t.onto(places[i].Block) != places[i].Block {
			continue
		}
		p := places[i]
		p.Next = slices.Clone(p.Next)
		for k := range p.Next {
			t.pass(&p.Next[k].Block)
		}
		for k := range p.Next {
			if slices.ContainsFunc(p.Next[:k], func(n RunNext) bool { return n.Block == p.Next[k].Block }) {
				t.fail(p.Block) // it goes there in two ways
			}
		}
		p.Branch = slices.Clone(p.Branch)
		for k := range p.Branch {
			p.Branch[k].Classes = slices.Clone(p.Branch[k].Classes)
			for c := range p.Branch[k].Classes {
				o := &p.Branch[k].Classes[c]
				o.Shape = slices.Clone(o.Shape)
				for j := range o.Shape {
					t.pass(&o.Shape[j])
				}
			}
		}
		out = append(out, p)
	}
	return out
}

func (t *translator) pass(id *trace.BlockID) { *id = t.onto(*id) }

// onto returns where a block of from leads that only passes on; the block otherwise. Those
// of shared libraries stay, as both executables have them.
func (t *translator) onto(id trace.BlockID) trace.BlockID {
	if id == noBlock || t.from.library(id) != nil {
		return id
	}
	return t.from.passesOn(id)
}

func (t *translator) fail(id trace.BlockID) {
	if t.err == nil {
		t.err = fmt.Errorf("%s goes to one block in several ways", t.from.routine(id))
	}
}

// passesOn returns where a block leads that only passes on; the block otherwise.
func (c *Code) passesOn(id trace.BlockID) trace.BlockID {
	if id == noBlock {
		return id
	}
	b := &c.blocks[id]
	to := c.shape(b.routine).onto[b.index]
	if to == b.index {
		return id
	}
	return c.blockAt(c.graph.Routines[b.routine].Blocks[to].PC())
}

// putIn returns places, which are of to by now, with the blocks that only pass on there.
func (t *translator) putIn(places []RunPlace) []RunPlace {
	at := make(map[placeKey]int) // of those put in
	for i, n := 0, len(places); i < n; i++ {
		context, block := places[i].Context, places[i].Block
		if t.to.library(block) != nil {
			continue
		}
		for k := range places[i].Next {
			next := &places[i].Next[k]
			way := t.to.way(block, next.Block)
			if len(way) == 0 {
				continue
			}
			t.follow(places[i].Branch, next.Block, way[0])
			for j, id := range way {
				onto := next.Block
				if j+1 < len(way) {
					onto = way[j+1]
				}
				key := placeKey{context, id}
				if _, ok := at[key]; !ok {
					at[key] = len(places)
					places = append(places, RunPlace{Context: context, Block: id, Next: []RunNext{{Block: onto}}})
				}
				p := &places[at[key]]
				p.Count += places[i].Next[k].Count
				p.Next[0].Count = p.Count
			}
			places[i].Next[k].Block = way[0]
		}
	}
	return places
}

// follow replaces a block in the shapes of a branch, which are the run's own.
func (t *translator) follow(branch []RunBranch, from, to trace.BlockID) {
	for b := range branch {
		for c := range branch[b].Classes {
			for k, id := range branch[b].Classes[c].Shape {
				if id == from {
					branch[b].Classes[c].Shape[k] = to
				}
			}
		}
	}
}

// way returns the blocks that only pass on, on the way from a block to one that does not,
// if there is no other way.
func (c *Code) way(from, to trace.BlockID) []trace.BlockID {
	a := &c.blocks[from]
	r := c.graph.Routines[a.routine]
	if to == noBlock || a.exit != plain || c.blocks[to].routine != a.routine {
		return nil
	}
	for _, e := range r.Blocks[a.index].Succs {
		var list []trace.BlockID
		at := c.blockAt(r.Blocks[r.Edges[e].To].PC())
		for at != noBlock && at != to && c.passesOn(at) == to {
			list = append(list, at)
			b := &c.blocks[at]
			at = c.blockAt(r.Blocks[r.Edges[r.Blocks[b.index].Succs[0]].To].PC())
		}
		if at == to {
			return list
		}
	}
	return nil
}
