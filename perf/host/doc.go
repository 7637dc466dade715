// Package host measures the machine that it runs on, in seconds and in pure Go,
// into a Profile: the latency of loads against the size of the working set, the
// reach of the TLBs, bandwidths, misses in flight, what basic operations cost.
// From a Profile it makes a machine description, and it times native programs.
//
// A Profile is what the MetaSim papers call a machine profile: rates at which a
// machine does fundamental operations, found by benchmarks and independent of
// any application (metasim2005, section 1).
//
// # How a number is found
//
// Everything is timed with the wall clock in slices of a few milliseconds, many
// times. Disturbance (another process, a hypervisor, an interrupt) only ever
// adds time, so the least time is the estimate; the median and the spread,
// (most - least) / median, say how disturbed it was.
//
// Load latency is that of a pointer chase: the lines of a working set, linked in
// random order into one cycle, so that each load waits for the one before and no
// prefetcher guesses the next address. As the working set grows the latency
// rises in steps:
//
//	ns  |                            ______  memory
//	    |                 __________/
//	    |      __________/            level 3
//	    |_____/   level 2
//	    | level 1
//	    +------|---------|---------|------- working set
//	         capacity of each level
//
// In ascending order the same chase shows what fetching ahead leaves of the
// latency of memory.
//
// Up to how many iterations the end of a loop is foreseen shows in loops of a
// fixed number of them: from some number on they take a wrong guess longer than
// their iterations do.
//
// Cycles come from a chain of dependent integer additions, assumed to take one
// cycle each: true of every core that is described under machines/. They are
// cycles of the clock as it ran, which is not the nominal frequency.
//
// # What is not measured
//
// Replacement and write policies, inclusion, instruction caches, the sizes of
// queues and register files, the branch predictor (only what a wrong guess
// costs, and which ends of loops with one branch are foreseen), what prefetchers
// leave of other patterns than lines in order, vector units. Memory latency and bandwidth are those of one core, and
// of a shared cache a neighbour's share is missing.
package host
