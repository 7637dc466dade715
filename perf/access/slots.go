package access

import (
	"cmp"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// slots tells which memory operands of a routine have an address that is known
// up to the value of one register at the routine's entry: the cells that values
// can be followed through, such as spilled registers.
type slots struct {
	operands [][]location // by block and instruction; size 0: not such an address
	stores   [][]int32    // by block: the instructions that store to a cell, ascending
	all      []location   // cells stored to, each once, by ascending base and offset
	calls    [][]int32    // by block: calls
	taken    []int64      // offsets from the stack pointer whose addresses are used as values, ascending

	always map[location]based // what all stores to a cell put there
}

// based is a value relative to the content of a register at the routine's
// entry, or of isa.NoReg: a constant; unknown and unset stand for no value, or
// none found yet.
type based struct {
	reg    isa.Reg
	offset int64
}

const (
	unknown isa.Reg = 254
	unset   isa.Reg = 253
)

type registerFile [registers]based

// slotFinder finds them by constant propagation over the registers: forward,
// until nothing changes, at joins what all paths agree on. Values are followed
// through cells that always hold the same, such as arguments that code compiled
// without optimization puts on the stack, so the propagation is repeated while
// such cells turn up.
type slotFinder struct {
	convention
	r     *cfg.Routine
	order []int // blocks in reverse postorder
	in    []registerFile
	out   *slots

	stored map[location]based // by cell
}

// slotRounds bounds the repetitions: pointers in cells reached by pointers in
// cells.
const slotRounds = 3

func findSlots(c convention, r *cfg.Routine) *slots {
	f := &slotFinder{convention: c, r: r, order: reversePostorder(r)}
	f.out = &slots{always: make(map[location]based)}
	for range slotRounds {
		f.propagate()
		if !f.collect() {
			break
		}
	}
	return f.out
}

func reversePostorder(r *cfg.Routine) []int {
	seen := make([]bool, len(r.Blocks))
	var order []int
	type visit struct{ block, edge int }
	walk := func(root int) {
		if seen[root] {
			return
		}
		seen[root] = true
		stack := []visit{{root, 0}}
		for len(stack) > 0 {
			top := &stack[len(stack)-1]
			if top.edge == len(r.Blocks[top.block].Succs) {
				order = append(order, top.block)
				stack = stack[:len(stack)-1]
				continue
			}
			to := r.Edges[r.Blocks[top.block].Succs[top.edge]].To
			top.edge++
			if !seen[to] {
				seen[to] = true
				stack = append(stack, visit{to, 0})
			}
		}
	}
	for _, b := range slices.Backward(r.Entries) {
		walk(b)
	}
	slices.Reverse(order)
	return order
}

func (f *slotFinder) propagate() {
	f.in = make([]registerFile, len(f.r.Blocks))
	for b := range f.in {
		for x := range f.in[b] {
			f.in[b][x].reg = unset
		}
	}
	for i, b := range f.r.Entries {
		f.enter(&f.in[b], i > 0)
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.order {
			state := f.in[b]
			for i := range f.r.Blocks[b].Insts {
				f.step(&state, &f.r.Blocks[b].Insts[i])
			}
			for _, e := range f.r.Blocks[b].Succs {
				if f.r.Edges[e].Kind != cfg.Restarts && f.in[f.r.Edges[e].To].meet(&state) {
					changed = true
				}
			}
		}
	}
}

// enter sets the registers at an entry. At a secondary one only those are known
// that hold the same value all through.
func (f *slotFinder) enter(in *registerFile, secondary bool) {
	for x := range in {
		r := isa.Reg(x)
		in[x] = based{reg: r}
		if secondary && r != sp && r != tp {
			in[x].reg = unknown
		}
	}
	in[0] = based{reg: isa.NoReg}
	if f.global.known {
		in[gp] = based{isa.NoReg, f.global.value}
	}
}

// meet keeps what two states agree on, and reports whether that changes in.
func (in *registerFile) meet(from *registerFile) (changed bool) {
	for x := range in {
		switch {
		case from[x].reg == unset || in[x] == from[x] || in[x].reg == unknown:
		case in[x].reg == unset:
			in[x] = from[x]
			changed = true
		default:
			in[x] = based{reg: unknown}
			changed = true
		}
	}
	return changed
}

// step executes an instruction on a state.
func (f *slotFinder) step(s *registerFile, in *isa.Inst) {
	if in.Class == isa.Call || in.Class == isa.SystemCall {
		gone := f.convention.changes(in)
		for x := range s {
			if gone.has(isa.Reg(x)) {
				s[x] = based{reg: unknown}
			}
		}
		return
	}
	for _, d := range in.Defs() {
		if d < registers {
			s[d] = f.value(s, in)
		}
	}
}

func (f *slotFinder) value(s *registerFile, in *isa.Inst) based {
	none := based{reg: unknown}
	v := in.Value
	if in.Class == isa.Load {
		if at, ok := f.operand(s, in); ok {
			if w, ok := f.out.always[at]; ok {
				return w
			}
		}
		return none
	}
	if v.Op == isa.Opaque {
		return none
	}
	x, y := based{reg: isa.NoReg}, based{isa.NoReg, v.Imm}
	if v.A != isa.NoReg {
		x = s[v.A]
	}
	if v.B != isa.NoReg {
		y = s[v.B]
	}
	switch {
	case x.reg == unset || y.reg == unset:
		return based{reg: unset}
	case x.reg == isa.NoReg && y.reg == isa.NoReg:
		v.A, v.B = 0, 0
		return based{isa.NoReg, v.Eval(x.offset, y.offset)}
	case v.Word || v.LowA || x.reg == unknown || y.reg == unknown:
		return none
	case v.Op == isa.Add && y.reg == isa.NoReg:
		return based{x.reg, x.offset + y.offset}
	case v.Op == isa.Add && x.reg == isa.NoReg:
		return based{y.reg, x.offset + y.offset}
	case v.Op == isa.Subtract && y.reg == isa.NoReg:
		return based{x.reg, x.offset - y.offset}
	}
	return none
}

// operand returns the cell that an instruction accesses.
func (f *slotFinder) operand(s *registerFile, in *isa.Inst) (location, bool) {
	m := &in.Mem
	base := based{reg: isa.NoReg}
	if m.Base != isa.NoReg {
		base = s[m.Base]
	}
	if m.Kind == isa.NoMem || base.reg == unknown || base.reg == unset {
		return location{}, false
	}
	return location{memory: true, size: m.Size, reg: base.reg, offset: base.offset + m.Disp}, true
}

// collect notes the memory operands, and reports whether cells that always hold
// the same have turned up.
func (f *slotFinder) collect() bool {
	out := f.out
	out.operands = make([][]location, len(f.r.Blocks))
	out.stores = make([][]int32, len(f.r.Blocks))
	out.calls = make([][]int32, len(f.r.Blocks))
	out.all, out.taken = nil, nil
	f.stored = make(map[location]based)
	for _, b := range f.order {
		state := f.in[b]
		block := &f.r.Blocks[b]
		out.operands[b] = make([]location, len(block.Insts))
		for i := range block.Insts {
			in := &block.Insts[i]
			if at, ok := f.operand(&state, in); ok {
				out.operands[b][i] = at
				if in.Mem.Kind != isa.MemLoad {
					out.stores[b] = append(out.stores[b], int32(i))
					out.all = append(out.all, at)
					f.store(&state, in, at)
				}
			}
			if in.Class == isa.Call {
				out.calls[b] = append(out.calls[b], int32(i))
			}
			f.takes(&state, in)
			f.step(&state, in)
		}
	}
	slices.SortFunc(out.all, compareCells)
	out.all = slices.Compact(out.all)
	slices.Sort(out.taken)
	out.taken = slices.Compact(out.taken)
	return f.keep()
}

func compareCells(a, b location) int {
	return cmp.Or(cmp.Compare(a.reg, b.reg), cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
}

// store notes what a store puts in a cell.
func (f *slotFinder) store(s *registerFile, in *isa.Inst, at location) {
	v := based{reg: unknown}
	if in.Class == isa.Store {
		v = based{reg: isa.NoReg}
		if in.Value.A != isa.NoReg {
			v = s[in.Value.A]
		}
	}
	if was, ok := f.stored[at]; ok && was != v {
		v = based{reg: unknown}
	}
	f.stored[at] = v
}

// takes notes that an address on the stack becomes a value that cells cannot be
// followed through: it is stored, passed to another routine, or an index is
// added to it.
func (f *slotFinder) takes(s *registerFile, in *isa.Inst) {
	take := func(r isa.Reg) {
		if r < registers && r != sp && s[r].reg == sp && (r != s0 || s[r].offset != 0) {
			f.out.taken = append(f.out.taken, s[r].offset)
		}
	}
	switch {
	case in.Class == isa.Call:
		for _, r := range f.convention.arguments() {
			take(r)
		}
	case in.Class == isa.Store:
		take(in.Value.A)
	case in.Class == isa.Atomic:
		for _, r := range in.Uses() {
			if r != in.Mem.Base {
				take(r)
			}
		}
	case in.Value.Op != isa.Opaque && in.Mem.Kind == isa.NoMem && len(in.Defs()) > 0 && f.value(s, in).reg == unknown:
		take(in.Value.A)
		take(in.Value.B)
		for _, r := range []isa.Reg{in.Value.A, in.Value.B} {
			if r == sp {
				f.out.taken = append(f.out.taken, s[sp].offset)
			}
		}
	}
}

// keep keeps the cells on the stack that overlap no other and that all stores
// put the same known value in.
func (f *slotFinder) keep() (more bool) {
	for i, at := range f.out.all {
		v := f.stored[at]
		if at.reg != sp || v.reg == unknown || v.reg == unset || f.out.isTaken(at) ||
			i > 0 && f.out.all[i-1].overlaps(at) || i+1 < len(f.out.all) && f.out.all[i+1].overlaps(at) {
			continue
		}
		if _, ok := f.out.always[at]; !ok {
			f.out.always[at] = v
			more = true
		}
	}
	return more
}

// takenBytes is how much of the stack is taken to be reached through an address
// that was taken: the size of a slice, string or vector header. A larger
// object's later parts are taken, optimistically, for other variables.
const takenBytes = 24

// isTaken reports whether others may use a cell of the stack: its address is
// used as a value, or it is in the routine's frame without being stored to by
// the routine, as where results are passed on the stack.
func (s *slots) isTaken(at location) bool {
	if at.reg != sp {
		return false
	}
	if at.offset < 0 && !s.written(at) {
		return true
	}
	i, exact := slices.BinarySearch(s.taken, at.offset)
	return exact || i > 0 && at.offset < s.taken[i-1]+takenBytes
}

// written reports whether an instruction of the routine stores to a cell.
func (s *slots) written(at location) bool {
	const largest = 128 // bytes of an access
	i, _ := slices.BinarySearchFunc(s.all, location{reg: at.reg, offset: at.offset - largest}, compareCells)
	for ; i < len(s.all) && s.all[i].reg == at.reg && s.all[i].offset < at.offset+int64(at.size); i++ {
		if s.all[i].overlaps(at) {
			return true
		}
	}
	return false
}

// add makes the address of a store known.
func (s *slots) add(b, i int, at location) {
	s.operands[b][i] = at
	s.stores[b] = append(s.stores[b], int32(i))
	slices.Sort(s.stores[b])
	n, found := slices.BinarySearchFunc(s.all, at, compareCells)
	if !found {
		s.all = slices.Insert(s.all, n, at)
	}
}
