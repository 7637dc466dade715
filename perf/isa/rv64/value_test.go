package rv64

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/isa"
)

// described are instructions on a0 and a1 to a2, or branches, whose Value is
// compared with what qemu computes.
func described() []string {
	var list []string
	each := func(format, names string) {
		for name := range strings.FieldsSeq(names) {
			list = append(list, fmt.Sprintf(format, name))
		}
	}
	each("%s a2, a0, a1", "add addw sub subw and or xor sll sllw srl srlw sra sraw slt sltu mul mulw div divw divu divuw rem remw remu remuw")
	each("%s a2, a0, a1", "sh1add sh2add sh3add add.uw sh1add.uw sh2add.uw sh3add.uw")
	each("%s a2, a0, -77", "addi addiw andi ori xori slti sltiu")
	each("%s a2, a0, 13", "slli slliw srli srliw srai sraiw slli.uw")
	each("%s a2, a0", "sext.b sext.h zext.h mv neg negw seqz snez sltz sgtz sext.w zext.w not")
	each("%s a0, a1, 1f", "beq bne blt bge bltu bgeu")
	each("%s a0, 1f", "beqz bnez blez bgez bltz bgtz")
	list = append(list, "lui a2, 0xfffff", "lui a2, 5", "li a2, -3")
	return list
}

// valueProgram computes each instruction for each pair of operands and writes
// the results to standard output.
func valueProgram(instructions []string, pairs [][2]int64) string {
	var b strings.Builder
	b.WriteString(".option norvc\n.globl _start\n_start:\n\tla s0, pairs\n\tla s1, results\n")
	fmt.Fprintf(&b, "\tli s2, %d\nnext:\n\tld a0, 0(s0)\n\tld a1, 8(s0)\n", len(pairs))
	for i, in := range instructions {
		branch := strings.HasPrefix(in, "b")
		if branch {
			b.WriteString("\tli a2, 1\n")
		}
		fmt.Fprintf(&b, "\t.type op%d, @function\nop%d:\t%s\n\t.size op%d, 4\n", i, i, in, i)
		if branch {
			b.WriteString("\tli a2, 0\n1:\n")
		}
		b.WriteString("\tsd a2, 0(s1)\n\taddi s1, s1, 8\n")
	}
	b.WriteString("\taddi s0, s0, 16\n\taddi s2, s2, -1\n\tbeqz s2, 2f\n\tj next\n2:\n")
	fmt.Fprintf(&b, "\tli a0, 1\n\tla a1, results\n\tli a2, %d\n\tli a7, 64\n\tecall\n\tli a0, 0\n\tli a7, 93\n\tecall\n", 8*len(instructions)*len(pairs))
	b.WriteString(".data\n.balign 8\npairs:\n")
	for _, p := range pairs {
		fmt.Fprintf(&b, "\t.dword %d, %d\n", p[0], p[1])
	}
	fmt.Fprintf(&b, "results:\n\t.zero %d\n", 8*len(instructions)*len(pairs))
	return b.String()
}

