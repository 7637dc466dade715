// Package synth finds what cache misses and mispredicted branches cost a processor in
// a run that was never made: it walks at random through the control flow of a program,
// by frequencies of blocks and edges, gives each access and each branch an outcome, by
// the shares that miss or are mispredicted, and lets package pipeline execute the walk.
//
// It is statistical simulation, after S. Nussbaum and J. E. Smith, "Modeling
// Superscalar Processors via Statistical Simulation" (PACT 2001), and L. Eeckhout and
// K. De Bosschere, "Hybrid Analytical-Statistical Modeling for Efficiently Exploring
// Architecture and Workload Design Spaces" (PACT 2001), with the program's own code
// and dependences instead of distributions of them.
//
//	frequencies ─▶ start in proportion to execution ─▶ stretches of blocks ─┐
//	shares that miss ─▶ the level that serves each access ──────────────────┼─▶ pipeline ─▶ cycles by block
//	shares mispredicted ─▶ which transfers were foreseen ───────────────────┘
//
// A stretch is a few thousand instructions from a block chosen in proportion to the
// time it is executed, of which the first are simulated and not counted. At a branch
// the next block is drawn by the frequencies of the edges; a loop whose trips follow
// from its own counter makes as many as its mean each time. Calls lead into routines,
// and back. The same walk is executed with and without misses and mispredictions, so
// that differences between the times have little noise.
//
// What the model has no frequencies of is not in a walk: how outcomes of different
// branches hang together, and how misses do. The misses of a reference are spread
// evenly over its executions; in a walk through memory, later accesses wait for the
// block that the latest miss brings in. Loads wait for the stores that the static
// analysis found them to depend on, and for no others.
package synth
