package objfile

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"strings"

	"presage/perf/isa"
	"presage/perf/isa/targets"
)

const (
	headerSize        = 64 // Elf64_Ehdr
	progHeaderSize    = 56 // Elf64_Phdr
	sectionHeaderSize = 64 // Elf64_Shdr

	// maxProgHeaders is Linux's own limit: they must fit in 64 KiB
	// (fs/binfmt_elf.c, load_elf_phdrs).
	maxProgHeaders = 65536 / progHeaderSize

	// maxSections bounds what debug/elf allocates. It is generous: static
	// binaries have a few dozen sections.
	maxSections = 1 << 16

	// maxSectionNameBytes bounds the sum of the lengths of section names:
	// debug/elf copies every name, and hostile names may all share one long tail.
	maxSectionNameBytes = 1 << 24
)

// header is the part of the ELF header that is checked before debug/elf sees
// the file.
type header struct {
	machine      targets.Machine
	target       *isa.Target
	kind         elf.Type
	entry        uint64
	phoff, shoff uint64
	phnum, shnum int
	shstrndx     int
}

func readHeader(image []byte) (*header, error) {
	if len(image) == 0 {
		return nil, refuse(ErrNotELF, "the file is empty: %s", rebuild)
	}
	if !bytes.HasPrefix(image, []byte(elf.ELFMAG)) {
		return nil, refuse(ErrNotELF, "%s; Presage takes Linux executables for riscv64 and x86-64: %s", foreign(image), howToBuild)
	}
	if len(image) < headerSize {
		return nil, refuse(ErrTruncated, "ends inside the ELF header, after %d of %d bytes: %s", len(image), headerSize, rebuild)
	}
	machine, err := checkTarget(image)
	if err != nil {
		return nil, err
	}
	le := binary.LittleEndian
	h := &header{
		machine:  machine,
		kind:     elf.Type(le.Uint16(image[16:])),
		entry:    le.Uint64(image[24:]),
		phoff:    le.Uint64(image[32:]),
		shoff:    le.Uint64(image[40:]),
		phnum:    int(le.Uint16(image[56:])),
		shnum:    int(le.Uint16(image[60:])),
		shstrndx: int(le.Uint16(image[62:])),
	}
	if err := h.checkKind(); err != nil {
		return nil, err
	}
	if h.target, err = machine.Target(le.Uint32(image[48:])); err != nil {
		return nil, refuse(ErrArchitecture, "%v: %s", err, howToBuild)
	}
	return h, h.checkTables(image, int(le.Uint16(image[54:])), int(le.Uint16(image[58:])))
}

// foreign names the format of a file that is not ELF, judging by its first bytes.
func foreign(image []byte) string {
	for _, m := range []struct{ magic, name string }{
		{"#!", "this is a script, for the interpreter " + scriptInterpreter(image)},
		{"MZ", "this is a Windows executable"},
		{"\xcf\xfa\xed\xfe", "this is a macOS executable"},
		{"\xca\xfe\xba\xbe", "this is a macOS universal executable or a Java class"},
		{"!<arch>\n", "this is a static library"},
		{"\x00asm", "this is WebAssembly"},
		{"\x1f\x8b", "this is compressed by gzip"},
	} {
		if bytes.HasPrefix(image, []byte(m.magic)) {
			return m.name
		}
	}
	return fmt.Sprintf("not an ELF file: it begins with %q", image[:min(len(image), 4)])
}

func scriptInterpreter(image []byte) string {
	line, _, _ := bytes.Cut(image[:min(len(image), 80)], []byte("\n"))
	return fmt.Sprintf("%q", strings.TrimSpace(strings.TrimPrefix(string(line), "#!")))
}

// checkTarget checks e_ident and e_machine. The latter is in the byte order that
// e_ident gives, and at the same offset in 32-bit files.
func checkTarget(image []byte) (targets.Machine, error) {
	class, data := elf.Class(image[elf.EI_CLASS]), elf.Data(image[elf.EI_DATA])
	order := binary.ByteOrder(binary.LittleEndian)
	if data == elf.ELFDATA2MSB {
		order = binary.BigEndian
	}
	number := elf.Machine(order.Uint16(image[18:]))
	machine, ok := targets.Of(number)
	if !ok {
		return machine, refuse(ErrArchitecture, "this is %s file; Presage takes riscv64 and x86-64 ones: %s", machineName(number), howToBuild)
	}
	switch {
	case class == elf.ELFCLASS32:
		return machine, refuse(ErrArchitecture, "this is a 32-bit %s file; Presage takes 64-bit ones: %s", machine.Family, howToBuild)
	case class != elf.ELFCLASS64:
		return machine, refuse(ErrMalformed, "ELF class %d is neither 32-bit nor 64-bit: %s", class, rebuild)
	case data == elf.ELFDATA2MSB:
		return machine, refuse(ErrArchitecture, "this is a big-endian %s file; Presage takes little-endian ones: %s", machine.Family, howToBuild)
	case data != elf.ELFDATA2LSB:
		return machine, refuse(ErrMalformed, "ELF byte order %d is neither little nor big: %s", data, rebuild)
	}
	switch abi := elf.OSABI(image[elf.EI_OSABI]); abi {
	case elf.ELFOSABI_NONE, elf.ELFOSABI_LINUX:
	default:
		return machine, refuse(ErrArchitecture, "this is a %s file for another operating system (%v); Presage takes Linux ones: %s", machine.Family, abi, howToBuild)
	}
	return machine, nil
}

