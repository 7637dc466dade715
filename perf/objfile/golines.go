package objfile

import (
	"encoding/binary"
	"math"
)

// goFileNames numbers the source files of a goTable.
type goFileNames struct {
	table  *goTable
	text   string // of the names
	budget int
	number map[uint32]int32 // by offset in text
	files  []lineFile
}

// noGoFile marks a file in a unit's list that contributed no code.
const noGoFile = math.MaxUint32

// of returns the index of a unit's file, or -1 if there is none.
func (n *goFileNames) of(unit uint32, file int32) int32 {
	at := 4 * (uint64(unit) + uint64(uint32(file)))
	if file < 0 || !within(at, 4, uint64(len(n.table.units))) {
		return -1
	}
	off := binary.LittleEndian.Uint32(n.table.units[at:])
	if off == noGoFile || uint64(off) >= uint64(len(n.text)) {
		return -1
	}
	if i, ok := n.number[off]; ok {
		return i
	}
	i := int32(-1)
	if name, ok := cutString(n.text[off:], &n.budget); ok && name != "" && len(name) <= maxPathBytes {
		i = int32(len(n.files))
		n.files = append(n.files, lineFile{name: name})
	}
	n.number[off] = i
	return i
}

// lines decodes the files and lines of all functions.
func (t *goTable) lines() ([]lineFile, []lineRow) {
	n := &goFileNames{table: t, text: string(t.files), number: make(map[uint32]int32)}
	n.budget = maxNameRepeat * (len(t.files) + symbolSize)
	var rows []lineRow
	t.each(func(f goFunction, files, lines []pcValue) {
		unit := binary.LittleEndian.Uint32(f.info[goUnitAt:])
		rows = appendRow(rows, lineRow{addr: f.addr, file: -1})
		at := f.addr
		for len(files) > 0 && len(lines) > 0 {
			r := lineRow{addr: at, file: n.of(unit, files[0].value), line: lines[0].value}
			rows = appendRow(rows, r)
			at = min(files[0].to, lines[0].to)
			if files[0].to == at {
				files = files[1:]
			}
			if lines[0].to == at {
				lines = lines[1:]
			}
		}
		rows = appendRow(rows, lineRow{addr: at, file: -1}) // padding
	})
	return n.files, rows
}

// appendRow appends r, replacing a last row at the same address.
func appendRow(rows []lineRow, r lineRow) []lineRow {
	if n := len(rows); n > 0 && rows[n-1].addr == r.addr {
		rows = rows[:n-1]
	}
	if n := len(rows); n > 0 && rows[n-1].file == r.file && rows[n-1].line == r.line {
		return rows
	}
	return append(rows, r)
}

// each calls do for every function that has lines, by ascending address. It
// skips overlapping functions, so that the work is bounded by the size of the
// code even if functions share tables.
func (t *goTable) each(do func(f goFunction, files, lines []pcValue)) {
	le := binary.LittleEndian
	var files, lines []pcValue
	for i, reach := 0, uint64(0); i < t.count; i++ {
		f, ok := t.function(i)
		if !ok || f.addr < reach || f.end > addrLimit {
			continue
		}
		reach = f.end
		var ok1, ok2 bool
		files, ok1 = t.valuesOf(files[:0], f, le.Uint32(f.info[goFileTableAt:]))
		lines, ok2 = t.valuesOf(lines[:0], f, le.Uint32(f.info[goLineTableAt:]))
		if ok1 && ok2 {
			do(f, files, lines)
		}
	}
}
