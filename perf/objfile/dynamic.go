package objfile

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"

	"presage/perf/isa"
	"presage/perf/isa/targets"
)

const (
	relocationSize = 24 // Elf64_Rela

	packedRelocations elf.SectionType = 19 // SHT_RELR
)

// relocation is an entry of a table of relocations.
type relocation struct {
	at     uint64 // address
	symbol uint32 // index
	kind   uint32
	addend int64
}

// readDynamic reads what the dynamic linker does to a file: it notes which
// imported symbol each cell will point to, and applies relocations that need
// only the file, as if it were loaded where it says.
func (f *File) readDynamic(ef *elf.File, image []byte, m targets.Machine) error {
	table := ef.SectionByType(elf.SHT_DYNSYM)
	var symbols, names []byte
	if table != nil {
		var err error
		if symbols, names, err = symbolData(ef, table, image); err != nil {
			return err
		}
	}
	f.Imports = make(map[uint64]string)
	budget := maxNameRepeat * (len(names) + symbolSize)
	copied := make([]bool, len(f.Segments))
	for _, s := range ef.Sections {
		if s.Type == packedRelocations && s.Flags&elf.SHF_ALLOC != 0 {
			data, err := sectionBytes(s, image)
			if err != nil {
				return err
			}
			f.unpack(data, copied)
			continue
		}
		if s.Type != elf.SHT_RELA || s.Flags&elf.SHF_ALLOC == 0 {
			continue
		}
		data, err := sectionBytes(s, image)
		if err != nil {
			return err
		}
		for ; len(data) >= relocationSize; data = data[relocationSize:] {
			r := decodeRelocation(data)
			switch {
			case r.kind == m.Relative:
				f.relocate(r.at, uint64(r.addend), copied)
			case slices.Contains(m.Symbolic, r.kind) && uint64(r.symbol)*symbolSize+symbolSize <= uint64(len(symbols)):
				f.bind(r, symbols[r.symbol*symbolSize:], names, &budget, copied)
			}
		}
	}
	f.bindResolver(ef, m)
	return nil
}

// bindResolver notes the cell by way of which stubs of the procedure linkage table reach
// the dynamic linker, to be bound to a routine: the third of the global offset table (AMD64
// psABI, section 5.2.2, "Global Offset Table").
func (f *File) bindResolver(ef *elf.File, m targets.Machine) {
	at, err := ef.DynValue(elf.DT_PLTGOT)
	if err != nil || len(at) == 0 || !m.Dynamic {
		return
	}
	f.Imports[at[0]+16] = "_dl_runtime_resolve"
}

// unpack notes the cells of packed relocations, which hold addresses of the file
// already. An even entry is the address of a cell; an odd one is a bitmap of the 63
// cells behind the last (generic ABI, "Relative Relocation Table").
func (f *File) unpack(data []byte, copied []bool) {
	at := uint64(0)
	cell := func(at uint64) {
		if b := f.Bytes(at, 8); b != nil {
			f.relocate(at, binary.LittleEndian.Uint64(b), copied)
		}
	}
	for ; len(data) >= 8; data = data[8:] {
		entry := binary.LittleEndian.Uint64(data)
		if entry&1 == 0 {
			cell(entry)
			at = entry + 8
			continue
		}
		for k := range uint64(63) {
			if entry>>(k+1)&1 != 0 {
				cell(at + 8*k)
			}
		}
		at += 63 * 8
	}
}

func decodeRelocation(data []byte) relocation {
	le := binary.LittleEndian
	info := le.Uint64(data[8:])
	return relocation{at: le.Uint64(data), symbol: uint32(info >> 32), kind: uint32(info), addend: int64(le.Uint64(data[16:]))}
}

// bind notes which symbol a cell points to; to one that the file itself defines,
// the cell is made to point.
func (f *File) bind(r relocation, symbol, names []byte, budget *int, copied []bool) {
	s, _ := decodeSymbol(symbol)
	name, ok := cutName(names, binary.LittleEndian.Uint32(symbol), budget)
	if !ok || name == "" {
		return
	}
	if binary.LittleEndian.Uint16(symbol[6:]) != uint16(elf.SHN_UNDEF) {
		f.relocate(r.at, s.addr+uint64(r.addend), copied)
		return
	}
	f.Imports[r.at] = name
	if f.LazyStub(r.at) != 0 {
		f.relocated = append(f.relocated, r.at)
	}
}

// LazyStub returns the address that a cell of Imports holds as long as the dynamic linker
// has not bound it, of code that has it bound; 0 if it holds none.
func (f *File) LazyStub(cell uint64) uint64 {
	b := f.Bytes(cell, 8)
	if b == nil {
		return 0
	}
	to := binary.LittleEndian.Uint64(b)
	if s := f.SegmentAt(to); s == nil || !s.Execute {
		return 0
	}
	return to
}

// relocate makes a cell hold an address of the file itself.
func (f *File) relocate(at, value uint64, copied []bool) {
	if patch(f.Segments, at, value, copied) {
		f.relocated = append(f.relocated, at)
	}
}

// word returns the 8 bytes at an address that patch has changed.
func (f *File) word(at uint64) uint64 { return binary.LittleEndian.Uint64(f.Bytes(at, 8)) }

// patch changes 8 bytes of a segment, which is copied before the first change. It
// reports whether a segment's data hold them.
func patch(segments []Segment, at, value uint64, copied []bool) bool {
	for i := range segments {
		s := &segments[i]
		off := at - s.Addr
		if at < s.Addr || off+8 > uint64(len(s.Data)) || off+8 < 8 {
			continue
		}
		if !copied[i] {
			s.Data, copied[i] = slices.Clone(s.Data), true
		}
		binary.LittleEndian.PutUint64(s.Data[off:], value)
		return true
	}
	return false
}

// stubs returns a symbol for each stub that jumps to an imported routine: in a
// section of the procedure linkage table, an entry with an indirect jump through
// a cell that is bound to it. It is called name@plt.
func (f *File) stubs(ef *elf.File) []symbol {
	if len(f.Imports) == 0 {
		return nil
	}
	var syms []symbol
	d := f.Target.NewDecoder()
	for _, s := range ef.Sections {
		if !strings.HasPrefix(s.Name, ".plt") || s.Flags&elf.SHF_EXECINSTR == 0 {
			continue
		}
		entry := s.Entsize
		if entry < 4 || entry > 64 {
			entry = 16
		}
		for at := s.Addr; at+entry <= s.Addr+s.Size; at += entry {
			if name := f.stub(d, at, entry); name != "" {
				syms = append(syms, symbol{name: name + "@plt", addr: at, size: entry})
			}
		}
	}
	return syms
}

// stub returns the name of the symbol that a stub jumps to, or "".
func (f *File) stub(d isa.Decoder, at, size uint64) string {
	code := f.Bytes(at, size)
	for len(code) > 0 {
		in, err := d.Decode(code, at)
		if err != nil {
			return ""
		}
		if in.Class == isa.IndirectJump {
			if mems := in.Mems(); len(mems) == 1 {
				if cell, ok := mems[0].Constant(); ok {
					return f.Imports[uint64(cell)]
				}
			}
			return ""
		}
		code, at = code[in.Len:], at+uint64(in.Len)
	}
	return ""
}
