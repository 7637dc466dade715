package replay

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"

	"presage/perf/cfg"
)

// shape is a routine's control flow, whatever order a compiler puts blocks in, and
// whichever way of a branch it lets fall through:
//
//	      n = 96                      n = 128
//	5: …; bne → 2, else 6       5: …; beq → 9, else 6
//	                            6: jump → 2
//
// Blocks that only pass on, as 6, are left out: they access nothing, lead to one
// block, which can be come to from where they are come to in no other way, and are in all
// loops that it is in. Each of the others has a name that says where
// it stands among the rest.
type shape struct {
	onto  []int // by block: itself, or where a block that only passes on leads
	names []name
	at    map[name]int
	succs [][]name // ascending, each once
	near  []uint64 // by block that does not only pass on: the colour by its neighbours alone
}

// name is the same for blocks of two executables that stand in the same place of the same
// control flow: a colour, found by refinement (Weisfeiler and Leman), and a number among
// those of the same colour, by address.
type name struct {
	colour uint64
	number int
}

func compareNames(a, b name) int { return cmp.Or(cmp.Compare(a.colour, b.colour), a.number-b.number) }

// label returns a number for the name.
func (n name) label() uint64 { return mix(n.colour, uint64(n.number)) }

// refinements bounds the rounds in which colours are refined.
const refinements = 32

// newShape returns the shape of the routine of which blocks are given, by their index in
// it; nil where the code is another routine's, too.
func newShape(r *cfg.Routine, blocks []*block, g *cfg.Program) *shape {
	s := &shape{onto: passing(r, blocks), names: make([]name, len(blocks)), at: make(map[name]int), succs: make([][]name, len(blocks))}
	after, before := make([][]int, len(blocks)), make([][]int, len(blocks))
	for i := range blocks {
		if s.onto[i] != i {
			continue
		}
		for _, e := range r.Blocks[i].Succs {
			to := s.onto[r.Edges[e].To]
			after[i], before[to] = append(after[i], to), append(before[to], i)
		}
	}
	s.paint(r, blocks, g, after, before)
	for i := range blocks {
		for _, to := range after[i] {
			s.succs[i] = append(s.succs[i], s.names[to])
		}
		slices.SortFunc(s.succs[i], compareNames)
		s.succs[i] = slices.Compact(s.succs[i])
	}
	return s
}

// passing returns where each block leads that only passes on.
func passing(r *cfg.Routine, blocks []*block) []int {
	onto := make([]int, len(blocks))
	for i := range blocks {
		onto[i] = i
		if to := passesTo(r, blocks, i); to >= 0 {
			onto[i] = to
		}
	}
	for again := true; again; {
		again = false
		for i := range onto {
			again = choosesWay(r, onto, i) || again
		}
	}
	for i := range onto {
		onto[i] = end(onto, i)
	}
	return onto
}

// end returns where the blocks that pass on lead from a block on, in the end: in a circle,
// the block itself.
func end(onto []int, i int) int {
	at := i
	for range onto {
		if onto[at] == at {
			return at
		}
		at = onto[at]
	}
	return i
}

// choosesWay keeps the blocks that only pass on from a block to another to which it also
// goes in another way, as those of a choice between two numbers: without them, the ways
// would be the same. It reports whether there were any.
func choosesWay(r *cfg.Routine, onto []int, i int) bool {
	found := false
	for _, e := range r.Blocks[i].Succs {
		for _, o := range r.Blocks[i].Succs {
			x, y := r.Edges[e].To, r.Edges[o].To
			if x != y && onto[x] != x && end(onto, x) == end(onto, y) {
				onto[x], found = x, true
			}
		}
	}
	return found
}

func passesTo(r *cfg.Routine, blocks []*block, i int) int {
	b, from := blocks[i], &r.Blocks[i]
	if b == nil || b.refs > 0 || b.exit != plain || b.forks || b.header || from.Exit != cfg.Stays || len(from.Succs) != 1 || slices.Contains(r.Entries, i) {
		return -1
	}
	to := r.Edges[from.Succs[0]].To
	if blocks[to] == nil || len(blocks[to].chain) > len(b.chain) || !slices.Equal(blocks[to].chain, b.chain[:len(blocks[to].chain)]) {
		return -1
	}
	for _, e := range from.Preds {
		if p := blocks[r.Edges[e].From]; p == nil || p.exit != plain { // a call returns there
			return -1
		}
	}
	return to
}

