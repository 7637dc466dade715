package amd64

// Inst is a decoded instruction. It refers to the tables of this package and
// holds no pointer into the code that it was decoded from. Its zero value is
// undefined: only Decode makes an Inst.
type Inst struct {
	Len uint8 // bytes

	// What was encoded, to emit the instruction anew with changes.
	Encoding     Encoding
	Map          uint8 // 0: one byte, 1: 0F, 2: 0F 38, 3: 0F 3A, 5 and 6: EVEX, 8 to 10: XOP
	Opcode       byte
	Rep          byte  // 0, F2 or F3: the last of them among the prefixes
	Segment      Reg   // FS, GS or NoReg: that of an explicit operand in memory
	REX          byte  // 0: none
	PP           uint8 // mandatory prefix or VEX.pp: 0 none, 1 66, 2 F3, 3 F2
	W            bool
	Lock         bool
	Size16       bool  // prefix 66
	Address32    bool  // prefix 67
	VectorLength uint8 // VEX.L or EVEX.L'L: 0, 1, 2; 2 too where EVEX.b turns L'L into a rounding mode
	VVVV         uint8 // VEX.vvvv or EVEX.V'vvvv, not inverted
	Masking      uint8 // EVEX.aaa: the number of the mask register, 0: none
	Zeroing      bool  // EVEX.z
	Broadcast    bool  // EVEX.b: with memory an element is broadcast, else a rounding mode

	HasModRM   bool
	ModRM, SIB byte // SIB is 0 if there is none
	HasSIB     bool
	Reg        uint8 // ModRM.reg with its extensions from REX, VEX or EVEX
	RM         uint8 // ModRM.rm with its extensions, if it is a register

	// Offsets from the first byte of the instruction; lengths in bytes, 0 if
	// absent. An instruction with two immediates (enter, extrq) has one of their
	// total length, whose value is the first.
	PrefixLen           uint8 // legacy prefixes and REX: where the opcode, or a VEX, EVEX or XOP prefix, begins
	OpcodeOff, ModRMOff uint8
	DispOff, DispLen    uint8
	ImmOff, ImmLen      uint8

	Disp int64 // of ModRM, sign-extended, times the scale of an EVEX disp8
	Imm  int64 // sign-extended
	Imm2 uint8 // the second immediate

	form        *form
	base, index Reg // of ModRM
	scale       uint8
}

// Encoding is the way an instruction is encoded.
type Encoding uint8

// The encodings.
const (
	Legacy Encoding = iota
	VEX
	EVEX
	XOP
)

// Memory reports whether ModRM names memory: an operand, or an address that is
// not accessed, as of lea and prefetch.
func (in *Inst) Memory() bool { return in.HasModRM && in.ModRM < 0xc0 }

// RIPRelative reports whether the address that ModRM names is relative to the
// end of the instruction.
func (in *Inst) RIPRelative() bool { return in.base == RIP }

// Kind returns what the instruction does.
func (in *Inst) Kind() Kind { return in.form.kind }

// Name returns the mnemonic, as in Intel's manual: a conditional one by its first
// name there. A string instruction has that of its family: movs, not movsq.
func (in *Inst) Name() string { return in.form.name }

// Privileged reports whether the instruction faults in a user's program, or may
// by default.
func (in *Inst) Privileged() bool { return in.form.priv }

// HasTarget reports whether the instruction is a branch, jump or call to a
// constant target.
func (in *Inst) HasTarget() bool {
	switch in.form.kind {
	case Branch, Jump, Call:
		return true
	}
	return false
}

// Target returns where a branch, jump or call at pc goes, if HasTarget.
// With an operand size of 16 bits, which no compiler chooses, processors by AMD
// take 16 bits of it, as this does; those by Intel ignore the prefix.
func (in *Inst) Target(pc uint64) uint64 {
	to := pc + uint64(in.Len) + uint64(in.Imm)
	if in.Size16 && in.ImmLen == 2 {
		to &= 1<<16 - 1
	}
	return to
}

// Flags returns the status flags that the instruction reads and writes. A flag
// that it may leave as it is, as a shift by zero does, is in both; one that is
// undefined afterwards counts as written.
func (in *Inst) Flags() (read, written Flags) {
	f := in.form
	read, written = f.read, f.written
	switch {
	case f.maybe == 0:
	case in.ImmLen == 0:
		read |= f.maybe
		written |= f.maybe
	case in.shifts():
		written |= f.maybe
	}
	if f.kind == String && in.Rep != 0 {
		read |= f.written // none is written if rcx is 0
	}
	return read, written
}

// shifts reports whether a shift by an immediate changes its operand.
func (in *Inst) shifts() bool {
	limit := int64(31)
	if in.W {
		limit = 63
	}
	return in.Imm&limit != 0
}

// VectorBytes returns the length of the vectors that the instruction works on,
// in bytes; 0 if it names no vector register.
func (in *Inst) VectorBytes() int {
	n := 0
	for i := range in.form.ops[:in.form.n] {
		if s := &in.form.ops[i]; s.first == V0 && s.place != fixed {
			n = max(n, in.bytes(s))
		}
	}
	return n
}

// OperandBytes returns the operand size of an integer instruction: 2, 4 or 8.
// An instruction on bytes has its own.
func (in *Inst) OperandBytes() int {
	switch {
	case in.W:
		return 8
	case in.Size16:
		return 2
	}
	return 4
}

// bytes returns the size of an operand.
func (in *Inst) bytes(s *spec) int {
	switch s.size {
	case 'v':
		return in.OperandBytes()
	case 'z':
		return min(in.OperandBytes(), 4)
	case 'y':
		if in.W {
			return 8
		}
		return 4
	case 's':
		if in.Size16 && !in.W {
			return 2
		}
		return 8
	case 'p':
		return in.OperandBytes() + 2
	case 'x':
		return in.vector()
	case 'h':
		return in.vector() / 2
	case 'f':
		return in.vector() / 4
	case 'e':
		return in.vector() / 8
	}
	return int(s.bytes)
}

func (in *Inst) vector() int {
	if in.form.mmx || in.Encoding == Legacy && in.PP == 0 && in.form.ops[0].first == MM0 {
		return 8
	}
	return 16 << in.VectorLength
}
