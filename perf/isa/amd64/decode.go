// Package amd64 decodes the instructions of x86-64 in 64-bit mode: legacy, VEX,
// EVEX and XOP encodings, up to AVX-512 with FP16, and AMX.
//
// Decode turns bytes into an Inst. What is encoded where stands in its fields,
// so that an instruction can be emitted again with another displacement or other
// registers. What it means is behind methods: Kind, Mems, Registers, Flags,
// Target. All of it comes from one set of tables, opcodes/*.txt.
//
// Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume
// 2, chapters 2 to 6 and appendix A; AMD64 Architecture Programmer's Manual,
// volume 6 for XOP.
//
// Compared with objdump: 16.7 million instructions of Debian's programs and
// libraries, of compilers and of chance (make objdump), of which none differs; what
// instructions do, with single steps of a processor.
//
// Not modelled: 3DNow! operations are not told apart; alignment; what makes an
// encoding that processors define otherwise raise #UD (a lock prefix where none
// is allowed, equal registers of a gather).
package amd64

import "errors"

// MaxLength is the length in bytes of the longest instruction.
const MaxLength = 15

// Decode's errors.
var (
	// ErrTruncated says that the code ends within an instruction.
	ErrTruncated = errors.New("amd64: the code ends within an instruction")
	// ErrUndefined says that the bytes are no instruction in 64-bit mode.
	ErrUndefined = errors.New("amd64: no instruction in 64-bit mode")
)

// Decode returns the instruction at the beginning of code. It reads at most
// MaxLength bytes and allocates nothing. With an error, ErrTruncated or
// ErrUndefined, the Inst is of no use.
func Decode(code []byte) (Inst, error) {
	var in Inst
	err := DecodeInto(&in, code)
	return in, err
}

// DecodeInto is Decode without a copy: it overwrites in.
func DecodeInto(in *Inst, code []byte) error {
	*in = Inst{Segment: NoReg, base: NoReg, index: NoReg, form: &undefinedForm}
	c := cursor{code: code}
	if len(code) > MaxLength {
		c.code = code[:MaxLength]
	}
	var e extension
	m := c.prefixes(in, &e)
	if c.bad {
		return c.failure(len(code))
	}
	table := tables()
	s := &table.spans[m][in.Opcode]
	if s.modrm {
		c.modRM(in, e)
	}
	if c.bad {
		return c.failure(len(code))
	}
	f := find(table.forms[s.first:s.first+s.n], in.key(e))
	if f == nil || in.vvvvUnused(f) || !in.allowed(f) {
		return ErrUndefined
	}
	in.form = f
	c.displacement(in)
	c.immediates(in)
	if c.bad {
		return c.failure(len(code))
	}
	in.Len = uint8(c.at)
	return nil
}

var undefinedForm = form{name: "(bad)"}

// extension holds what prefixes add to ModRM and the opcode.
type extension struct {
	r, x, b, r2 uint8
}

func find(forms []form, key uint64) *form {
	for i := range forms {
		if key&^forms[i].mask == 0 {
			return &forms[i]
		}
	}
	return nil
}

// vvvvUnused reports whether VEX.vvvv names a register that the form has not.
func (in *Inst) vvvvUnused(f *form) bool {
	if in.Encoding == Legacy || f.vvvv {
		return false
	}
	return in.VVVV != 0 && f.ops[0].place != vectorRM && (f.n < 2 || f.ops[1].place != vectorRM)
}

// allowed reports whether the registers exist, and whether the form allows what
// EVEX asks for.
func (in *Inst) allowed(f *form) bool {
	for i := range f.ops[:f.n] {
		if !in.registerExists(&f.ops[i]) {
			return false
		}
	}
	return in.Encoding != EVEX || in.evexAllowed(f)
}

// registerExists reports whether there is a register of the number that is encoded for
// an operand: encodings have room for more registers than some kinds have.
func (in *Inst) registerExists(s *spec) bool {
	switch s.first {
	case ES: // there are six, and CS is not written
		return in.Reg&7 <= 5 && (in.Reg&7 != 1 || s.access&Write == 0)
	case BND0:
		return in.Reg <= 3
	case RAX:
		return s.place != inReg || in.Reg <= 15
	case K0, TMM0:
		return (s.place != inReg || in.Reg <= 7) && (s.place != inVVVV || in.VVVV <= 7)
	}
	return true
}

// evexAllowed reports whether the form allows the masking and the broadcast that EVEX
// asks for.
func (in *Inst) evexAllowed(f *form) bool {
	if in.Masking == 0 && (in.Zeroing || f.kind == Gather || f.kind == Scatter) {
		return false
	}
	if !in.Memory() {
		return true
	}
	if in.Zeroing && f.ops[0].place == inRM {
		return false
	}
	return !in.Broadcast || f.broadcasts()
}

// broadcasts reports whether an operand of the form may be an element in memory that is
// broadcast to a vector.
func (f *form) broadcasts() bool {
	for i := range f.ops[:f.n] {
		if f.ops[i].bcst {
			return true
		}
	}
	return false
}

