package amd64

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"presage/perf/internal/oracle"
)

const slot = 16 // bytes; a generated instruction and padding

// generate returns n random encodings, one in each slot: a form of every
// encoding and map, any mandatory prefix, any length of vectors.
func generate(r *rand.Rand, n int) []byte {
	code := make([]byte, 0, n*slot)
	for range n {
		one := encoding(r)
		one = append(one, modRM(r)...)
		for range 4 {
			one = append(one, byte(r.Uint32()))
		}
		one = append(one, make([]byte, slot)...)
		for i := 12; i < slot; i++ {
			one[i] = 0x90
		}
		code = append(code, one[:slot]...)
	}
	return code
}

func encoding(r *rand.Rand) []byte {
	op := byte(r.Uint32())
	pp := []byte{0, 0x66, 0xf3, 0xf2}[r.IntN(4)]
	switch r.IntN(8) {
	case 0, 1, 2:
		var b []byte
		if pp != 0 {
			b = append(b, pp)
		}
		if r.IntN(2) == 0 {
			b = append(b, 0x40|byte(r.IntN(16)))
		}
		b = append(b, [][]byte{{}, {0x0f}, {0x0f, 0x38}, {0x0f, 0x3a}}[r.IntN(4)]...)
		return append(b, op)
	case 3:
		return []byte{0xc5, byte(r.Uint32()) | byte(r.IntN(2))*0x78, op}
	case 4:
		return []byte{0xc4, byte(r.IntN(8))<<5 | byte(1+r.IntN(3)), byte(r.Uint32()) | byte(r.IntN(2))*0x78, op}
	case 5:
		return []byte{0x8f, byte(r.IntN(8))<<5 | byte(8+r.IntN(3)), byte(r.Uint32())&^3 | byte(r.IntN(2))*0x78, op}
	}
	m := []byte{1, 2, 3, 5, 6}[r.IntN(5)]
	p2 := byte(r.Uint32()) | byte(r.IntN(2))*0x78 | 4
	p3 := byte(r.IntN(3)) << 5
	if r.IntN(2) == 0 {
		p3 |= 8
	}
	if r.IntN(3) == 0 {
		p3 |= byte(r.IntN(8))
	}
	if r.IntN(4) == 0 {
		p3 |= 0x10
	}
	if r.IntN(4) == 0 {
		p3 |= 0x80
	}
	return []byte{0x62, byte(r.IntN(16))<<4 | m, p2, p3, op}
}

func modRM(r *rand.Rand) []byte {
	b := byte(r.Uint32())
	switch r.IntN(4) {
	case 0:
		b |= 0xc0
	case 1:
		b = b&^0xc7 | 4 // SIB
	}
	return []byte{b, byte(r.Uint32())}
}

// TestGenerated compares random encodings with objdump. Where it shows no
// instruction, or one that violates a rule it does not know, Decode must not
// accept one or must at least know the name.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	oracle.Need(t, "objdump")
	code := generate(rand.New(rand.NewPCG(1, 2)), generated)
	path := filepath.Join(t.TempDir(), "code")
	if err := os.WriteFile(path, code, 0o600); err != nil {
		t.Fatal(err)
	}
	a := tally{t: t}
	bad, stricter := 0, 0
	disassemble(t, path, []string{"-D", "-b", "binary", "-m", "i386:x86-64"}, func(l line) bool {
		if l.pc%slot != 0 {
			return true
		}
		c := code[l.pc:min(int(l.pc)+slot, len(code))]
		in, err := Decode(c)
		_, name, _ := split(l.text)
		switch {
		case name == "": // prefixes alone
		case strings.Contains(l.text, "bad)"):
			bad++
			if err == nil && !laxer(&in, l) {
				a.fail("accepted", l, in.Name())
			}
		case err != nil:
			stricter++
			if !known(name) && !strings.Contains(l.text, "only)") {
				a.fail("unknown", l, name)
			}
		case strings.Contains(l.text, "bad}") || in.Name() == "fwait": // #UD, but it has a length; fwait
			if int(in.Len) != len(l.code) && in.Name() != "fwait" {
				a.fail("length", l, in.Name())
			}
		default:
			a.compare(l, c)
		}
		return true
	})
	t.Logf("%d compared, %d no instructions, %d that are defined by objdump's rules alone; wrong: %v", a.total, bad, stricter, a.wrong)
	if a.total < generated/20 {
		t.Errorf("only %d instructions among %d encodings", a.total, generated)
	}
}

