package objfile

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
	"sort"
)

const (
	symbolSize   = 24 // Elf64_Sym
	typeIndirect = 10 // STT_GNU_IFUNC: the resolver, which is code

	// maxNameRepeat bounds how often, on average, a byte of the string table
	// may serve as part of a symbol's name. Linkers share tails, so more than
	// once is normal; this keeps the search for the ends of names linear.
	maxNameRepeat = 64
)

// symbol is a candidate for a routine.
type symbol struct {
	name string
	addr uint64
	size uint64
	rank int // of its binding: global 0, weak 1, local 2; 3 if the name is made up
}

func (f *File) readRoutines(ef *elf.File, image []byte, pcln *goTable) ([]Routine, error) {
	secs := executable(f.Sections)
	syms, err := readSymbols(ef, image, secs)
	if err != nil {
		return nil, err
	}
	if table := ef.SectionByType(elf.SHT_SYMTAB); table != nil {
		if f.symbols, f.names, err = symbolData(ef, table, image); err != nil {
			return nil, err
		}
	}
	switch {
	case len(syms) > 0:
	case pcln != nil:
		syms = pcln.symbols(secs)
	case f.Imports != nil: // a machine whose programs always describe their frames
		if syms, err = tableSymbols(ef, ef.SectionByType(elf.SHT_DYNSYM), image, secs); err != nil {
			return nil, err
		}
		syms = append(syms, f.frameSymbols(secs)...)
	}
	if stubs := f.stubs(ef); len(stubs) > 0 || f.Imports != nil {
		syms = append(syms, stubs...)
		slices.SortFunc(syms, order)
	}
	var routines []Routine
	i := 0
	for _, sec := range secs {
		first := i
		for i < len(syms) && syms[i].addr-sec.Addr < sec.Size {
			i++
		}
		routines = appendRoutines(routines, sec, syms[first:i])
	}
	return slices.Clip(routines), nil
}

func executable(secs []Section) []Section {
	var out []Section
	for _, s := range secs {
		if s.Execute {
			out = append(out, s)
		}
	}
	return out
}

// sectionOf returns the section of secs that holds addr, or nil.
func sectionOf(secs []Section, addr uint64) *Section {
	i := sort.Search(len(secs), func(i int) bool { return secs[i].Addr > addr })
	if i == 0 || addr-secs[i-1].Addr >= secs[i-1].Size {
		return nil
	}
	return &secs[i-1]
}

// appendRoutines appends the routines of one section, whose symbols are
// ordered by order.
func appendRoutines(dst []Routine, sec Section, syms []symbol) []Routine {
	if len(syms) == 0 {
		return append(dst, Routine{Name: sec.Name, Addr: sec.Addr, Size: sec.Size})
	}
	base := len(dst)
	end := sec.Addr + sec.Size
	reach := uint64(0) // end of the sized symbols so far
	for _, s := range syms {
		if len(dst) > base {
			last := &dst[len(dst)-1]
			if s.addr == last.Addr {
				continue // an alias, of lower preference
			}
			// Another entry point: a label, or a symbol that ends no later
			// than the routine it is in.
			if s.addr < reach && (s.size == 0 || s.size <= reach-s.addr) {
				continue
			}
			last.Size = min(last.Size, s.addr-last.Addr)
		}
		size := end - s.addr
		if s.size > 0 {
			size = min(size, s.size)
			reach = s.addr + size
		}
		dst = append(dst, Routine{Name: s.name, Addr: s.addr, Size: size})
	}
	return dst
}

