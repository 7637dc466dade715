package kernels

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"presage/perf/fit"
	"presage/perf/iperf"
	"presage/perf/iperf/nest"
	"presage/perf/subject"
)

// BinaryKernel is a kernel that static analysis found in a routine of a program.
// Notes list the parts of the routine that it leaves out.
type BinaryKernel struct {
	*nest.Found
	Program *subject.Program
	Routine string
}

// KernelOf describes the loop nest of a routine for SearchModels, by static
// analysis of the program: trip counts, and of each memory reference its array,
// size, first location and strides. The overlay, which may be nil, supplies what a
// binary lacks: which registers hold the problem's size, and the names of arrays.
// If something is missing still, the error wraps nest.ErrMissing and says how the
// overlay would give it.
func KernelOf(prog *subject.Program, routine string, overlay *iperf.Overlay) (*BinaryKernel, error) {
	s := prog.Structure()
	r, err := s.Routine(routine)
	if err != nil {
		return nil, err
	}
	found, err := nest.Find(s.Access, s.Scopes, r, overlay)
	if err != nil {
		return nil, fmt.Errorf("perf: kernel of %s: %w", routine, err)
	}
	return &BinaryKernel{Found: found, Program: prog, Routine: routine}, nil
}

// ReferenceRow is a memory reference of a kernel, as described and as it stands in
// the binary.
type ReferenceRow struct {
	Array    string `frame:"array"`
	Kind     string `frame:"kind"` // load or store
	Bytes    uint64 `frame:"size_bytes"`
	Offset   string `frame:"offset"`  // formula of the first location, in bytes
	Strides  string `frame:"strides"` // formulas along each loop, in bytes, from the outermost in
	File     string `frame:"file"`
	Line     int    `frame:"line"`
	PC       string `frame:"pc"`
	First    string `frame:"binary_first"`   // first location in the binary's own terms
	InBinary string `frame:"binary_strides"` // strides likewise, from the outermost loop in
	Temporal string `frame:"self_temporal"`  // innermost loop that does not move it; empty if there is none
	Spatial  string `frame:"self_spatial"`   // innermost loop that moves it within a block; empty if there is none
	Group    int    `frame:"group"`          // first reference, from 1, that touches the same blocks: its own number if none before it does
}

// Rows returns a row for each reference of the kernel. Locality is that at a
// problem size, in blocks of blockBytes.
func (k *BinaryKernel) Rows(at subject.Point, blockBytes uint64) ([]ReferenceRow, error) {
	n, err := k.At(fit.Point(at))
	if err != nil {
		return nil, err
	}
	loop := func(l int) string {
		if l < 0 {
			return ""
		}
		return k.Loops[l].Name
	}
	all := k.Program.Structure().Access.All
	var rows []ReferenceRow
	for i, l := range n.Localities(blockBytes) {
		r, ref := &k.References[i], &all[k.Of[i]]
		row := ReferenceRow{
			Array: r.Array, Kind: r.Kind.String(), Bytes: r.Bytes, Offset: r.Offset.String(),
			File: path.Base(ref.File), Line: ref.Line, PC: fmt.Sprintf("%#x", uint64(ref.PC)), First: ref.First.String(),
			Temporal: loop(l.Temporal), Spatial: loop(l.Spatial), Group: l.Group + 1,
		}
		var strides, inBinary []string
		for j, s := range r.Strides {
			strides = append(strides, k.Loops[j].Name+": "+s.String())
		}
		for _, s := range slices.Backward(ref.Strides) {
			inBinary = append(inBinary, s.String())
		}
		row.Strides, row.InBinary = strings.Join(strides, ", "), strings.Join(inBinary, "; ")
		rows = append(rows, row)
	}
	return rows, nil
}
