package rv64

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
	"presage/perf/isa"
)

const goSource = `package main

import "fmt"

func main() { fmt.Println("hello", 3.5) }
`

const cSource = `#include <math.h>
#include <stdatomic.h>
#include <stdio.h>

_Atomic long counter;

int main(int argc, char **argv) {
	double s = 0;
	float f = argc;
	for (int i = 1; i < 100 * argc; i++) {
		s += sqrt(i) / fma(i, argc, f);
		atomic_fetch_add(&counter, i % argc);
	}
	printf("%g %g %ld\n", s, sqrtf(f), counter);
	return 0;
}
`

// TestAgainstObjdump decodes whole executables and compares every instruction
// with the text of objdump: length, class, registers, memory operand, target.
func TestAgainstObjdump(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	objdump := oracle.Need(t, "riscv64-linux-gnu-objdump")
	for _, c := range []struct {
		name  string
		build func(t *testing.T) string
		least int
	}{
		{"go", func(t *testing.T) string { return compileGo(t) }, 100_000},
		{"gcc -O3", func(t *testing.T) string {
			return compile(t, "a.c", cSource, "-O3", "-march=rv64gc_zba_zbb_zbs", "-static", "-lm")
		}, 50_000},
		{"every instruction", func(t *testing.T) string {
			return compile(t, "a.s", everyInstruction(), "-nostdlib", "-static", assembleFor)
		}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			exe := c.build(t)
			compared, unknown := compare(t, objdump, exe)
			t.Logf("%d instructions compared, %d that objdump does not know", compared, unknown)
			if compared < c.least || unknown > compared/100 {
				t.Errorf("%d instructions compared, %d unknown", compared, unknown)
			}
		})
	}
}

// TestTableIsCovered demands that everyInstruction covers all of operations.
func TestTableIsCovered(t *testing.T) {
	exe := compile(t, "a.s", everyInstruction(), "-nostdlib", "-static", assembleFor)
	seen := make(map[string]bool)
	classes := make(map[isa.Class]bool)
	text, addr := textOf(t, exe)
	for off := 0; off < len(text); {
		in, err := Decode(text[off:], addr+uint64(off))
		if err != nil {
			t.Fatal(err)
		}
		seen[in.Op], classes[in.Class] = true, true
		off += int(in.Len)
	}
	for op, o := range operations {
		name := asmName(op)
		if o.class == isa.Illegal || strings.HasPrefix(name, "CBO") || strings.HasPrefix(name, "CZERO") {
			continue // binutils 2.40 does not assemble Zicond
		}
		if !seen[name] {
			t.Errorf("%s is not among the instructions assembled", name)
		}
	}
	for _, c := range isa.Classes() {
		if !classes[c] && c != isa.Vector {
			t.Errorf("no instruction has the class %v", c)
		}
	}
}

// compare walks objdump's listing of an executable.
func compare(t *testing.T, objdump, exe string) (compared, unknown int) {
	t.Helper()
	out, err := exec.Command(objdump, "-d", "-j", ".text", "-M", "no-aliases,numeric", exe).Output()
	if err != nil {
		t.Fatal(err)
	}
	text, base := textOf(t, exe)
	d := NewDecoder()
	failures := 0
	for line := range strings.Lines(string(out)) {
		want, ok := parseListing(line)
		if !ok {
			continue
		}
		if strings.HasPrefix(want.op, ".") {
			unknown++
			continue
		}
		in, err := d.Decode(text[want.pc-base:], want.pc)
		if direct, _ := Decode(text[want.pc-base:], want.pc); direct != in {
			t.Fatalf("Decoder %+v, Decode %+v", in, direct)
		}
		if err == nil {
			err = want.differs(&in)
		}
		if err != nil {
			t.Errorf("%s: %v", strings.TrimSpace(line), err)
			if failures++; failures > 30 {
				t.FailNow()
			}
		}
		compared++
	}
	return compared, unknown
}

// listed is an instruction as objdump prints it.
type listed struct {
	pc   uint64
	len  int
	op   string // without "c."
	args []string
	long string // with "c."
}

var listing = regexp.MustCompile(`^ *([0-9a-f]+):\t([0-9a-f]+) *\t([a-z0-9_.]+)(?:\t([^<#\n]*))?`)

func parseListing(line string) (listed, bool) {
	m := listing.FindStringSubmatch(line)
	if m == nil {
		return listed{}, false
	}
	l := listed{len: len(m[2]) / 2, long: m[3], op: strings.TrimPrefix(m[3], "c.")}
	l.pc, _ = strconv.ParseUint(m[1], 16, 64)
	if args := strings.TrimSpace(m[4]); args != "" {
		l.args = strings.Split(args, ",")
	}
	return l, true
}

