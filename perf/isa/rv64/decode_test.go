package rv64

import (
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	asm "golang.org/x/arch/riscv64/riscv64asm"

	"presage/perf/isa"
)

func word(raw uint32) []byte {
	if raw&3 == 3 {
		return binary.LittleEndian.AppendUint32(nil, raw)
	}
	return binary.LittleEndian.AppendUint16(nil, uint16(raw))
}

// TestDecode checks encodings worked out by hand from the manual's formats.
func TestDecode(t *testing.T) {
	const pc = 0x1000
	for _, c := range []struct {
		raw        uint32
		class      isa.Class
		defs, uses []isa.Reg
		mem        isa.Mem
		target     uint64
	}{
		{raw: 0x00000013, class: isa.Nop}, // addi x0, x0, 0
		{raw: 0x0001, class: isa.Nop},     // c.nop
		{raw: 0x00b50533, class: isa.ALU, defs: []isa.Reg{10}, uses: []isa.Reg{10, 11}},                                                                   // add x10, x10, x11
		{raw: 0x00a50533, class: isa.ALU, defs: []isa.Reg{10}, uses: []isa.Reg{10}},                                                                       // add x10, x10, x10
		{raw: 0x00b50033, class: isa.Nop, uses: []isa.Reg{10, 11}},                                                                                        // add x0, x10, x11
		{raw: 0xff813503, class: isa.Load, defs: []isa.Reg{10}, uses: []isa.Reg{2}, mem: isa.Mem{Kind: isa.MemLoad, Size: 8, Base: 2, Disp: -8}},          // ld x10, -8(x2)
		{raw: 0x7f803503, class: isa.Load, defs: []isa.Reg{10}, mem: isa.Mem{Kind: isa.MemLoad, Size: 8, Base: isa.NoReg, Disp: 0x7f8}},                   // ld x10, 0x7f8(x0)
		{raw: 0xff813003, class: isa.Load, uses: []isa.Reg{2}, mem: isa.Mem{Kind: isa.MemLoad, Size: 8, Base: 2, Disp: -8}},                               // ld x0, -8(x2)
		{raw: 0xfea13c27, class: isa.FPStore, uses: []isa.Reg{2, isa.F0 + 10}, mem: isa.Mem{Kind: isa.MemStore, Size: 8, Base: 2, Disp: -8, Float: true}}, // fsd f10, -8(x2)
		{raw: 0x6088, class: isa.Load, defs: []isa.Reg{10}, uses: []isa.Reg{9}, mem: isa.Mem{Kind: isa.MemLoad, Size: 8, Base: 9}},                        // c.ld x10, 0(x9)
		{raw: 0xe42a, class: isa.Store, uses: []isa.Reg{2, 10}, mem: isa.Mem{Kind: isa.MemStore, Size: 8, Base: 2, Disp: 8}},                              // c.sdsp x10, 8(x2)
		{raw: 0x1005252f, class: isa.Atomic, defs: []isa.Reg{10}, uses: []isa.Reg{10}, mem: isa.Mem{Kind: isa.MemLoad, Size: 4, Base: 10}},                // lr.w x10, (x10)
		{raw: 0x18b5352f, class: isa.Atomic, defs: []isa.Reg{10}, uses: []isa.Reg{10, 11}, mem: isa.Mem{Kind: isa.MemStore, Size: 8, Base: 10}},           // sc.d x10, x11, (x10)
		{raw: 0x06c5b52f, class: isa.Atomic, defs: []isa.Reg{10}, uses: []isa.Reg{11, 12}, mem: isa.Mem{Kind: isa.MemReadModifyWrite, Size: 8, Base: 11}}, // amoadd.d.aqrl x10, x12, (x11)
		{raw: 0x00c5b02f, class: isa.Atomic, uses: []isa.Reg{11, 12}, mem: isa.Mem{Kind: isa.MemReadModifyWrite, Size: 8, Base: 11}},                      // amoadd.d x0, x12, (x11)
		{raw: 0xfeb51ee3, class: isa.Branch, uses: []isa.Reg{10, 11}, target: pc - 4},                                                                     // bne x10, x11, -4
		{raw: 0x0080006f, class: isa.Jump, target: pc + 8},                                                                                                // jal x0, 8
		{raw: 0x008000ef, class: isa.Call, defs: []isa.Reg{1}, target: pc + 8},                                                                            // jal x1, 8
		{raw: 0x008002ef, class: isa.Call, defs: []isa.Reg{5}, target: pc + 8},                                                                            // jal x5, 8
		{raw: 0x0080036f, class: isa.Call, defs: []isa.Reg{6}, target: pc + 8},                                                                            // jal x6, 8
		{raw: 0x00008067, class: isa.Return, uses: []isa.Reg{1}},                                                                                          // jalr x0, 0(x1)
		{raw: 0x8082, class: isa.Return, uses: []isa.Reg{1}},                                                                                              // c.jr x1
		{raw: 0x00028067, class: isa.Return, uses: []isa.Reg{5}},                                                                                          // jalr x0, 0(x5)
		{raw: 0x8782, class: isa.IndirectJump, uses: []isa.Reg{15}},                                                                                       // c.jr x15
		{raw: 0x9782, class: isa.Call, defs: []isa.Reg{1}, uses: []isa.Reg{15}},                                                                           // c.jalr x15
		{raw: 0x00000067, class: isa.IndirectJump},                                                                                                        // jalr x0, 0(x0)
		{raw: 0x00000073, class: isa.SystemCall},                                                                                                          // ecall
		{raw: 0x9002, class: isa.Breakpoint},                                                                                                              // c.ebreak
		{raw: 0x0ff0000f, class: isa.Fence},                                                                                                               // fence
		{raw: 0x00102573, class: isa.CSR, defs: []isa.Reg{10}},                                                                                            // csrrs x10, fflags, x0
		{raw: 0x00151073, class: isa.CSR, uses: []isa.Reg{10}},                                                                                            // csrrw x0, fflags, x10
		{raw: 0x72a5f543, class: isa.FPFused, defs: []isa.Reg{isa.F0 + 10}, uses: []isa.Reg{isa.F0 + 10, isa.F0 + 11, isa.F0 + 14}},                       // fmadd.d f10, f11, f10, f14
		{raw: 0xe2050553, class: isa.FPMove, defs: []isa.Reg{10}, uses: []isa.Reg{isa.F0 + 10}},                                                           // fmv.x.d x10, f10
		{raw: 0xd2250553, class: isa.FPConvert, defs: []isa.Reg{isa.F0 + 10}, uses: []isa.Reg{10}},                                                        // fcvt.d.l f10, x10
		{raw: 0x0000, class: isa.Illegal},                                                                                                                 // c.unimp
		{raw: 0xc0001073, class: isa.Illegal},                                                                                                             // unimp
		{raw: 0x0d85f557, class: isa.Vector, defs: []isa.Reg{10}, uses: []isa.Reg{11}},                                                                    // vsetvli x10, x11, e64, m1, ta, ma
		{raw: 0x02057407, class: isa.Vector, uses: []isa.Reg{10}},                                                                                         // vle64.v v8, (x10)
		{raw: 0x42802557, class: isa.Vector, defs: []isa.Reg{10}},                                                                                         // vmv.x.s x10, v8
		{raw: 0x42801557, class: isa.Vector, defs: []isa.Reg{isa.F0 + 10}},                                                                                // vfmv.f.s f10, v8
		{raw: 0x20e7a533, class: isa.ALU, defs: []isa.Reg{10}, uses: []isa.Reg{14, 15}},                                                                   // sh1add x10, x15, x14
	} {
		in, err := Decode(word(c.raw), pc)
		if err != nil {
			t.Errorf("%#x: %v", c.raw, err)
			continue
		}
		uses := slices.Sorted(slices.Values(in.Uses()))
		if in.Class != c.class || !slices.Equal(in.Defs(), c.defs) || !slices.Equal(uses, c.uses) {
			t.Errorf("%#x %s: %v, defs %v, uses %v; want %v, %v, %v", c.raw, text(c.raw), in.Class, in.Defs(), uses, c.class, c.defs, c.uses)
		}
		if c.mem.Kind != isa.NoMem {
			c.mem.Index = isa.NoReg
		}
		if m := only(in); m != c.mem {
			t.Errorf("%#x %s: %+v, want %+v", c.raw, text(c.raw), m, c.mem)
		}
		if want := c.target != 0; in.Target != c.target || in.HasTarget != want && c.raw != 0x67 {
			t.Errorf("%#x %s: target %#x, %v; want %#x", c.raw, text(c.raw), in.Target, in.HasTarget, c.target)
		}
	}
}

