package objfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
)

// Module is a shared library that a program loads, at a place in the address space
// of a joined file.
type Module struct {
	Name string // of the library, without its folder: the prefix of its routines' names
	Path string // of the file, as the program names it
	Base uint64 // what is added to the addresses of File
	File *File
}

// part says which module holds an address of a joined file.
type part struct {
	*File
	base, end uint64 // addresses of the joined file: [base, end)
}

// Join returns a program with the modules that it loads as one file, in which
// addresses of a module are those in its file plus its Base. The routines of a
// module are called module!routine; other names, and lines, are those of its file.
// What the file says of the whole (Path, Entry, PIE, PHdrAddr, Interpreter) is the
// main executable's; SHA256 is a digest of the parts and their places. Modules holds
// the modules by Base.
//
// Imports that another module defines stay imports. It is an error if parts overlap,
// are for another machine, or are joined files themselves.
func Join(main *File, modules []Module) (*File, error) {
	if len(modules) == 0 {
		return main, nil
	}
	modules = slices.Clone(modules)
	slices.SortFunc(modules, func(a, b Module) int { return cmp.Compare(a.Base, b.Base) })
	j := *main
	out := &j
	out.Modules, out.Segments = modules, slices.Clone(main.Segments)
	out.Sections, out.Routines = slices.Clone(main.Sections), slices.Clone(main.Routines)
	out.Imports = maps.Clone(main.Imports)
	if out.Imports == nil {
		out.Imports = make(map[uint64]string)
	}
	out.parts = []part{{main, 0, main.end()}}
	digest := sha256.New()
	fmt.Fprintln(digest, main.SHA256)
	for i := range modules {
		m := &modules[i]
		if err := out.add(m); err != nil {
			return nil, err
		}
		fmt.Fprintf(digest, "%q %#x %s\n", m.Name, m.Base, m.File.SHA256)
	}
	out.SHA256 = hex.EncodeToString(digest.Sum(nil))
	return out, nil
}

// end returns the first address after the file's segments.
func (f *File) end() uint64 {
	if len(f.Segments) == 0 {
		return 0
	}
	s := &f.Segments[len(f.Segments)-1]
	return s.Addr + s.MemSize
}

// add adds a module behind the parts that there are.
func (f *File) add(m *Module) error {
	last := f.parts[len(f.parts)-1]
	switch {
	case len(f.parts[0].parts) > 0 || len(m.File.parts) > 0:
		return errors.New("objfile: a joined file cannot be a part of another")
	case m.File.Target != f.Target && m.File.Target.Name != f.Target.Name:
		return fmt.Errorf("objfile: module %s is for %s, and the program for %s", m.Name, m.File.Target.Name, f.Target.Name)
	case m.Base < last.end || m.File.end() > f.Target.AddressLimit || m.Base > f.Target.AddressLimit-m.File.end():
		return fmt.Errorf("objfile: module %s at %#x: it overlaps another, or reaches past %#x", m.Name, m.Base, f.Target.AddressLimit)
	}
	for _, s := range m.File.Segments {
		s.Addr += m.Base
		f.Segments = append(f.Segments, s)
	}
	own := f.Segments[len(f.Segments)-len(m.File.Segments):]
	rebase(own, m)
	for _, s := range m.File.Sections {
		s.Addr += m.Base
		f.Sections = append(f.Sections, s)
	}
	for _, r := range m.File.Routines {
		r.Addr += m.Base
		r.Name = m.Name + "!" + r.Name
		f.Routines = append(f.Routines, r)
	}
	for cell, name := range m.File.Imports {
		f.Imports[m.Base+cell] = name
	}
	f.parts = append(f.parts, part{m.File, m.Base, m.Base + m.File.end()})
	return nil
}

// rebase adds a module's base to the cells of its segments that hold addresses of
// its own.
func rebase(segments []Segment, m *Module) {
	copied := make([]bool, len(segments))
	for _, cell := range m.File.relocated {
		old := m.File.word(cell)
		patch(segments, m.Base+cell, m.Base+old, copied)
	}
}

// partAt returns the file that holds pc, and what is added to its addresses: f
// itself unless it is joined.
func (f *File) partAt(pc uint64) (*File, uint64) {
	if len(f.parts) == 0 {
		return f, 0
	}
	i, found := slices.BinarySearchFunc(f.parts, pc, func(p part, pc uint64) int { return cmp.Compare(p.base, pc) })
	if !found {
		i-- // the first has base 0
	}
	return f.parts[i].File, f.parts[i].base
}

// errOf joins the errors of all parts, each with the name of its module.
func (f *File) errOf(of func(*File) error) error {
	if len(f.parts) == 0 {
		return of(f)
	}
	errs := []error{of(f.parts[0].File)}
	for i, p := range f.parts[1:] {
		if err := of(p.File); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", f.Modules[i].Name, err))
		}
	}
	return errors.Join(errs...)
}

// placesOf returns the places of a range of a joined file.
func (f *File) placesOf(from, to uint64) []Place {
	var all []Place
	for i, p := range f.parts {
		next := uint64(math.MaxUint64)
		if i+1 < len(f.parts) {
			next = f.parts[i+1].base
		}
		lo, hi := max(from, p.base), min(to, next)
		if lo >= hi {
			continue
		}
		for _, place := range p.Places(lo-p.base, hi-p.base) {
			place.From, place.To = place.From+p.base, place.To+p.base
			all = append(all, place)
		}
	}
	return all
}
