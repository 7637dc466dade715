// Package metasim simulates caches on samples of a run and estimates from them
// the hit rates of each basic block and of the whole program, and the execution
// time. It takes a program's code and an engine.Runner.
//
//	code ─ Collect ─▶ vectors, executions of blocks        (one run)
//	vectors ─ simpoint.Pick ─▶ points ─ Guided ─┐
//	                      Periodic, or Full ────┴▶ Sample
//	sample × hierarchies ─ Simulate ─▶ hits by block        (one run)
//	hits × executions ─ Rates, Program ─▶ hit rates
//	signature × machine profile ─ Convolve ─▶ time
//
// After "How SimPoint Can Improve MetaSim Tracer" (2005), cited below as the
// paper: its samplers by equations (1) to (3), hit rates of blocks by equation
// (4), and the convolver that it describes in section 1.
//
// Between the simulated stretches of a run, the engine runs as fast as without
// tracing.
//
// Hit rates are cumulative: the rate of level 2 is the fraction of a block's
// accesses that hit in level 1 or 2. An access is one execution of a memory
// reference.
//
// Not modelled: several processes, instruction fetches, and everything that
// package cache leaves out.
package metasim