func operandPairs() [][2]int64 {
	corners := []int64{0, 1, -1, 2, 31, 63, 64, -77, 1<<31 - 1, -1 << 31, 1 << 31, 1<<63 - 1, -1 << 63, 0x123456789abcdef}
	var pairs [][2]int64
	for _, a := range corners {
		for _, b := range corners {
			pairs = append(pairs, [2]int64{a, b})
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		pairs = append(pairs, [2]int64{int64(r.Uint64()), int64(r.Uint64() >> r.IntN(64))})
	}
	return pairs
}

// TestValueAgainstQemu evaluates the Value of each instruction and compares it
// with the result under qemu.
func TestValueAgainstQemu(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	qemu := oracle.Need(t, "qemu-riscv64")
	instructions, pairs := described(), operandPairs()
	exe := compile(t, "values.s", valueProgram(instructions, pairs), "-nostdlib", "-static", "-march=rv64gc_zba_zbb_zbs")
	out, err := exec.Command(qemu, "-cpu", "rv64,zba=true,zbb=true,zbs=true", exe).Output()
	if err != nil || len(out) != 8*len(instructions)*len(pairs) {
		t.Fatalf("%d bytes, %v", len(out), err)
	}
	at := labels(t, exe)
	seen := make(map[isa.Operator]bool)
	decoder := NewDecoder()
	for i, text := range instructions {
		label := at[fmt.Sprintf("op%d", i)]
		in, err := decoder.Decode(label.code, label.pc)
		if err != nil {
			t.Fatal(err)
		}
		seen[in.Value.Op] = true
		for j, p := range pairs {
			want := int64(binary.LittleEndian.Uint64(out[8*(j*len(instructions)+i):]))
			operand := map[isa.Reg]int64{10: p[0], 11: p[1]}
			if got := in.Value.Eval(operand[in.Value.A], operand[in.Value.B]); got != want {
				t.Errorf("%s of %#x, %#x: %+v gives %#x, qemu %#x", text, p[0], p[1], in.Value, got, want)
				break
			}
		}
	}
	for op := isa.Add; op <= isa.GreaterEqualUnsigned; op++ {
		if !seen[op] {
			t.Errorf("no instruction computes %v", op)
		}
	}
}

type labelled struct {
	pc   uint64
	code []byte
}

// labels returns the code at the symbols of an executable's section .text.
func labels(t *testing.T, exe string) map[string]labelled {
	t.Helper()
	file, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	symbols, err := file.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	text := file.Section(".text")
	code, err := text.Data()
	if err != nil {
		t.Fatal(err)
	}
	at := make(map[string]labelled)
	for _, s := range symbols {
		if s.Value-text.Addr < text.Size {
			at[s.Name] = labelled{s.Value, code[s.Value-text.Addr:]}
		}
	}
	return at
}

func TestValueOfOthers(t *testing.T) {
	const pc = 0x10000
	for _, c := range []struct {
		raw  uint32
		want isa.Value
	}{
		{0x00001517, isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: pc + 0x1000}}, // auipc x10, 1
		{0xfff50067, isa.Value{Op: isa.Add, A: 10, B: isa.NoReg, Imm: -1}},                 // jalr x0, -1(x10)
		{0x9782, isa.Value{Op: isa.Add, A: 15, B: isa.NoReg}},                              // c.jalr x15
		{0xe42a, isa.Value{Op: isa.Add, A: 10, B: isa.NoReg}},                              // c.sdsp x10, 8(x2)
		{0x00b53023, isa.Value{Op: isa.Add, A: 11, B: isa.NoReg}},                          // sd x11, 0(x10)
		{0xfea13c27, isa.Value{A: isa.NoReg, B: isa.NoReg}},                                // fsd f10, -8(x2)
		{0xff813503, isa.Value{A: isa.NoReg, B: isa.NoReg}},                                // ld x10, -8(x2)
		{0x02b51533, isa.Value{A: isa.NoReg, B: isa.NoReg}},                                // mulh x10, x10, x11
	} {
		code := binary.LittleEndian.AppendUint32(nil, c.raw)
		once, err := Decode(code, pc)
		if err != nil {
			t.Fatal(err)
		}
		d := NewDecoder()
		for range 2 {
			again, err := d.Decode(code, pc)
			if err != nil || again.Value != c.want || once.Value != c.want {
				t.Errorf("%#x: %+v and %+v, want %+v (%v)", c.raw, once.Value, again.Value, c.want, err)
			}
		}
	}
}

func TestValueCopiesAndConstants(t *testing.T) {
	for _, c := range []struct {
		v     isa.Value
		copy  isa.Reg
		is    bool
		value int64
		fixed bool
	}{
		{v: isa.Value{Op: isa.Add, A: isa.NoReg, B: 7}, copy: 7, is: true},
		{v: isa.Value{Op: isa.Add, A: 7, B: isa.NoReg}, copy: 7, is: true},
		{v: isa.Value{Op: isa.Add, A: 7, B: isa.NoReg, Word: true}, copy: isa.NoReg},
		{v: isa.Value{Op: isa.Add, A: 7, B: isa.NoReg, Imm: 1}, copy: isa.NoReg},
		{v: isa.Value{Op: isa.Subtract, A: isa.NoReg, B: 7}, copy: isa.NoReg},
		{v: isa.Value{Op: isa.Add, A: isa.NoReg, B: isa.NoReg, Imm: 9}, copy: isa.NoReg, value: 9, fixed: true},
		{v: isa.Value{A: isa.NoReg, B: isa.NoReg, Imm: 9}, copy: isa.NoReg},
	} {
		if r, is := c.v.Copy(); r != c.copy || is != c.is {
			t.Errorf("%+v copies %v, %v", c.v, r, is)
		}
		if n, fixed := c.v.Constant(); n != c.value || fixed != c.fixed {
			t.Errorf("%+v is constant %v, %v", c.v, n, fixed)
		}
	}
}