func machineName(m elf.Machine) string {
	switch m {
	case elf.EM_386:
		return "a 32-bit x86"
	case elf.EM_AARCH64:
		return "a 64-bit Arm"
	case elf.EM_ARM:
		return "a 32-bit Arm"
	case elf.EM_PPC64:
		return "a 64-bit POWER"
	case elf.EM_S390:
		return "an IBM Z"
	case elf.EM_LOONGARCH:
		return "a LoongArch"
	}
	return fmt.Sprintf("another machine's (%v)", m)
}

func (h *header) checkKind() error {
	switch h.kind {
	case elf.ET_EXEC, elf.ET_DYN:
		return nil
	case elf.ET_REL:
		return refuse(ErrKind, "this is an object file: link it, with -static")
	case elf.ET_CORE:
		return refuse(ErrKind, "this is a core dump: give the executable that left it")
	}
	return refuse(ErrKind, "ELF type %v is not an executable: %s", h.kind, howToBuild)
}

// checkTables checks the location and number of the program and section headers.
func (h *header) checkTables(image []byte, phentsize, shentsize int) error {
	size := uint64(len(image))
	switch {
	case h.phnum == 0:
		return refuse(ErrMalformed, "no program headers, so nothing to load: %s", rebuild)
	case h.phnum > maxProgHeaders:
		return refuse(ErrMalformed, "%d program headers; Linux takes at most %d: %s", h.phnum, maxProgHeaders, rebuild)
	case phentsize != progHeaderSize:
		return refuse(ErrMalformed, "program headers of %d bytes, not %d: %s", phentsize, progHeaderSize, rebuild)
	case !within(h.phoff, uint64(h.phnum)*progHeaderSize, size):
		return refuse(ErrTruncated, "program headers at offset %#x reach past the end of the file, %#x: %s", h.phoff, size, rebuild)
	}
	if h.shoff == 0 {
		return nil
	}
	if shentsize != sectionHeaderSize {
		return refuse(ErrMalformed, "section headers of %d bytes, not %d: %s", shentsize, sectionHeaderSize, rebuild)
	}
	if !within(h.shoff, sectionHeaderSize, size) {
		return refuse(ErrTruncated, "section headers at offset %#x lie past the end of the file, %#x: %s", h.shoff, size, rebuild)
	}
	if h.shnum == 0 { // too many for e_shnum: the first section's size holds their number
		n := binary.LittleEndian.Uint64(image[h.shoff+32:])
		h.shnum = int(min(n, maxSections+1))
	}
	switch {
	case h.shnum > maxSections:
		return refuse(ErrMalformed, "more than %d sections: strip the file", maxSections)
	case !within(h.shoff, uint64(h.shnum)*sectionHeaderSize, size):
		return refuse(ErrTruncated, "%d section headers at offset %#x reach past the end of the file, %#x: %s", h.shnum, h.shoff, size, rebuild)
	}
	return nil
}

// checkSectionNames bounds what debug/elf copies for the names of sections.
func (h *header) checkSectionNames(image []byte) error {
	if h.shoff == 0 || h.shstrndx >= h.shnum {
		return nil // debug/elf refuses the latter
	}
	le := binary.LittleEndian
	headerAt := func(i int) []byte { return image[h.shoff+uint64(i)*sectionHeaderSize:] }
	str := headerAt(h.shstrndx)
	off, size := le.Uint64(str[24:]), le.Uint64(str[32:])
	if !within(off, size, uint64(len(image))) {
		return refuse(ErrTruncated, "section names at offset %#x reach past the end of the file, %#x: %s", off, len(image), rebuild)
	}
	names := image[off : off+size]
	total := 0
	for i := range h.shnum {
		at := uint64(le.Uint32(headerAt(i)))
		if at >= size {
			continue // debug/elf refuses it
		}
		if n := bytes.IndexByte(names[at:], 0); n >= 0 {
			total += n
		}
		if total > maxSectionNameBytes {
			return refuse(ErrMalformed, "section names of more than %d bytes: strip the file", maxSectionNameBytes)
		}
	}
	return nil
}

// within reports whether the n bytes at off lie within the first size bytes.
func within(off, n, size uint64) bool { return off <= size && n <= size-off }
