package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presage/perf/isa/rv64"
)

func TestRead(t *testing.T) {
	f, err := readBytes(newImage().bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []Routine{{"first", codeAddr, 8}, {"second", codeAddr + 8, 8}}
	if d := cmp.Diff(want, f.Routines); d != "" {
		t.Error(d)
	}
	if f.Entry != codeAddr || f.PIE || f.PHdrAddr != imageBase+64 || f.PHdrCount != 1 || f.PHdrSize != 56 {
		t.Errorf("entry %#x, PIE %v, program headers %#x %d %d", f.Entry, f.PIE, f.PHdrAddr, f.PHdrCount, f.PHdrSize)
	}
	if d := cmp.Diff([]Section{{".text", codeAddr, 32, true}}, f.Sections); d != "" {
		t.Error(d)
	}
	for pc, want := range map[uint64]string{
		0: "", codeAddr - 1: "", codeAddr: "first", codeAddr + 7: "first",
		codeAddr + 8: "second", codeAddr + 15: "second", codeAddr + 16: "", 1 << 60: "",
	} {
		got := ""
		if r := f.RoutineAt(pc); r != nil {
			got = r.Name
		}
		if got != want {
			t.Errorf("RoutineAt(%#x) = %q, want %q", pc, got, want)
		}
	}
	if _, ok := f.LineAt(codeAddr); ok || f.LinesErr() != nil {
		t.Errorf("LineAt without DWARF: %v, %v", ok, f.LinesErr())
	}
}

func TestBytes(t *testing.T) {
	m := newImage()
	m.progs[0].Memsz += 100
	f, err := readBytes(m.bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	if b := f.Bytes(codeAddr, 4); !bytes.Equal(b, []byte{0x13, 0, 0, 0}) || cap(b) != 4 {
		t.Errorf("Bytes(code) = %x, capacity %d", b, cap(b))
	}
	end := uint64(codeAddr + 32)
	for _, c := range []struct {
		addr, n uint64
		ok      bool
	}{{end - 4, 4, true}, {end - 4, 5, false}, {end, 0, true}, {end + 1, 1, false}, {0, 1, false}, {codeAddr, 1<<64 - 1, false}} {
		if got := f.Bytes(c.addr, c.n); (got != nil) != c.ok {
			t.Errorf("Bytes(%#x, %d) = %v, want ok = %v", c.addr, c.n, got, c.ok)
		}
	}
}

func TestRoutines(t *testing.T) {
	local := func(s elf.Sym64) elf.Sym64 {
		s.Info = elf.ST_INFO(elf.STB_LOCAL, elf.ST_TYPE(s.Info))
		return s
	}
	label := func(s elf.Sym64) elf.Sym64 {
		s.Info = elf.ST_INFO(elf.ST_BIND(s.Info), elf.STT_NOTYPE)
		return s
	}
	// "first" is name 1, "irst" 2, "rst" 3, "st" 4, "t" 5, "second" 7, "nd" 11.
	const first, irst, rst, second, nd = 1, 2, 3, 7, 11
	for _, c := range []struct {
		name string
		syms []elf.Sym64
		want []Routine
	}{
		{"no symbols", nil, []Routine{{".text", codeAddr, 32}}},
		{
			"a size is missing",
			[]elf.Sym64{function(first, codeAddr, 0), function(second, codeAddr+12, 0)},
			[]Routine{{"first", codeAddr, 12}, {"second", codeAddr + 12, 20}},
		},
		{
			"an alias: with a size before without",
			[]elf.Sym64{function(nd, codeAddr, 0), local(function(first, codeAddr, 8))},
			[]Routine{{"first", codeAddr, 8}},
		},
		{
			"an alias: global before local",
			[]elf.Sym64{local(function(nd, codeAddr, 8)), function(first, codeAddr, 8)},
			[]Routine{{"first", codeAddr, 8}},
		},
		{
			"an alias: short before long",
			[]elf.Sym64{function(first, codeAddr, 8), function(rst, codeAddr, 8), function(irst, codeAddr, 8)},
			[]Routine{{"rst", codeAddr, 8}},
		},
		{
			"an overlap ends the first",
			[]elf.Sym64{function(first, codeAddr, 16), function(second, codeAddr+8, 16)},
			[]Routine{{"first", codeAddr, 8}, {"second", codeAddr + 8, 16}},
		},
		{
			"an entry inside another",
			[]elf.Sym64{function(first, codeAddr, 16), function(second, codeAddr+4, 12), function(nd, codeAddr+8, 0)},
			[]Routine{{"first", codeAddr, 16}},
		},
		{
			"past the section",
			[]elf.Sym64{function(first, codeAddr+24, 100), function(second, codeAddr+32, 4)},
			[]Routine{{"first", codeAddr + 24, 8}},
		},
		{
			"labels only where there is no function",
			[]elf.Sym64{label(function(first, codeAddr, 0)), local(label(function(second, codeAddr+8, 0)))},
			[]Routine{{"first", codeAddr, 32}},
		},
		{
			"labels beside a function",
			[]elf.Sym64{label(function(first, codeAddr, 0)), function(second, codeAddr+8, 8)},
			[]Routine{{"second", codeAddr + 8, 8}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newImage()
			m.symbols = append([]elf.Sym64{{}}, c.syms...)
			f, err := readBytes(m.bytes(t))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, f.Routines); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestNoSectionHeaders(t *testing.T) {
	m := newImage()
	m.sections = []elf.Section64{}
	f, err := readBytes(m.bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	want := []Routine{{"segment0", imageBase, codeAddr - imageBase + 32}}
	if d := cmp.Diff(want, f.Routines); d != "" {
		t.Error(d)
	}
}

func TestRefused(t *testing.T) {
	whole := newImage().bytes(t)
	patch := func(at int, b ...byte) []byte {
		out := bytes.Clone(whole)
		copy(out[at:], b)
		return out
	}
	made := func(change func(m *image)) []byte {
		m := newImage()
		change(m)
		return m.bytes(t)
	}
	dynamic := func(typ elf.ProgType, content string) []byte {
		return made(func(m *image) {
			copy(m.code, content)
			m.progs = append(m.progs, elf.Prog64{Type: uint32(typ), Off: codeAddr - imageBase, Filesz: uint64(len(content))})
		})
	}
	needed := string(binary.LittleEndian.AppendUint64(nil, uint64(elf.DT_NEEDED))) + "\x01\x00\x00\x00\x00\x00\x00\x00"
	for _, c := range []struct {
		name  string
		image []byte
		kind  error
		text  string
	}{
		{"empty", nil, ErrNotELF, "empty"},
		{"script", []byte("#!/bin/sh -e\nexit\n"), ErrNotELF, `script, for the interpreter "/bin/sh -e"`},
		{"Windows", []byte("MZ\x90\x00"), ErrNotELF, "Windows"},
		{"text", []byte("hello"), ErrNotELF, `begins with "hell"`},
		{"one byte", []byte{0x7f}, ErrNotELF, `begins with "\x7f"`},
		{"half a header", whole[:40], ErrTruncated, "40 of 64 bytes"},
		{"AArch64", patch(18, 183, 0), ErrArchitecture, "this is a 64-bit Arm file; Presage takes riscv64 and x86-64 ones: build with gcc, gfortran or go build on this computer, or with riscv64-linux-gnu-gcc -static"},
		{"unknown machine", patch(18, 0xff, 0x7f), ErrArchitecture, "another machine's"},
		{"32 bits", patch(4, 1), ErrArchitecture, "32-bit RISC-V"},
		{"big endian", patch(5, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 243), ErrArchitecture, "big-endian RISC-V"},
		{"class", patch(4, 9), ErrMalformed, "class 9"},
		{"FreeBSD", patch(7, 9), ErrArchitecture, "another operating system (ELFOSABI_FREEBSD)"},
		{"RVE", patch(48, 8), ErrArchitecture, "RVE"},
		{"object file", patch(16, 1), ErrKind, "object file: link it"},
		{"core", patch(16, 4), ErrKind, "core dump"},
		{"type", patch(16, 0x77), ErrKind, "is not an executable"},
		{"no program headers", patch(56, 0, 0), ErrMalformed, "no program headers"},
		{"60000 program headers", patch(56, 0x60, 0xea), ErrMalformed, "60000 program headers; Linux takes at most 1170"},
		{"program header size", patch(54, 32), ErrMalformed, "program headers of 32 bytes"},
		{"program headers overflow", patch(32, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ErrTruncated, "program headers at offset 0xffffffffffffffff"},
		{"section headers overflow", patch(40, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), ErrTruncated, "section headers at offset"},
		{"section header size", patch(58, 1), ErrMalformed, "section headers of 1 bytes"},
		{"60000 sections", patch(60, 0x60, 0xea), ErrTruncated, "60000 section headers"},
		{"cut short", whole[:len(whole)-1], ErrTruncated, "5 section headers"},
		{"code cut off", whole[:codeAddr-imageBase], ErrTruncated, "past the end"},
		{"interpreter", dynamic(elf.PT_INTERP, "/lib/ld.so\x00"), ErrDynamic, "dynamically linked (interpreter /lib/ld.so): link with -static"},
		{"hostile interpreter", dynamic(elf.PT_INTERP, "\x1b[2J\x00"), ErrDynamic, `(interpreter "\x1b[2J")`},
		{"needs libraries", dynamic(elf.PT_DYNAMIC, needed), ErrDynamic, "DT_NEEDED"},
		{"segment overflow", made(func(m *image) { m.progs[0].Off = 1<<63 - 1 }), ErrTruncated, "segment 0"},
		{"segment offset negative", made(func(m *image) { m.progs[0].Off = 1<<64 - 1 }), ErrMalformed, "invalid program header offset"},
		{"segment past the end", made(func(m *image) { m.progs[0].Filesz = 1 << 20; m.progs[0].Memsz = 1 << 20 }), ErrTruncated, "the file ends at"},
		{"segment larger in the file", made(func(m *image) { m.progs[0].Memsz = 16 }), ErrMalformed, "more bytes in the file"},
		{"segment too high", made(func(m *image) { m.progs[0].Memsz = rv64.Target().AddressLimit }), ErrMalformed, "reaches past 0x4000000000"},
		{"segment wraps", made(func(m *image) { m.progs[0].Memsz = 1<<64 - 1 }), ErrMalformed, "reaches past"},
		{"segments overlap", made(func(m *image) { p := m.progs[0]; p.Vaddr += 8; m.progs = append(m.progs, p) }), ErrMalformed, "segments at 0x10000 and 0x10008 overlap"},
		{"entry in no code", made(func(m *image) { m.header.Entry = 0x100 }), ErrMalformed, "entry point 0x100 is not in the code"},
		{"entry in data", made(func(m *image) { m.progs[0].Flags = uint32(elf.PF_R) }), ErrMalformed, "not in the code"},
		{"entry in zeroes", made(func(m *image) { m.progs[0].Memsz += 64; m.header.Entry = codeAddr + 40 }), ErrMalformed, "not in the code"},
		{"entry odd", made(func(m *image) { m.header.Entry++ }), ErrMalformed, "not a multiple of 2"},
		{"no entry", made(func(m *image) { m.header.Entry, m.header.Type = 0, uint16(elf.ET_DYN) }), ErrKind, "no entry point: this is a shared library"},
		{"name does not end", made(func(m *image) { m.names = "\x00first\x00second" }), ErrMalformed, "does not end"},
		{"name past the table", made(func(m *image) { m.symbols[1].Name = 1 << 31 }), ErrMalformed, "does not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := readBytes(c.image)
			if !errors.Is(err, c.kind) || f != nil {
				t.Fatalf("got %v, %v; want %v", f, err, c.kind)
			}
			if !strings.Contains(err.Error(), c.text) {
				t.Errorf("error %q does not say %q", err, c.text)
			}
		})
	}
}

// TestSections demands that Read refuses bad sections and symbols that debug/elf
// lets pass.
func TestSections(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(s []elf.Section64)
		text   string
	}{
		{"outside the segment", func(s []elf.Section64) { s[1].Addr = 1 << 20 }, "not within the code"},
		{"larger than the segment", func(s []elf.Section64) { s[1].Size = 33 }, "not within the code"},
		{"wraps", func(s []elf.Section64) { s[1].Size = 1<<63 - 1 }, "not within the code"},
		{"overlap", func(s []elf.Section64) { s[3].Flags, s[3].Addr = s[1].Flags, codeAddr+4 }, `".text" and ".strtab" overlap`},
		{"symbols past the end", func(s []elf.Section64) { s[2].Size = 1 << 40 }, "reaches past the end"},
		{"names past the end", func(s []elf.Section64) { s[3].Off = 1 << 62 }, "reaches past the end"},
		{"no such names", func(s []elf.Section64) { s[2].Link = 77 }, "section 77 of 5"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := newImage()
			m.bytes(t)
			c.change(m.sections)
			if _, err := readBytes(m.bytes(t)); err == nil || !strings.Contains(err.Error(), c.text) {
				t.Errorf("got %v, want %q", err, c.text)
			}
		})
	}
}

// TestSharedTails bounds the cost of names that share a tail: a reader that
// copied each of them would need 20,000 x 16 MB.
func TestSharedTails(t *testing.T) {
	m := newImage()
	m.names = "\x00" + strings.Repeat("a", 16<<20) + "\x00"
	for i := range 20_000 {
		m.symbols = append(m.symbols, function(uint32(i+1), codeAddr, 8))
	}
	start := time.Now()
	_, err := readBytes(m.bytes(t))
	if !errors.Is(err, ErrMalformed) {
		t.Errorf("got %v, want ErrMalformed", err)
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
}

func TestOpenRefused(t *testing.T) {
	dir := t.TempDir()
	script := filepath.Join(dir, "run.sh")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		dir:    dir + ": this is a directory",
		script: script + ": this is a script",
	} {
		if _, err := Open(path); !errors.Is(err, ErrNotELF) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Open(%s): %v", path, err)
		}
	}
	if _, err := Open(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
	if _, err := Read(bytes.NewReader(nil), MaxFileBytes+1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if _, err := Read(bytes.NewReader(make([]byte, 10)), 20); !errors.Is(err, ErrTruncated) {
		t.Errorf("got %v, want ErrTruncated", err)
	}
}

// TestUnnamedSection demands that every routine has a name, even the one that
// stands for an unnamed section.
func TestUnnamedSection(t *testing.T) {
	m := newImage()
	m.symbols = m.symbols[:1]
	m.bytes(t)
	m.sections[1].Name = 0
	f, err := readBytes(m.bytes(t))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Routine{{"section1", codeAddr, 32}}, f.Routines); d != "" {
		t.Error(d)
	}
}
