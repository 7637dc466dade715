package objfile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"fmt"
	"slices"
)

// checkLinking returns the path of the dynamic linker that a file asks for, or "".
// Unless dynamic files are taken, it refuses one that a dynamic linker has to load.
func checkLinking(ef *elf.File, image []byte, taken bool) (interpreter string, err error) {
	for _, p := range ef.Progs {
		if p.Type != elf.PT_INTERP && p.Type != elf.PT_DYNAMIC {
			continue
		}
		if !within(p.Off, p.Filesz, uint64(len(image))) {
			return "", refuse(ErrTruncated, "%v at offset %#x reaches past the end of the file, %#x: %s", p.Type, p.Off, len(image), rebuild)
		}
		data := image[p.Off : p.Off+p.Filesz]
		if p.Type == elf.PT_INTERP {
			name, _, _ := bytes.Cut(data[:min(len(data), 4096)], []byte{0})
			if taken {
				interpreter = string(name)
				continue
			}
			return "", refuse(ErrDynamic, "dynamically linked (interpreter %s): link with -static", printable(name))
		}
		if tag := sharedTag(data); tag != elf.DT_NULL && !taken {
			return "", refuse(ErrDynamic, "this is a shared library or needs some (%v): link an executable with -static", tag)
		}
	}
	return interpreter, nil
}

// printable returns name unchanged, or quoted if it would disturb a terminal.
func printable(name []byte) string {
	if q := fmt.Sprintf("%q", name); q != `"`+string(name)+`"` {
		return q
	}
	return string(name)
}

// sharedTag returns the first dynamic tag that only occurs in shared libraries
// and their users, or DT_NULL.
func sharedTag(dynamic []byte) elf.DynTag {
	for ; len(dynamic) >= 16; dynamic = dynamic[16:] {
		switch tag := elf.DynTag(binary.LittleEndian.Uint64(dynamic)); tag {
		case elf.DT_NEEDED, elf.DT_SONAME, elf.DT_NULL:
			return tag
		}
	}
	return elf.DT_NULL
}

func readSegments(ef *elf.File, image []byte, limit uint64) ([]Segment, error) {
	var segs []Segment
	for i, p := range ef.Progs {
		if p.Type != elf.PT_LOAD || p.Memsz == 0 {
			continue
		}
		switch {
		case !within(p.Off, p.Filesz, uint64(len(image))):
			return nil, refuse(ErrTruncated, "segment %d needs the bytes from %#x, %#x of them; the file ends at %#x: %s", i, p.Off, p.Filesz, len(image), rebuild)
		case p.Filesz > p.Memsz:
			return nil, refuse(ErrMalformed, "segment %d has more bytes in the file (%#x) than in memory (%#x): %s", i, p.Filesz, p.Memsz, rebuild)
		case !within(p.Vaddr, p.Memsz, limit):
			return nil, refuse(ErrMalformed, "segment %d, %#x bytes at address %#x, reaches past %#x: %s", i, p.Memsz, p.Vaddr, limit, rebuild)
		}
		segs = append(segs, Segment{
			Addr:    p.Vaddr,
			MemSize: p.Memsz,
			Data:    slices.Clip(image[p.Off : p.Off+p.Filesz]),
			Read:    p.Flags&elf.PF_R != 0,
			Write:   p.Flags&elf.PF_W != 0,
			Execute: p.Flags&elf.PF_X != 0,
		})
	}
	slices.SortStableFunc(segs, func(a, b Segment) int { return cmp.Compare(a.Addr, b.Addr) })
	for i := 1; i < len(segs); i++ {
		if a, b := segs[i-1], segs[i]; b.Addr-a.Addr < a.MemSize {
			return nil, refuse(ErrMalformed, "segments at %#x and %#x overlap: %s", a.Addr, b.Addr, rebuild)
		}
	}
	return segs, nil
}

// progHeaderAddr returns the address of the loaded program headers, or 0 if no
// segment holds them.
func progHeaderAddr(ef *elf.File, h *header) uint64 {
	n := uint64(h.phnum) * progHeaderSize
	for _, p := range ef.Progs {
		if p.Type == elf.PT_LOAD && h.phoff >= p.Off && within(h.phoff-p.Off, n, p.Filesz) {
			return p.Vaddr + h.phoff - p.Off
		}
	}
	return 0
}

// readSections lists the sections with an address. A file without section
// headers gets one section for each executable segment.
func (f *File) readSections(ef *elf.File) ([]Section, error) {
	var secs []Section
	for i, s := range ef.Sections {
		// .tbss has an address but occupies no memory there.
		if s.Flags&elf.SHF_ALLOC == 0 || s.Flags&elf.SHF_TLS != 0 && s.Type == elf.SHT_NOBITS {
			continue
		}
		sec := Section{Name: s.Name, Addr: s.Addr, Size: s.Size, Execute: s.Flags&elf.SHF_EXECINSTR != 0 && s.Size > 0}
		if sec.Name == "" {
			sec.Name = fmt.Sprintf("section%d", i)
		}
		if sec.Execute && !f.inCode(sec) {
			return nil, refuse(ErrMalformed, "executable section %q, %#x bytes at %#x, is not within the code of an executable segment: %s", sec.Name, sec.Size, sec.Addr, rebuild)
		}
		secs = append(secs, sec)
	}
	if !slices.ContainsFunc(secs, func(s Section) bool { return s.Execute }) {
		for i, s := range f.Segments {
			if s.Execute && len(s.Data) > 0 {
				secs = append(secs, Section{Name: fmt.Sprintf("segment%d", i), Addr: s.Addr, Size: uint64(len(s.Data)), Execute: true})
			}
		}
	}
	slices.SortStableFunc(secs, func(a, b Section) int { return cmp.Compare(a.Addr, b.Addr) })
	var prev *Section
	for i := range secs {
		s := &secs[i]
		if !s.Execute {
			continue
		}
		if prev != nil && s.Addr-prev.Addr < prev.Size {
			return nil, refuse(ErrMalformed, "executable sections %q and %q overlap at %#x: %s", prev.Name, s.Name, s.Addr, rebuild)
		}
		prev = s
	}
	return secs, nil
}

// inCode reports whether s lies within the data of an executable segment.
func (f *File) inCode(s Section) bool {
	seg := f.SegmentAt(s.Addr)
	return seg != nil && seg.Execute && f.Bytes(s.Addr, s.Size) != nil
}
