package targets_test

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"presage/perf/objfile"
)

const (
	headers = 64 + 56 // bytes of an ELF file before its code
	codeAt  = 0x10000 + headers
)

// assembler lays out code of the made-up instruction set from codeAt on.
type assembler struct {
	code   []byte
	labels map[string]uint64
	fixups []fixup
}

// fixup is a reference to a label: size bytes that end at an offset, relative to
// there if they are not 8.
type fixup struct {
	end, size int
	label     string
}

func newAssembler() *assembler { return &assembler{labels: make(map[string]uint64)} }

func (a *assembler) pc() uint64 { return codeAt + uint64(len(a.code)) }

func (a *assembler) label(name string) { a.labels[name] = a.pc() }

func (a *assembler) emit(bytes ...byte) { a.code = append(a.code, bytes...) }

// to emits a reference to a label.
func (a *assembler) to(label string, size int) {
	a.code = append(a.code, make([]byte, size)...)
	a.fixups = append(a.fixups, fixup{len(a.code), size, label})
}

func (a *assembler) word(n int32) { a.code = binary.LittleEndian.AppendUint32(a.code, uint32(n)) }

func (a *assembler) long(n int64) { a.code = binary.LittleEndian.AppendUint64(a.code, uint64(n)) }

const nothing = 255 // no base or no index

// address emits base + index<<shift + disp.
func (a *assembler) address(base, index, shift byte, disp int32) {
	if index == nothing {
		index = 15
	}
	a.emit(base, index<<4|shift)
	a.word(disp)
}

// branch emits a conditional branch.
func (a *assembler) branch(condition byte, label string) {
	a.emit(opBranch, condition)
	a.to(label, 4)
}

// file returns an executable of the code, without sections or names.
func (a *assembler) file(t testing.TB) *objfile.File {
	t.Helper()
	for _, f := range a.fixups {
		at, ok := a.labels[f.label]
		if !ok {
			t.Fatalf("no label %s", f.label)
		}
		if f.size < 8 {
			at -= codeAt + uint64(f.end)
		}
		var field [8]byte
		binary.LittleEndian.PutUint64(field[:], at)
		copy(a.code[f.end-f.size:f.end], field[:])
	}
	size := uint64(len(a.code))
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1, Entry: codeAt,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Phnum: 1, Shentsize: 64,
	}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	var w bytes.Buffer
	for _, v := range []any{h, elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: headers, Vaddr: codeAt, Paddr: codeAt, Filesz: size, Memsz: size, Align: 1,
	}, a.code} {
		if err := binary.Write(&w, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	f, err := objfile.Read(bytes.NewReader(w.Bytes()), int64(w.Len()))
	if err != nil {
		t.Fatal(err)
	}
	f.Target = madeUp() // no ELF machine has it
	return f
}
