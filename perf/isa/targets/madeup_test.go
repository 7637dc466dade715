package targets_test

import (
	"encoding/binary"
	"errors"
	"fmt"

	"presage/perf/isa"
)

// This file defines a made-up instruction set that breaks every assumption that
// analyses must not make. Instructions have 1 to 15 bytes and any alignment.
// There are 16 registers, the last one the stack pointer, and flags; calls push
// the return address on the stack. Addresses consist of a base, a scaled index
// and a displacement, arithmetic takes memory operands, and one instruction has
// two of them.

const (
	madeUpStack isa.Reg = 15
	madeUpFlags isa.Reg = 16
)

// The first byte of an instruction.
const (
	opNop = iota
	opReturn
	opCopyString // 8 bytes from r1 to r2; advances both
	opSystem
	opMove        // registers
	opAdd         // registers
	opCompare     // registers
	opPush        // register
	opPop         // register
	opImmediate   // register, 8 bytes
	opAddByte     // register, byte
	opCompareWord // register, 4 bytes
	opBranch      // condition, 4 bytes from the next instruction on
	opJump        // 1 byte
	opCall        // 4 bytes
	opLoad        // register, address
	opStore       // register, address
	opAddLoad     // register, address
	opAddStore    // register, address
	opFloat       // register, address: adds a floating-point number
	opTable       // address: jumps to where it points
	opAddLong     // address, 8 bytes: the longest

	addressLength = 6 // base, index<<4 | log2 scale, 4 bytes; 255 and 15<<4: none
)

var madeUpLengths = [...]int{
	opNop: 1, opReturn: 1, opCopyString: 1, opSystem: 1, opMove: 2, opAdd: 2, opCompare: 2, opPush: 2, opPop: 2,
	opImmediate: 10, opAddByte: 3, opCompareWord: 6, opBranch: 6, opJump: 2, opCall: 5,
	opLoad: 2 + addressLength, opStore: 2 + addressLength, opAddLoad: 2 + addressLength, opAddStore: 2 + addressLength,
	opFloat: 2 + addressLength, opTable: 1 + addressLength, opAddLong: 1 + addressLength + 8,
}

// conditions are the conditions of a branch, which compare the flags with 0.
var conditions = [...]isa.Operator{isa.Equal, isa.NotEqual, isa.Less, isa.GreaterEqual, isa.LessUnsigned, isa.GreaterEqualUnsigned}

func madeUp() *isa.Target {
	abi := isa.Convention{
		Arguments: []isa.Reg{0, 1, 2, 3}, Results: []isa.Reg{0},
		Preserved: isa.SetOf(12, 13, 14, madeUpStack), CalleeSaved: isa.SetOf(12, 13, 14),
	}
	t := &isa.Target{
		Name: "madeup", Extensions: "all there is", NewDecoder: func() isa.Decoder { return madeUpDecoder{} },
		MaxLength: 15, Align: 1, AddressLimit: 1 << 47,
		Zero: isa.NoReg, StackPointer: madeUpStack, ThreadPointer: isa.NoReg, GlobalPointer: isa.NoReg, FramePointer: isa.NoReg, ReturnAddress: isa.NoReg,
		Flags: isa.SetOf(madeUpFlags), C: abi, Go: abi, SystemCall: isa.SetOf(0),
	}
	for i := range 16 {
		t.IntegerNames = append(t.IntegerNames, fmt.Sprintf("r%d", i))
		t.FloatNames = append(t.FloatNames, fmt.Sprintf("v%d", i))
	}
	t.IntegerNames = append(t.IntegerNames, "flags")
	return t
}

type madeUpDecoder struct{}

func (madeUpDecoder) Decode(code []byte, pc uint64) (isa.Inst, error) {
	in := isa.Inst{PC: pc, Len: uint8(min(len(code), 1))}
	if len(code) == 0 || int(code[0]) >= len(madeUpLengths) || madeUpLengths[code[0]] > len(code) {
		return in, errors.New("no instruction")
	}
	in.Len = uint8(madeUpLengths[code[0]])
	in.Op = fmt.Sprintf("op%d", code[0])
	in.Value = isa.Value{A: isa.NoReg, B: isa.NoReg}
	d := decoding{in: &in, code: code[:in.Len]}
	switch {
	case code[0] < opMove:
		d.alone()
	case code[0] < opImmediate:
		d.registers()
	case code[0] < opBranch:
		d.immediate()
	case code[0] < opLoad:
		d.transfer()
	default:
		d.memory()
	}
	return in, nil
}

