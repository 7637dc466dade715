package isa

import (
	"fmt"
	"slices"
	"strings"
)

// MemKind says what an instruction does to memory.
type MemKind uint8

// The kinds of memory access.
const (
	NoMem MemKind = iota
	MemLoad
	MemStore
	MemReadModifyWrite
)

// Writes reports whether an access of kind k modifies memory.
func (k MemKind) Writes() bool { return k >= MemStore }

// Mem is a memory operand: Size bytes at the address Base + Index·Scale + Disp.
// If Index is a vector register, each of its elements addresses an element of
// Size bytes.
type Mem struct {
	Kind  MemKind
	Size  uint8 // bytes; 128 for operands that are longer or whose length depends on the program's state
	Float bool  // the datum goes to or comes from a floating-point register
	Base  Reg   // NoReg: 0
	Index Reg   // NoReg: 0
	Scale uint8 // of the index: a power of two; 0 without one
	Disp  int64

	// Varies means that the number of accesses differs between executions: of string
	// instructions that repeat, gathers, and elements that a mask selects.
	Varies bool
}

// Constant returns the address if it depends on no register.
func (m *Mem) Constant() (int64, bool) { return m.Disp, m.Base == NoReg && m.Index == NoReg }

// Reads reports whether the address depends on r.
func (m *Mem) Reads(r Reg) bool { return r != NoReg && (m.Base == r || m.Index == r) }

// Inst is a decoded instruction.
type Inst struct {
	PC uint64
	Op string // mnemonic, as the decoder names it

	// Value is what the instruction computes, unless Result says otherwise.
	Value Value

	// Target is where a Branch, Jump or Call goes if it is a constant.
	Target    uint64
	HasTarget bool

	Len   uint8 // bytes
	Class Class // of its main work, or of the transfer of control it makes

	nMems, nDefs, nUses uint8
	defs                [maxDefs]Reg
	uses                [maxUses]Reg
	mem                 [1]Mem   // the first
	more                *details // nil for most instructions
}

const (
	maxDefs = 4 // as of CPUID
	maxUses = 6 // as of CMPXCHG16B
)

// details holds what few instructions have.
type details struct {
	mems    []Mem // all, if there are several
	micros  []Micro
	results []result
}

type result struct {
	reg   Reg
	value Value
}

// Micro is a micro-operation: a part of an instruction that a processor
// executes as a unit. It reads at most MicroUses registers, writes at most
// MicroDefs, and accesses at most one memory operand. A read-modify-write operand
// may be accessed by two micro-operations: first one of class Load or FPLoad,
// then one of class Store or FPStore.
type Micro struct {
	Class Class
	Mem   int8  // index in Inst.Mems, -1 for none
	Uses  uint8 // bit set over Inst.Uses
	Defs  uint8 // bit set over Inst.Defs
	After uint8 // bit set of the micro-operations before it whose results it needs
}

const (
	MicroUses = 4
	MicroDefs = 2
	MaxMicros = 8
)

// Decoder decodes the instruction at the beginning of code, whose address is pc.
// With an error the Inst has class Illegal, and its Len is the number of bytes
// to skip. A Decoder need not be safe for concurrent use.
type Decoder interface {
	Decode(code []byte, pc uint64) (Inst, error)
}

// Next returns the address of the instruction that follows in memory.
func (i *Inst) Next() uint64 { return i.PC + uint64(i.Len) }

// Defs returns the registers that i writes; for a call, those that the caller
// sees after the return. The slice is part of i.
func (i *Inst) Defs() []Reg { return i.defs[:i.nDefs] }

// Uses returns the registers that i reads, each once, including those in its
// addresses. The slice is part of i.
func (i *Inst) Uses() []Reg { return i.uses[:i.nUses] }

// Defines reports whether i writes r.
func (i *Inst) Defines(r Reg) bool { return slices.Contains(i.Defs(), r) }

// Mems returns the memory operands; operands that are read precede those that
// are only written. The slice is part of i.
func (i *Inst) Mems() []Mem {
	if i.nMems > 1 {
		return i.more.mems
	}
	return i.mem[:i.nMems]
}

// Accesses reports whether i has a memory operand.
func (i *Inst) Accesses() bool { return i.nMems > 0 }

// Stored returns the memory operand that i.Value is stored to, or nil if i stores
// nothing or a value that is not described.
func (i *Inst) Stored() *Mem {
	if i.nMems == 0 || i.Value.Op == Opaque || i.Class == Call {
		return nil
	}
	if m := &i.Mems()[i.nMems-1]; m.Kind.Writes() && !m.Float {
		return m
	}
	return nil
}

