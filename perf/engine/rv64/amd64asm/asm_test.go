package amd64asm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"

	"presage/perf/internal/oracle"
)

// TestOperands decodes a MOV with every operand form and every register, as some
// registers are exceptions (RSP and R12 need a SIB byte, RBP and R13 a
// displacement).
func TestOperands(t *testing.T) {
	var c Code
	check := func(reg Reg, rm Operand, want x86asm.Arg) {
		t.Helper()
		c.Reset(0)
		c.Ins(Mov, reg, rm)
		inst, err := x86asm.Decode(c.Bytes, 64)
		if err != nil || inst.Len != len(c.Bytes) || inst.Op != x86asm.MOV {
			t.Fatalf("% x: decoded %d of %d bytes: %v", c.Bytes, inst.Len, len(c.Bytes), err)
		}
		got := inst.Args[1]
		if m, ok := got.(x86asm.Mem); ok {
			m.Disp = int64(int32(m.Disp))
			if m.Index == 0 {
				m.Scale = 0 // a SIB byte without an index
			}
			got = m
		}
		if inst.Args[0] != x86asm.RAX+x86asm.Reg(reg) || got != want {
			t.Fatalf("% x: %v %v, want register %d, %v", c.Bytes, inst.Args[0], got, reg, want)
		}
	}
	for reg := range Reg(16) {
		for base := range Reg(16) {
			check(reg, R(base), x86asm.RAX+x86asm.Reg(base))
			for _, disp := range []int32{0, 1, -128, 127, 128, -129, 1 << 30} {
				want := x86asm.Mem{Base: x86asm.RAX + x86asm.Reg(base), Disp: int64(disp)}
				check(reg, M(base, disp), want)
				for index := range Reg(16) {
					if index == RSP {
						continue
					}
					want.Index, want.Scale = x86asm.RAX+x86asm.Reg(index), 1<<(index%4)
					check(reg, MX(base, index, uint8(index%4), disp), want)
				}
			}
		}
	}
}