// differs compares what objdump says with what was decoded.
func (l listed) differs(in *isa.Inst) error {
	if int(in.Len) != l.len {
		return fmt.Errorf("length %d, want %d", in.Len, l.len)
	}
	if want := l.class(); in.Class != want {
		return fmt.Errorf("class %v, want %v", in.Class, want)
	}
	if got, want := only(*in), l.mem(); got != want {
		return fmt.Errorf("memory operand %+v, want %+v", got, want)
	}
	if target, ok := l.target(); in.HasTarget != ok || in.Target != target {
		return fmt.Errorf("target %#x %v, want %#x %v", in.Target, in.HasTarget, target, ok)
	}
	defs, uses := l.registers()
	if got := slices.Sorted(slices.Values(in.Defs())); in.Class != isa.Vector && in.Class != isa.Nop && !slices.Equal(got, defs) {
		return fmt.Errorf("defs %v, want %v", got, defs)
	}
	if got := slices.Sorted(slices.Values(in.Uses())); in.Class != isa.Vector && in.Class != isa.Nop && !slices.Equal(got, uses) {
		return fmt.Errorf("uses %v, want %v", got, uses)
	}
	return nil
}

// classPatterns classify by mnemonic, the first match, independently of the
// decoder's table.
var classPatterns = []struct {
	pattern *regexp.Regexp
	class   isa.Class
}{
	{regexp.MustCompile(`^unimp$`), isa.Illegal},
	{regexp.MustCompile(`^nop$`), isa.Nop},
	{regexp.MustCompile(`^v`), isa.Vector},
	{regexp.MustCompile(`^(lr|sc|amo\w+)\.[wd]`), isa.Atomic},
	{regexp.MustCompile(`^fl[wd](sp)?$`), isa.FPLoad},
	{regexp.MustCompile(`^fs[wd](sp)?$`), isa.FPStore},
	{regexp.MustCompile(`^l([bhw]u?|d)(sp)?$`), isa.Load},
	{regexp.MustCompile(`^s[bhwd](sp)?$`), isa.Store},
	{branchPattern, isa.Branch},
	{regexp.MustCompile(`^csrr`), isa.CSR},
	{regexp.MustCompile(`^fence|^pause$|^cbo`), isa.Fence},
	{regexp.MustCompile(`^ecall$`), isa.SystemCall},
	{regexp.MustCompile(`^ebreak$`), isa.Breakpoint},
	{regexp.MustCompile(`^slti?u?$`), isa.Compare},
	{regexp.MustCompile(`^(s[lr][la]i?w?|rol|ror|rori)w?(\.uw)?$`), isa.Shift},
	{regexp.MustCompile(`^c?l?mul`), isa.Multiply},
	{regexp.MustCompile(`^(div|rem)`), isa.Divide},
	{regexp.MustCompile(`^f(add|sub)\.`), isa.FPAdd},
	{regexp.MustCompile(`^fmul\.`), isa.FPMultiply},
	{regexp.MustCompile(`^fdiv\.`), isa.FPDivide},
	{regexp.MustCompile(`^fsqrt\.`), isa.FPSqrt},
	{regexp.MustCompile(`^fn?m(add|sub)\.`), isa.FPFused},
	{regexp.MustCompile(`^fcvt\.`), isa.FPConvert},
	{regexp.MustCompile(`^f(mv|sgnj|min|max|eq|lt|le|class)`), isa.FPMove},
}

func (l listed) class() isa.Class {
	switch l.op {
	case "jal", "j", "jr", "jalr":
		return l.jumpClass()
	}
	for _, p := range classPatterns {
		if p.pattern.MatchString(l.op) {
			if defs, _ := l.registers(); len(defs) == 0 && p.class >= isa.ALU && p.class <= isa.FPMove {
				return isa.Nop
			}
			return p.class
		}
	}
	if defs, _ := l.registers(); len(defs) == 0 {
		return isa.Nop
	}
	return isa.ALU
}

func (l listed) jumpClass() isa.Class {
	link, base := "x0", l.args[len(l.args)-1]
	switch l.long {
	case "jal", "jalr":
		link = l.args[0]
	case "c.jalr":
		link = "x1"
	}
	if _, reg, ok := offsetOf(base); ok {
		base = reg
	}
	switch {
	case link != "x0":
		return isa.Call
	case !strings.Contains(l.op, "r"):
		return isa.Jump
	case base == "x1" || base == "x5":
		return isa.Return
	}
	return isa.IndirectJump
}

var offsetPattern = regexp.MustCompile(`^(-?(?:0x)?[0-9a-f]*)\((x\d+)\)$`)

func offsetOf(arg string) (disp int64, reg string, ok bool) {
	m := offsetPattern.FindStringSubmatch(arg)
	if m == nil {
		return 0, "", false
	}
	disp, _ = strconv.ParseInt(m[1], 0, 64)
	return disp, m[2], true
}

