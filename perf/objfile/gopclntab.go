package objfile

import (
	"debug/elf"
	"encoding/binary"
	"slices"
	"strings"
)

// Layout of .gopclntab since Go 1.18, 8-byte pointers (Go source,
// internal/abi/symtab.go, runtime/symtab.go and cmd/link/internal/ld/pcln.go):
//
//	offset  0  magic (4 bytes), 0, 0, instruction quantum, pointer size
//	        8  number of functions
//	       24  address of runtime.text, where the linker stores it
//	       32  offset of the names
//	       40  offset of the units' lists of files
//	       48  offset of the names of files
//	       56  offset of the tables of values by pc
//	       64  offset of the function table: {entry, info} offsets, 4 bytes
//	           each, from runtime.text and from the function table; the end
//	           of the last function closes it
const (
	goMagic118    = 0xfffffff0
	goMagic120    = 0xfffffff1
	goHeaderSize  = 72
	goTextAt      = 24
	goNamesAt     = 32
	goUnitsAt     = 40
	goFilesAt     = 48
	goValuesAt    = 56
	goFunctionsAt = 64
	goEntrySize   = 8
)

// Layout of the structure that info points to (runtime/runtime2.go, type _func):
// 4-byte words whose last byte is the number of funcdata, then npcdata offsets
// of pc-value tables, and the offsets of the funcdata.
const (
	goNameAt      = 4
	goFileTableAt = 20 // of file numbers, within the function's unit
	goLineTableAt = 24
	goPCDataAt    = 28 // how many
	goUnitAt      = 32 // index of the unit's first file
	goStartLineAt = 36 // in the layout of 120
	goFuncSize118 = 40
	goFuncSize120 = 44 // includes the function's start line
)

// goTable is the function table that Go programs carry even when they are
// stripped. (debug/gosym copies every name, whatever its length, so it is not
// for hostile input.)
type goTable struct {
	names, units, files, values, table []byte

	count    int    // functions
	quantum  uint64 // bytes; every pc is a multiple of it
	text     uint64 // what entries are relative to
	funcSize uint64
	funcData []byte // starts at the base of funcdata offsets; nil if that is unknown
}

// readGoTable returns the file's function table, or nil if there is none or its
// layout is unknown.
func readGoTable(ef *elf.File, image []byte) *goTable {
	sec, code := ef.Section(".gopclntab"), ef.Section(".text")
	if sec == nil || code == nil {
		return nil
	}
	data, err := sectionBytes(sec, image)
	if err != nil || len(data) < goHeaderSize || data[7] != 8 || data[6] == 0 {
		return nil
	}
	le := binary.LittleEndian
	t := &goTable{quantum: uint64(data[6]), text: code.Addr, funcSize: goFuncSize120}
	switch le.Uint32(data) {
	case goMagic118:
		t.funcSize = goFuncSize118
	case goMagic120:
	default:
		return nil
	}
	for _, part := range []struct {
		at  int
		dst *[]byte
	}{{goNamesAt, &t.names}, {goUnitsAt, &t.units}, {goFilesAt, &t.files}, {goValuesAt, &t.values}, {goFunctionsAt, &t.table}} {
		at := le.Uint64(data[part.at:])
		if at > uint64(len(data)) {
			return nil
		}
		*part.dst = data[at:]
	}
	n := le.Uint64(data[8:])
	if n > uint64(len(t.table))/goEntrySize || n*goEntrySize+4 > uint64(len(t.table)) {
		return nil
	}
	t.count = int(n)
	if at := le.Uint64(data[goTextAt:]); at-code.Addr < code.Size {
		t.text = at // differs if C code precedes Go's
	}
	t.findModule(ef, image, sec.Addr, code)
	return t
}

// goFunction is an entry of the function table.
type goFunction struct {
	addr, end uint64
	info      []byte // at least goFuncSize118 bytes
}

// function returns the i-th entry; false if it makes no sense.
func (t *goTable) function(i int) (goFunction, bool) {
	le := binary.LittleEndian
	entry := t.table[i*goEntrySize:]
	addr, end := le.Uint32(entry), le.Uint32(entry[goEntrySize:])
	info := uint64(le.Uint32(entry[4:]))
	if !within(info, t.funcSize, uint64(len(t.table))) || end <= addr {
		return goFunction{}, false
	}
	return goFunction{t.text + uint64(addr), t.text + uint64(end), t.table[info:]}, true
}

// symbols returns the functions in sections, in order.
func (t *goTable) symbols(secs []Section) []symbol {
	budget := maxNameRepeat * (len(t.names) + symbolSize)
	var syms []symbol
	for i := range t.count {
		f, ok := t.function(i)
		if !ok {
			continue
		}
		name, ok := t.name(binary.LittleEndian.Uint32(f.info[goNameAt:]), &budget)
		if !ok || name == "" || sectionOf(secs, f.addr) == nil {
			continue
		}
		syms = append(syms, symbol{name: name, addr: f.addr, size: f.end - f.addr})
	}
	slices.SortFunc(syms, order)
	return syms
}

// name returns a function's name as the symbol table spells it.
func (t *goTable) name(at uint32, budget *int) (string, bool) {
	name, ok := cutName(t.names, at, budget)
	return strings.ReplaceAll(name, "·", "."), ok
}
