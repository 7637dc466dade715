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
	s := prog.Structure()
	irreducible := make([]bool, len(s.Graph.Routines))
	for i, r := range s.Graph.Routines {
		irreducible[i] = slices.ContainsFunc(r.Loops, func(l cfg.Loop) bool { return l.Irreducible })
	}
	out, err := WithBlocks(prog, plan, func(routine, b int) bool {
		r := s.Graph.Routines[routine]
		return irreducible[routine] || isEntry(r, b) || heads(r, b) || afterCall(r, b) || beforeCall(r, b)
	})
	if err != nil {
		return nil, nil, err
	}
	nest := new(reuse.Nest)
	for _, p := range out.At {
		at := reuse.Place{Routine: int32(p.Routine)}
		if p.Block >= 0 {
			r := s.Graph.Routines[p.Routine]
			at.Entry, at.Header, at.Loops = isEntry(r, p.Block), heads(r, p.Block), loopsOf(s.Scopes, p)
		}
		nest.Places = append(nest.Places, at)
	}
	return out.Plan, nest, nil
}

// Blocked is a plan that records blocks, and where each of them stands.
type Blocked struct {
	*trace.Plan
	At []BlockPlace // by trace.BlockID
}

// BlockPlace is where a block of a plan stands in a program's Structure.
type BlockPlace struct {
	Routine int // index in Graph.Routines; their number where none holds the block
	Block   int // index in the routine's blocks; -1: an instruction that no graph holds
}

// WithBlocks returns a plan of the same references that records all blocks which hold
// some, and those that keep chooses, by indices of the routine and of its block. An instruction with references that no control-flow graph
// holds is a block by itself.
func WithBlocks(prog *subject.Program, plan *trace.Plan, keep func(routine, block int) bool) (*Blocked, error) {
	n := nester{s: prog.Structure(), refs: make(map[trace.PC]uint32), used: make(map[trace.PC]bool)}
	for _, r := range plan.Refs {
		n.refs[r.PC]++
	}
	for i, r := range n.s.Graph.Routines {
		for b := range r.Blocks {
			block := n.block(r, b)
			if block.Refs > 0 || block.Varies || keep(i, b) {
				n.list = append(n.list, nestedBlock{block, BlockPlace{i, b}})
			}
		}
	}
	n.outside()
	slices.SortFunc(n.list, func(a, b nestedBlock) int { return cmp.Compare(a.PC, b.PC) })
	out := &Blocked{Plan: &trace.Plan{Refs: plan.Refs, Flow: plan.Flow}}
	for _, b := range n.list {
		out.Blocks, out.At = append(out.Blocks, b.Block), append(out.At, b.place)
	}
	if err := out.Check(); err != nil {
		return nil, fmt.Errorf("perf: %s: the blocks of its references: %w", prog.Name, err)
	}
	return out, nil
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
	place BlockPlace
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

// loopsOf returns the scopes of the loops around a block, the outermost first.
func loopsOf(tree *cfg.ScopeTree, p BlockPlace) []int32 {
	var list []int32
	for at := tree.Of(p.Routine, p.Block); at >= 0 && tree.Scopes[at].Kind == cfg.LoopScope; at = tree.Scopes[at].Parent {
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
		routine := len(graph.Routines)
		if held {
			routine = at
		}
		block := trace.Block{PC: pc, Instructions: 1, Refs: refs}
		if n.varies { // so may this one
			block.Refs, block.Varies = 0, true
		}
		n.list = append(n.list, nestedBlock{block, BlockPlace{routine, -1}})
	}
}
