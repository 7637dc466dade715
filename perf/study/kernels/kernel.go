package kernels

import (
	"fmt"
	"path"
	"presage/perf/fit"
	"presage/perf/frame"
	"presage/perf/iperf"
	"presage/perf/iperf/nest"
	"presage/perf/subject"
	"slices"
	"strings"

	"github.com/go-gota/gota/dataframe"
)

// BinaryKernel is a kernel that static analysis found in a program. Notes say
// what of the routine it leaves out.
type BinaryKernel struct {
	*nest.Found
	Program *subject.Program
	Routine string
}

// KernelOf describes the loop nest of a routine for SearchModels, by static
// analysis of the program: trip counts, and of each memory reference its array,
// size, first location and strides. The overlay, which may be nil, says what no
// binary tells: which registers hold the problem's size, and what arrays are
// called. What else the binary does not tell is an error that wraps
// nest.ErrMissing and says how the overlay would give it.
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

// Frame returns a row for each reference of the kernel:
//
//   - array, kind, size_bytes, offset: as in the kernel
//   - strides: along each loop, from the outermost in, in bytes
//   - file, line, pc, binary_first, binary_strides: the instruction and its
//     formulas in the binary's own terms; strides from the outermost loop in
//   - self_temporal, self_spatial: the innermost loop that does not move it, or
//     that moves it within a block; missing if there is none
//   - group: the first reference, from 1, that touches the same blocks: its own
//     number if none before it does
//
// Locality is that at a problem size in blocks of so many bytes.
func (k *BinaryKernel) Frame(at subject.Point, blockBytes uint64) (dataframe.DataFrame, error) {
	type row struct {
		Array    string `frame:"array"`
		Kind     string `frame:"kind"`
		Bytes    uint64 `frame:"size_bytes"`
		Offset   string `frame:"offset"`
		Strides  string `frame:"strides"`
		File     string `frame:"file"`
		Line     int    `frame:"line"`
		PC       string `frame:"pc"`
		First    string `frame:"binary_first"`
		InBinary string `frame:"binary_strides"`
		Temporal string `frame:"self_temporal"`
		Spatial  string `frame:"self_spatial"`
		Group    int    `frame:"group"`
	}
	n, err := k.At(fit.Point(at))
	if err != nil {
		return dataframe.DataFrame{}, err
	}
	loop := func(l int) string {
		if l < 0 {
			return ""
		}
		return k.Loops[l].Name
	}
	all := k.Program.Structure().Access.All
	var rows []row
	for i, l := range n.Localities(blockBytes) {
		r, ref := &k.References[i], &all[k.Of[i]]
		out := row{
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
		out.Strides, out.InBinary = strings.Join(strides, ", "), strings.Join(inBinary, "; ")
		rows = append(rows, out)
	}
	return frame.Of(rows), nil
}
