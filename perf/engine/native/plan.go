//go:build linux && amd64

package native

import (
	"cmp"
	"slices"

	"presage/perf/trace"
)

// index finds the entries of a plan by address. Its plan is never nil.
type index struct{ *trace.Plan }

// refsAt returns the references of the instruction at pc.
func (x index) refsAt(pc trace.PC) (list []trace.Ref, first trace.RefID) {
	i, _ := slices.BinarySearchFunc(x.Refs, pc, func(r trace.Ref, pc trace.PC) int { return cmp.Compare(r.PC, pc) })
	end := i
	for end < len(x.Refs) && x.Refs[end].PC == pc {
		end++
	}
	return x.Refs[i:end], trace.RefID(i)
}

// begins reports whether a planned block begins at pc.
func (x index) begins(pc trace.PC) bool {
	begins, _ := x.blockAt(pc)
	return begins >= 0
}

// blockAt returns the planned block that begins at pc, and the one that contains it;
// -1 for none. A block is taken to extend to the next one.
func (x index) blockAt(pc trace.PC) (begins, contains int32) {
	i, found := slices.BinarySearchFunc(x.Blocks, pc, func(b trace.Block, pc trace.PC) int { return cmp.Compare(b.PC, pc) })
	if found {
		return int32(i), int32(i)
	}
	return -1, int32(i) - 1
}