type decoding struct {
	in   *isa.Inst
	code []byte
}

func (d *decoding) alone() {
	in := d.in
	switch d.code[0] {
	case opNop:
		in.Class = isa.Nop
	case opReturn:
		in.Class, in.Value = isa.Return, isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg}
		in.AddMem(d.stack(isa.MemLoad, 0))
		in.AddMicro(isa.Load, 0, []isa.Reg{madeUpStack}, nil)
		in.AddMicro(isa.Return, -1, nil, nil, 0)
	case opCopyString:
		in.Class, in.Value = isa.Load, isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg}
		in.AddMem(isa.Mem{Kind: isa.MemLoad, Size: 8, Base: 1, Index: isa.NoReg})
		in.AddMem(isa.Mem{Kind: isa.MemStore, Size: 8, Base: 2, Index: isa.NoReg})
		for _, r := range []isa.Reg{1, 2} {
			in.AddDef(r)
			in.SetResult(r, isa.Value{Op: isa.Add, A: r, B: isa.NoReg, Imm: 8})
		}
		in.AddMicro(isa.Load, 0, []isa.Reg{1}, nil)
		in.AddMicro(isa.Store, 1, []isa.Reg{2}, nil, 0)
		in.AddMicro(isa.ALU, -1, []isa.Reg{1}, []isa.Reg{1})
		in.AddMicro(isa.ALU, -1, []isa.Reg{2}, []isa.Reg{2})
	case opSystem:
		in.Class = isa.SystemCall
	}
}

func (d *decoding) stack(kind isa.MemKind, disp int64) isa.Mem {
	return isa.Mem{Kind: kind, Size: 8, Base: madeUpStack, Index: isa.NoReg, Disp: disp}
}

// registers decodes an instruction with a register in each half of its second
// byte.
func (d *decoding) registers() {
	in, a, b := d.in, isa.Reg(d.code[1]>>4), isa.Reg(d.code[1]&15)
	in.Class = isa.ALU
	moved := isa.Value{Op: isa.Add, A: madeUpStack, B: isa.NoReg, Imm: 8}
	switch d.code[0] {
	case opMove:
		in.AddDef(a)
		in.AddUse(b)
		in.Value = isa.Value{Op: isa.Add, A: b, B: isa.NoReg}
	case opAdd, opCompare:
		in.Value = isa.Value{Op: isa.Subtract, A: a, B: b}
		if d.code[0] == opAdd {
			in.AddDef(a)
			in.Value.Op = isa.Add
		}
		in.AddDef(madeUpFlags)
		in.AddUse(a)
		in.AddUse(b)
	case opPush:
		in.Class, in.Value = isa.Store, isa.Value{Op: isa.Add, A: a, B: isa.NoReg}
		in.AddDef(madeUpStack)
		moved.Imm = -8
		in.SetResult(madeUpStack, moved)
		in.AddUse(a)
		in.AddMem(d.stack(isa.MemStore, -8))
		in.AddMicro(isa.Store, 0, []isa.Reg{a, madeUpStack}, nil)
		in.AddMicro(isa.ALU, -1, []isa.Reg{madeUpStack}, []isa.Reg{madeUpStack})
	case opPop:
		in.Class, in.Value = isa.Load, isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg}
		in.AddDef(a)
		in.AddDef(madeUpStack)
		in.SetResult(madeUpStack, moved)
		in.AddMem(d.stack(isa.MemLoad, 0))
		in.AddMicro(isa.Load, 0, []isa.Reg{madeUpStack}, []isa.Reg{a})
		in.AddMicro(isa.ALU, -1, []isa.Reg{madeUpStack}, []isa.Reg{madeUpStack})
	}
}

func (d *decoding) immediate() {
	in, r := d.in, isa.Reg(d.code[1])
	in.Class = isa.ALU
	switch d.code[0] {
	case opImmediate:
		in.AddDef(r)
		in.Value = isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: int64(binary.LittleEndian.Uint64(d.code[2:]))}
		return
	case opAddByte:
		in.AddDef(r)
		in.Value = isa.Value{Op: isa.Add, A: r, B: isa.NoReg, Imm: int64(int8(d.code[2]))}
	case opCompareWord:
		in.Value = isa.Value{Op: isa.Subtract, A: r, B: isa.NoReg, Imm: int64(int32(binary.LittleEndian.Uint32(d.code[2:])))}
	}
	in.AddDef(madeUpFlags)
	in.AddUse(r)
}

