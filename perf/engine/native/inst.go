//go:build linux && amd64

package native

import (
	"presage/perf/isa/amd64"
	"presage/perf/trace"
)

// inst is an instruction as the translator sees it.
type inst struct {
	amd64.Inst
	pc  uint64
	raw []byte
	act action

	touches, writes         uint16 // general registers
	flagsRead, flagsWritten amd64.Flags

	refs []ref  // of the instruction, in order
	step change // of a general register, where it is simple

	begins bool // a part of a block: see join.go
}

// action is how the translator treats an instruction.
type action uint8

const (
	plain action = iota // copied
	branch
	jump
	call
	jumpVia // indirect
	callVia // indirect
	ret
	systemCall
	special // the engine executes it: cpuid, rdtsc and so on
	trap    // copied; it faults
)

// transfers reports whether the instruction is a transfer of control, at which a
// run may be stopped.
func (a action) transfers() bool { return a != plain && a != special }

// operand is a memory operand: base + index<<scale + disp; -1 for no register.
type operand struct {
	base, index int8
	scale       uint8
	disp        int64
	fs          bool // relative to FS
	narrow      bool // computed in 32 bits
}

// ref is a reference of an instruction to memory.
type ref struct {
	operand
	absolute bool // disp is the address, apart from fs
	size     uint8
	kind     trace.Kind
	float    bool
	form     form

	mask    int8  // register, as form says
	vector  int8  // register of the indices
	lanes   uint8 // number of elements
	index32 bool  // indices have 32 bits
	bit     int8  // register that indexes bits
}

// form is how the number and the addresses of a reference's accesses follow from
// what is recorded.
type form uint8

const (
	single         form = iota
	repeated            // until the register that holds the address has its later content
	masked              // elements whose bit in a mask register is set
	compressed          // as many elements as there are bits set in a mask register
	signed              // elements whose highest bit in a vector register is set
	gathered            // elements at an address for each bit set in a mask register
	gatheredSigned      // elements at an address for each highest bit set in a vector register
	bitString           // an element of a string of bits
	lookup              // at base + al
)

// change is what an instruction does to a general register whose new content is a
// register's and a constant.
type change struct {
	known    bool
	dst, src int8
	n        int64
	stack    int64 // is added to rsp besides, unless dst is rsp
}

// The general registers, as instructions number them.
const (
	rax = iota
	rcx
	rdx
	rbx
	rsp
	rbp
	rsi
	rdi
	r8
	r9
	r10
	r11
	r12
	r13
	r14
	r15
)

const statusFlags = amd64.Carry | amd64.Parity | amd64.Adjust | amd64.Zero | amd64.Sign | amd64.Overflow

func (i *inst) next() uint64 { return i.pc + uint64(len(i.raw)) }

func (i *inst) target() uint64 { return i.Target(i.pc) }

// loops reports whether a branch counts in or tests rcx: it has no other form than
// a short one.
func (i *inst) loops() bool { return i.act == branch && i.Map == 0 && i.Opcode >= 0xe0 }

// decode decodes the instruction at pc.
func decode(code []byte, pc uint64) (*inst, error) {
	i := &inst{pc: pc}
	if err := amd64.DecodeInto(&i.Inst, code); err != nil {
		return nil, err
	}
	i.raw = code[:i.Len]
	read, written := i.Registers()
	i.touches, i.writes = read.General|written.General, written.General
	i.flagsRead, i.flagsWritten = i.Flags()
	i.act = i.classify()
	i.step = i.changes()
	i.reference()
	return i, nil
}

// classify returns how to treat the instruction.
func (i *inst) classify() action {
	switch i.Kind() {
	case amd64.Branch:
		return branch
	case amd64.Jump:
		return jump
	case amd64.Call:
		return call
	case amd64.IndirectJump:
		if i.far() {
			return trap
		}
		return jumpVia
	case amd64.IndirectCall:
		if i.far() {
			return trap
		}
		return callVia
	case amd64.Return:
		if i.Opcode != 0xc2 && i.Opcode != 0xc3 {
			return trap
		}
		return ret
	case amd64.Syscall:
		if i.Map == 1 && i.Opcode == 0x05 {
			return systemCall
		}
		return trap
	case amd64.Trap:
		return special
	case amd64.Undefined:
		return trap
	}
	return i.classifySystem()
}

// far reports whether an indirect transfer changes the code segment.
func (i *inst) far() bool { return i.Map == 0 && i.Opcode == 0xff && i.ModRM>>3&7&1 == 1 }

// classifySystem tells apart the instructions that see or change what the engine
// chooses for the program.
func (i *inst) classifySystem() action {
	if i.Segment == amd64.GS {
		return special
	}
	switch i.Name() {
	case "cpuid", "rdtsc", "rdtscp", "rdrand", "rdseed", "rdpid", "xbegin", "rdpmc",
		"rdgsbase", "wrgsbase", "wrfsbase", "swapgs", "rdpru", "int3", "int1", "into":
		return special
	case "int", "hlt", "iret", "iretd", "iretq", "sysenter", "sysexit", "sysret":
		return trap
	}
	return plain
}

