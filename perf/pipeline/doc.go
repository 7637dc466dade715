// Package pipeline turns the batches of a run into processor cycles: a
// trace-driven timing simulation of a core, in order or out of order, with its
// caches. It is the simulated reference that predicted times are held against.
//
//	fetch ─▶ dispatch ─▶ begin ─────▶ complete ─▶ retire ─▶ (stores) written
//	width    width       operands     latency     width     in order
//	i-cache  window      units        caches      in order  ports
//	branches queues      issue width  TLBs
//	         registers   order        forwarding
//
// # The model
//
// There is no loop over cycles. The instructions are gone through once, in
// program order, and each gets the cycles in which it is fetched, dispatched,
// begins, completes and retires, each the earliest that every limit allows:
//
//	fetched    after the one before; width; buffer; i-cache; redirection
//	dispatched >= fetched; after the one before; width; a place in the window, in
//	           its queue, among loads or stores, a register
//	begins     >= dispatched; operands complete; unit, issue slot and port free;
//	           in order: >= the one before
//	completes  = begins + latency; of a load, + translation + what the block waits for
//	retires    >= completes; after the one before; width
//
// A limit is a table of when its resource is free again: the window the cycles
// in which its latest instructions retire, a unit the cycles in which it is
// taken, a cache block the cycle in which it arrives. An instruction occupies
// its place in the window, among loads, and a register up to the cycle in which
// it retires, in a queue up to that in which it begins, and a store its place up
// to the cycle in which it is written.
//
// As nothing is looked at twice, a resource goes to the instruction that is
// first in the program. Where instructions hold a unit for one cycle, that is
// what a scheduler does that begins the oldest ready instructions in each
// cycle, exactly; a test compares with one. Where they hold it longer (units
// that are not pipelined, MSHRs, memory), a processor would let a younger one
// that is ready go first, and the older one wait; here the younger one waits,
// unless it can be served before. And caches are looked up in program order, so
// that hits and misses are those of package cache's exact simulation, whatever
// the times. In order neither makes a difference. Out of order, over random
// programs and small caches, cycles were found to differ by 0.3% in the mean,
// and by up to 20% in runs of a few hundred instructions.
//
// Memory: a store asks for its block when it begins, and is written in program
// order once it retired and the block is there. A load whose bytes the youngest
// older store to any of them writes all, and that is not written yet, gets its
// value from it; one that overlaps with it in part waits until it is written.
// Other loads look for their block level by level. An access to a block that is
// under way waits for it, without an MSHR; if it comes before the access that
// asked, by time, it asks itself. An MSHR is held from when the access begins,
// or gets it, until the block is there. A block that comes from a level, or
// from memory, occupies that for an interval, in the order of the program as
// far as times allow; levels in between are not occupied.
//
// Control: the outcome of the last instruction of a block is known from the
// block that follows. What was predicted otherwise is fetched once the
// instruction completed and the penalty is over. Where the next block is none
// that the instruction can lead to (a signal, a window's edge, code that is not
// among the blocks), there is no prediction.
//
// # What it does not see
//
// Instructions that are fetched on the wrong path, and what they do to caches,
// predictors and units; loads that run ahead of a store that they depend on and
// are repeated (dependences are known beforehand, or awaited: see
// Memory.Conservative); instructions begun on the guess that a load hits, and
// repeated; predictors that learn late (they learn at once, in program order);
// fusion, elimination of moves, and splitting into smaller operations; renaming
// limits other than the number of registers, and hazards of in-order cores
// between writes to one register; limits on the reads and writes of registers;
// stalls of a fetch group that crosses blocks of the instruction cache, its
// translation, and instruction prefetching beyond the next line; write-backs on
// the way between caches, and the time of stores that are written through;
// page tables in the caches; banks, pages and refreshes of DRAM; coherence; a
// second core: the threads of a program take turns on one, each with registers
// and return addresses of its own. System calls take what Timings say, and the
// operating system's own instructions are not in the trace.
package pipeline
