package cfg

import (
	"slices"

	"presage/perf/isa"
)

// Part says which part of an instruction that is a loop a block is: see
// Program.Elements.
type Part uint8

// The parts.
const (
	Whole   Part = iota // not of such an instruction
	Guard               // whether there is an element at all
	Element             // the accesses to one element
)

// Elements returns the program with each instruction that accesses a number of elements
// that varies, as string instructions that repeat, gathers and those that a mask selects
// elements for, as a loop over these: a block at the instruction's address that goes on
// into the loop or past it, and a block at the next address, with the accesses to one
// element, that repeats itself. Routines without such instructions are shared with p.
func (p *Program) Elements() *Program {
	out := *p
	out.Routines = slices.Clone(p.Routines)
	for i, r := range out.Routines {
		if slices.ContainsFunc(r.Blocks, func(b Block) bool { return slices.ContainsFunc(b.Insts, hasElements) }) {
			out.Routines[i] = r.elements()
		}
	}
	return &out
}

func hasElements(in isa.Inst) bool {
	return in.Len > 1 && slices.ContainsFunc(in.Mems(), func(m isa.Mem) bool { return m.Varies })
}

func (r *Routine) elements() *Routine {
	out := &Routine{Name: r.Name, Addr: r.Addr, Size: r.Size, Gaps: r.Gaps}
	first, last := make([]int, len(r.Blocks)), make([]int, len(r.Blocks))
	for b := range r.Blocks {
		first[b] = len(out.Blocks)
		out.addParts(&r.Blocks[b])
		last[b] = len(out.Blocks) - 1
	}
	for _, e := range r.Edges {
		out.Edges = append(out.Edges, Edge{From: last[e.From], To: first[e.To], Kind: e.Kind})
		if from := last[e.From]; out.Blocks[from].Part == Element { // there may be none
			out.Edges = append(out.Edges, Edge{From: from - 1, To: first[e.To], Kind: Taken})
		}
	}
	out.link()
	for _, b := range r.Entries {
		out.Entries = append(out.Entries, first[b])
	}
	for _, b := range r.rejoins {
		out.rejoins = append(out.rejoins, first[b])
	}
	for _, b := range r.Open {
		out.Open = append(out.Open, last[b])
	}
	out.dominate()
	out.findLoops()
	return out
}

// addParts appends a block, cut where it has instructions with elements, and the edges
// between its parts.
func (r *Routine) addParts(b *Block) {
	from := 0
	add := func(insts []isa.Inst, part Part) {
		if k := len(r.Blocks); from > 0 && r.Blocks[k-1].Part == Element { // what came before is a loop
			r.Edges = append(r.Edges, Edge{From: k - 1, To: k}, Edge{From: k - 2, To: k, Kind: Taken})
		} else if from > 0 {
			r.Edges = append(r.Edges, Edge{From: k - 1, To: k})
		}
		r.Blocks = append(r.Blocks, Block{Insts: insts, Part: part, Dominator: -1, Loop: -1})
		from++
	}
	rest := b.Insts
	for {
		i := slices.IndexFunc(rest, hasElements)
		if i != 0 && len(rest) > 0 {
			add(rest[:cutAt(i, len(rest))], Whole)
		}
		if i < 0 {
			break
		}
		in := rest[i]
		add([]isa.Inst{{PC: in.PC, Op: in.Op, Len: 1}}, Guard)
		in.PC, in.Len = in.PC+1, in.Len-1
		add([]isa.Inst{in}, Element)
		k := len(r.Blocks) - 1
		r.Edges = append(r.Edges, Edge{From: k, To: k, Kind: Taken})
		rest = rest[i+1:]
	}
	r.Blocks[len(r.Blocks)-1].Exit = b.Exit
}

func cutAt(i, all int) int {
	if i < 0 {
		return all
	}
	return i
}
