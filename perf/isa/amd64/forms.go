package amd64

import (
	"embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

// The opcode tables are text. A line describes one form of an instruction:
//
//	OPCODES ENCODINGS CONDITIONS NAME KIND OPERANDS [| IMPLICIT OPERANDS] [FLAGS] [priv]
//
// OPCODES is a byte or a range of bytes. ENCODINGS are letters: l legacy, v VEX,
// e EVEX, x XOP, and m, which adds to an SSE form the MMX form without prefix.
// CONDITIONS, all of which must hold, are - or a list of
//
//	np 66 f3 f2 np66     the mandatory prefix, or VEX.pp
//	w0 w1 ew0 ew1        REX.W, VEX.W, EVEX.W; those with e for EVEX alone
//	l0 l1 l2 l01 l12     the vector length: 128, 256, 512 bits
//	/0 … /7              ModRM.reg
//	mem reg rm0 … rm7    ModRM.mod and .rm
//	o16 o32 o64          the operand size; beside a mandatory 66, o32 is the size without REX.W
//	a32 a64              the address size
//	x0 x1                REX.B
//
// Conditions of one line of this list are alternatives. NAME is the mnemonic;
// that of an SSE form gets a v in front in its VEX and EVEX encodings.
//
// An operand is a letter for where it is encoded, and its size. It is read; one
// with = before it is written, with + both.
//
//	E G Z B R M   general register: ModRM.rm or memory, ModRM.reg, the opcode,
//	              VEX.vvvv, ModRM.rm as register only; memory only
//	V W H L       vector: ModRM.reg, ModRM.rm or memory, VEX.vvvv (in a legacy
//	              form the destination), immediate
//	P Q           MMX: ModRM.reg, ModRM.rm or memory
//	kG kE kB      mask: ModRM.reg, ModRM.rm or memory, VEX.vvvv
//	tG tE tB      tile
//	T             memory addressed by a vector: size of an index, length of the
//	              index vector, and after a dot that of an element
//	X Y O         memory at rsi, at rdi, at an absolute address
//	I J           immediate, relative target
//	S C D         segment, control and debug register
//
//	b w d q o     1, 2, 4, 8, 16 bytes
//	v z y s       by operand size: 2, 4, 8; 2, 4, 4; 4, 4, 8; 2, 8, 8
//	x h f e       the vector length, half, a quarter, an eighth of it
//	t p a n       10 bytes; a far pointer; set by the program's state; not accessed
//
// After the size, a dot and b, w, d or q say how large the elements are that a
// mask selects; a capital that one element may be broadcast (H: 2 bytes). A star:
// the elements that the mask selects lie side by side; !H: the mask is the vector
// H. A colon and a size on the destination say the same if no memory is masked.
//
//go:embed opcodes/*.txt
var opcodeFiles embed.FS

// The maps of opcodes.
const (
	legacy0 = iota // one byte
	legacy1        // 0F
	legacy2        // 0F 38
	legacy3        // 0F 3A
	vex1
	vex2
	vex3
	evex1
	evex2
	evex3
	evex5
	evex6
	xop8
	xop9
	xop10
	maps
)

// key has one bit set in each of these groups; a form's mask has all bits set
// that the form allows.
const (
	keyPP    = 0  // 4: none, 66, F3, F2
	keyW     = 4  // 2
	keyL     = 6  // 3
	keyReg   = 9  // 8
	keyMod   = 17 // 2: memory, register
	keyRM    = 19 // 8
	keySize  = 27 // 3: 16, 32, 64 bits
	keyB     = 30 // 2
	keyAddr  = 32 // 2: 64, 32 bits
	keyTotal = 34
)

type place uint8

const (
	noPlace place = iota
	inRM
	inReg
	inOpcode
	inVVVV
	inImmediate // a register in the upper half of an immediate
	fixed
	atRSI
	atRDI
	absolute
	immediate
	relative
	constantOne
	atTop     // push: below the stack pointer; pop: at it
	atRBX     // xlat
	atRAX     // clzero
	atRegular // movdir64b: at es:reg
	atFrame   // leave
	vectorRM  // addressed by a vector
	tileRM    // rows of a tile
)

// Access says how an operand is used.
type Access uint8

// The ways of using an operand.
const (
	Read      Access = 1
	Write     Access = 2
	ReadWrite Access = 3
)

// spec is an operand of a form.
type spec struct {
	place   place
	first   Reg  // register 0 of the file, or the register if fixed
	size    byte // letter, or 0 with bytes
	bytes   uint16
	element uint8 // bytes, 0: a mask does not select parts of it
	index   uint8 // bytes of an index element
	access  Access
	memory  bool // may be memory
	memOnly bool
	regOnly bool
	bcst    bool
	packed  bool // elements side by side
	byVVVV  bool // the mask is the vector in VEX.vvvv
}

// form is one row of the tables.
type form struct {
	mask     uint64
	name     string
	kind     Kind
	enc      byte // l, v, e or x
	n        uint8
	priv     bool
	mmx      bool
	vvvv     bool  // VEX.vvvv names a register
	bits     bool  // the second operand indexes a string of bits
	granule  uint8 // bytes of an element that a mask selects
	ops      [5]spec
	immBytes [2]byte // size letters of the immediates, 0: none

	implicit             []spec
	read, written, maybe Flags
}

type opcodeTable struct {
	spans [maps][256]span
	forms []form
}

type span struct {
	first, n uint16
	modrm    bool
}

// tables returns the tables, which are read once.
var tables = sync.OnceValue(mustTable)

func mustTable() *opcodeTable {
	t, err := readTables()
	if err != nil {
		panic("amd64: " + err.Error()) // the tables are part of this package
	}
	return t
}

// tableFiles names the files of the tables and their maps: legacy, VEX, EVEX,
// XOP; -1 for none.
var tableFiles = []struct {
	name                   string
	legacy, vex, evex, xop int
}{
	{"map0", legacy0, -1, -1, -1},
	{"x87", legacy0, -1, -1, -1},
	{"map1", legacy1, -1, -1, -1},
	{"vector1", legacy1, vex1, evex1, -1},
	{"vector2", legacy2, vex2, evex2, -1},
	{"vector3", legacy3, vex3, evex3, -1},
	{"half5", -1, -1, evex5, -1},
	{"half6", -1, -1, evex6, -1},
	{"xop8", -1, -1, -1, xop8},
	{"xop9", -1, -1, -1, xop9},
	{"xopa", -1, -1, -1, xop10},
}

func readTables() (*opcodeTable, error) {
	var lists [maps][256][]form
	for _, f := range tableFiles {
		text, err := opcodeFiles.ReadFile("opcodes/" + f.name + ".txt")
		if err != nil {
			return nil, err
		}
		target := map[byte]int{'m': f.legacy, 'l': f.legacy, 'v': f.vex, 'e': f.evex, 'x': f.xop}
		for i, line := range strings.Split(string(text), "\n") {
			if line == "" || line[0] == '#' {
				continue
			}
			if err := addLine(&lists, target, line); err != nil {
				return nil, fmt.Errorf("%s.txt:%d: %w", f.name, i+1, err)
			}
		}
	}
	t := new(opcodeTable)
	for m := range lists {
		for op, forms := range lists[m] {
			s := span{first: uint16(len(t.forms)), n: uint16(len(forms))}
			for i := range forms {
				s.modrm = s.modrm || forms[i].needsModRM()
			}
			t.spans[m][op] = s
			t.forms = append(t.forms, forms...)
		}
	}
	return t, nil
}

func addLine(lists *[maps][256][]form, target map[byte]int, line string) error {
	words := strings.Fields(line)
	if len(words) < 5 {
		return fmt.Errorf("%q: fewer than five columns", line)
	}
	first, last, ok := strings.Cut(words[0], "-")
	if !ok {
		last = first
	}
	lo, err := strconv.ParseUint(first, 16, 8)
	if err != nil {
		return err
	}
	hi, err := strconv.ParseUint(last, 16, 8)
	if err != nil {
		return err
	}
	for _, enc := range []byte(words[1]) {
		m, ok := target[enc]
		if !ok || m < 0 {
			return fmt.Errorf("%q: no map for encoding %c", line, enc)
		}
		f, err := parseForm(words, enc)
		if err != nil {
			return fmt.Errorf("%q: %w", line, err)
		}
		for op := lo; op <= hi; op++ {
			lists[m][op] = append(lists[m][op], f)
		}
	}
	return nil
}

func parseForm(words []string, enc byte) (form, error) {
	sse := strings.ContainsAny(words[1], "lm")
	f := form{enc: enc, name: words[3]}
	if enc == 'm' {
		f.enc, f.mmx = 'l', true
	}
	if sse && (enc == 'v' || enc == 'e') {
		f.name = "v" + f.name
	}
	var ok bool
	if f.kind, ok = kindWords[words[4]]; !ok {
		return f, fmt.Errorf("unknown kind %q", words[4])
	}
	var err error
	if f.mask, err = parseConditions(words[2], f.enc, f.mmx); err != nil {
		return f, err
	}
	implicit := false
	for _, w := range words[5:] {
		switch {
		case w == "|":
			implicit = true
		case w == "-":
		default:
			if err := f.parseWord(w, implicit); err != nil {
				return f, fmt.Errorf("%s: %w", w, err)
			}
		}
	}
	f.settle()
	return f, nil
}

// settle derives what follows from several operands.
func (f *form) settle() {
	for i := range f.ops[:f.n] {
		s := &f.ops[i]
		f.vvvv = f.vvvv || s.place == inVVVV || s.byVVVV
		if f.granule == 0 {
			f.granule = s.element
		}
		if s.place == inVVVV && f.enc == 'l' { // the destination itself
			f.ops[0].access = ReadWrite
			copy(f.ops[i:], f.ops[i+1:f.n])
			f.n--
			f.ops[f.n] = spec{}
			f.settle()
			return
		}
	}
	k := 0
	for _, s := range f.ops[:f.n] {
		switch s.place {
		case immediate, relative, inImmediate:
			f.immBytes[k] = s.size
			k++
		case absolute:
			f.immBytes[k] = 'A'
			k++
		}
	}
}

func (f *form) needsModRM() bool {
	all := uint64(0xff)<<keyReg | 3<<keyMod | 0xff<<keyRM
	if f.mask&all != all {
		return true
	}
	for _, s := range f.ops[:f.n] {
		switch s.place {
		case inRM, inReg, vectorRM, tileRM:
			return true
		}
	}
	return false
}
