package objfile

import (
	"slices"
	"testing"
)

// FuzzRead demands a File or an error, never both, and that the File keeps its
// documented invariants. The seeds "assembled" in testdata are the output of gcc
// -g -static -nostdlib for "_start: .globl _start; ret", and its line tables.
func FuzzRead(f *testing.F) {
	f.Add(newImage().bytes(f))
	f.Add([]byte("\x7fELF"))
	amd64 := newImage().bytes(f)
	amd64[18], amd64[19] = 62, 0
	f.Add(amd64)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := readBytes(data)
		if (file == nil) == (err == nil) {
			t.Fatalf("%v, %v", file, err)
		}
		if err == nil {
			checkFile(t, file)
		}
	})
}

func checkFile(t *testing.T, f *File) {
	if f.SegmentAt(f.Entry) == nil && !(f.PIE && f.Entry == 0) { // a shared library has no entry
		t.Errorf("no segment holds the entry %#x", f.Entry)
	}
	for i, s := range f.Segments {
		if i > 0 && s.Addr < f.Segments[i-1].Addr+f.Segments[i-1].MemSize || s.Addr+s.MemSize > f.Target.AddressLimit || uint64(len(s.Data)) > s.MemSize {
			t.Errorf("segment %d: %#x, %#x bytes, %d in the file", i, s.Addr, s.MemSize, len(s.Data))
		}
	}
	for i, r := range f.Routines {
		if i > 0 && r.Addr < f.Routines[i-1].End() || r.Size == 0 || r.Name == "" || f.Bytes(r.Addr, r.Size) == nil {
			t.Errorf("routine %d: %+v", i, r)
		}
		f.LineAt(r.Addr)
		at := r.Addr
		for _, p := range f.Places(r.Addr, min(r.End(), r.Addr+1<<16)) {
			if p.From != at || p.To <= p.From || len(p.Inlined) > maxInlineDepth {
				t.Fatalf("%s: place %+v after %#x", r.Name, p, at)
			}
			at = p.To
		}
	}
	if len(f.Routines) == 0 {
		t.Error("no routine")
	}
	vars, _ := f.Variables()
	for i, v := range vars {
		seg := f.SegmentAt(v.Addr)
		if v.Size == 0 || v.Name == "" || seg == nil || v.Size > seg.MemSize-(v.Addr-seg.Addr) || i > 0 && v.Addr < vars[i-1].End() {
			t.Errorf("variable %d: %+v", i, v)
		}
	}
}

// FuzzLines runs the line decoder on anything.
func FuzzLines(f *testing.F) {
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, line, str, lineStr string) {
		d := lineDecoder{str: str, lineStr: lineStr, keep: func(uint64) bool { return true }}
		_ = d.tables(line)
		rows := flatten(d.sequences)
		for i, r := range rows {
			if i > 0 && r.addr <= rows[i-1].addr || int(r.file) >= len(d.files) {
				t.Fatalf("row %d: %+v after %+v, %d files", i, r, rows[max(i-1, 0)], len(d.files))
			}
			if r.file >= 0 {
				_ = d.files[r.file].path()
			}
		}
	})
}

// FuzzInlines runs the decoder of inlined calls on anything, and demands that
// its result is sorted.
func FuzzInlines(f *testing.F) {
	u := newInfoUnit()
	f.Add(u.info(), u.abbrev, "name\x00", "", u.rnglists)
	f.Fuzz(func(t *testing.T, info, abbrev, str, ranges, rnglists string) {
		d := testInfoDecoder(info, abbrev)
		d.str, d.ranges, d.rnglists, d.addr, d.strOffsets = str, ranges, rnglists, ranges, rnglists
		d.setBudgets()
		_ = d.decode()
		for _, b := range d.declarations() {
			if b.file < 0 || b.line <= 0 {
				t.Fatalf("declared at %+v", b)
			}
		}
		rows := paint(d.nodes, d.spans)
		for i, r := range rows {
			if i > 0 && (r.addr <= rows[i-1].addr || r.node == rows[i-1].node) || int(r.node) >= len(d.nodes) {
				t.Fatalf("row %d: %+v after %+v", i, r, rows[max(i-1, 0)])
			}
		}
		for i, n := range d.nodes {
			if n.parent >= int32(i) || n.depth > maxInlineDepth {
				t.Fatalf("call %d: %+v", i, n)
			}
		}
	})
}

// FuzzGoTable runs the decoder of Go's tables on anything.
func FuzzGoTable(f *testing.F) {
	values := []byte{0, 2, 8, 2, 8, 0}
	f.Add(slices.Concat(make([]byte, 8), []byte{16, 0, 0, 0, 16, 0, 0, 0}, make([]byte, 200)), values, make([]byte, 64), 1)
	f.Fuzz(func(t *testing.T, table, values, data []byte, n int) {
		if n < 0 || n > len(table)/goEntrySize || n*goEntrySize+4 > len(table) {
			return
		}
		g := &goTable{names: data, units: data, files: data, values: values, table: table, count: n, quantum: 2, funcSize: goFuncSize120, funcData: data}
		lines := &lineTable{}
		lines.files, lines.rows = g.lines()
		for i, r := range lines.rows {
			if i > 0 && r.addr <= lines.rows[i-1].addr || int(r.file) >= len(lines.files) {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
		nodes, rows := g.inlines(lines)
		for i, r := range rows {
			if i > 0 && r.addr <= rows[i-1].addr || int(r.node) >= len(nodes) {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
	})
}
