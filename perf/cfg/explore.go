package cfg

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"presage/perf/isa"
	"presage/perf/objfile"
)

// Doubts that stand in Program.Warnings, for errors.Is.
var (
	ErrUndecoded   = errors.New("undecoded instructions")
	ErrOverlap     = errors.New("overlapping instructions")
	ErrOpen        = errors.New("indirect jumps with unknown targets")
	ErrIrreducible = errors.New("irreducible loops")
	ErrObserved    = errors.New("transfers of control that only a run showed")
)

// explorer finds the instructions of a program by recursive descent, in all
// routines at once, because whether control goes on after a call depends on
// whether the callee returns. A routine counts as returning only once a return is
// found, so routines that only call each other in a cycle do not.
type explorer struct {
	file    *objfile.File
	target  *isa.Target
	decoder isa.Decoder
	drafts  []*draft // by ascending address
	work    []place
	jumping []*draft // those with indirect jumps
	called  map[uint64]bool

	globals map[isa.Reg]int64 // registers with one value throughout the program; nil: not searched for yet
	effort  int               // steps that may still be spent on indirect jumps

	undecoded, overlap, observed doubt

	sources map[uint64][]*draft // of the jumps to other routines, by target
}

// place is an instruction of a routine.
type place struct {
	draft *draft
	pc    uint64
}

// draft is a routine that is being explored.
type draft struct {
	objfile.Routine
	align   uint // log2 of the instruction alignment; a slot is one such position
	insts   []isa.Inst
	index   []int32 // by slot: 1 + index in insts of the instruction that starts there, -1 inside one
	leaders []bool  // by slot
	entries []uint64
	tables  map[uint64][]uint64 // targets of the indirect jumps that were resolved, ascending
	partial map[uint64]bool     // indirect jumps that have other targets, too, or none known
	jumps   []uint64            // indirect jumps to no constant target
	loose   map[uint64][]uint64 // further targets, by jump: as long as nothing better is known
	changes int                 // number of leaders
	sliced  int                 // changes when the indirect jumps were last examined
	rounds  int                 // how often the indirect jumps were examined
	back    map[uint64]bool     // return sites of calls that return
	traps   map[uint64]bool     // instructions certain to fault
	seen    map[Range]bool      // transfers by indirect jump that were only observed

	returns bool
	waiting []waiter // for returns
}

// waiter is an exploration that continues once a routine is known to return.
type waiter struct {
	draft *draft
	pc    uint64 // the call's return site; the jump itself if tail
	tail  bool   // the draft jumps to the routine, and returns if that does
}

// doubt counts findings of one kind, and keeps the first.
type doubt struct {
	count int
	pc    uint64
	name  string
}

func (d *doubt) add(pc uint64, name string) {
	if d.count++; d.count == 1 {
		d.pc, d.name = pc, name
	}
}

// newExplorer prepares to explore a program, whose nameless sections are split
// at starts, ascending.
func newExplorer(f *objfile.File, d isa.Decoder, starts []uint64) *explorer {
	x := &explorer{file: f, target: f.Target, decoder: d, effort: effortBase, called: make(map[uint64]bool)}
	for _, r := range split(f.Routines, starts) {
		if f.Bytes(r.Addr, r.Size) == nil || r.Size == 0 {
			continue
		}
		x.drafts = append(x.drafts, newDraft(r, f.Target))
	}
	return x
}

func newDraft(r objfile.Routine, t *isa.Target) *draft {
	places := (r.Size + t.Align - 1) / t.Align
	return &draft{
		Routine: r, align: uint(bits.TrailingZeros64(t.Align)),
		index: make([]int32, places), leaders: make([]bool, places),
		tables: make(map[uint64][]uint64), partial: make(map[uint64]bool),
		back: make(map[uint64]bool), traps: make(map[uint64]bool),
	}
}

// at returns the draft that holds pc, or nil.
func (x *explorer) at(pc uint64) *draft {
	i, found := slices.BinarySearchFunc(x.drafts, pc, func(d *draft, pc uint64) int { return cmp.Compare(d.Addr, pc) })
	if found {
		return x.drafts[i]
	}
	if i > 0 && pc < x.drafts[i-1].End() {
		return x.drafts[i-1]
	}
	return nil
}