func TestErrors(t *testing.T) {
	for _, c := range []struct {
		code []byte
		kind error
		n    uint8
		text string
	}{
		{nil, ErrTruncated, 0, "pc 0x10: truncated"},
		{[]byte{0x13}, ErrTruncated, 1, "pc 0x10: truncated"},
		{[]byte{0x13, 0, 0}, ErrTruncated, 3, "pc 0x10: truncated"},
		{[]byte{0xff, 0xff, 0xff, 0xff}, ErrUnknown, 4, "pc 0x10: unknown instruction 0xffffffff"},
		{[]byte{0x00, 0x80}, ErrUnknown, 2, "pc 0x10: unknown instruction 0x8000"}, // reserved compressed
		{word(0x0005652f | 0x28<<24), ErrUnknown, 4, "unknown"},                    // reserved width of an atomic
	} {
		in, err := Decode(c.code, 16)
		if !errors.Is(err, c.kind) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("% x: %v, want %q", c.code, err, c.text)
		}
		if in.Class != isa.Illegal || in.Len != c.n || in.PC != 16 {
			t.Errorf("% x: %+v, want length %d", c.code, in, c.n)
		}
	}
}

// TestHints decodes compressed hints, which must do nothing.
func TestHints(t *testing.T) {
	for _, raw := range []uint32{
		0x4005, // c.li x0, 1
		0x6005, // c.lui x0, 1
		0x8006, // c.mv x0, x1
		0x9006, // c.add x0, x1
		0x0006, // c.slli x0, 1
		0x8001, // c.srli x8, 0
		0x8401, // c.srai x8, 0
		0x0082, // c.slli x1, 0
		0x0081, // c.addi x1, 0
	} {
		in, err := Decode(word(raw), 0)
		if err != nil || in.Class != isa.Nop || len(in.Defs()) > 0 || in.Accesses() {
			t.Errorf("%#04x: %v %v, %v", raw, in.Class, &in, err)
		}
	}
	if in, err := Decode(word(0x6001), 0); err == nil { // c.lui x0, 0 is reserved
		t.Errorf("0x6001 is %v", in.Class)
	}
}