// assembled returns instructions and their expected disassembly by GNU objdump.
func assembled() (c Code, want []string) {
	add := func(text string) { want = append(want, text) }
	ins := func(o Op, reg Reg, rm Operand, text string) {
		c.Ins(o, reg, rm)
		add(text)
	}
	ins(Add, R9, M(RDI, -128), "add r9,QWORD PTR [rdi-0x80]")
	ins(Lea, RAX, M(R13, 0), "lea rax,[r13+0x0]")
	ins(Cvtsi2ss, 9, R(R10), "cvtsi2ss xmm9,r10")
	ins(StoreB, RSI, M(RAX, 0), "mov BYTE PTR [rax],sil")
	ins(Store16, R10, M(RAX, 2), "mov WORD PTR [rax+0x2],r10w")
	ins(StoreD, R10, M(RAX, 2), "mov DWORD PTR [rax+0x2],r10d")
	ins(Movsx8, R8, R(RDI), "movsx r8,dil")
	ins(Movzx16, RBP, M(RBX, 0), "movzx ebp,WORD PTR [rbx]")
	ins(Movsxd, R14, R(R15), "movsxd r14,r15d")
	ins(IMul2, RDX, R(R8), "imul rdx,r8")
	ins(Lzcnt, R8, R(RAX), "lzcnt r8,rax")
	ins(Popcnt32, RAX, R(R9), "popcnt eax,r9d")
	ins(Btc, R9, R(RAX), "btc rax,r9")
	ins(CMov(L), RCX, R(RDX), "cmovl rcx,rdx")
	ins(MovdquStore, 9, M(R13, 8), "movdqu XMMWORD PTR [r13+0x8],xmm9")
	ins(Punpcklqdq, 9, R(0), "punpcklqdq xmm9,xmm0")
	ins(Paddq, 12, M(RAX, 0), "paddq xmm12,XMMWORD PTR [rax]")
	ins(ShiftX(SarI, RCX, true), R12, R(R13), "sarx r12,r13,rcx")
	ins(ShiftX(ShlI, R8, false), RAX, M(RDI, 8), "shlx eax,DWORD PTR [rdi+0x8],r8d")
	ins(ShiftX(ShrI, R15, true), RBP, R(RAX), "shrx rbp,rax,r15")
	ins(Andn(R9), RAX, R(R10), "andn rax,r9,r10")
	ins(FMA(FMAdd, 9, false), 0, R(15), "vfmadd231sd xmm0,xmm9,xmm15")
	ins(Arithmetic3(FAdd, 9, false), 0, R(15), "vaddsd xmm0,xmm9,xmm15")
	ins(Arithmetic3(FDiv, 2, true), 12, M(RDI, 640), "vdivss xmm12,xmm2,DWORD PTR [rdi+0x280]")
	ins(FMA213(FMAdd, 9, false), 0, R(15), "vfmadd213sd xmm0,xmm9,xmm15")
	ins(FMA213(FNMSub, 2, true), 12, M(RDI, 640), "vfnmsub213ss xmm12,xmm2,DWORD PTR [rdi+0x280]")
	ins(FMA(FMSub, 1, true), 12, M(RDI, 640), "vfmsub231ss xmm12,xmm1,DWORD PTR [rdi+0x280]")
	ins(FMA(FNMAdd, 2, false), 3, R(4), "vfnmadd231sd xmm3,xmm2,xmm4")
	ins(FMA(FNMSub, 2, true), 3, R(14), "vfnmsub231ss xmm3,xmm2,xmm14")
	ins(Arithmetic(FDiv, false), 8, R(9), "divsd xmm8,xmm9")
	ins(Arithmetic(FSqrt, true), 1, R(2), "sqrtss xmm1,xmm2")
	ins(MovqTo, 9, R(R10), "movq xmm9,r10")
	ins(MovqFrom, 9, R(R10), "movq r10,xmm9")
	ins(MovdFrom, 9, R(RAX), "movd eax,xmm9")
	ins(Movq, 10, M(RDI, 384), "movq xmm10,QWORD PTR [rdi+0x180]")
	ins(MovqStore, 10, M(RDI, 384), "movq QWORD PTR [rdi+0x180],xmm10")
	ins(Cvtsi2sd, 0, R(R11), "cvtsi2sd xmm0,r11")
	ins(Cvttsd2si, R11, R(3), "cvttsd2si r11,xmm3")
	ins(Comisd, 3, R(13), "comisd xmm3,xmm13")
	ins(Ucomiss, 3, M(RAX, 0), "ucomiss xmm3,DWORD PTR [rax]")
	ins(Andnps, 1, R(8), "andnps xmm1,xmm8")
	ins(Pcmpeqb, 9, R(1), "pcmpeqb xmm9,xmm1")
	c.RoundSD(9, R(10), RoundUp)
	add("roundsd xmm9,xmm10,0x2")
	c.RoundSD(1, M(RDI, 640), RoundZero|RoundQuiet)
	add("roundsd xmm1,QWORD PTR [rdi+0x280],0xb")
	c.LoadMXCSR(M(RDI, 1000))
	add("ldmxcsr DWORD PTR [rdi+0x3e8]")
	c.StoreMXCSR(M(R9, 0))
	add("stmxcsr DWORD PTR [r9]")
	c.Imm(SbbI, false, R(RAX), -1)
	add("sbb eax,0xffffffff")
	c.Imm(CmpI, true, R(R8), -1)
	add("cmp r8,0xffffffffffffffff")
	c.Imm(SubI, false, M(RDI, 0), 4096)
	add("sub DWORD PTR [rdi],0x1000")
	c.Shift(RorI, false, R9, 7)
	add("ror r9d,0x7")
	c.RotateCL(RolI, true, RAX)
	add("rol rax,cl")
	c.Unary(IDiv, false, R(RCX))
	add("idiv ecx")
	c.SignAX(true)
	add("cqo")
	c.TestByte(M(RDX, 0), 7)
	add("test BYTE PTR [rdx],0x7")
	c.Const(R9, 1<<40)
	add("movabs r9,0x10000000000")
	c.Const(R9, ^uint64(1))
	add("mov r9,0xfffffffffffffffe")
	c.Const(RAX, 1<<32-1)
	add("mov eax,0xffffffff")
	c.StoreConst(M(RDI, 0), -5)
	add("mov QWORD PTR [rdi],0xfffffffffffffffb")
	c.Store8(M(RDI, 1), 1)
	add("mov BYTE PTR [rdi+0x1],0x1")
	c.Set(NE, RDX)
	add("setne dl")
	c.Bswap(R13)
	add("bswap r13")
	c.JmpTo(M(RCX, 8))
	add("jmp QWORD PTR [rcx+0x8]")
	c.Ret()
	add("ret")
	return c, want
}

// TestAgainstObjdump disassembles one instruction of each kind.
func TestAgainstObjdump(t *testing.T) {
	oracle.Need(t, "objdump")
	c, want := assembled()
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, c.Bytes, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("objdump", "-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel", "--no-show-raw-insn", path).Output()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	spaces := regexp.MustCompile(`\s+`)
	for line := range strings.Lines(string(out)) {
		if _, text, ok := strings.Cut(line, ":\t"); ok {
			got = append(got, spaces.ReplaceAllString(strings.TrimSpace(text), " "))
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d instructions, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("%s, want %s", got[i], want[i])
		}
	}
}

// TestJumps checks jumps to labels and to offsets, forwards and backwards.
func TestJumps(t *testing.T) {
	var c Code
	c.Reset(0x100)
	start, end := c.NewLabel(), c.NewLabel()
	c.Bind(start)
	c.Jcc(NE, end) // 6 bytes
	c.Jmp(start)   // 5
	site := c.JmpAt(0x200)
	c.Bind(end)
	c.Ins(Movq, 2, At(0x80)) // 8 bytes, at 0x110
	c.Finish()
	want := []byte{0x0f, 0x85, 10, 0, 0, 0, 0xe9, 0xf5, 0xff, 0xff, 0xff, 0xe9, 0xf0, 0, 0, 0, 0xf3, 0x0f, 0x7e, 0x15, 0x68, 0xff, 0xff, 0xff}
	if string(c.Bytes) != string(want) {
		t.Errorf("got  % x\nwant % x", c.Bytes, want)
	}
	if site != 0x10c || c.Offset(end) != 0x110 || Distance(site, 0x100) != ^uint32(15) {
		t.Errorf("site %#x, end %#x, distance %#x", site, c.Offset(end), Distance(site, 0x100))
	}
}
