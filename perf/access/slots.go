package access

import (
	"cmp"
	"slices"

	"presage/perf/cfg"
	"presage/perf/isa"
)

// slots lists the memory operands of a routine whose address is known relative to
// the value of one register at the routine's entry: the cells through which values
// can be tracked, such as spilled registers.
type slots struct {
	first    [][]int32    // by block and instruction: the first of its memory operands
	operands [][]location // by block and memory operand; size 0: not such an address
	stores   [][]store    // by block: what stores to a cell, ascending
	all      []location   // cells stored to, each once, by ascending base and offset
	calls    [][]int32    // by block: calls
	sp       isa.Reg      // the stack pointer
	taken    []int64      // offsets from the stack pointer whose addresses are used as values, ascending

	always map[location]based // what all stores to a cell put there
}

// based is a value relative to the content of a register at the routine's entry,
// or a constant if the register is isa.NoReg; unknown stands for no value, unset
// for none found yet.
type based struct {
	reg    isa.Reg
	offset int64
}

const (
	unknown isa.Reg = 253
	unset   isa.Reg = 252
)

// store is a memory operand of an instruction that it stores to.
type store struct {
	inst    int32
	operand int32 // index in slots.operands of the block
}

// operand returns the cell accessed by operand k of an instruction; its size is 0
// if the address is unknown.
func (s *slots) operand(b, i, k int) location {
	if s.operands[b] == nil {
		return location{}
	}
	return s.operands[b][int(s.first[b][i])+k]
}

// registerFile is what the integer registers hold.
type registerFile []based

// slotFinder finds slots by constant propagation over the registers: forward to a
// fixed point, keeping at joins what all paths agree on. It tracks values through
// cells that always hold the same value, such as arguments that unoptimized code
// puts on the stack, so it repeats the propagation while it finds such cells.
type slotFinder struct {
	convention
	r     *cfg.Routine
	order []int // blocks in reverse postorder
	in    []registerFile
	state registerFile // of the block being looked at
	out   *slots

	stored map[location]based // by cell
}

// slotRounds bounds the repetitions, which pointers in cells that are themselves
// reached through pointers in cells require.
const slotRounds = 3

func findSlots(c convention, r *cfg.Routine) *slots {
	f := &slotFinder{convention: c, r: r, order: reversePostorder(r)}
	f.out = &slots{sp: c.target.StackPointer, always: make(map[location]based)}
	f.out.count(r)
	f.state = make(registerFile, len(c.target.IntegerNames))
	for range slotRounds {
		f.propagate()
		if !f.collect() {
			break
		}
	}
	return f.out
}

// count numbers the memory operands of blocks.
func (s *slots) count(r *cfg.Routine) {
	total := 0
	for b := range r.Blocks {
		total += len(r.Blocks[b].Insts)
	}
	flat := make([]int32, total)
	s.first = make([][]int32, len(r.Blocks))
	for b := range r.Blocks {
		insts := r.Blocks[b].Insts
		s.first[b], flat = flat[:len(insts):len(insts)], flat[len(insts):]
		n := int32(0)
		for i := range insts {
			s.first[b][i] = n
			n += int32(len(insts[i].Mems()))
		}
	}
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
	n := len(f.state)
	flat := make(registerFile, n*len(f.r.Blocks))
	f.in = make([]registerFile, len(f.r.Blocks))
	for b := range f.in {
		f.in[b], flat = flat[:n:n], flat[n:]
		for x := range f.in[b] {
			f.in[b][x].reg = unset
		}
	}
	for i, b := range f.r.Entries {
		f.enter(f.in[b], i > 0)
	}
	for changed := true; changed; {
		changed = false
		for _, b := range f.order {
			copy(f.state, f.in[b])
			for i := range f.r.Blocks[b].Insts {
				f.step(f.state, &f.r.Blocks[b].Insts[i])
			}
			for _, e := range f.r.Blocks[b].Succs {
				if f.r.Edges[e].Kind != cfg.Restarts && f.in[f.r.Edges[e].To].meet(f.state) {
					changed = true
				}
			}
		}
	}
}

