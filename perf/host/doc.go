// Package host measures the machine that it runs on, in seconds and in pure Go,
// into a Profile: load latency by size of the working set, the reach of the
// TLBs, bandwidths, misses in flight, and the cost of basic operations. It
// turns a Profile into a machine description, and times native programs.
//
// A Profile is what the MetaSim papers call a machine profile: the rates of a
// machine's fundamental operations, found by benchmarks and independent of any
// application (metasim2005, section 1).
//
// # How a number is found
//
// Everything is timed with the wall clock in slices of a few milliseconds, many
// times. Disturbance (another process, a hypervisor, an interrupt) only adds
// time, so the minimum is the estimate; the median and the spread, (most -
// least) / median, show the disturbance.
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
// In ascending order the same chase shows the part of the latency of memory
// that prefetching leaves exposed.
//
// Loops with a fixed number of iterations show up to which number their end is
// predicted: beyond it they take a misprediction longer than their iterations.
//
// A branch that follows a pattern of random directions again and again shows how long a
// pattern is learned: beyond that half of it is guessed wrong.
//
// Cycles come from a chain of dependent integer additions, assumed to take one
// cycle each: true of every core described under machines/. They are cycles of
// the actual clock, not of the nominal frequency.
//
// # What is not measured
//
// Replacement and write policies, inclusion, instruction caches, the sizes of
// queues and register files, the branch predictor (except the cost of a
// misprediction, which ends of loops with one branch are predicted, and how long a
// pattern of one branch is learned),
// prefetching of other patterns than ascending lines, vector units. Memory
// latency and bandwidth are those of one core; a neighbour's share of a shared
// cache is not available.
package host
