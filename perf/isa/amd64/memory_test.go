package amd64

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
)

// memories are instructions in the syntax of GNU as, and their operands in memory
// as text describes them. From Intel's manual, volume 2.
var memories = []struct{ source, want string }{
	{"mov rax, [rbx+rcx*4-8]", "read 8 [rbx+rcx*4-8]"},
	{"add dword ptr [rip+0x10], eax", "read-write 4 [rip+16]"},
	{"mov eax, fs:[0x28]", "read 4 fs:[40]"},
	{"lea rax, [rbx+8]", ""},
	{"prefetcht0 [rbx]", ""},
	{"push rax", "write 8 [rsp-8]"},
	{"push qword ptr [rbx]", "read 8 [rbx]; write 8 [rsp-8]"},
	{"pop qword ptr [rsp+8]", "read 8 [rsp]; write 8 [rsp+16]"},
	{"call qword ptr [rbx]", "read 8 [rbx]; write 8 [rsp-8]"},
	{"call .+5", "write 8 [rsp-8]"},
	{"jmp qword ptr [rbx]", "read 8 [rbx]"},
	{"ret", "read 8 [rsp]"},
	{"ret 16", "read 8 [rsp]"},
	{"leave", "read 8 [rbp]"},
	{"enter 16, 0", "write 8 [rsp-8]"},
	{"pushfq", "write 8 [rsp-8]"},
	{"rep movsb", "read 1 [rsi] repeated; write 1 [rdi] repeated"},
	{"movsq", "read 8 [rsi]; write 8 [rdi]"},
	{"rep stosd", "write 4 [rdi] repeated"},
	{"lodsb", "read 1 [rsi]"},
	{"repne scasb", "read 1 [rdi] repeated"},
	{"repe cmpsb", "read 1 [rsi] repeated; read 1 [rdi] repeated"},
	{"xlatb", "read 1 [rbx+rax*1]"},
	{"bt [rbx], ecx", "read 4 [rbx] bit rcx"},
	{"bts qword ptr [rbx], 5", "read-write 8 [rbx]"},
	{"lock cmpxchg16b [rbx]", "read-write 16 [rbx]"},
	{"xchg [rbx], al", "read-write 1 [rbx]"},
	{"fld tbyte ptr [rbx]", "read 10 [rbx]"},
	{"fistp word ptr [rbx]", "write 2 [rbx]"},
	{"fxsave [rbx]", "write 512 [rbx]"},
	{"xsave [rbx]", "write 0 [rbx]"},
	{"xrstor [rbx]", "read 0 [rbx]"},
	{"ldmxcsr [rbx]", "read 4 [rbx]"},
	{"movsd xmm1, [rbx]", "read 8 [rbx]"},
	{"movhps [rbx], xmm1", "write 8 [rbx]"},
	{"maskmovdqu xmm1, xmm2", "write 16 [rdi] 16 of 1 by sign of zmm2"},
	{"vmaskmovps ymm1, ymm2, [rbx]", "read 32 [rbx] 8 of 4 by sign of zmm2"},
	{"vpmaskmovq [rbx], ymm2, ymm3", "write 32 [rbx] 4 of 8 by sign of zmm2"},
	{"vmovupd zmm1{k3}, [rbx]", "read 64 [rbx] 8 of 8 by k3"},
	{"vmovdqu8 [rbx]{k3}, ymm1", "write 32 [rbx] 32 of 1 by k3"},
	{"vmovss xmm1{k1}, [rbx]", "read 4 [rbx] 1 of 4 by k1"},
	{"vaddps zmm1, zmm2, dword ptr [rbx+4]{1to16}", "read 4 [rbx+4] broadcast"},
	{"vaddps zmm1, zmm2, [rbx+0x40]", "read 64 [rbx+64]"},
	{"vpmovzxbw zmm1{k2}, [rbx]", "read 32 [rbx] 32 of 1 by k2"},
	{"vpmovqb [rbx+8]{k2}, zmm1", "write 8 [rbx+8] 8 of 1 by k2"},
	{"vcvtps2pd zmm1{k2}, [rbx]", "read 32 [rbx] 8 of 4 by k2"},
	{"vcompresspd [rbx+8]{k2}, zmm1", "write 64 [rbx+8] 8 of 8 compressed by k2"},
	{"vpexpandd ymm1{k2}{z}, [rbx]", "read 32 [rbx] 8 of 4 compressed by k2"},
	{"vbroadcastss zmm1, [rbx]", "read 4 [rbx]"},
	{"vbroadcastf32x4 zmm1, [rbx]", "read 16 [rbx]"},
	{"vextracti64x4 [rbx], zmm1, 1", "write 32 [rbx]"},
	{"vgatherdps zmm1{k2}, [rbx+zmm3*4+8]", "read 4 [rbx+zmm3*4+8] 16 of 4 by k2, 32-bit indices"},
	{"vgatherdpd zmm1{k2}, [rbx+ymm3*8]", "read 8 [rbx+zmm3*8] 8 of 8 by k2, 32-bit indices"},
	{"vgatherqps ymm1{k2}, [rbx+zmm19*1]", "read 4 [rbx+zmm19*1] 8 of 4 by k2, 64-bit indices"},
	{"vpgatherqd xmm1, [rbx+ymm3*2], xmm4", "read 4 [rbx+zmm3*2] 4 of 4 by sign of zmm4, 64-bit indices"},
	{"vpgatherdq ymm1, [rbx+xmm3*8], ymm4", "read 8 [rbx+zmm3*8] 4 of 8 by sign of zmm4, 32-bit indices"},
	{"vscatterqpd [rbx+zmm3*8]{k1}, zmm4", "write 8 [rbx+zmm3*8] 8 of 8 by k1, 64-bit indices"},
	{"vpscatterdd [rbx+xmm3*4]{k1}, xmm4", "write 4 [rbx+zmm3*4] 4 of 4 by k1, 32-bit indices"},
	{"kmovq [rbx], k1", "write 8 [rbx]"},
	{"kmovw k1, [rbx]", "read 2 [rbx]"},
	{"movbe eax, [rbx]", "read 4 [rbx]"},
	{"movdir64b rax, [rbx]", "read 64 [rbx]; write 64 [rax]"},
	{"mov eax, [ebx+4]", "read 4 [rbx+4] 32-bit"},
	{"movabs al, [0x123456789]", "read 1 [4886718345]"},
}

