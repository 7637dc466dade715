package amd64

import (
	"bufio"
	"debug/elf"
	"encoding/hex"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// line is an instruction as objdump shows it.
type line struct {
	pc   uint64
	code []byte
	text string
}

// disassemble calls visit with the instructions of a file, until it returns false.
func disassemble(t *testing.T, path string, args []string, visit func(line) bool) {
	t.Helper()
	args = append([]string{"-d", "-w", "-M", "intel", "--insn-width=16"}, append(args, path)...)
	cmd := exec.Command("objdump", args...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	s := bufio.NewScanner(out)
	s.Buffer(make([]byte, 1<<16), 1<<20)
	for s.Scan() {
		cols := strings.SplitN(s.Text(), "\t", 3)
		if len(cols) < 3 {
			continue
		}
		pc, err := strconv.ParseUint(strings.TrimSuffix(strings.TrimSpace(cols[0]), ":"), 16, 64)
		if err != nil {
			continue
		}
		code, err := hex.DecodeString(strings.ReplaceAll(strings.TrimSpace(cols[1]), " ", ""))
		if err != nil {
			continue
		}
		if !visit(line{pc, code, cols[2]}) {
			return
		}
	}
}

// image is the code of an ELF file.
func image(t *testing.T, path string) func(pc uint64) []byte {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	type part struct {
		at   uint64
		data []byte
	}
	var parts []part
	for _, s := range f.Sections {
		if s.Flags&elf.SHF_EXECINSTR != 0 && s.Type != elf.SHT_NOBITS {
			data, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			parts = append(parts, part{s.Addr, data})
		}
	}
	return func(pc uint64) []byte {
		for _, p := range parts {
			if pc >= p.at && pc < p.at+uint64(len(p.data)) {
				return p.data[pc-p.at:]
			}
		}
		return nil
	}
}

// tally counts differences by kind and shows the first of each.
type tally struct {
	total, skipped int
	wrong          map[string]int
	shown          map[string]int
	t              *testing.T
}

func (a *tally) fail(kind string, l line, detail string) {
	if a.wrong == nil {
		a.wrong, a.shown = map[string]int{}, map[string]int{}
	}
	a.wrong[kind]++
	key := kind + strings.Fields(l.text)[0]
	if a.shown[key]++; a.shown[key] <= 2 && len(a.shown) < 200 {
		a.t.Errorf("%s: %x: % x\t%s\t%s", kind, l.pc, l.code, l.text, detail)
	}
}

var spaces = regexp.MustCompile(`\s+`)

// split separates objdump's text into prefixes, mnemonic and operands.
func split(text string) (prefixes []string, name string, operands []string) {
	if i := strings.IndexAny(text, "#<"); i >= 0 {
		text = text[:i]
	}
	text = strings.TrimSpace(spaces.ReplaceAllString(text, " "))
	for {
		word, rest, _ := strings.Cut(text, " ")
		if slices.Contains(prefixWords, word) || strings.HasPrefix(word, "rex") || strings.HasPrefix(word, "{") {
			prefixes = append(prefixes, word)
			text = rest
			if text == "" {
				return prefixes, "", nil
			}
			continue
		}
		name = word
		if rest != "" {
			operands = splitOperands(rest)
		}
		return prefixes, name, operands
	}
}

var prefixWords = []string{"rep", "repz", "repnz", "lock", "data16", "addr32", "cs", "ds", "es", "ss", "fs", "gs", "bnd", "notrack", "xacquire", "xrelease", "data32"}

func splitOperands(text string) []string {
	list := strings.Split(text, ",")
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
	}
	return list
}

func (a *tally) compare(l line, code []byte) {
	_, name, operands := split(l.text)
	if name == "" || name == "(bad)" || name == ".byte" || strings.Contains(l.text, "(bad)") {
		a.skipped++
		return
	}
	if l.code[0] == 0x9b && len(l.code) > 1 { // fwait is an instruction of its own
		l.code, code = l.code[1:], code[1:]
		switch name {
		case "fstcw", "fstsw", "fstenv", "fsave", "finit", "fclex", "feni", "fdisi", "fsetpm":
			name = "fn" + name[1:]
		}
	}
	if strings.Contains(l.text, "?") { // a register that does not exist
		a.skipped++
		return
	}
	for i, o := range operands {
		switch name { // what of a register is used does not count
		case "invept", "invvpid", "cmpxchg16b":
			operands[i] = strings.NewReplacer("ymm", "xmm", "OWORD", "XMMWORD").Replace(o)
		}
	}
	if i := strings.Index(name, "("); i > 0 { // fnsetpm(287 only)
		name, operands = name[:i], nil
	}
	if name == "xlat" {
		operands = nil
	}
	in, err := Decode(code)
	undefined := err != nil && strings.HasPrefix(l.text, "rex") && l.code[1]&0xfe == 0xc4 // REX before VEX
	if undefined || peculiar(&in, name, operands) {
		a.skipped++
		return
	}
	a.total++
	if err != nil {
		a.fail("undecoded", l, err.Error())
		return
	}
	if int(in.Len) != len(l.code) {
		a.fail("length", l, fmt.Sprint(in.Len, " ", in.Name()))
		return
	}
	mine, ops := format(&in, l.pc)
	if !sameName(mine, name, &in) {
		a.fail("name", l, mine)
		return
	}
	if mine == "nop" && name == "xchg" {
		name, operands = "nop", nil
	}
	if len(ops) == len(operands)+1 && mine != name { // the immediate is part of the name
		ops = ops[:len(operands)]
	}
	if !sameOperands(ops, operands) {
		a.fail("operands", l, strings.Join(ops, ","))
		return
	}
	if problem := meaning(&in, name, operands); problem != "" {
		a.fail("meaning", l, problem)
	}
}

// sameName reports whether two mnemonics mean the same instruction.
func sameName(mine, theirs string, in *Inst) bool {
	if mine == theirs {
		return true
	}
	switch {
	case theirs == "xchg" && mine == "nop":
		return true
	case strings.HasPrefix(theirs, mine) && slices.Contains([]string{"w", "q", "d"}, theirs[len(mine):]): // operand size
		return true
	case mine == "3dnow" || mine == "prefetch":
		return true
	case strings.HasSuffix(mine, "pclmulqdq") && strings.Contains(theirs, "pclmul"):
		return true
	case in.Kind() == VectorCompare || in.Kind() == FPCompare: // a name for each immediate
		for _, p := range predicates {
			if i := strings.Index(theirs, p); i > 0 && theirs[:i]+theirs[i+len(p):] == mine {
				return true
			}
		}
	}
	return false
}

// predicates are in the names of comparisons that have no immediate operand in
// objdump's text; the longer stand before their parts.
var predicates = []string{
	"eq_oq", "lt_os", "le_os", "unord_q", "neq_uq", "nlt_us", "nle_us", "ord_q", "eq_uq", "nge_us", "ngt_us", "false_oq", "neq_oq", "ge_os", "gt_os", "true_uq",
	"eq_os", "lt_oq", "le_oq", "unord_s", "neq_us", "nlt_uq", "nle_uq", "ord_s", "eq_us", "nge_uq", "ngt_uq", "false_os", "neq_os", "ge_oq", "gt_oq", "true_us",
	"unord", "false", "true", "neq", "nlt", "nle", "nge", "ngt", "ord", "eq", "lt", "le", "ge", "gt",
}

var number = regexp.MustCompile(`^(-?0x[0-9a-f]+|[0-9]+)$`)

func sameOperands(mine, theirs []string) bool {
	if len(mine) != len(theirs) {
		return false
	}
	for i := range mine {
		m, th := mine[i], theirs[i]
		th = strings.NewReplacer("ds:0x", "0x", "{bad}", "", "FWORD PTR ", "", "TBYTE PTR ", "").Replace(th)
		th = notation.ReplaceAllString(th, "")
		if mask := strings.Contains(th, "[riz*") || strings.Contains(th, "[eiz*"); mask {
			th = constantAddress(th)
		}
		m = strings.NewReplacer("abs:", "", "TBYTE PTR ", "").Replace(m)
		if th == "st" {
			th = "st(0)"
		}
		if strings.Contains(th, "ip+0xffffffff") {
			th = negative(th)
		}
		if m == "imm" && number.MatchString(th) || m == th || m == strings.TrimPrefix(th, "0x") || unsized(m) == th {
			continue
		}
		return false
	}
	return true
}

// notation is what objdump writes and format does not: an index that is none,
// rounding modes, how often an element is broadcast.
var notation = regexp.MustCompile(`\+[er]iz\*[1248]|\{r[nudz]-(sae|bad)\}|\{sae\}|\{1to[0-9]+\}`)

// constantAddress rewrites an address that is a displacement alone, though
// encoded with a SIB byte: [riz*2-0x10].
func constantAddress(text string) string {
	size, rest, _ := strings.Cut(text, "[")
	rest, mask, _ := strings.Cut(rest, "]")
	n, err := strconv.ParseInt(strings.TrimPrefix(rest[len("riz*2"):], "+"), 0, 64)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s%#x%s", size, uint64(n), mask)
}

// negative rewrites rip+0xffff… as the negative number it is.
func negative(text string) string {
	from := strings.Index(text, "+0x")
	to := strings.IndexByte(text, ']')
	n, err := strconv.ParseUint(text[from+3:to], 16, 64)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s-%#x%s", text[:from], -n, text[to:])
}

// peculiar reports whether objdump shows an instruction, which no compiler emits,
// in another way than Intel's manual describes it.
func peculiar(in *Inst, name string, operands []string) bool {
	switch name {
	case "movsxd": // r16 from r/m16
		return in.Size16 && !in.W
	case "movabs":
		return in.Segment != NoReg
	case "mov": // only 16 bits of the register count; cs cannot be written
		return len(operands) == 2 && (operands[0] == "cs" || in.Map == 0 && in.Opcode == 0x8e || in.Name() == "movabs")
	case "lss", "lfs", "lgs", "invlpg":
		return true
	case "vpermil2ps", "vpermil2pd": // an immediate in the same byte as a register
		return true
	case "pause":
		return in.REX&1 != 0
	case "vpmovmskb", "movmskpd", "pmovmskb", "vmovmskpd", "vmovmskps", "movmskps", "tpause": // 64 bits of the register, by REX.W
		return in.W
	case "vmovss", "vmovsd": // a longer vector, by EVEX.L'L
		return in.VectorLength != 0
	case "call", "jmp": // far
		return in.Kind() == System
	}
	return in.Name() == "3dnow" && in.Size16
}

// unsized strips the size from an operand in memory: objdump shows none for a
// few instructions.
func unsized(m string) string {
	_, rest, ok := strings.Cut(m, " PTR ")
	if !ok {
		return m
	}
	return rest
}
