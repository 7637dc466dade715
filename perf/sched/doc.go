// Package sched predicts how long code takes if every access hits in the first
// level of cache: in go control-flow graphs with execution frequencies, the
// dependences of instructions and the description of a core, out come cycles by
// path, loop, routine and program, and for each path what it is that limits it.
//
// After Marin and Mellor-Crummey, "Cross-Architecture Performance Predictions
// for Scientific Applications Using Parameterized Models" (SIGMETRICS 2004),
// sections 2.4 and 3.2; what comes out is the "Scheduler latency" of their
// Figure 7. Frequencies may be counted in a run or come from models, for sizes
// that were never run.
//
// # Paths
//
// A routine is taken apart into paths, loop level by loop level from the inside
// out, an inner loop collapsed to a node of the level around it. Of
//
//	for i { a; for j { if p { b } else { c } }; d }
//
// they are: b and c closing the inner loop, b and c leaving it (by whichever
// edges were counted), a·loop·d closing the outer one or leaving it. See Paths.
//
// A path is cut into segments at calls and inner loops: nothing overlaps across
// them. One that closes an innermost loop and is not cut is scheduled with the
// dependences that the loop carries, as if it were the loop's only path.
//
// # Schedules
//
// By default the core executes the binary at hand. Many executions of a segment
// follow each other in program order, in order or out of order, as Core says,
// until they take the same time each; that time is the segment's. Out of order,
// the window, the queues and the registers for results bound what overlaps, so
// that Little's law holds: a loop of n instructions whose chains take L cycles
// takes, in a window of W, something like L·n/W cycles an iteration at least
// (half of that where the chains are as long as the window, since an iteration
// moves in while the one before moves out). A segment that is no iteration is
// surrounded by independent copies of itself, so that an out-of-order core
// overlaps it with its surroundings as far as the window reaches.
//
// With Options.Reschedule, instructions are put in the best order found for the
// core, as its compiler could have done: the paper's way to predict another
// machine than the one compiled for. Straight segments are list-scheduled, and
// take the time until their last instruction begins; iterations are modulo-
// scheduled, and take their initiation interval.
//
// # What is not modelled
//
// Misses of caches and predictors; the bubble after a taken branch; bypasses
// whose delay depends on what uses a result; operations that are cracked or
// fused; a loop's filling and draining, and mixing of its paths; conflicts of
// banks, and stores that forward only to some loads. Every register that is
// written has a new name. Dependences through memory are what package access
// finds, and nothing is known of those that cross a cut.
package sched