// assembled returns the instructions of a source, in the order of memories.
func assembled(t *testing.T, source string) []byte {
	t.Helper()
	gcc := oracle.Need(t, "gcc")
	dir := t.TempDir()
	path, object := filepath.Join(dir, "a.s"), filepath.Join(dir, "a.o")
	if err := os.WriteFile(path, []byte(".intel_syntax noprefix\n"+source), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, "-c", "-o", object, path).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	f, err := elf.Open(object)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	code, err := f.Section(".text").Data()
	if err != nil {
		t.Fatal(err)
	}
	return code
}

func TestMemories(t *testing.T) {
	var source strings.Builder
	for _, m := range memories {
		source.WriteString(m.source + "\n")
	}
	code := assembled(t, source.String())
	for _, m := range memories {
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: % x: %v", m.source, code[:8], err)
		}
		var list []string
		for _, one := range in.Mems(nil) {
			list = append(list, describeMem(&one))
		}
		if got := strings.Join(list, "; "); got != m.want {
			t.Errorf("%s: %s, want %s", m.source, got, m.want)
		}
		code = code[in.Len:]
	}
}

func describeMem(m *Mem) string {
	text := map[Access]string{Read: "read", Write: "write", ReadWrite: "read-write"}[m.Access] + fmt.Sprintf(" %d ", m.Size)
	if m.Segment != NoReg {
		text += m.Segment.String() + ":"
	}
	at := ""
	if m.Base != NoReg {
		at = m.Base.String()
	}
	if m.Index != NoReg {
		at += fmt.Sprintf("+%v*%d", m.Index, m.Scale)
	}
	if m.Disp != 0 {
		at += fmt.Sprintf("%+d", m.Disp)
	}
	text += "[" + strings.TrimPrefix(at, "+") + "]"
	switch m.Select {
	case ByMask:
		text += fmt.Sprintf(" %d of %d by %v", m.Count, m.Element, m.Mask)
	case BySign:
		text += fmt.Sprintf(" %d of %d by sign of %v", m.Count, m.Element, m.Mask)
	case Compressed:
		text += fmt.Sprintf(" %d of %d compressed by %v", m.Count, m.Element, m.Mask)
	}
	if m.IndexBits != 0 {
		text += fmt.Sprintf(", %d-bit indices", m.IndexBits)
	}
	if m.Bit != NoReg {
		text += " bit " + m.Bit.String()
	}
	for _, w := range []struct {
		set  bool
		text string
	}{{m.Repeated, " repeated"}, {m.Broadcast, " broadcast"}, {m.Address32, " 32-bit"}} {
		if w.set {
			text += w.text
		}
	}
	return text
}

