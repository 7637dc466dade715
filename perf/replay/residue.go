package replay

import (
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// newBits returns the lowest three bits of n that none of the sizes has with the
// same value: what depends on them was not seen.
func newBits(n int64, sizes []int64) int64 {
	missing := int64(7)
	for _, s := range sizes {
		missing &= s ^ n
	}
	return missing
}

// doubtTurns doubts what accesses arrays that take turns, if another of them may be the last than
// in any run: by how often they take turns, where the runs say how that depends on the size, and
// else by the remainder of the size.
func (in *Instance) doubtTurns() {
	var loops *repeats
	turning := make(map[int32]bool) // by base
	for i := range in.prog.Places {
		for j := range in.prog.Places[i].Refs {
			r := &in.prog.Places[i].Refs[j]
			if !in.takesTurns(r) || turning[r.Base] {
				continue
			}
			if loops == nil {
				loops = in.prog.repeats(in.code)
			}
			turning[r.Base] = !in.turnsSeen(loops.around(i), int(r.Form.Split.A), int64(r.Form.Split.Modulus))
		}
	}
	for i := range in.prog.Places {
		if slices.ContainsFunc(in.prog.Places[i].Refs, func(r Ref) bool { return turning[r.Base] }) {
			in.doubts[i] |= otherClass | control
		}
	}
}

// turnsSeen reports whether the turns that arrays take in a loop, of those around a place, leave
// a remainder that they left in some run. A loop that is come to once is executed as often as
// its header.
func (in *Instance) turnsSeen(around []loopAround, loop int, modulus int64) bool {
	header := around[loop].header
	once := !slices.ContainsFunc(around[:loop], func(a loopAround) bool { return a.repeated })
	if header < 0 || !once || !in.values[in.prog.Places[header].Counts].Exact() {
		return remainderSeen(in.N, modulus, in.prog.Sizes)
	}
	counts := in.prog.Places[header].Counts
	return remainderSeen(in.values[counts].At, modulus, in.prog.Series[counts].Values)
}

// takesTurns reports whether a reference accesses one of several arrays by the residue of a
// coordinate, on which nothing else of its address depends.
func (in *Instance) takesTurns(r *Ref) bool {
	s := r.Form.Split
	if s.Modulus <= 1 || s.Sign != 0 || r.Form.Counter {
		return false
	}
	return !slices.ContainsFunc(r.Classes, func(c Affine) bool { return c != nil && in.values[c[s.A+1]].At != 0 })
}

// remainderSeen reports whether one of a list has the remainder of n.
func remainderSeen(n, modulus int64, list []int64) bool {
	return slices.ContainsFunc(list, func(x int64) bool { return (x-n)%modulus == 0 })
}

// residues finds routines whose code computes with remainders.
type residues struct {
	code  *Code
	known map[int]bool // by routine
}

// inContext reports whether the routine of a block computes with remainders, or one
// that led to it since main was called. What the library does before is taken from
// real runs.
func (s *residues) inContext(contexts []Context, p *Place) bool {
	block, context := p.Block, p.Context
	for {
		r := s.code.blocks[block].routine
		if s.in(r) {
			return true
		}
		if context == 0 || s.code.graph.Routines[r].Name == "main" {
			return false
		}
		block, context = contexts[context].Call, contexts[context].Parent
	}
}

func (s *residues) in(routine int) bool {
	found, ok := s.known[routine]
	if !ok {
		found = computesRemainders(s.code.graph.Routines[routine])
		s.known[routine] = found
	}
	return found
}

// computesRemainders reports whether a routine has an integer instruction whose result
// depends on a number's lowest bits alone, or on all but these: of unrolled loops,
// tiles, and sizes that are rounded.
func computesRemainders(r *cfg.Routine) bool {
	for b := range r.Blocks {
		for i := range r.Blocks[b].Insts {
			in := &r.Blocks[b].Insts[i]
			for _, reg := range in.Defs() {
				if selectsBits(r, b, in.Result(reg)) {
					return true
				}
			}
		}
	}
	return false
}

// selectsBits reports whether a value is a remainder or quotient by a small power of
// two, or by a constant, or has low bits set.
func selectsBits(r *cfg.Routine, block int, v isa.Value) bool {
	const lowBits = 5 // multiples of 32 do not fit a residue class modulo 8 by chance
	if v.A == isa.NoReg {
		return false
	}
	switch v.Op {
	case isa.And:
		low := v.Imm
		if low < 0 {
			low = ^low
		}
		return v.B != isa.NoReg || low < 1<<lowBits
	case isa.Or:
		return v.B == isa.NoReg && v.Imm > 0
	case isa.ShiftRight, isa.ShiftRightArithmetic:
		return v.B != isa.NoReg || v.Imm < lowBits
	case isa.Quotient, isa.QuotientUnsigned, isa.Remainder, isa.RemainderUnsigned:
		return v.B == isa.NoReg || constantIn(r, block, v.B)
	}
	return false
}
