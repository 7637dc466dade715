package objfile

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// Variable is a named range of data in memory: a global or static variable, a
// constant, a table. Thread-local ones are none.
type Variable struct {
	Name string
	Addr uint64
	Size uint64 // bytes, at least 1
}

// End returns the address after the last byte of v.
func (v Variable) End() uint64 { return v.Addr + v.Size }

// Variables returns the data that the symbol table names, by ascending address
// without overlaps, decoded anew by each call; none in a stripped file. Symbols at
// one address are one variable, the largest; of two that overlap otherwise the
// first ends where the second begins, and one inside another is part of it. The
// error wraps ErrMalformed if the table is damaged. Those of a joined file's modules
// are called module!variable.
func (f *File) Variables() ([]Variable, error) {
	list, err := f.ownVariables()
	for i, p := range f.parts {
		if i == 0 || err != nil {
			continue
		}
		var own []Variable
		own, err = p.ownVariables()
		for _, v := range own {
			list = append(list, Variable{f.Modules[i-1].Name + "!" + v.Name, p.base + v.Addr, v.Size})
		}
	}
	return list, err
}

// ownVariables returns the variables without those of modules.
func (f *File) ownVariables() ([]Variable, error) {
	symbols, err := f.readData()
	if err != nil {
		return nil, err
	}
	slices.SortFunc(symbols, func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.addr, b.addr), -cmp.Compare(a.size, b.size), order(a, b))
	})
	var list []Variable
	for _, s := range symbols {
		if n := len(list); n > 0 {
			last := &list[n-1]
			if s.addr+s.size <= last.End() {
				continue
			}
			if s.addr < last.End() {
				last.Size = s.addr - last.Addr
			}
			if last.Size == 0 {
				list = list[:n-1]
			}
		}
		list = append(list, Variable{s.name, s.addr, s.size})
	}
	return list, nil
}

// readData returns the symbols of data that lies in memory, with sizes.
func (f *File) readData() ([]symbol, error) {
	data, names := f.symbols, f.names
	budget := maxNameRepeat * (len(names) + symbolSize)
	var list []symbol
	for ; len(data) >= symbolSize; data = data[symbolSize:] {
		s, kind := decodeSymbol(data)
		if kind != elf.STT_OBJECT && kind != elf.STT_COMMON || s.size == 0 {
			continue
		}
		seg := f.SegmentAt(s.addr)
		if seg == nil || s.size > seg.MemSize-(s.addr-seg.Addr) || binary.LittleEndian.Uint16(data[6:]) == uint16(elf.SHN_UNDEF) {
			continue
		}
		name, ok := cutName(names, binary.LittleEndian.Uint32(data), &budget)
		if !ok {
			return nil, refuse(ErrMalformed, "the name of the symbol at %#x does not end in its table: %s", s.addr, rebuild)
		}
		if s.name = name; name != "" {
			list = append(list, s)
		}
	}
	return list, nil
}