// paint names the blocks.
func (s *shape) paint(r *cfg.Routine, blocks []*block, g *cfg.Program, after, before [][]int) {
	colours := make([]uint64, len(blocks))
	var kept []int
	for i, b := range blocks {
		if s.onto[i] != i {
			continue
		}
		kept = append(kept, i)
		if b != nil {
			colours[i] = firstColour(r, b, i, g)
		}
	}
	next := make([]uint64, len(blocks))
	for round, distinct := 0, 0; round < refinements; round++ {
		seen := make(map[uint64]bool, len(kept))
		for _, i := range kept {
			next[i] = refine(colours[i], colours, after[i], before[i])
			seen[next[i]] = true
		}
		colours, next = next, colours
		if len(seen) == distinct {
			break
		}
		distinct = len(seen)
		if round == 0 {
			s.near = slices.Clone(colours)
		}
	}
	numbers := make(map[uint64]int)
	for _, i := range kept {
		s.names[i] = name{colours[i], numbers[colours[i]]}
		numbers[colours[i]]++
		s.at[s.names[i]] = i
	}
	for i, to := range s.onto {
		s.names[i] = s.names[to]
	}
}

// firstColour returns that of what a block does on its own.
func firstColour(r *cfg.Routine, b *block, i int, g *cfg.Program) uint64 {
	h := fnv.New64a()
	flags := []byte{byte(b.exit), byte(len(b.chain)), 0}
	for k, set := range []bool{b.forks, b.header, slices.Contains(r.Entries, i)} {
		if set {
			flags[2] |= 1 << k
		}
	}
	h.Write(flags)
	if last := r.Blocks[i].Last(); b.exit == calls && last.HasTarget {
		if to := g.File.RoutineAt(last.Target); to != nil {
			h.Write([]byte(to.Name))
		}
	}
	return h.Sum64()
}

// refine returns the colour of a block and of its neighbours.
func refine(own uint64, colours []uint64, after, before []int) uint64 {
	h := fnv.New64a()
	text := binary.LittleEndian.AppendUint64(nil, own)
	for _, list := range [][]int{after, before} {
		around := make([]uint64, 0, len(list))
		for _, i := range list {
			around = append(around, colours[i])
		}
		slices.Sort(around)
		text = binary.LittleEndian.AppendUint64(text, uint64(len(around)))
		for _, c := range around {
			text = binary.LittleEndian.AppendUint64(text, c)
		}
	}
	h.Write(text)
	return h.Sum64()
}

// around returns the names of the headers of the loops around a block, the innermost
// first.
func (s *shape) around(r *cfg.Routine, block int) (list []name) {
	for l := r.Blocks[block].Loop; l >= 0; l = r.Loops[l].Parent {
		list = append(list, s.names[r.Loops[l].Header])
	}
	return list
}

// unlike says where a routine has blocks, by source line, whose like the other shape lacks.
func (c *Code) unlike(routine int, own, other *shape) string {
	r := c.graph.Routines[routine]
	count := make(map[uint64]int)
	for _, k := range other.at {
		count[other.near[k]]++
	}
	var lines []int
	for i, to := range own.onto {
		if to != i {
			continue
		}
		if count[own.near[i]]--; count[own.near[i]] >= 0 {
			continue
		}
		if at, ok := c.graph.File.LineAt(r.Blocks[i].PC()); ok {
			lines = append(lines, at.Line)
		}
	}
	switch slices.Sort(lines); {
	case len(lines) == 0:
		return ""
	case lines[0] == lines[len(lines)-1]:
		return fmt.Sprintf(", at line %d", lines[0])
	}
	return fmt.Sprintf(", from line %d to %d", lines[0], lines[len(lines)-1])
}
