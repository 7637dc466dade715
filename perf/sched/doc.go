// Package sched predicts how long code takes if every access hits in the
// first-level cache: from control-flow graphs with execution frequencies, the
// dependences of instructions and the description of a core it computes cycles by
// path, loop, routine and program, and names what limits each path.
//
// After Marin and Mellor-Crummey, "Cross-Architecture Performance Predictions
// for Scientific Applications Using Parameterized Models" (SIGMETRICS 2004),
// sections 2.4 and 3.2; the result is the "Scheduler latency" of their Figure 7.
// Frequencies may be counted in a run, or come from models for sizes that were
// never run.
//
// # Paths
//
// A routine is decomposed into paths, one loop level at a time from the inside
// out, with each inner loop collapsed to a node of the enclosing level. For
//
//	for i { a; for j { if p { b } else { c } }; d }
//
// they are: b and c closing the inner loop, b and c leaving it (by whichever
// edges were counted), a·loop·d closing the outer one or leaving it. See Paths.
//
// A path is cut into segments at calls and inner loops: nothing overlaps across
// them, but for the entries of an innermost loop (below). An uncut path that closes
// an innermost loop is scheduled with the loop-carried dependences, as if it were the
// loop's only path.
//
// # Schedules
//
// By default the core executes the binary at hand. A segment is executed
// repeatedly, in order or out of order as Core says, until each execution takes
// the same time; that time is the segment's. Out of order, the window, the queues
// and the rename registers bound the overlap, so that Little's law holds: in a
// window of W, a loop of n instructions whose chains take L cycles needs at least
// about L·n/W cycles per iteration (half of that if the chains are as long as the
// window, since an iteration moves in while the one before moves out). A segment
// that is not an iteration is surrounded by independent copies of itself, so that
// an out-of-order core overlaps it with its surroundings as far as the window
// reaches.
//
// Where a recurrence limits an innermost loop and starts anew at each entry, such as
// the sum of a row, an out-of-order core executes iterations of successive entries at
// once. Entries with the mean number of iterations are then simulated, one after the
// other, with the code around the loop; that takes a path of the next loop outward
// without calls and other loops.
//
// With Options.Reschedule, instructions are put in the best order found for the
// core, as its compiler could have done: the paper's way to predict a machine
// other than the compiler's target. Straight-line segments are list-scheduled, and
// take the time until their last instruction begins; iterations are
// modulo-scheduled, and take their initiation interval.
//
// # What is not modelled
//
// Cache misses and branch mispredictions; the bubble after a taken branch;
// bypasses whose delay depends on the consumer; cracked and fused operations; the
// filling and draining of other loops, entries of different lengths, and the mixing of
// a loop's paths; bank conflicts, and
// stores that forward only to some loads. Every written register is renamed.
// Dependences through memory are those that package access finds; dependences
// across a cut are not known.
package sched
