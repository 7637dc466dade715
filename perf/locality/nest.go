package locality

import (
	"cmp"
	"fmt"
	"slices"

	"presage/perf/cfg"
	"presage/perf/reuse"
	"presage/perf/subject"
	"presage/perf/trace"
)

// withNest returns a plan of the same references that records the blocks that
// control must be followed by, and where these stand: loops are numbered by their
// scopes in the tree of the program, so that what a compiler made of one loop of
// the source is one loop.
//
// Blocks without references are left out where that makes no difference: control
// that leaves a loop and comes back executes the header of an outer loop, the
// entry of a routine or the block after a call in between (derived here). In
// routines with irreducible loops all are recorded.
func withNest(prog *subject.Program, plan *trace.Plan) (*trace.Plan, *reuse.Nest, error) {
	n := nester{s: prog.Structure(), refs: make(map[trace.PC]uint32), used: make(map[trace.PC]bool)}
	for _, r := range plan.Refs {
		n.refs[r.PC]++
	}
	for i := range n.s.Graph.Routines {
		n.routine(i)
	}
	n.outside()
	slices.SortFunc(n.list, func(a, b nestedBlock) int { return cmp.Compare(a.PC, b.PC) })
	out := &trace.Plan{Refs: plan.Refs, Flow: plan.Flow}
	nest := new(reuse.Nest)
	for _, b := range n.list {
		out.Blocks, nest.Places = append(out.Blocks, b.Block), append(nest.Places, b.place)
	}
	if err := out.Check(); err != nil {
		return nil, nil, fmt.Errorf("perf: %s: the loops of its references: %w", prog.Name, err)
	}
	return out, nest, nil
}

// nester collects blocks with their places.
type nester struct {
	s    *subject.Structure
	refs map[trace.PC]uint32 // planned at an instruction
	used map[trace.PC]bool   // those in blocks
	list []nestedBlock

	varies bool // some blocks do
}

type nestedBlock struct {
	trace.Block
	place reuse.Place
}

// routine adds the blocks of a routine.
func (n *nester) routine(i int) {
	r := n.s.Graph.Routines[i]
	all := slices.ContainsFunc(r.Loops, func(l cfg.Loop) bool { return l.Irreducible })
	for b := range r.Blocks {
		block := n.block(r, b)
		p := reuse.Place{Routine: int32(i), Entry: isEntry(r, b), Header: heads(r, b), Loops: n.loops(i, b)}
		if all || block.Refs > 0 || block.Varies || p.Entry || p.Header || afterCall(r, b) || beforeCall(r, b) {
			n.list = append(n.list, nestedBlock{block, p})
		}
	}
}

func (n *nester) block(r *cfg.Routine, b int) trace.Block {
	block := trace.Block{PC: trace.PC(r.Blocks[b].PC()), Instructions: uint32(len(r.Blocks[b].Insts))}
	for i := range r.Blocks[b].Insts {
		pc := trace.PC(r.Blocks[b].Insts[i].PC)
		refs := n.refs[pc]
		if refs == 0 || n.used[pc] {
			continue
		}
		n.used[pc] = true
		for _, m := range r.Blocks[b].Insts[i].Mems() {
			if m.Varies && refs > 0 {
				block.Varies, n.varies = true, true
				refs--
			}
		}
		block.Refs += refs
	}
	return block
}

// loops returns the scopes of the loops around a block, the outermost first.
func (n *nester) loops(routine, b int) []int32 {
	var list []int32
	tree := n.s.Scopes
	for at := tree.Of(routine, b); at >= 0 && tree.Scopes[at].Kind == cfg.LoopScope; at = tree.Scopes[at].Parent {
		list = append(list, int32(at))
	}
	slices.Reverse(list)
	return list
}

// isEntry reports whether executing a block is a call of its routine: an entry
// that the routine itself goes to only as the header of a loop, or once its stack
// has grown, which then counts as another call.
func isEntry(r *cfg.Routine, b int) bool {
	return slices.Contains(r.Entries, b) && (heads(r, b) || !slices.ContainsFunc(r.Blocks[b].Preds, func(e int) bool { return r.Edges[e].Kind != cfg.Restarts }))
}

// heads reports whether a block is the header of its innermost loop.
func heads(r *cfg.Routine, b int) bool {
	l := r.Blocks[b].Loop
	return l >= 0 && r.Loops[l].Header == b
}

// afterCall reports whether calls return to a block.
func afterCall(r *cfg.Routine, b int) bool {
	return slices.ContainsFunc(r.Blocks[b].Preds, func(e int) bool { return r.Edges[e].Kind == cfg.CallReturn })
}

// beforeCall reports whether control leaves the routine at the end of a block, but
// for returns.
func beforeCall(r *cfg.Routine, b int) bool {
	switch r.Blocks[b].Exit {
	case cfg.TailJump, cfg.NoReturn, cfg.Unknown:
		return true
	}
	return slices.ContainsFunc(r.Blocks[b].Succs, func(e int) bool { return r.Edges[e].Kind == cfg.CallReturn })
}

// outside adds a block for each instruction with references that no control-flow
// graph holds. It is in no loop.
func (n *nester) outside() {
	graph := n.s.Graph
	for pc, refs := range n.refs {
		if n.used[pc] {
			continue
		}
		at, held := slices.BinarySearchFunc(graph.Routines, pc, func(r *cfg.Routine, pc trace.PC) int {
			switch {
			case r.Addr+r.Size <= uint64(pc):
				return -1
			case r.Addr > uint64(pc):
				return 1
			}
			return 0
		})
		routine := int32(len(graph.Routines))
		if held {
			routine = int32(at)
		}
		block := trace.Block{PC: pc, Instructions: 1, Refs: refs}
		if n.varies { // so may this one
			block.Refs, block.Varies = 0, true
		}
		n.list = append(n.list, nestedBlock{block, reuse.Place{Routine: routine}})
	}
}