// slot returns the index of pc in the tables of d.
func (d *draft) slot(pc uint64) uint64 { return (pc - d.Addr) >> d.align }

// fetch decodes the instruction at pc, which ends no later than at end.
func (x *explorer) fetch(pc, end uint64) (isa.Inst, error) {
	return x.decoder.Decode(x.file.Bytes(pc, min(uint64(x.target.MaxLength), end-pc)), pc)
}

func (d *draft) holds(pc uint64) bool { return pc >= d.Addr && pc < d.End() }

// enter makes pc an entry of the routine that holds it.
func (x *explorer) enter(pc uint64) *draft {
	d := x.at(pc)
	if d == nil {
		d = x.add(pc)
	}
	if d != nil && !slices.Contains(d.entries, pc) {
		d.entries = append(d.entries, pc)
		x.lead(d, pc)
	}
	return d
}

// lead makes pc a leader: the beginning of a block of d.
func (x *explorer) lead(d *draft, pc uint64) {
	if slot := d.slot(pc); !d.leaders[slot] {
		d.leaders[slot] = true
		d.changes++
		x.work = append(x.work, place{d, pc})
	}
}

// run explores everything that can be reached from the routines' entries.
func (x *explorer) run() {
	for _, d := range x.drafts {
		x.enter(d.Addr)
		if switchesStacks(d.Name) {
			x.mark(d)
		}
	}
	x.settle()
}

// switchesStacks reports whether a routine of Go's runtime continues on another
// stack, from which control returns to the caller in a way that no instruction
// shows.
func switchesStacks(name string) bool {
	return isMorestack(name) || name == "runtime.mcall"
}

func isMorestack(name string) bool { return strings.HasPrefix(name, "runtime.morestack") }

// settle processes the work list, and resolves indirect jumps only when it is
// empty: they resolve better the more code is known.
func (x *explorer) settle() {
	for {
		for n := len(x.work); n > 0; n = len(x.work) {
			p := x.work[n-1]
			x.work = x.work[:n-1]
			x.follow(p.draft, p.pc)
		}
		if !x.resolve() {
			return
		}
	}
}

// follow decodes from pc to the end of the block or to code already decoded.
func (x *explorer) follow(d *draft, pc uint64) {
	for before := (isa.Inst{}); ; {
		if !d.holds(pc) {
			x.tail(d, pc)
			return
		}
		if d.index[d.slot(pc)] > 0 {
			return
		}
		in, ok := x.decode(d, pc)
		if !ok {
			return
		}
		if in.Class.EndsBlock() {
			x.transfer(d, &in)
			return
		}
		if nilAccess(&before, &in) {
			d.traps[in.PC] = true
			return
		}
		before, pc = in, in.Next()
	}
}

// nilAccess reports whether in accesses memory at a constant address on the first
// page, which is never mapped: compilers emit such an access, with the address
// set in a register just before, in unreachable code.
func nilAccess(before, in *isa.Inst) bool {
	for _, m := range in.Mems() {
		at, ok := m.Constant()
		if !ok && m.Index == isa.NoReg && before.Defines(m.Base) {
			var base int64
			base, ok = before.Result(m.Base).Constant()
			at += base
		}
		if ok && at >= 0 && at < firstPage {
			return true
		}
	}
	return false
}

const firstPage = 4096 // bytes, never mapped (Linux, vm.mmap_min_addr)

// decode decodes the instruction at pc and keeps it, unless it overlaps a known
// one.
func (x *explorer) decode(d *draft, pc uint64) (isa.Inst, bool) {
	in, err := x.fetch(pc, d.End())
	if err != nil {
		x.undecoded.add(pc, d.Name)
	}
	first, last := d.slot(pc), d.slot(pc+uint64(max(in.Len, 1))-1)
	for s := first; s <= last; s++ {
		if d.index[s] != 0 {
			x.overlap.add(pc, d.Name)
			return in, false
		}
	}
	for s := first; s <= last; s++ {
		d.index[s] = -1
	}
	d.insts = append(d.insts, in)
	x.effort += effortPerInst
	d.index[first] = int32(len(d.insts))
	return in, true
}