// Result returns the value that i gives to integer register r, which it defines.
func (i *Inst) Result(r Reg) Value {
	if i.more != nil {
		for _, o := range i.more.results {
			if o.reg == r {
				return o.value
			}
		}
	}
	return i.Value
}

// Micros appends the micro-operations of i to dst, in program order. Most
// instructions are a single one, of their own class.
func (i *Inst) Micros(dst []Micro) []Micro {
	if i.more != nil && len(i.more.micros) > 0 {
		return append(dst, i.more.micros...)
	}
	return append(dst, Micro{Class: i.Class, Mem: int8(i.nMems) - 1, Uses: 1<<i.nUses - 1, Defs: 1<<i.nDefs - 1})
}

// Access returns the memory operand of a micro-operation of i and what it does
// there; nil and NoMem if it has none.
func (i *Inst) Access(m Micro) (*Mem, MemKind) {
	if m.Mem < 0 {
		return nil, NoMem
	}
	mem := &i.Mems()[m.Mem]
	switch {
	case mem.Kind != MemReadModifyWrite:
	case m.Class == Load || m.Class == FPLoad:
		return mem, MemLoad
	case m.Class == Store || m.Class == FPStore:
		return mem, MemStore
	}
	return mem, mem.Kind
}

// AddDef is for decoders: it records that i writes r, unless r is NoReg. It
// panics if there is no room.
func (i *Inst) AddDef(r Reg) {
	if r != NoReg {
		i.defs[i.nDefs] = r
		i.nDefs++
	}
}

// AddUse is for decoders: it records that i reads r, as AddDef does.
func (i *Inst) AddUse(r Reg) {
	if r == NoReg || slices.Contains(i.Uses(), r) {
		return
	}
	i.uses[i.nUses] = r
	i.nUses++
}

// AddMem is for decoders: it adds a memory operand and the uses of the registers
// in its address. An instruction with several operands needs micro-operations.
func (i *Inst) AddMem(m Mem) {
	if i.nMems == 0 {
		i.mem[0] = m
	} else {
		d := i.detail()
		d.mems = append(slices.Clip(i.Mems()), m)
	}
	i.nMems++
	i.AddUse(m.Base)
	i.AddUse(m.Index)
}

// AddMicro is for decoders: it adds a micro-operation that reads and writes some
// of the registers that i reads and writes, and returns its number.
func (i *Inst) AddMicro(class Class, mem int, uses, defs []Reg, after ...int) int {
	d := i.detail()
	m := Micro{Class: class, Mem: int8(mem)}
	for _, r := range uses {
		m.Uses |= 1 << mustIndex(i.Uses(), r)
	}
	for _, r := range defs {
		m.Defs |= 1 << mustIndex(i.Defs(), r)
	}
	for _, k := range after {
		m.After |= 1 << k
	}
	if len(uses) > MicroUses || len(defs) > MicroDefs || len(d.micros) == MaxMicros {
		panic(fmt.Sprintf("isa: micro-operation %d of %s reads %d registers and writes %d", len(d.micros), i.Op, len(uses), len(defs)))
	}
	d.micros = append(d.micros, m)
	return len(d.micros) - 1
}

// SetResult is for decoders: it records the new value of r where it is not Value.
func (i *Inst) SetResult(r Reg, v Value) {
	d := i.detail()
	d.results = append(d.results, result{r, v})
}

func (i *Inst) detail() *details {
	if i.more == nil {
		i.more = new(details)
	}
	return i.more
}

func mustIndex(list []Reg, r Reg) int {
	n := slices.Index(list, r)
	if n < 0 {
		panic(fmt.Sprintf("isa: a micro-operation of %v, which the instruction does not name", r))
	}
	return n
}

// String describes i generically: mnemonic, defs, memory operand, uses, target.
func (i *Inst) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%#x: %s", i.PC, i.Op)
	if i.nDefs > 0 {
		fmt.Fprintf(&b, " %v =", i.Defs())
	}
	if i.nUses > 0 {
		fmt.Fprintf(&b, " %v", i.Uses())
	}
	for _, m := range i.Mems() {
		b.WriteByte(' ')
		b.WriteString(m.String())
	}
	if i.HasTarget {
		fmt.Fprintf(&b, " -> %#x", i.Target)
	}
	return b.String()
}

// String describes m as in mem64[-8+x2] and mem32[16+x1+4*x3].
func (m *Mem) String() string {
	text := fmt.Sprintf("mem%d[%d", 8*int(m.Size), m.Disp)
	if m.Base != NoReg {
		text += "+" + m.Base.String()
	}
	if m.Index != NoReg {
		text += fmt.Sprintf("+%d*%v", m.Scale, m.Index)
	}
	return text + "]"
}
