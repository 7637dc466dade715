package reuse

import (
	"golang.org/x/sys/cpu"

	"presage/perf/trace"
)

// stay is stayPlain, four accesses at a time where the processor can.
func (k *stack) stay(accesses []trace.Access, block uint64) int {
	if !cpu.X86.HasAVX2 {
		return k.stayPlain(accesses, block)
	}
	return stayVector(accesses, block<<(k.shift&63), 1<<(k.shift&63), k.stayed)
}

// stayVector counts accesses to the block of so many bytes at base, by reference. It
// ends before one that touches another, or whose reference is not in the list.
//
//go:noescape
func stayVector(accesses []trace.Access, base, bytes uint64, stayed []uint64) int
