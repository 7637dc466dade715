// Package metasim simulates caches on a part of a run, and says from that how
// often each basic block, and the whole program, hits, and how long it takes:
// a program's code and a way to run it go in, hit rates and times come out.
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
// Between the stretches of a run that are simulated, the engine runs as fast as
// without tracing.
//
// Hit rates are cumulative: of level 2, the share of a block's accesses that
// hit in level 1 or 2. An access is one execution of a memory reference.
//
// Not modelled: several processes, instruction fetches, and whatever package
// cache does not model.
package metasim
