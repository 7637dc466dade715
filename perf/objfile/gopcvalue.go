package objfile

import (
	"cmp"
	"debug/elf"
	"encoding/binary"
	"slices"
)

// pcValue is an entry of a pc-value table: the value for the instructions from
// the end of the previous entry up to, not including, to.
type pcValue struct {
	to    uint64
	value int32
}

// valuesOf decodes a function's pc-value table: pairs of varints, the increment
// of the value and the number of quanta for which it holds, terminated by an
// increment of 0 (Go source, runtime/symtab.go, function step). It returns false
// if the table makes no sense. Every entry covers at least one instruction, so
// the work is bounded by the function's size.
func (t *goTable) valuesOf(dst []pcValue, f goFunction, at uint32) ([]pcValue, bool) {
	if at == 0 || uint64(at) >= uint64(len(t.values)) {
		return dst, false
	}
	data := t.values[at:]
	pc, value := f.addr, int32(-1)
	for first := true; pc < f.end; first = false {
		grow, n := binary.Uvarint(data[:min(len(data), binary.MaxVarintLen32)])
		if n <= 0 {
			return dst, false
		}
		if grow == 0 && !first {
			break
		}
		data = data[n:]
		hold, n := binary.Uvarint(data[:min(len(data), binary.MaxVarintLen32)])
		if n <= 0 || hold == 0 {
			return dst, false
		}
		data = data[n:]
		value += int32(uint32(grow)>>1) ^ -int32(grow&1) // zig-zag
		pc = min(pc+hold*t.quantum, f.end)
		dst = append(dst, pcValue{pc, value})
	}
	return dst, true
}

// valueAt returns the value at pc, or -1 if there is none.
func valueAt(values []pcValue, pc uint64) int32 {
	i, found := slices.BinarySearchFunc(values, pc, func(v pcValue, pc uint64) int { return cmp.Compare(v.to, pc) })
	if found {
		i++
	}
	if i == len(values) {
		return -1
	}
	return values[i].value
}

// Layout of the runtime's description of the module (Go source, runtime/symtab.go,
// type moduledata), Go 1.18 to 1.26 at least.
const (
	goModuleTextAt     = 176
	goModuleFuncDataAt = 320
	goModuleSize       = goModuleFuncDataAt + 8
)

// findModule finds the bases of function and funcdata offsets. Neither
// .gopclntab nor any symbol that survives stripping gives them, only the
// moduledata, which begins with the address of .gopclntab.
func (t *goTable) findModule(ef *elf.File, image []byte, pclntab uint64, code *elf.Section) {
	le := binary.LittleEndian
	for _, name := range []string{".go.module", ".noptrdata", ".data"} {
		sec := ef.Section(name)
		if sec == nil {
			continue
		}
		data, err := sectionBytes(sec, image)
		if err != nil {
			continue
		}
		for ; len(data) >= goModuleSize; data = data[8:] {
			text := le.Uint64(data[goModuleTextAt:])
			if le.Uint64(data) != pclntab || text-code.Addr >= code.Size {
				continue
			}
			t.text = text
			t.funcData = bytesFrom(ef, image, le.Uint64(data[goModuleFuncDataAt:]))
			return
		}
	}
}

// bytesFrom returns the bytes from an address to the end of its section.
func bytesFrom(ef *elf.File, image []byte, addr uint64) []byte {
	for _, s := range ef.Sections {
		if s.Flags&elf.SHF_ALLOC == 0 || addr-s.Addr >= s.Size {
			continue
		}
		if data, err := sectionBytes(s, image); err == nil && addr-s.Addr < uint64(len(data)) {
			return data[addr-s.Addr:]
		}
	}
	return nil
}
