package sched

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"testing"

	"presage/perf/objfile"
)

// base is where images' code is loaded.
const base = 0x10000 + header + program

const header, program = 64, 56 // bytes of an ELF file before its code

// image returns an executable of nothing but code, without sections or names.
func image(t testing.TB, code []uint32) *objfile.File {
	t.Helper()
	size := uint64(4 * len(code))
	var w bytes.Buffer
	h := elf.Header64{
		Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_RISCV), Version: 1, Entry: base,
		Phoff: header, Ehsize: header, Phentsize: program, Phnum: 1, Shentsize: 64,
	}
	copy(h.Ident[:], elf.ELFMAG)
	h.Ident[elf.EI_CLASS], h.Ident[elf.EI_DATA], h.Ident[elf.EI_VERSION] = byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), 1
	for _, v := range []any{h, elf.Prog64{
		Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: header + program, Vaddr: base, Paddr: base, Filesz: size, Memsz: size, Align: 4096,
	}, code} {
		if err := binary.Write(&w, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	f, err := objfile.Read(bytes.NewReader(w.Bytes()), int64(w.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Encodings of the RISC-V Unprivileged manual, chapter 2.

const ret = 0x8067

func addi(rd, rs, imm int) uint32 {
	return uint32(imm)<<20 | uint32(rs)<<15 | uint32(rd)<<7 | 0x13
}

func beq(a, b, offset int) uint32 {
	o := uint32(offset)
	return o>>12&1<<31 | o>>5&0x3f<<25 | uint32(b)<<20 | uint32(a)<<15 | o>>1&0xf<<8 | o>>11&1<<7 | 0x63
}

func jal(offset int) uint32 {
	o := uint32(offset)
	return o>>20&1<<31 | o>>1&0x3ff<<21 | o>>11&1<<20 | o>>12&0xff<<12 | 0x6f
}