// enter sets the registers at an entry. At a secondary one only the registers that
// never change are known.
func (f *slotFinder) enter(in registerFile, secondary bool) {
	for x := range in {
		r := isa.Reg(x)
		in[x] = based{reg: r}
		if secondary && r != f.target.StackPointer && r != f.target.ThreadPointer {
			in[x].reg = unknown
		}
	}
	if f.target.Zero != isa.NoReg {
		in[f.target.Zero] = based{reg: isa.NoReg}
	}
	if f.global.known {
		in[f.global.reg] = based{isa.NoReg, f.global.value}
	}
}

// meet keeps what two states agree on, and reports whether that changes in.
func (in registerFile) meet(from registerFile) (changed bool) {
	from = from[:len(in)]
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
func (f *slotFinder) step(s registerFile, in *isa.Inst) {
	if in.Class == isa.Call || in.Class == isa.SystemCall {
		gone := f.convention.changes(in)
		for x := range s {
			if gone.Has(isa.Reg(x)) {
				s[x] = based{reg: unknown}
			}
		}
		return
	}
	var values [4]based // all before any is written
	for k, d := range in.Defs() {
		if f.followed(d) {
			values[k] = f.result(s, in, d)
		}
	}
	for k, d := range in.Defs() {
		if f.followed(d) {
			s[d] = values[k]
		}
	}
}

// result returns what an instruction leaves in register d.
func (f *slotFinder) result(s registerFile, in *isa.Inst, d isa.Reg) based {
	v := in.Result(d)
	if in.Class == isa.Load && v.Op == isa.Opaque {
		return f.loaded(s, in)
	}
	return f.value(s, in, v)
}

// loaded returns the content of the first memory operand of an instruction.
func (f *slotFinder) loaded(s registerFile, in *isa.Inst) based {
	if at, ok := f.operand(s, &in.Mems()[0]); ok {
		if w, ok := f.out.always[at]; ok {
			return w
		}
	}
	return based{reg: unknown}
}

func (f *slotFinder) content(s registerFile, in *isa.Inst, r isa.Reg) based {
	switch {
	case f.followed(r):
		return s[r]
	case r == isa.Loaded:
		return f.loaded(s, in)
	case r == isa.NoReg:
		return based{reg: isa.NoReg}
	}
	return based{reg: unknown}
}

func (f *slotFinder) value(s registerFile, in *isa.Inst, v isa.Value) based {
	none := based{reg: unknown}
	if v.Op == isa.Opaque {
		return none
	}
	x, y := f.content(s, in, v.A), based{isa.NoReg, v.Imm}
	if v.B != isa.NoReg {
		y = f.content(s, in, v.B)
	}
	switch {
	case x.reg == unset || y.reg == unset:
		return based{reg: unset}
	case x.reg == isa.NoReg && y.reg == isa.NoReg:
		v.A, v.B = 0, 0
		return based{isa.NoReg, v.Eval(x.offset, y.offset)}
	case v.Word || v.Narrow != 0 || v.LowA || x.reg == unknown || y.reg == unknown:
		return none
	case v.Op == isa.Add && y.reg == isa.NoReg:
		return based{x.reg, x.offset + y.offset}
	case v.Op == isa.Add && x.reg == isa.NoReg:
		return based{y.reg, x.offset + y.offset}
	case v.Op == isa.Subtract && y.reg == isa.NoReg:
		return based{x.reg, x.offset - y.offset}
	case v.Op == isa.And && x.reg == f.target.StackPointer && y.reg == isa.NoReg && alignment(y.offset): // see routineAnalysis.aligned
		return x
	}
	return none
}

// operand returns the cell that a memory operand accesses.
func (f *slotFinder) operand(s registerFile, m *isa.Mem) (location, bool) {
	base := f.content(s, nil, m.Base)
	if m.Index != isa.NoReg {
		index := f.content(s, nil, m.Index)
		if index.reg != isa.NoReg {
			return location{}, false
		}
		base.offset += index.offset * int64(m.Scale)
	}
	if base.reg == unknown || base.reg == unset {
		return location{}, false
	}
	return location{memory: true, size: m.Size, reg: base.reg, offset: base.offset + m.Disp}, true
}

// collect records the memory operands, and reports whether it found new cells that
// always hold the same value.
func (f *slotFinder) collect() bool {
	out := f.out
	out.operands = make([][]location, len(f.r.Blocks))
	out.stores = make([][]store, len(f.r.Blocks))
	out.calls = make([][]int32, len(f.r.Blocks))
	out.all, out.taken = nil, nil
	f.stored = make(map[location]based)
	for _, b := range f.order {
		f.collectBlock(b)
	}
	slices.SortFunc(out.all, compareCells)
	out.all = slices.Compact(out.all)
	slices.Sort(out.taken)
	out.taken = slices.Compact(out.taken)
	return f.keep()
}

func (f *slotFinder) collectBlock(b int) {
	out := f.out
	copy(f.state, f.in[b])
	insts := f.r.Blocks[b].Insts
	last := len(insts) - 1
	out.operands[b] = make([]location, int(out.first[b][last])+len(insts[last].Mems()))
	for i := range insts {
		in := &insts[i]
		for k := range in.Mems() {
			m := &in.Mems()[k]
			at, ok := f.operand(f.state, m)
			if !ok {
				continue
			}
			n := out.first[b][i] + int32(k)
			out.operands[b][n] = at
			if m.Kind.Writes() {
				out.stores[b] = append(out.stores[b], store{int32(i), n})
				out.all = append(out.all, at)
				f.store(f.state, in, m, at)
			}
		}
		if in.Class == isa.Call {
			out.calls[b] = append(out.calls[b], int32(i))
		}
		f.takes(f.state, in)
		f.step(f.state, in)
	}
}

func compareCells(a, b location) int {
	return cmp.Or(cmp.Compare(a.reg, b.reg), cmp.Compare(a.offset, b.offset), cmp.Compare(a.size, b.size))
}

// store records the value that an instruction puts in a cell.
func (f *slotFinder) store(s registerFile, in *isa.Inst, m *isa.Mem, at location) {
	v := based{reg: unknown}
	if in.Stored() == m {
		v = f.value(s, in, in.Value)
	}
	if was, ok := f.stored[at]; ok && was != v {
		v = based{reg: unknown}
	}
	f.stored[at] = v
}

// takes records the stack addresses that an instruction lets escape: it stores
// them, passes them to another routine, or adds an index to them.
func (f *slotFinder) takes(s registerFile, in *isa.Inst) {
	if in.Class == isa.Call {
		for _, r := range f.abi.Arguments {
			f.take(s, r)
		}
		return
	}
	if in.Class == isa.Atomic {
		for _, r := range in.Uses() {
			if !in.Mems()[0].Reads(r) {
				f.take(s, r)
			}
		}
		return
	}
	if in.Stored() != nil {
		f.take(s, in.Value.A)
		f.take(s, in.Value.B)
	}
	for _, d := range in.Defs() {
		v := in.Result(d)
		if v.Op == isa.Opaque || f.value(s, in, v).reg != unknown {
			continue
		}
		for _, r := range []isa.Reg{v.A, v.B} {
			f.take(s, r)
			if r == f.target.StackPointer {
				f.out.taken = append(f.out.taken, s[r].offset)
			}
		}
	}
}

// take records that the content of register r is used as a value, if it is a stack
// address.
func (f *slotFinder) take(s registerFile, r isa.Reg) {
	sp := f.target.StackPointer
	if f.followed(r) && r != sp && s[r].reg == sp && (r != f.target.FramePointer || s[r].offset != 0) {
		f.out.taken = append(f.out.taken, s[r].offset)
	}
}

// keep keeps the stack cells that overlap no other cell and in which all stores
// put the same known value.
func (f *slotFinder) keep() (more bool) {
	for i, at := range f.out.all {
		v := f.stored[at]
		if at.reg != f.out.sp || v.reg == unknown || v.reg == unset || f.out.isTaken(at) ||
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

// takenBytes is how much of the stack an escaped address is assumed to reach: the
// size of a slice, string or vector header. The rest of a larger object is
// assumed, optimistically, to be other variables.
const takenBytes = 24

// isTaken reports whether others may use a cell of the stack: its address is
// used as a value, or it is in the routine's frame without being stored to by
// the routine, as where results are passed on the stack.
func (s *slots) isTaken(at location) bool {
	if at.reg != s.sp {
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

// add records the address of a store.
func (s *slots) add(b, i, k int, at location) {
	n := s.first[b][i] + int32(k)
	s.operands[b][n] = at
	s.stores[b] = append(s.stores[b], store{int32(i), n})
	slices.SortFunc(s.stores[b], func(a, b store) int { return cmp.Compare(a.operand, b.operand) })
	place, found := slices.BinarySearchFunc(s.all, at, compareCells)
	if !found {
		s.all = slices.Insert(s.all, place, at)
	}
}
