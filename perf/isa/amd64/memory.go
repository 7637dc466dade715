package amd64

// Mem is a reference to memory: Size bytes at Base + Index·Scale + Disp, plus the
// base of Segment. An instruction has at most MaxMems of them.
type Mem struct {
	Base    Reg // NoReg: 0. RIP: the address of the next instruction
	Index   Reg // NoReg: 0. A vector register: each of Count elements has its own index
	Segment Reg // FS, GS or NoReg

	// Bit, unless NoReg, is the general register that indexes a string of bits
	// (bt, bts, btr, btc): the operand lies Size·⌊Bit/(8·Size)⌋ bytes further on,
	// where Bit is a signed number of Size bytes.
	Bit Reg

	Scale     uint8 // of the index: 1, 2, 4, 8; 0 without one
	IndexBits uint8 // of an element of a vector index: 32 or 64, signed
	Address32 bool  // the sum, before the segment, counts modulo 2³²

	Access   Access
	Explicit bool // ModRM or the bytes after it name the address
	Repeated bool // under a rep prefix: rcx times, each time an operand further on

	// Broadcast: one element of Size bytes is read for all.
	Broadcast bool

	// Select says which of Count elements of Element bytes are accessed. Without
	// a mask Count is 1 and Element is Size, but for gathers and scatters.
	Select  Select
	Mask    Reg // a mask register or a vector, as Select says
	Element uint8
	Count   uint8

	// Size is the number of bytes of the operand; of an element for gathers and
	// scatters; 0 for those whose size depends on the state of the program:
	// xsave and its kin (XCR0 and edx:eax), AMX tiles (the tile's configuration),
	// MPX.
	Size uint16

	Disp int64
}

// Select is how elements of an operand are selected.
type Select uint8

// The ways to select elements.
const (
	All        Select = iota
	ByMask            // element i if bit i of mask register Mask is set
	BySign            // element i if the highest bit of element i of vector Mask is set
	Compressed        // as many as Mask has bits set among the lowest Count, side by side
)

// MaxMems is the greatest number of memory operands of an instruction.
const MaxMems = 2

// Mems appends the memory operands of in to dst, in the order in which they are
// accessed: those read first. Addresses that are not accessed (lea, prefetch,
// nop) are not among them; see Address. The frames that enter with a nesting
// level copies are not described, nor is what int, iret, far calls and the
// keylocker instructions do to the stack or to memory beyond their operand.
func (in *Inst) Mems(dst []Mem) []Mem {
	f := in.form
	n := len(dst)
	for i := range f.ops[:f.n] {
		if s := &f.ops[i]; s.memory && s.access != 0 {
			dst = in.addMem(dst, s)
		}
	}
	for i := range f.implicit {
		if s := &f.implicit[i]; s.memOnly {
			dst = in.addMem(dst, s)
		}
	}
	if f.kind == Enter {
		dst = append(dst, Mem{Base: RSP, Index: NoReg, Segment: NoReg, Bit: NoReg, Access: Write, Size: 8, Element: 8, Count: 1, Disp: -8})
	}
	if len(dst) == n+2 && dst[n].Access == Write && dst[n+1].Access&Read != 0 {
		dst[n], dst[n+1] = dst[n+1], dst[n]
		in.popToStack(&dst[n+1])
	}
	return dst
}

// popToStack moves the operand of pop [rsp+d], which is addressed with the stack
// pointer after the pop.
func (in *Inst) popToStack(m *Mem) {
	if in.form.name == "pop" && m.Base == RSP {
		m.Disp += 8
		if in.Size16 {
			m.Disp -= 6
		}
	}
}

// Address returns the address that ModRM names, as a Mem without access, if
// Memory reports true.
func (in *Inst) Address() Mem {
	m := Mem{Base: in.base, Index: in.index, Segment: in.Segment, Bit: NoReg, Scale: in.scale, Disp: in.Disp, Address32: in.Address32, Explicit: true, Element: 0, Count: 1}
	if in.form.kind == Lea {
		m.Segment = NoReg
	}
	return m
}

func (in *Inst) addMem(dst []Mem, s *spec) []Mem {
	m := Mem{Base: NoReg, Index: NoReg, Segment: in.Segment, Bit: NoReg, Access: s.access, Address32: in.Address32, Size: uint16(in.bytes(s)), Count: 1}
	switch s.place {
	case inRM, vectorRM, tileRM:
		if !in.Memory() {
			return dst
		}
		m = in.Address()
		m.Access, m.Size = s.access, uint16(in.bytes(s))
		in.selectElements(&m, s)
		if in.form.bits {
			m.Bit = Reg(in.Reg)
		}
	case absolute:
		m.Disp, m.Explicit = in.Imm, true
	case atRSI:
		m.Base, m.Repeated = RSI, in.Rep != 0
	case atRDI:
		m.Base, m.Repeated = RDI, in.Rep != 0 && in.form.kind == String
		if in.form.kind == String {
			m.Segment = NoReg
		} else {
			in.selectElements(&m, s)
		}
	case atTop:
		m.Base, m.Segment, m.Address32 = RSP, NoReg, false
		if s.access == Write {
			m.Disp = -int64(m.Size)
		}
	case atFrame:
		m.Base, m.Segment, m.Address32 = RBP, NoReg, false
	case atRBX:
		m.Base, m.Index, m.Scale = RBX, RAX, 1 // al alone: Index counts modulo 256
	case atRAX:
		m.Base = RAX
	case atRegular:
		m.Base, m.Segment = Reg(in.Reg), NoReg
	}
	if m.Element == 0 {
		m.Element = uint8(min(m.Size, 255))
	}
	return append(dst, m)
}

// selectElements describes broadcast, masks and vector addresses.
func (in *Inst) selectElements(m *Mem, s *spec) {
	switch {
	case s.place == vectorRM:
		m.Element, m.Size, m.IndexBits = s.element, uint16(s.element), 8*s.index
		m.Count = uint8(in.bytes(s) / int(s.index))
		m.Select, m.Mask = ByMask, K0+Reg(in.Masking)
		if in.Encoding == VEX {
			m.Select, m.Mask = BySign, V0+Reg(in.VVVV)
		}
		return
	case in.Encoding == EVEX && in.Broadcast && s.bcst:
		m.Broadcast, m.Element, m.Size = true, s.element, uint16(s.element)
		return
	case s.byVVVV:
		m.Element, m.Select, m.Mask = s.element, BySign, V0+Reg(in.VVVV)
		if s.place == atRDI { // maskmovq, maskmovdqu: the mask is ModRM.rm
			m.Mask = V0 + Reg(in.RM)
			if m.Size == 8 {
				m.Mask = MM0 + Reg(in.RM&7)
			}
		}
	case in.Masking != 0 && s.element != 0:
		m.Element, m.Select, m.Mask = s.element, ByMask, K0+Reg(in.Masking)
		if s.packed {
			m.Select = Compressed
		}
	default:
		return
	}
	m.Count = uint8(m.Size / uint16(m.Element))
}
