package objfile

import (
	"cmp"
	"debug/elf"
	"errors"
	"fmt"
	"path"
	"slices"
	"sort"
	"sync"
)

// maxDebugBytes bounds a section of debugging information once decompressed.
const maxDebugBytes = 1 << 29

// lineTable answers LineAt. It is decoded on first use, from .debug_line and the
// two sections that hold its strings. (Package debug/dwarf will not do: it
// decodes .debug_info first and allocates whatever number of files a header
// claims.)
type lineTable struct {
	once sync.Once
	file *elf.File // nil once decoded
	code []Section // executable

	pcln *goTable // nil once decoded, or if there is none

	rows   []lineRow
	files  []lineFile
	tables map[uint64]fileRange // by offset in .debug_line
	err    error
}

// fileRange locates the files of one line table among those of all tables: file
// number n has index first+n.
type fileRange struct{ first, count int }

// lineRow says that the instructions from addr to the next row's come from a
// line; file < 0 if from none.
type lineRow struct {
	addr uint64
	file int32
	line int32
}

// lineFile is a source file: its name, relative to dir, relative to comp (the
// directory in which the compiler ran).
type lineFile struct{ comp, dir, name string }

func (f lineFile) path() string {
	switch {
	case path.IsAbs(f.name):
		return path.Clean(f.name)
	case path.IsAbs(f.dir):
		return path.Join(f.dir, f.name)
	}
	return path.Join(f.comp, f.dir, f.name)
}

// lineRows returns the decoded table.
func (f *File) lineRows() *lineTable {
	f.lines.once.Do(f.lines.decode)
	return f.lines
}

// LineAt returns the source position of the instruction at pc; false if none is
// recorded. The first use decodes the line tables: DWARF's, or else Go's own,
// which stripped programs keep.
func (f *File) LineAt(pc uint64) (Line, bool) {
	f, base := f.partAt(pc)
	t := f.lineRows()
	r, ok := t.rowAt(pc - base)
	if !ok {
		return Line{}, false
	}
	return Line{File: t.files[r.file].path(), Line: int(r.line)}, true
}

// rowAt returns the row that holds pc; false if it has no line.
func (t *lineTable) rowAt(pc uint64) (lineRow, bool) {
	i := sort.Search(len(t.rows), func(i int) bool { return t.rows[i].addr > pc })
	if i == 0 || t.rows[i-1].file < 0 || t.rows[i-1].line <= 0 {
		return lineRow{}, false
	}
	return t.rows[i-1], true
}

// LinesErr returns the error that ended the decoding of the line tables; nil if
// they were decoded completely or there are none.
func (f *File) LinesErr() error {
	return f.errOf(func(f *File) error { return f.lineRows().err })
}

// decode fills t. After an error, the tables decoded so far remain in use.
func (t *lineTable) decode() {
	defer func() { t.file, t.pcln = nil, nil }()
	line, err := debugSection(t.file, "line")
	if err != nil || line == "" {
		if t.err = err; t.pcln != nil {
			t.files, t.rows = t.pcln.lines()
		}
		return
	}
	d := lineDecoder{keep: func(low uint64) bool { return sectionOf(t.code, low) != nil }}
	str, err1 := debugSection(t.file, "str")
	lineStr, err2 := debugSection(t.file, "line_str")
	d.str, d.lineStr = str, lineStr
	t.err = errors.Join(err1, err2, d.tables(line))
	t.files, t.tables = d.files, d.offsets
	t.rows = flatten(d.sequences)
}

// debugSection returns a section of debugging information as a string, so that
// names in it are substrings and not copies; "" if there is none.
func debugSection(ef *elf.File, name string) (string, error) {
	for _, prefix := range []string{".debug_", ".zdebug_"} {
		if sec := ef.Section(prefix + name); sec != nil && sec.Type != elf.SHT_NOBITS {
			data, err := sectionData(sec)
			return string(data), err
		}
	}
	return "", nil
}

func sectionData(sec *elf.Section) ([]byte, error) {
	if sec.Size > maxDebugBytes {
		return nil, fmt.Errorf("%s: %d bytes; at most %d are read", sec.Name, sec.Size, maxDebugBytes)
	}
	data, err := sec.Data()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sec.Name, err)
	}
	return data, nil
}

// flatten joins sequences into rows by ascending address. A sequence that
// begins inside an earlier one (code that the linker folded) is left out.
func flatten(seqs [][]lineRow) []lineRow {
	slices.SortStableFunc(seqs, func(a, b []lineRow) int { return cmp.Compare(a[0].addr, b[0].addr) })
	n := 0
	for _, s := range seqs {
		n += len(s)
	}
	rows := make([]lineRow, 0, n)
	for _, s := range seqs {
		if len(rows) > 0 {
			last := rows[len(rows)-1].addr
			if s[0].addr < last {
				continue
			}
			if s[0].addr == last {
				rows = rows[:len(rows)-1] // the end of the one before
			}
		}
		rows = append(rows, s...)
	}
	return rows
}