// known reports whether the tables have a form of this name: if it was not
// accepted, a reserved bit was set.
func known(name string) bool {
	name = strings.NewReplacer("s{bad}", "[sp][sdh]", "p{bad}", "[sp][sdh]", "ps{bad}", "p[sd]").Replace(name)
	pattern, err := regexp.Compile("^(v?)" + name + "$")
	if err != nil {
		return false
	}
	table := tables()
	for i := range table.forms {
		if pattern.MatchString(table.forms[i].name) || sameName(table.forms[i].name, name, &Inst{form: &table.forms[i]}) {
			return true
		}
	}
	switch name {
	case "xstore-rng", "xcrypt-ecb", "xcrypt-cbc", "xcrypt-ctr", "xcrypt-cfb", "xcrypt-ofb", "montmul", "xsha1", "xsha256", "xstorerng": // VIA's
		return true
	}
	return false
}

// laxer reports whether in is one of those that processors accept and objdump
// does not, or whose reserved bits are not checked.
func laxer(in *Inst, l line) bool {
	switch {
	case in.Kind() == X87 || in.Kind() == FPMove && in.Encoding == Legacy || in.Kind() == FPCompare && in.Map == 0: // undocumented aliases
		return true
	case in.Name() == "3dnow", in.Kind() == Fence, in.Kind() == Prefetch, in.Encoding == XOP:
		return true
	case in.Rep != 0 && in.Encoding == Legacy: // a prefix without meaning
		return true
	}
	if in.Kind() == MaskOp || in.Broadcast && in.ModRM >= 0xc0 { // VEX.B of a mask; a rounding mode that is none
		return true
	}
	if strings.HasPrefix(in.Name(), "vf") && in.Map == 6 { // equal registers
		return true
	}
	return strings.Contains(l.text, "/(bad)") || in.Kind() == Nop || in.Name() == "rdpru" || in.Kind() == Gather || in.Kind() == Scatter || in.Kind() == Tile || strings.HasPrefix(in.Name(), "bnd")
}

// FuzzDecode demands that Decode reads no more than it says, and that all of an
// instruction's methods work.
func FuzzDecode(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		f.Add(generate(r, 1))
	}
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, code []byte) {
		in, err := Decode(code)
		if err != nil {
			return
		}
		if in.Len == 0 || in.Len > MaxLength || int(in.Len) > len(code) {
			t.Fatalf("length %d of %x", in.Len, code)
		}
		again, err := Decode(code[:in.Len:in.Len])
		if err != nil || again != in {
			t.Fatalf("%x depends on what follows: %v", code, err)
		}
		for n := range in.Len {
			if _, err := Decode(code[:n]); err == nil {
				t.Fatalf("%x is an instruction after %d bytes", code, n)
			}
		}
		if mems := in.Mems(nil); len(mems) > MaxMems {
			t.Fatalf("%x has %d operands in memory", code, len(mems))
		}
		in.Registers()
		in.Flags()
		format(&in, 0)
	})
}

func BenchmarkDecode(b *testing.B) {
	code := generate(rand.New(rand.NewPCG(1, 2)), 1000)
	b.ReportAllocs()
	for b.Loop() {
		for at := 0; at < len(code); at += slot {
			_, _ = Decode(code[at:])
		}
	}
}
