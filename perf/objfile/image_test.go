package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"
)

const (
	imageBase = 0x10000
	codeAddr  = imageBase + 0x100
)

// image is a small executable made by hand: one executable segment with the
// headers and the code, and the sections .text, .symtab, .strtab, .shstrtab.
type image struct {
	header   elf.Header64
	progs    []elf.Prog64
	code     []byte
	symbols  []elf.Sym64
	names    string // of the symbols
	sections []elf.Section64
}

// newImage returns an image with two functions of 8 bytes each.
func newImage() *image {
	m := &image{code: make([]byte, 32), names: "\x00first\x00second\x00"}
	for i := 0; i < len(m.code); i += 4 {
		binary.LittleEndian.PutUint32(m.code[i:], 0x13) // nop
	}
	m.header = elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1, Entry: codeAddr,
		Phoff: 64, Ehsize: 64, Phentsize: 56, Shentsize: 64,
	}
	copy(m.header.Ident[:], "\x7fELF\x02\x01\x01")
	m.progs = []elf.Prog64{{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X),
		Vaddr: imageBase, Filesz: codeAddr - imageBase + 32, Memsz: codeAddr - imageBase + 32,
	}}
	m.symbols = []elf.Sym64{{}, function(1, codeAddr, 8), function(7, codeAddr+8, 8)}
	return m
}

func function(name uint32, addr, size uint64) elf.Sym64 {
	return elf.Sym64{Name: name, Info: elf.ST_INFO(elf.STB_GLOBAL, elf.STT_FUNC), Shndx: 1, Value: addr, Size: size}
}

// bytes lays the image out. Fields of the header that are set already stay.
func (m *image) bytes(t testing.TB) []byte {
	t.Helper()
	var syms bytes.Buffer
	put(t, &syms, m.symbols)
	shnames := "\x00.text\x00.symtab\x00.strtab\x00.shstrtab\x00"
	off := uint64(codeAddr - imageBase)
	at := func(n int) uint64 { o := off; off += uint64(n); return o }
	if m.sections == nil {
		m.sections = []elf.Section64{
			{},
			{Name: 1, Type: uint32(elf.SHT_PROGBITS), Flags: uint64(elf.SHF_ALLOC | elf.SHF_EXECINSTR), Addr: codeAddr, Off: at(len(m.code)), Size: uint64(len(m.code))},
			{Name: 7, Type: uint32(elf.SHT_SYMTAB), Off: at(syms.Len()), Size: uint64(syms.Len()), Link: 3, Info: 1, Entsize: 24},
			{Name: 15, Type: uint32(elf.SHT_STRTAB), Off: at(len(m.names)), Size: uint64(len(m.names))},
			{Name: 23, Type: uint32(elf.SHT_STRTAB), Off: at(len(shnames)), Size: uint64(len(shnames))},
		}
	} else {
		off += uint64(len(m.code) + syms.Len() + len(m.names) + len(shnames))
	}
	h := m.header
	if h.Phnum == 0 {
		h.Phnum = uint16(len(m.progs))
	}
	if h.Shoff == 0 && len(m.sections) > 0 {
		h.Shoff, h.Shnum, h.Shstrndx = off, uint16(len(m.sections)), uint16(len(m.sections)-1)
	}
	var out bytes.Buffer
	put(t, &out, h)
	put(t, &out, m.progs)
	out.Write(make([]byte, codeAddr-imageBase-out.Len()))
	out.Write(m.code)
	out.Write(syms.Bytes())
	out.WriteString(m.names + shnames)
	put(t, &out, m.sections)
	return out.Bytes()
}

func put(t testing.TB, w *bytes.Buffer, v any) {
	t.Helper()
	if err := binary.Write(w, binary.LittleEndian, v); err != nil {
		t.Fatal(err)
	}
}

func readBytes(b []byte) (*File, error) { return Read(bytes.NewReader(b), int64(len(b))) }
