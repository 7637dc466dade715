package cfg

import (
	"cmp"
	"slices"

	"presage/perf/isa"
)

// routine turns a draft into the graph of its blocks and adds everything derived
// from the graph.
func (x *explorer) routine(d *draft) *Routine {
	r := x.graph(d)
	r.Gaps = d.gaps()
	x.findRejoins(d, r)
	r.dominate()
	r.findLoops()
	return r
}

// graph turns a draft into the graph of its blocks.
func (x *explorer) graph(d *draft) *Routine {
	r := &Routine{Name: d.Name, Addr: d.Addr, Size: d.Size}
	r.Blocks = d.blocks()
	for b := range r.Blocks {
		x.successors(d, r, b)
	}
	r.link()
	for _, pc := range d.entries {
		if b := r.startingAt(pc); b >= 0 && (len(r.Entries) == 0 || b != r.Entries[0]) {
			r.Entries = append(r.Entries, b)
		}
	}
	if len(r.Entries) > 0 {
		slices.Sort(r.Entries[1:])
	}
	return r
}

// link sorts the edges and tells the blocks of them.
func (r *Routine) link() {
	slices.SortFunc(r.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind))
	})
	r.Edges = slices.Compact(r.Edges)
	for i, e := range r.Edges {
		r.Blocks[e.From].Succs = append(r.Blocks[e.From].Succs, i)
		r.Blocks[e.To].Preds = append(r.Blocks[e.To].Preds, i)
	}
}

// sort sorts the instructions by address.
func (d *draft) sort() {
	slices.SortFunc(d.insts, func(a, b isa.Inst) int { return cmp.Compare(a.PC, b.PC) })
}

// blocks cuts the instructions into basic blocks.
func (d *draft) blocks() []Block {
	d.sort()
	var blocks []Block
	start := 0
	for i := range d.insts {
		if i+1 < len(d.insts) && !d.insts[i].Class.EndsBlock() && !d.traps[d.insts[i].PC] &&
			d.insts[i+1].PC == d.insts[i].Next() && !d.leaders[d.slot(d.insts[i+1].PC)] {
			continue
		}
		blocks = append(blocks, Block{Insts: d.insts[start : i+1 : i+1], Dominator: -1, Loop: -1})
		start = i + 1
	}
	return blocks
}

// startingAt returns the block that starts at pc, or -1.
func (r *Routine) startingAt(pc uint64) int {
	i, ok := slices.BinarySearchFunc(r.Blocks, pc, func(b Block, pc uint64) int { return cmp.Compare(b.PC(), pc) })
	if !ok {
		return -1
	}
	return i
}

// successors adds the edges that leave block b, and sets its Exit.
func (x *explorer) successors(d *draft, r *Routine, b int) {
	block := &r.Blocks[b]
	last := block.Last()
	to := func(pc uint64, kind EdgeKind, otherwise Exit) {
		if t := r.startingAt(pc); t >= 0 {
			r.Edges = append(r.Edges, Edge{From: b, To: t, Kind: kind})
		} else {
			block.Exit = otherwise
		}
	}
	if d.traps[last.PC] {
		block.Exit = Traps
		return
	}
	switch last.Class {
	case isa.Branch:
		to(last.Target, Taken, TailJump)
		to(last.Next(), Falls, TailJump)
	case isa.Jump:
		kind := Jumps
		if x.restarts(d, r, b) {
			kind = Restarts
		}
		to(last.Target, kind, TailJump)
	case isa.IndirectJump:
		x.indirect(d, r, b)
	case isa.Call:
		block.Exit = NoReturn
		if d.back[last.Next()] {
			block.Exit = Stays
			to(last.Next(), CallReturn, NoReturn)
		}
	case isa.Return:
		block.Exit = Returns
	case isa.Breakpoint, isa.Illegal:
		block.Exit = Traps
	default:
		to(last.Next(), Falls, TailJump)
	}
}

func (x *explorer) indirect(d *draft, r *Routine, b int) {
	block := &r.Blocks[b]
	last := block.Last()
	if _, imported := x.imported(last); imported || last.HasTarget {
		block.Exit = TailJump
		if imported {
			if t := r.startingAt(x.lazyStub(last)); t >= 0 {
				r.Edges = append(r.Edges, Edge{From: b, To: t, Kind: Table})
			}
		}
		return
	}
	for _, pc := range d.tables[last.PC] {
		if t := r.startingAt(pc); t >= 0 {
			kind := Table
			if d.seen[Range{last.PC, pc}] {
				kind = Observed
			}
			r.Edges = append(r.Edges, Edge{From: b, To: t, Kind: kind})
		} else {
			block.Exit = TailJump
		}
	}
	if d.partial[last.PC] || len(d.tables[last.PC]) == 0 {
		block.Exit = Unknown
		r.Open = append(r.Open, b)
	}
}

// gaps returns the bytes that no instruction covers.
func (d *draft) gaps() []Range {
	var gaps []Range
	at := d.Addr
	for i := range d.insts {
		if pc := d.insts[i].PC; pc > at {
			gaps = append(gaps, Range{at, pc})
		}
		at = d.insts[i].Next()
	}
	if at < d.End() {
		gaps = append(gaps, Range{at, d.End()})
	}
	return gaps
}

// restarts reports whether block b ends the part of a Go prologue that calls
// runtime.morestack when the stack is full and then jumps back to the entry. That
// jump must not count as a back edge: it would turn the whole routine into a loop.
func (x *explorer) restarts(d *draft, r *Routine, b int) bool {
	if b == 0 || r.Blocks[b].Last().Target != d.Addr {
		return false
	}
	call := r.Blocks[b-1].Last()
	if call.Class != isa.Call || !call.HasTarget || call.Next() != r.Blocks[b].PC() {
		return false
	}
	to := x.at(call.Target)
	return to != nil && isMorestack(to.Name)
}
