// Package pipeline turns the batches of a run into processor cycles: a trace-driven
// timing simulation of a core, in order or out of order, with its caches. It is the
// reference for predicted times.
//
//	fetch ─▶ dispatch ─▶ begin ─────▶ complete ─▶ retire ─▶ (stores) written
//	width    width       operands     latency     width     in order
//	i-cache  window      units        caches      in order  ports
//	branches queues      issue width  TLBs
//	         registers   order        forwarding
//
// # The model
//
// There is no loop over cycles. A single pass over the instructions, in program
// order, assigns to each the cycles in which it is fetched, dispatched, begins,
// completes and retires, each the earliest that every limit allows:
//
//	fetched    after the one before; width; buffer; i-cache; redirection
//	dispatched >= fetched; after the one before; width; a place in the window, in
//	           its queue, among loads or stores, a register
//	begins     >= dispatched; operands complete; unit, issue slot and port free;
//	           in order: >= the one before
//	completes  = begins + latency; of a load, + translation + what the block waits for
//	retires    >= completes; after the one before; width
//
// A limit is a table of when its resource is free again: for the window the cycles
// in which its latest instructions retire, for a unit the cycles in which it is
// busy, for a cache block the cycle in which it arrives. An instruction occupies
// its places in the window and the load queue, and a register, until it retires, a
// place in an issue queue until it begins, and a store its place in the store queue
// until it is written.
//
// Because of the single pass, a resource goes to the instruction that comes first
// in the program. Where instructions hold a unit for one cycle, the result is
// exactly that of a scheduler that issues the oldest ready instructions in each
// cycle; a test compares with one. Where they hold it longer (unpipelined units,
// MSHRs, memory), a processor would let a younger ready instruction go first and
// the older one wait; here the younger one waits, unless it fits in before. Caches
// are looked up in program order too, so that hits and misses are those of package
// cache's exact simulation, whatever the times. For in-order cores neither makes a
// difference. Out of order, over random programs and small caches, cycles were
// found to differ by 0.3% on average, and by up to 20% in runs of a few hundred
// instructions.
//
// Memory: a store requests its block when it begins, and is written in program
// order once it has retired and the block has arrived. If the youngest older store
// to any byte of a load covers all of the load and is not written yet, it forwards
// its value; if it covers only a part, the load waits until the store is written.
// Other loads look for their block level by level. An access to a block in flight
// waits for it, without an MSHR; if it is earlier in time than the access that
// requested the block, it makes the request itself. An MSHR is held from the
// beginning of the access, or from when the access obtains it, until the block
// arrives. A block occupies the level or memory that supplies it for an interval,
// in program order as far as times allow; the levels in between are not occupied.
//
// Control: the outcome of a block's last instruction is known from the block that
// follows. If it was mispredicted, the next block is fetched once the instruction
// has completed and the penalty is over. If the instruction cannot lead to the next
// block (a signal, the edge of a window, code outside the blocks), there is no
// prediction.
//
// # What it does not see
//
// Wrong-path instructions, and their effects on caches, predictors and units;
// memory-order violations and replays (dependences are known beforehand, or
// awaited: see Memory.Conservative); instructions issued speculatively on a load
// hit, and replayed; delayed updates of predictors (they learn at once, in program
// order); fusion, move elimination, and cracking into smaller operations; renaming
// limits other than the number of registers, and write-after-write hazards of
// in-order cores; register-file ports; stalls of fetch groups that cross blocks of
// the instruction cache, instruction TLBs, and instruction prefetching beyond the
// next line; the bandwidth of write-backs between caches, and the time of
// write-through stores; page-table walks through the caches; DRAM banks, pages and
// refreshes; coherence; multiple cores: the threads of a program take turns on one
// core, each with registers and return addresses of its own. System calls take the
// time that Timings say, and the operating system's own instructions are not in the
// trace.
package pipeline