// key has a bit in each group of conditions.
func (in *Inst) key(e extension) uint64 {
	k := uint64(1)<<(keyPP+in.PP) | 1<<(keyB+e.b)
	if in.W {
		k |= 2<<keyW | 4<<keySize
	} else {
		k |= 1 << keyW
		if in.Size16 {
			k |= 1 << keySize
		} else {
			k |= 2 << keySize
		}
	}
	if in.Address32 {
		k |= 2 << keyAddr
	} else {
		k |= 1 << keyAddr
	}
	k |= 1 << (keyL + in.VectorLength)
	if in.HasModRM {
		k |= 1<<(keyReg+in.ModRM>>3&7) | 1<<(keyRM+in.ModRM&7)
		if in.ModRM >= 0xc0 {
			k |= 2 << keyMod
		} else {
			k |= 1 << keyMod
		}
	}
	return k
}

// cursor reads bytes; past the end it is bad.
type cursor struct {
	code      []byte
	at        int
	bad       bool
	undefined bool
}

func (c *cursor) failure(available int) error {
	if c.undefined || available >= MaxLength {
		return ErrUndefined
	}
	return ErrTruncated
}

func (c *cursor) undef() {
	c.bad, c.undefined = true, true
}

func (c *cursor) next() byte {
	if c.at >= len(c.code) {
		c.bad = true
		return 0
	}
	b := c.code[c.at]
	c.at++
	return b
}

// signed reads n bytes as a signed number, the lowest first.
func (c *cursor) signed(n int) int64 {
	if c.bad || c.at+n > len(c.code) {
		c.bad = true
		return 0
	}
	var v uint64
	for i := range n {
		v |= uint64(c.code[c.at+i]) << (8 * i)
	}
	c.at += n
	shift := 64 - 8*n
	return int64(v<<shift) >> shift
}

// modRM reads ModRM and SIB.
func (c *cursor) modRM(in *Inst, e extension) {
	in.ModRMOff = uint8(c.at)
	b := c.next()
	in.HasModRM, in.ModRM = true, b
	in.Reg = b>>3&7 | e.r<<3 | e.r2<<4
	low := b & 7
	if b >= 0xc0 || in.Encoding == Legacy && in.Map == 1 && in.Opcode&^3 == 0x20 { // moves of control registers have no memory form
		b |= 0xc0
		in.ModRM = b
		in.RM = low | e.b<<3
		if in.Encoding == EVEX {
			in.RM |= e.x << 4
		}
		return
	}
	switch b >> 6 {
	case 1:
		in.DispLen = 1
	case 2:
		in.DispLen = 4
	}
	switch {
	case low == 4:
		c.sib(in, e)
	case low == 5 && b < 0x40:
		in.base, in.DispLen = RIP, 4
	default:
		in.base = Reg(low | e.b<<3)
	}
}

func (c *cursor) sib(in *Inst, e extension) {
	s := c.next()
	in.HasSIB, in.SIB = true, s
	in.scale = 1 << (s >> 6)
	in.index = Reg(s>>3&7 | e.x<<3) // 4: none, unless it is a vector
	in.base = Reg(s&7 | e.b<<3)
	if s&7 == 5 && in.ModRM < 0x40 {
		in.base, in.DispLen = NoReg, 4
	}
}

func (c *cursor) displacement(in *Inst) {
	if !in.Memory() {
		return
	}
	vector := false
	scale := int64(1)
	for i := range in.form.ops[:in.form.n] {
		s := &in.form.ops[i]
		switch {
		case s.place == vectorRM:
			vector = true
			in.index = V0 + in.index
			if in.Encoding == EVEX {
				in.index += Reg(in.VVVV & 16)
			}
			scale = int64(s.element)
		case !s.memory || s.place == absolute:
		case s.packed:
			scale = int64(s.element)
		case in.Broadcast && s.bcst:
			scale = int64(s.element)
		default:
			scale = int64(in.bytes(s))
		}
	}
	if vector != in.vectorAddressed() {
		c.undef()
		return
	}
	if !vector && in.index == 4 {
		in.index = NoReg
	}
	if in.index == NoReg {
		in.scale = 0
	}
	in.DispOff = uint8(c.at)
	in.Disp = c.signed(int(in.DispLen))
	if in.Encoding == EVEX && in.DispLen == 1 {
		in.Disp *= scale
	}
	if in.DispLen == 0 {
		in.DispOff = 0
	}
}

// vectorAddressed reports whether a vector address is possible or not wanted: a
// gather without SIB is undefined.
func (in *Inst) vectorAddressed() bool { return in.index.Vector() && in.HasSIB }

func (c *cursor) immediates(in *Inst) {
	f := in.form
	if f.immBytes[0] == 0 {
		return
	}
	in.ImmOff = uint8(c.at)
	in.Imm = c.signed(in.immediateBytes(f.immBytes[0]))
	if f.immBytes[1] != 0 {
		in.Imm2 = uint8(c.signed(in.immediateBytes(f.immBytes[1])))
	}
	in.ImmLen = uint8(c.at) - in.ImmOff
}

func (in *Inst) immediateBytes(size byte) int {
	switch size {
	case 'b', 'x':
		return 1
	case 'w':
		return 2
	case 'd':
		return 4
	case 'z': // that of a near branch is 2 bytes long on AMD's processors, 4 on Intel's
		return min(in.OperandBytes(), 4)
	case 'v':
		return in.OperandBytes()
	case 'A':
		if in.Address32 {
			return 4
		}
		return 8
	case 's':
		if in.Size16 && !in.W {
			return 2
		}
		return 4
	}
	return 1
}
