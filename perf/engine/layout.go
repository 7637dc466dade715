package engine

import "presage/perf/objfile"

// A Placer is an engine that knows where it will place the memory of a program.
type Placer interface {
	Engine

	// Layout returns where a Run of f under r places memory. The error is that of
	// Run for a Request or an executable that it refuses.
	Layout(f *objfile.File, r Request) (Layout, error)
}

// Layout is where the memory of a program is, in the addresses of the accesses
// recorded. The ranges are disjoint, and larger than what a program mostly uses.
type Layout struct {
	Bias     uint64 // what is added to the addresses of the file
	Heap     Range  // what brk gives
	Mappings Range  // what mmap gives, with the stacks of other threads
	Stack    Range  // of the first thread, with its arguments and environment
}

// Range is the addresses from Lo to below Hi.
type Range struct{ Lo, Hi uint64 }
