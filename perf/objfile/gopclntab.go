package objfile

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
)

// Layout of .gopclntab since Go 1.18, 8-byte pointers (Go source,
// internal/abi/symtab.go and cmd/link/internal/ld/pcln.go):
//
//	offset  0  magic (4 bytes), 0, 0, instruction quantum, pointer size
//	        8  number of functions
//	       24  address of runtime.text, where the linker stores it
//	       32  offset of the names
//	       64  offset of the function table: {entry, info} offsets, 4 bytes
//	           each, from runtime.text and from the function table; the end
//	           of the last function closes it
//	info+  4  offset of the function's name in the names
const (
	goMagic118    = 0xfffffff0
	goMagic120    = 0xfffffff1
	goHeaderSize  = 72
	goTextAt      = 24
	goNamesAt     = 32
	goFunctionsAt = 64
	goEntrySize   = 8
	goNameAt      = 4
)

// goFunctions reads the function table that Go programs carry even when they
// are stripped; nil without one, or with one of another layout. (debug/gosym
// copies every name, whatever its length, so it is not for hostile input.)
func goFunctions(ef *elf.File, image []byte, secs []Section) []symbol {
	sec, code := ef.Section(".gopclntab"), ef.Section(".text")
	if sec == nil || code == nil {
		return nil
	}
	data, err := sectionBytes(sec, image)
	if err != nil || len(data) < goHeaderSize || data[7] != 8 {
		return nil
	}
	le := binary.LittleEndian
	if magic := le.Uint32(data); magic != goMagic118 && magic != goMagic120 {
		return nil
	}
	namesAt, tableAt := le.Uint64(data[goNamesAt:]), le.Uint64(data[goFunctionsAt:])
	size, n := uint64(len(data)), le.Uint64(data[8:])
	if namesAt > size || tableAt > size || n > size/goEntrySize || !within(tableAt, n*goEntrySize+4, size) {
		return nil
	}
	text := code.Addr
	if at := le.Uint64(data[goTextAt:]); at-code.Addr < code.Size {
		text = at // differs where C code stands before Go's
	}
	return goSymbols(data[namesAt:], data[tableAt:], int(n), text, secs)
}

// goSymbols decodes n entries of the function table.
func goSymbols(names, table []byte, n int, text uint64, secs []Section) []symbol {
	le := binary.LittleEndian
	budget := maxNameRepeat * (len(names) + symbolSize)
	var syms []symbol
	for i := range n {
		entry := table[i*goEntrySize:]
		addr, end := le.Uint32(entry), le.Uint32(entry[goEntrySize:])
		info := uint64(le.Uint32(entry[4:]))
		if !within(info+goNameAt, 4, uint64(len(table))) || end <= addr {
			continue
		}
		name, ok := cutName(names, le.Uint32(table[info+goNameAt:]), &budget)
		if !ok || name == "" || sectionOf(secs, text+uint64(addr)) == nil {
			continue
		}
		name = strings.ReplaceAll(name, "·", ".") // as in the symbol table
		syms = append(syms, symbol{name: name, addr: text + uint64(addr), size: uint64(end - addr)})
	}
	slices.SortFunc(syms, order)
	return syms
}
