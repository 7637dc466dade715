package cfg

import (
	"testing"

	"presage/perf/isa/rv64"
	"presage/perf/objfile"
)

// fuzzImage returns a function that makes a program of arbitrary code: with two
// routines followed by a read-only table, or without names. The function returns
// nil if there is no room for the code.
func fuzzImage(testing.TB) func(code []byte, bare bool) *objfile.File {
	const at = 0x10000
	return func(code []byte, bare bool) *objfile.File {
		if len(code) < 4 || len(code) > 1<<12 {
			return nil
		}
		size := uint64(len(code))
		half := size / 2 &^ 1
		f := &objfile.File{
			Target:   rv64.Target(),
			Entry:    at,
			Segments: []objfile.Segment{{Addr: at, MemSize: size, Data: code, Read: true, Execute: true}},
			Sections: []objfile.Section{{Name: ".text", Addr: at, Size: size, Execute: true}},
			Routines: []objfile.Routine{{Name: ".text", Addr: at, Size: size}},
		}
		if !bare {
			f.Routines = []objfile.Routine{{Name: "a", Addr: at, Size: half}, {Name: "b", Addr: at + half, Size: size - half}}
		}
		return f
	}
}