// registerCases are instructions and the registers and flags that they read and
// write.
var registerCases = []struct{ source, reads, writes string }{
	{"add rax, rbx", "rax rbx", "rax CPAZSO"},
	{"adc eax, ebx", "rax rbx C", "rax CPAZSO"},
	{"mov al, bl", "rax rbx", "rax"}, // the rest of rax remains
	{"mov ah, bl", "rax rbx", "rax"},
	{"mov eax, ebx", "rbx", "rax"},
	{"inc qword ptr [rbx]", "rbx", "PAZSO"},
	{"shl rax, cl", "rax rcx CPAZSO", "rax CPAZSO"}, // unless cl is 0
	{"shl rax, 3", "rax", "rax CPAZSO"},
	{"shl rax, 0", "rax", "rax"},
	{"imul rbx", "rax rbx", "rax rdx CPAZSO"},
	{"div ecx", "rax rcx rdx", "rax rdx CPAZSO"},
	{"cqo", "rax", "rdx"},
	{"cdqe", "rax", "rax"},
	{"cmovl rax, rbx", "rax rbx SO", "rax"},
	{"setb al", "rax C", "rax"},
	{"push rbx", "rbx rsp", "rsp"},
	{"pop rbx", "rsp", "rbx rsp"},
	{"leave", "rbp", "rsp rbp"},
	{"syscall", "rax", "rax rcx r11"},
	{"cpuid", "rax rcx", "rax rcx rdx rbx"},
	{"rep movsb", "rcx rsi rdi D", "rcx rsi rdi"},
	{"xchg rax, rbx", "rax rbx", "rax rbx"},
	{"lock cmpxchg [rbx], rcx", "rax rcx rbx", "rax CPAZSO"},
	{"mulx rax, rcx, rbx", "rdx rbx", "rax rcx"},
	{"andn rax, rbx, rcx", "rbx rcx", "rax CPAZSO"},
	{"addsd xmm1, xmm2", "zmm1 zmm2", "zmm1"},
	{"vaddsd xmm1, xmm2, xmm3", "zmm2 zmm3", "zmm1"},
	{"movss xmm1, xmm2", "zmm1 zmm2", "zmm1"},
	{"movss xmm1, [rbx]", "rbx", "zmm1"},
	{"vaddpd zmm1{k2}, zmm20, zmm3", "zmm1 zmm3 zmm20 k2", "zmm1"},
	{"vaddpd zmm1{k2}{z}, zmm20, zmm3", "zmm3 zmm20 k2", "zmm1"},
	{"vfmadd231pd ymm1, ymm2, [rbx]", "rbx zmm1 zmm2", "zmm1"},
	{"vgatherdps zmm1{k2}, [rbx+zmm3*4]", "rbx zmm1 zmm3 k2", "zmm1 k2"},
	{"vpgatherdd xmm1, [rbx+xmm3*4], xmm4", "rbx zmm1 zmm3 zmm4", "zmm1 zmm4"},
	{"vpcmpeqd k1, zmm2, zmm3", "zmm2 zmm3", "k1"},
	{"kortestw k1, k2", "k1 k2", "CPAZSO"},
	{"vpermi2d zmm1, zmm2, zmm3", "zmm1 zmm2 zmm3", "zmm1"},
	{"vblendvpd ymm1, ymm2, ymm3, ymm4", "zmm2 zmm3 zmm4", "zmm1"},
	{"blendvpd xmm1, xmm2, xmm0", "zmm0 zmm1 zmm2", "zmm1"},
	{"pcmpestri xmm1, xmm2, 0", "rax rdx zmm1 zmm2", "rcx CPAZSO"},
	{"ucomisd xmm1, xmm2", "zmm1 zmm2", "CPAZSO"},
	{"vmaskmovps [rbx], ymm2, ymm3", "rbx zmm2 zmm3", ""},
	{"fadd dword ptr [rbx]", "rbx st", "st"},
	{"cvttsd2si rax, xmm1", "zmm1", "rax"},
	{"jrcxz .+2", "rcx", ""},
	{"ja .+2", "CZ", ""},
	{"xlatb", "rax rbx", "rax"},
}

func TestRegisterSets(t *testing.T) {
	var source strings.Builder
	for _, c := range registerCases {
		source.WriteString(c.source + "\n")
	}
	code := assembled(t, source.String())
	for _, c := range registerCases {
		in, err := Decode(code)
		if err != nil {
			t.Fatalf("%s: % x: %v", c.source, code[:8], err)
		}
		read, written := in.Registers()
		fread, fwritten := in.Flags()
		if got := describeRegs(read, fread); !sameWords(got, c.reads) {
			t.Errorf("%s reads %s, want %s", c.source, got, c.reads)
		}
		if got := describeRegs(written, fwritten); !sameWords(got, c.writes) {
			t.Errorf("%s writes %s, want %s", c.source, got, c.writes)
		}
		code = code[in.Len:]
	}
}

func sameWords(a, b string) bool {
	x, y := strings.Fields(a), strings.Fields(b)
	slices.Sort(x)
	slices.Sort(y)
	return slices.Equal(x, y)
}

func describeRegs(s Regs, f Flags) string {
	var list []string
	for r := Reg(0); r < ST0; r++ {
		if s.Has(r) {
			list = append(list, r.String())
		}
	}
	if s.X87 {
		list = append(list, "st")
	}
	if f != 0 {
		list = append(list, f.String())
	}
	return strings.Join(list, " ")
}