// changes describes simple changes of general registers.
func (i *inst) changes() change {
	if i.Encoding != amd64.Legacy || i.Map != 0 || i.Size16 || i.Address32 {
		return change{}
	}
	reg, rm := int8(i.Reg), int8(i.RM)
	registers := i.HasModRM && i.ModRM >= 0xc0
	add := func(r int8, n int64) change { return change{known: true, dst: r, src: r, n: n} }
	switch op := i.Opcode; {
	case op&0xf8 == 0x50, op == 0x68, op == 0x6a, op == 0xff && i.ModRM>>3&7 == 6, op == 0x9c, op == 0xe8:
		return add(rsp, -8)
	case op&0xf8 == 0x58:
		if op&7|i.REX&1<<3 == rsp {
			return change{}
		}
		return change{dst: -1, stack: 8}
	case op == 0xc3:
		return add(rsp, 8)
	case !i.W:
	case (op == 0x83 || op == 0x81) && registers && i.ModRM>>3&7 == 0:
		return add(rm, i.Imm)
	case (op == 0x83 || op == 0x81) && registers && i.ModRM>>3&7 == 5:
		return add(rm, -i.Imm)
	case op == 0x05:
		return add(rax, i.Imm)
	case op == 0x2d:
		return add(rax, -i.Imm)
	case op == 0xff && registers && i.ModRM>>3&7 < 2:
		return add(rm, 1-2*int64(i.ModRM>>3&7))
	case op == 0x89 && registers:
		return change{known: true, dst: rm, src: reg}
	case op == 0x8b && registers:
		return change{known: true, dst: reg, src: rm}
	case op == 0x8d:
		if a := i.Address(); a.Base.General() && a.Index == amd64.NoReg {
			return change{known: true, dst: reg, src: int8(a.Base), n: a.Disp}
		}
	}
	return change{}
}

// reference fills in the references.
func (i *inst) reference() {
	var list [amd64.MaxMems]amd64.Mem
	for _, m := range i.Mems(list[:0]) {
		i.addRef(&m)
	}
}

const lookupOpcode = 0xd7

func (i *inst) addRef(m *amd64.Mem) {
	r := ref{operand: i.operand(m), float: i.VectorBytes() > 0 || i.x87(), kind: trace.Load, mask: -1, vector: -1, bit: -1, lanes: m.Count}
	r.absolute = m.Base == amd64.RIP || m.Base == amd64.NoReg && m.Index == amd64.NoReg
	if m.Base == amd64.RIP {
		r.disp += int64(i.next())
	}
	switch m.Access {
	case amd64.Write:
		r.kind = trace.Store
	case amd64.Read | amd64.Write:
		r.kind = trace.ReadModifyWrite
	}
	size := uint64(m.Size)
	switch {
	case i.Map == 0 && i.Encoding == amd64.Legacy && i.Opcode == lookupOpcode:
		r.form = lookup
	case m.Bit != amd64.NoReg:
		r.form, r.bit = bitString, int8(m.Bit)
	case m.Index.Vector():
		r.vector, r.index32, r.form = int8(m.Index-amd64.V0), m.IndexBits == 32, gathered
		r.mask = int8(m.Mask - amd64.K0)
		if m.Select == amd64.BySign {
			r.form, r.mask = gatheredSigned, int8(m.Mask-amd64.V0)
		}
		size = uint64(m.Element)
	case m.Select == amd64.ByMask:
		r.form, r.mask, size = masked, int8(m.Mask-amd64.K0), uint64(m.Element)
	case m.Select == amd64.Compressed:
		r.form, r.mask, size = compressed, int8(m.Mask-amd64.K0), uint64(m.Element)
	case m.Select == amd64.BySign && m.Mask.Vector():
		r.form, r.mask, size = signed, int8(m.Mask-amd64.V0), uint64(m.Element)
	case m.Repeated:
		r.form = repeated
	case size == 0:
		size = i.stateBytes()
	}
	i.split(r, size)
}

// split adds r in pieces whose sizes are powers of two.
func (i *inst) split(r ref, size uint64) {
	for size > 0 {
		piece := uint64(128)
		for piece > size {
			piece >>= 1
		}
		r.size = uint8(piece)
		i.refs = append(i.refs, r)
		r.disp += int64(piece)
		size -= piece
	}
}

// stateBytes returns the size of the operand of an instruction that saves or
// restores the processor's state: the legacy area and the header, which are what
// all of them have.
func (i *inst) stateBytes() uint64 {
	if i.Kind() == amd64.State {
		return 576
	}
	return 0
}

// x87 reports whether the instruction works on the x87 stack.
func (i *inst) x87() bool {
	return i.Encoding == amd64.Legacy && i.Map == 0 && i.Opcode >= 0xd8 && i.Opcode <= 0xdf
}

// operand converts the address of a memory operand.
func (i *inst) operand(m *amd64.Mem) operand {
	o := operand{base: -1, index: -1, disp: m.Disp, fs: m.Segment == amd64.FS, narrow: m.Address32}
	if m.Base.General() {
		o.base = int8(m.Base)
	}
	if m.Index.General() {
		o.index = int8(m.Index)
	}
	for s := m.Scale; s > 1; s >>= 1 {
		o.scale++
	}
	return o
}
