// Package objfile turns an ELF executable, including its source line and
// inlining information, into a File: what a loader and static analysis need,
// nothing more. It is pure and deterministic: the same bytes give the same File.
//
// It accepts static 64-bit little-endian Linux executables, at fixed addresses
// or position-independent, for any instruction set in package isa/targets; for
// x86-64 also dynamically linked executables and shared libraries.
// Anything else gets an *Error that says what was found and what to do. The
// input may be hostile: memory and time are bounded by a small multiple of its
// size.
//
// Lines and inlined routines come from DWARF, versions 2 to 5, or, in a Go
// program without it, from the tables that Go's runtime uses.
//
// Not modelled: other relocations than those of dynamically linked x86-64 files
// (a static position-independent executable applies its own), and among those the
// ones of the thread's storage; thread-local storage templates (ditto), debugging
// information other than lines and inlining, and debugging information in separate
// files.
package objfile

import (
	"slices"
	"sort"

	"presage/perf/isa"
)

// File is a Linux executable or shared library. It is not modified after Open or Read and
// may be shared.
type File struct {
	Path   string // as given to Open; empty for Read
	SHA256 string // of the file's bytes, in hexadecimal

	Target *isa.Target // the instruction set, by the ELF header

	Entry    uint64    // address of the first instruction
	PIE      bool      // position-independent: addresses are relative to a load bias
	Segments []Segment // where the dynamic linker only relocates, as if loaded at these addresses
	Sections []Section // those with an address, by ascending Addr
	Routines []Routine // by ascending Addr, without overlaps

	// PHdrAddr is the address of the program headers once loaded (0 if no
	// segment holds them), PHdrSize the size of one, for the auxiliary vector
	// (AT_PHDR, AT_PHENT, AT_PHNUM).
	PHdrAddr  uint64
	PHdrSize  uint16
	PHdrCount uint16

	// Interpreter is the path of the dynamic linker; empty if there is none.
	// Imports maps the address of a cell to the name of the symbol, of another
	// file, that the dynamic linker makes it point to; nil for other machines
	// than x86-64.
	Interpreter string
	Imports     map[uint64]string

	// Modules are the shared libraries of a joined file, by ascending Base: see Join.
	Modules []Module

	parts     []part   // of a joined file, by ascending base, the main executable first
	relocated []uint64 // cells of Segments that hold addresses of the file itself

	symbols, names []byte // the symbol table and its names, empty if there is none

	lines   *lineTable // never nil
	inlines *inlineTable
	frames  *frameTable // never nil
}

// Segment is a part of the file that is mapped into memory (PT_LOAD).
// Segments are sorted by Addr, do not overlap, and lie below the target's
// AddressLimit; MemSize may be far larger than the file.
type Segment struct {
	Addr    uint64
	MemSize uint64 // bytes in memory; those past len(Data) are zero
	Data    []byte // shared with the File: not to be modified
	Read    bool
	Write   bool
	Execute bool
}

// Section is a named range of the loaded image. An executable section lies
// within the Data of an executable segment, and overlaps no other executable
// section.
type Section struct {
	Name    string
	Addr    uint64
	Size    uint64
	Execute bool
}

// Routine is a named range of instructions, within one executable section.
//
// Routines come from the symbol table, else from the Go function table
// (.gopclntab), else, for x86-64, from the dynamic symbols and from .eh_frame,
// whose routines are called sub_ADDRESS; else there is one for each executable
// section, named after it. A stub of the procedure linkage table is a routine
// called NAME@plt.
// A symbol without a size extends to the next symbol or the end of the
// section. Symbols at one address are one routine; a symbol inside another
// routine is another entry point of it, not a routine; where two overlap
// otherwise the first ends where the second begins. Bytes between routines
// belong to none.
type Routine struct {
	Name string
	Addr uint64
	Size uint64 // bytes
}

// End returns the address after the last byte of r.
func (r Routine) End() uint64 { return r.Addr + r.Size }

// Line is a position in the source.
type Line struct {
	File string
	Line int // from 1
}

// addrLimit is at least the AddressLimit of every target; debugging information
// about higher addresses is ignored.
const addrLimit = 1 << 47

// RoutineAt returns the routine that holds pc, or nil.
func (f *File) RoutineAt(pc uint64) *Routine {
	i := sort.Search(len(f.Routines), func(i int) bool { return f.Routines[i].Addr > pc })
	if i == 0 || pc >= f.Routines[i-1].End() {
		return nil
	}
	return &f.Routines[i-1]
}

// SegmentAt returns the segment that holds addr, or nil.
func (f *File) SegmentAt(addr uint64) *Segment {
	i := sort.Search(len(f.Segments), func(i int) bool { return f.Segments[i].Addr > addr })
	if i == 0 || addr-f.Segments[i-1].Addr >= f.Segments[i-1].MemSize {
		return nil
	}
	return &f.Segments[i-1]
}

// Bytes returns the n bytes of the file that are loaded at addr, without
// copying, or nil if they are not all within the Data of one segment.
func (f *File) Bytes(addr, n uint64) []byte {
	s := f.SegmentAt(addr)
	if s == nil {
		return nil
	}
	off, size := addr-s.Addr, uint64(len(s.Data))
	if off > size || n > size-off {
		return nil
	}
	return slices.Clip(s.Data[off : off+n])
}