// order compares symbols by address and, at one address, by preference: with a
// size, global, short, alphabetically first.
func order(a, b symbol) int {
	return cmp.Or(
		cmp.Compare(a.addr, b.addr),
		-compareBool(a.size > 0, b.size > 0),
		cmp.Compare(a.rank, b.rank),
		cmp.Compare(len(a.name), len(b.name)),
		cmp.Compare(a.name, b.name),
		-cmp.Compare(a.size, b.size),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// readSymbols returns the named functions in executable sections, in order.
// It reads the table itself because debug/elf copies every name, whatever its
// length, and hostile names may all share one long tail.
func readSymbols(ef *elf.File, image []byte, secs []Section) ([]symbol, error) {
	return tableSymbols(ef, ef.SectionByType(elf.SHT_SYMTAB), image, secs)
}

func tableSymbols(ef *elf.File, table *elf.Section, image []byte, secs []Section) ([]symbol, error) {
	if table == nil {
		return nil, nil
	}
	data, names, err := symbolData(ef, table, image)
	if err != nil {
		return nil, err
	}
	budget := maxNameRepeat * (len(names) + symbolSize)
	var syms, labels []symbol
	for ; len(data) >= symbolSize; data = data[symbolSize:] {
		s, kind := decodeSymbol(data)
		if sectionOf(secs, s.addr) == nil || binary.LittleEndian.Uint16(data[6:]) == uint16(elf.SHN_UNDEF) {
			continue
		}
		function := kind == elf.STT_FUNC || kind == typeIndirect
		if !function && (kind != elf.STT_NOTYPE || s.rank > 1) {
			continue
		}
		name, ok := cutName(names, binary.LittleEndian.Uint32(data), &budget)
		if !ok {
			return nil, refuse(ErrMalformed, "the name of the symbol at %#x does not end in its table: %s", s.addr, rebuild)
		}
		if s.name = name; name == "" {
			continue
		}
		if function {
			syms = append(syms, s)
		} else {
			labels = append(labels, s)
		}
	}
	syms = append(syms, labelsOfBare(secs, syms, labels)...)
	slices.SortFunc(syms, order)
	return syms, nil
}

// cutName returns the zero-terminated name at an offset of names, and takes its
// length off the budget.
func cutName(names []byte, at uint32, budget *int) (name string, ok bool) {
	if uint64(at) >= uint64(len(names)) {
		return "", false
	}
	names = names[at:]
	n := bytes.IndexByte(names[:min(len(names), *budget+1)], 0)
	if n < 0 {
		return "", false
	}
	*budget -= n
	return string(names[:n]), true
}

// decodeSymbol decodes a symbol, except for its name.
func decodeSymbol(data []byte) (symbol, elf.SymType) {
	le := binary.LittleEndian
	info := data[4]
	s := symbol{addr: le.Uint64(data[8:]), size: le.Uint64(data[16:])}
	switch elf.ST_BIND(info) {
	case elf.STB_WEAK:
		s.rank = 1
	case elf.STB_LOCAL:
		s.rank = 2
	}
	return s, elf.ST_TYPE(info)
}

// symbolData returns the bytes of the symbol table and of its names.
func symbolData(ef *elf.File, table *elf.Section, image []byte) (data, names []byte, err error) {
	if int64(table.Link) >= int64(len(ef.Sections)) {
		return nil, nil, refuse(ErrMalformed, "the symbol table's names are in section %d of %d: %s", table.Link, len(ef.Sections), rebuild)
	}
	if data, err = sectionBytes(table, image); err != nil {
		return nil, nil, err
	}
	names, err = sectionBytes(ef.Sections[table.Link], image)
	return data, names, err
}

// sectionBytes returns the bytes of an uncompressed section.
func sectionBytes(s *elf.Section, image []byte) ([]byte, error) {
	if s.Type == elf.SHT_NOBITS || s.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, refuse(ErrMalformed, "section %q is compressed or has no bytes: strip the file", s.Name)
	}
	if !within(s.Offset, s.FileSize, uint64(len(image))) {
		return nil, refuse(ErrTruncated, "section %q, %#x bytes at offset %#x, reaches past the end of the file, %#x: %s", s.Name, s.FileSize, s.Offset, len(image), rebuild)
	}
	return image[s.Offset : s.Offset+s.FileSize], nil
}

// labelsOfBare returns the labels in sections without function symbols:
// hand-written assembly often declares no types.
func labelsOfBare(secs []Section, syms, labels []symbol) []symbol {
	if len(labels) == 0 {
		return nil
	}
	typed := make(map[*Section]bool)
	for _, s := range syms {
		typed[sectionOf(secs, s.addr)] = true
	}
	return slices.DeleteFunc(labels, func(s symbol) bool { return typed[sectionOf(secs, s.addr)] })
}