func (d *decoding) transfer() {
	in := d.in
	in.HasTarget = true
	at := len(d.code) - 4
	switch d.code[0] {
	case opBranch:
		in.Class, in.Value = isa.Branch, isa.Value{Op: conditions[d.code[1]], A: madeUpFlags, B: isa.NoReg}
		in.AddUse(madeUpFlags)
	case opJump:
		in.Class = isa.Jump
		in.Target = in.Next() + uint64(int64(int8(d.code[1])))
		return
	case opCall:
		in.Class = isa.Call
		in.AddUse(madeUpStack)
		in.AddMem(d.stack(isa.MemStore, -8))
		in.AddMicro(isa.Store, 0, []isa.Reg{madeUpStack}, nil)
		in.AddMicro(isa.Call, -1, nil, nil)
	}
	in.Target = in.Next() + uint64(int64(int32(binary.LittleEndian.Uint32(d.code[at:]))))
}

// address reads an address that begins with byte i.
func (d *decoding) address(i int, kind isa.MemKind) (isa.Mem, []isa.Reg) {
	m := isa.Mem{Kind: kind, Size: 8, Base: isa.NoReg, Index: isa.NoReg, Disp: int64(int32(binary.LittleEndian.Uint32(d.code[i+2:])))}
	var uses []isa.Reg
	if b := d.code[i]; b < 16 {
		m.Base = isa.Reg(b)
		uses = append(uses, m.Base)
	}
	if x := d.code[i+1]; x>>4 < 15 {
		m.Index, m.Scale = isa.Reg(x>>4), 1<<(x&15)
		if m.Index != m.Base {
			uses = append(uses, m.Index)
		}
	}
	return m, uses
}

func (d *decoding) memory() {
	in, r := d.in, isa.Reg(d.code[1])
	flags := []isa.Reg{madeUpFlags}
	switch d.code[0] {
	case opLoad:
		m, _ := d.address(2, isa.MemLoad)
		in.Class, in.Value = isa.Load, isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg}
		in.AddDef(r)
		in.AddMem(m)
	case opStore:
		m, _ := d.address(2, isa.MemStore)
		in.Class, in.Value = isa.Store, isa.Value{Op: isa.Add, A: r, B: isa.NoReg}
		in.AddUse(r)
		in.AddMem(m)
	case opAddLoad:
		m, uses := d.address(2, isa.MemLoad)
		in.Class, in.Value = isa.ALU, isa.Value{Op: isa.Add, A: r, B: isa.Loaded}
		in.AddDef(r)
		in.AddDef(madeUpFlags)
		in.AddUse(r)
		in.AddMem(m)
		in.AddMicro(isa.Load, 0, uses, nil)
		in.AddMicro(isa.ALU, -1, []isa.Reg{r}, in.Defs(), 0)
	case opAddStore:
		m, uses := d.address(2, isa.MemReadModifyWrite)
		in.Class, in.Value = isa.ALU, isa.Value{Op: isa.Add, A: isa.Loaded, B: r}
		in.AddDef(madeUpFlags)
		in.AddUse(r)
		in.AddMem(m)
		in.AddMicro(isa.Load, 0, uses, nil)
		in.AddMicro(isa.ALU, -1, []isa.Reg{r}, flags, 0)
		in.AddMicro(isa.Store, 0, uses, nil, 1)
	case opAddLong:
		m, uses := d.address(1, isa.MemReadModifyWrite)
		in.Class, in.Value = isa.ALU, isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg, Imm: int64(binary.LittleEndian.Uint64(d.code[7:]))}
		in.AddDef(madeUpFlags)
		in.AddMem(m)
		in.AddMicro(isa.Load, 0, uses, nil)
		in.AddMicro(isa.ALU, -1, nil, flags, 0)
		in.AddMicro(isa.Store, 0, uses, nil, 1)
	case opFloat:
		m, uses := d.address(2, isa.MemLoad)
		m.Float = true
		in.Class = isa.FPAdd
		in.AddDef(isa.F0 + r)
		in.AddUse(isa.F0 + r)
		in.AddMem(m)
		in.AddMicro(isa.FPLoad, 0, uses, nil)
		in.AddMicro(isa.FPAdd, -1, in.Defs(), in.Defs(), 0)
	case opTable:
		m, uses := d.address(1, isa.MemLoad)
		in.Class, in.Value = isa.IndirectJump, isa.Value{Op: isa.Add, A: isa.Loaded, B: isa.NoReg}
		in.AddMem(m)
		in.AddMicro(isa.Load, 0, uses, nil)
		in.AddMicro(isa.IndirectJump, -1, nil, nil, 0)
	}
}
