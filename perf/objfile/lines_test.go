package objfile

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// lineUnit makes a version 5 table with the directories /src (where the
// compiler ran), inc and /abs, one file in each, and a program.
func lineUnit(program ...byte) string {
	// Minimum instruction length 2, 1 operation an instruction, is_stmt, line
	// base -5, line range 11, opcode base 13, operands of opcodes 1 to 12.
	head := []byte{2, 1, 1, 0xfb, 11, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1}
	head = append(head, 1, contentPath, formString, 3)
	head = append(head, "/src\x00inc\x00/abs\x00"...)
	head = append(head, 2, contentPath, formString, contentDirectory, formUdata, 4)
	head = append(head, "a.c\x00\x00b.c\x00\x01c.c\x00\x02/d.c\x00\x01"...)
	body := slices.Concat([]byte{5, 0, 8, 0}, binary.LittleEndian.AppendUint32(nil, uint32(len(head))), head, program)
	return string(slices.Concat(binary.LittleEndian.AppendUint32(nil, uint32(len(body))), body))
}

func setAddress(addr uint64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{0, 9, opSetAddress}, addr)
}

var endSequence = []byte{0, 1, opEndSequence}

// TestLineProgram runs each opcode, with advances worked out by hand from
// DWARF 5, section 6.2.5 (minimum instruction length 2, line base -5, line
// range 11, opcode base 13).
func TestLineProgram(t *testing.T) {
	program := slices.Concat(
		setAddress(0x1000),
		[]byte{opSetFile, 0, opAdvanceLine, 9, opCopy},              // 0x1000: a.c:10
		[]byte{opAdvancePC, 3, opCopy},                              // 0x1006: a.c:10
		[]byte{opSetFile, 1, opConstAddPC, opCopy},                  // + (255-13)/11 * 2 = 44: 0x1032: b.c:10
		[]byte{opFixedAddPC, 6, 0, opSetFile, 2, 13 + 5 + 11*1 + 1}, // 0x1038, special: + 2, line + 1: 0x103a: c.c:11
		[]byte{6, 7, 10, 11, 12, 99, 5, 99},                         // of no effect here, the last two with an operand
		[]byte{opSetFile, 3, 13 + 11*2},                             // special: + 4, line - 5: 0x103e: d.c:6
		[]byte{opAdvancePC, 4}, endSequence,                         // ends at 0x1046
	)
	d := lineDecoder{keep: func(uint64) bool { return true }}
	if err := d.tables(lineUnit(program...)); err != nil {
		t.Fatal(err)
	}
	type row struct {
		Addr uint64
		File string
		Line int32
	}
	var got []row
	for _, r := range flatten(d.sequences) {
		file := ""
		if r.file >= 0 {
			file = d.files[r.file].path()
		}
		got = append(got, row{r.addr, file, r.line})
	}
	want := []row{
		{0x1000, "/src/a.c", 10},
		{0x1006, "/src/a.c", 10},
		{0x1032, "/src/inc/b.c", 10},
		{0x103a, "/abs/c.c", 11},
		{0x103e, "/d.c", 6},
		{0x1046, "", 0},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestLineErrors(t *testing.T) {
	good := lineUnit(slices.Concat(setAddress(0x1000), []byte{opCopy}, endSequence)...)
	patch := func(at int, b byte) string { return good[:at] + string([]byte{b}) + good[at+1:] }
	for _, c := range []struct{ name, section, text string }{
		{"too long", patch(1, 0xff), "past the end of the section"},
		{"version", patch(4, 9), "unknown version 9"},
		{"address size", patch(6, 4), "addresses of 4 bytes"},
		{"header length", patch(9, 0xff), "header reaches past"},
		{"operations", patch(13, 4), "4 operations"},
		{"line range", patch(16, 0), "line range 0"},
		{"form", strings.Replace(good, "\x01\x01\x08\x03", "\x01\x01\x55\x03", 1), "unknown form 0x55"},
		{"number of directories", strings.Replace(good, "\x01\x01\x08\x03", "\x01\x01\x08\x7f", 1), "directories: 127 entries"},
		{"directory", strings.Replace(good, "c.c\x00\x02", "c.c\x00\x07", 1), `files: "c.c" in directory 7 of 3`},
		{"program cut", lineUnit(append(setAddress(1), opAdvancePC, 0x80)...), "program is truncated"},
	} {
		d := lineDecoder{keep: func(uint64) bool { return true }}
		if err := d.tables(c.section + good); err == nil || !strings.HasPrefix(err.Error(), ".debug_line+0x0: ") || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v, want %q", c.name, err, c.text)
		}
		// A table that cannot be decoded does not take the next one with it.
		if want := 1; c.name != "too long" && len(d.sequences) != want {
			t.Errorf("%s: %d sequences, want %d", c.name, len(d.sequences), want)
		}
	}
}

// TestSectionNamesShareATail bounds what debug/elf copies for names.
func TestSectionNamesShareATail(t *testing.T) {
	m := newImage()
	m.names = "\x00first\x00second\x00" + strings.Repeat("a", 1<<20) + "\x00"
	m.bytes(t)
	names := m.sections[3] // the symbols' names serve as the sections', too
	names.Name = 20
	m.sections = append(m.sections[:4], slices.Repeat([]elf.Section64{names}, 1000)...)
	if _, err := readBytes(m.bytes(t)); !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "section names of more than") {
		t.Errorf("got %v", err)
	}
}