var sizes = map[byte]uint8{'b': 1, 'h': 2, 'w': 4, 'd': 8}

func (l listed) mem() isa.Mem {
	var m isa.Mem
	switch c := l.class(); c {
	case isa.Load, isa.FPLoad:
		m.Kind = isa.MemLoad
	case isa.Store, isa.FPStore:
		m.Kind = isa.MemStore
	case isa.Atomic:
		m.Kind = isa.MemReadModifyWrite
		if strings.HasPrefix(l.op, "lr") {
			m.Kind = isa.MemLoad
		} else if strings.HasPrefix(l.op, "sc") {
			m.Kind = isa.MemStore
		}
		_, width, _ := strings.Cut(l.op, ".")
		m.Size = sizes[width[0]]
	default:
		return m
	}
	if m.Size == 0 {
		name := strings.TrimSuffix(l.op, "sp")
		m.Float = name[0] == 'f'
		m.Size = sizes[strings.TrimPrefix(name, "f")[1]]
	}
	disp, reg, _ := offsetOf(l.args[len(l.args)-1])
	m.Disp, m.Base, m.Index = disp, number(reg), isa.NoReg
	return m
}

// target is the address that objdump computed.
func (l listed) target() (uint64, bool) {
	if len(l.args) == 2 && l.op == "jalr" && strings.HasSuffix(l.args[1], "(x0)") {
		disp, _, _ := offsetOf(l.args[1])
		return uint64(disp), true // relative to address 0
	}
	if c := l.class(); c != isa.Branch && c != isa.Jump && (c != isa.Call || l.op != "jal") {
		return 0, false
	}
	v, err := strconv.ParseUint(l.args[len(l.args)-1], 16, 64)
	return v, err == nil
}

var registerPattern = regexp.MustCompile(`\b([xf])(\d+)\b`)

func number(reg string) isa.Reg {
	n, err := strconv.Atoi(reg[1:])
	switch {
	case err != nil || reg == "x0":
		return isa.NoReg
	case reg[0] == 'f':
		return isa.F0 + isa.Reg(n)
	}
	return isa.Reg(n)
}

// twoOperand are the compressed instructions whose destination is a source.
var twoOperand = regexp.MustCompile(`^c\.(addi?w?|sub|subw|and|andi|or|xor|slli|srli|srai|addi16sp)$`)

var (
	storePattern  = regexp.MustCompile(`^(s[bhwd]|fs[wd])(sp)?$`)
	branchPattern = regexp.MustCompile(`^b(eq|ne|lt|ge)(u|z)?$`)
)

// registers tells destinations and sources apart by their position in the text.
func (l listed) registers() (defs, uses []isa.Reg) {
	add := func(list *[]isa.Reg, text string) {
		for _, m := range registerPattern.FindAllString(text, -1) {
			if r := number(m); r != isa.NoReg && !slices.Contains(*list, r) {
				*list = append(*list, r)
			}
		}
	}
	stores := storePattern.MatchString(l.op)
	branches := branchPattern.MatchString(l.op)
	sources := l.args
	switch {
	case stores || branches || l.long == "c.jr" || l.long == "c.j" || strings.HasPrefix(l.op, "fence"):
	case l.long == "c.jalr":
		defs = []isa.Reg{1}
	case len(l.args) > 0:
		add(&defs, l.args[0])
		if sources = l.args[1:]; twoOperand.MatchString(l.long) {
			sources = l.args
		}
	}
	for i, s := range sources {
		if branches && i == len(sources)-1 || l.op == "jal" || l.long == "c.j" {
			continue // an address
		}
		add(&uses, s)
	}
	slices.Sort(uses)
	return defs, uses
}

func textOf(t *testing.T, exe string) ([]byte, uint64) {
	t.Helper()
	f, err := elf.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := f.Section(".text")
	data, err := s.Data()
	if err != nil {
		t.Fatal(err)
	}
	return data, s.Addr
}

func compile(t *testing.T, name, source string, flags ...string) string {
	t.Helper()
	gcc := oracle.Need(t, "riscv64-linux-gnu-gcc")
	src, exe := filepath.Join(t.TempDir(), name), filepath.Join(t.TempDir(), "a.exe")
	if err := os.WriteFile(src, []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(gcc, append([]string{"-o", exe, src}, flags...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}

func compileGo(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	src, exe := filepath.Join(dir, "main.go"), filepath.Join(dir, "a.exe")
	if err := os.WriteFile(src, []byte(goSource), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("go", "build", "-o", exe, src)
	cmd.Env = append(os.Environ(), "GOOS=linux", "GOARCH=riscv64", "CGO_ENABLED=0", "GOFLAGS=")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return exe
}