// TestAllCompressed decodes each of the 49,152 encodings of 2 bytes: no panic,
// and the same in a longer slice.
func TestAllCompressed(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for raw := range uint32(1 << 16) {
		if raw&3 == 3 {
			continue
		}
		short, err1 := Decode(word(raw), 0)
		long, err2 := Decode(append(word(raw), 0xff, 0xff, 0xff), 0)
		if short != long || (err1 == nil) != (err2 == nil) || short.Len != 2 {
			t.Fatalf("%#x: %v (%v), %v (%v)", raw, &short, err1, &long, err2)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(uint32(0x00b50533), uint64(0x1000))
	f.Fuzz(func(t *testing.T, raw uint32, pc uint64) {
		code := binary.LittleEndian.AppendUint32(nil, raw)
		in, err := Decode(code, pc)
		if err != nil && in.Class != isa.Illegal || in.Len != 2 && in.Len != 4 {
			t.Errorf("%#x: %v, %v", raw, &in, err)
		}
		for _, r := range append(slices.Clone(in.Defs()), in.Uses()...) {
			if r == 0 || r >= 32 && r.Integer() || r >= isa.F0+32 {
				t.Errorf("%#x: register %v", raw, r)
			}
		}
		if m := only(in); m.Kind != isa.NoMem && m.Base != isa.NoReg && !slices.Contains(in.Uses(), m.Base) {
			t.Errorf("%#x: base %v is not among the uses %v", raw, m.Base, in.Uses())
		}
		_ = text(raw)
		_ = in.String()
	})
}

func BenchmarkDecode(b *testing.B) {
	code := word(0xff813503)
	for b.Loop() {
		if _, err := Decode(code, 0); err != nil {
			b.Fatal(err)
		}
	}
}

// only returns the memory operand of an instruction, or the zero one.
func only(in isa.Inst) isa.Mem {
	if !in.Accesses() {
		return isa.Mem{}
	}
	return in.Mems()[0]
}

// text disassembles an encoding in the syntax of GNU assembler.
func text(raw uint32) string {
	code := word(raw)
	decoding.Lock()
	in, err := asm.Decode(code[:length(code)])
	decoding.Unlock()
	if err != nil {
		return err.Error()
	}
	return asm.GNUSyntax(in)
}