// transfer continues at the successors of an instruction that ends a block.
func (x *explorer) transfer(d *draft, in *isa.Inst) {
	switch in.Class {
	case isa.Branch:
		x.jump(d, in.Target)
		x.after(d, in.Next())
	case isa.SystemCall:
		x.after(d, in.Next())
	case isa.Jump:
		x.jump(d, in.Target)
	case isa.IndirectJump:
		if in.HasTarget {
			x.jump(d, in.Target)
			return
		}
		if name, ok := x.imported(in); ok {
			if !neverReturns(name) {
				x.mark(d)
			}
			x.bind(d, in)
			return
		}
		if len(d.jumps) == 0 {
			x.jumping = append(x.jumping, d)
		}
		d.jumps = append(d.jumps, in.PC)
		d.partial[in.PC] = true
		d.changes++
	case isa.Return:
		x.mark(d)
	case isa.Call:
		x.call(d, in)
	}
}

// bind continues where a jump through a cell goes the first time.
func (x *explorer) bind(d *draft, in *isa.Inst) {
	if to := x.lazyStub(in); to == 0 {
		return
	} else if d.holds(to) {
		x.lead(d, to)
	} else {
		x.enter(to)
	}
}

// after continues with the next instruction, inside the routine or not.
func (x *explorer) after(d *draft, pc uint64) {
	if d.holds(pc) {
		x.lead(d, pc)
		return
	}
	x.tail(d, pc)
}

// jump continues at a target.
func (x *explorer) jump(d *draft, target uint64) {
	if d.holds(target) {
		x.lead(d, target)
		return
	}
	x.tail(d, target)
}

// tail handles a transfer to another routine: d returns if that routine does.
func (x *explorer) tail(d *draft, target uint64) {
	x.noteSource(d, target)
	to := x.enter(target)
	if to == nil || to.returns {
		x.mark(d)
		return
	}
	to.waiting = append(to.waiting, waiter{draft: d, tail: true})
}

func (x *explorer) call(d *draft, in *isa.Inst) {
	back := in.Next()
	var to *draft
	if name, ok := x.imported(in); ok && neverReturns(name) {
		return
	}
	if target, ok := x.callee(d, in); ok {
		x.called[target] = true
		to = x.enter(target)
	}
	switch {
	case !d.holds(back):
		// The call is the routine's last instruction: the code after it belongs
		// to another routine, so the call does not return.
	case to == nil || to.returns:
		x.comeBack(d, back)
	default:
		to.waiting = append(to.waiting, waiter{draft: d, pc: back})
	}
}

// callee returns the target of a call that was just decoded: constant, or set in
// a register immediately before, as linkers do for distant targets.
func (x *explorer) callee(d *draft, in *isa.Inst) (uint64, bool) {
	if in.HasTarget {
		return in.Target, true
	}
	i := len(d.insts) - 2
	v := in.Value
	if i < 0 || v.Op != isa.Add || v.B != isa.NoReg || d.insts[i].Next() != in.PC {
		return 0, false
	}
	n, ok := address(d.insts, i, d.insts[i].Result(v.A))
	if !ok || !d.insts[i].Defines(v.A) {
		return 0, false
	}
	return x.target.Down(uint64(n + v.Imm)), true
}

// comeBack continues after a call that returns.
func (x *explorer) comeBack(d *draft, pc uint64) {
	d.back[pc] = true
	x.lead(d, pc)
}

// mark records that a routine returns, and resumes the explorations waiting for
// it.
func (x *explorer) mark(d *draft) {
	if d.returns {
		return
	}
	d.returns = true
	for _, w := range d.waiting {
		if w.tail {
			x.mark(w.draft)
		} else {
			x.comeBack(w.draft, w.pc)
		}
	}
	d.waiting = nil
}

// doubts returns the warnings about the exploration.
func (x *explorer) doubts() []error {
	var list []error
	warn := func(d doubt, kind error, what string) {
		if d.count > 0 {
			list = append(list, fmt.Errorf("%d %w, the first at pc %#x in %s: %s", d.count, kind, d.pc, d.name, what))
		}
	}
	warn(x.undecoded, ErrUndecoded, "control cannot be followed past them")
	warn(x.observed, ErrObserved, "another run may show others")
	warn(x.overlap, ErrOverlap, "control leads into the middle of an instruction, and is not followed there")
	return list
}
