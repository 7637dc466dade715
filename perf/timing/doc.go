// Package timing predicts execution time, in cycles, from modelled execution counts,
// a schedule for the machine's core and predicted misses; it simulates the core
// instruction by instruction for comparison.
package timing
