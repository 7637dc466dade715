package objfile

import "testing"

// FuzzRead demands a File or an error, never both, and that what the File
// promises holds. The seeds "assembled" in testdata are what gcc -g -static
// -nostdlib makes of "_start: .globl _start; ret", and its line tables.
func FuzzRead(f *testing.F) {
	f.Add(newImage().bytes(f))
	f.Add([]byte("\x7fELF"))
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
	if f.SegmentAt(f.Entry) == nil {
		t.Errorf("no segment holds the entry %#x", f.Entry)
	}
	for i, s := range f.Segments {
		if i > 0 && s.Addr < f.Segments[i-1].Addr+f.Segments[i-1].MemSize || s.Addr+s.MemSize > AddrLimit || uint64(len(s.Data)) > s.MemSize {
			t.Errorf("segment %d: %#x, %#x bytes, %d in the file", i, s.Addr, s.MemSize, len(s.Data))
		}
	}
	for i, r := range f.Routines {
		if i > 0 && r.Addr < f.Routines[i-1].End() || r.Size == 0 || r.Name == "" || f.Bytes(r.Addr, r.Size) == nil {
			t.Errorf("routine %d: %+v", i, r)
		}
		f.LineAt(r.Addr)
	}
	if len(f.Routines) == 0 {
		t.Error("no routine")
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
