// Package cache turns the batches of a run into exact hits and misses of a
// memory hierarchy, in total and for each reference group: the simulated truth
// that predictions are held against.
//
//	access ─┬─▶ L1 ─ miss ─▶ L2 ─ miss ─▶ … memory
//	        └─▶ TLB1 ─ miss ─▶ TLB2 ─ miss ─▶ … page table
//
// What is modelled, and how:
//
//   - A level sees what misses in the level before it, as a read of that
//     level's whole block. An access that lies in several blocks of the level
//     it enters at accesses each of them once, by ascending address.
//   - A reference to floating-point data passes by a level with BypassFloat,
//     straight to the next, as on the Itanium 2 (2005 paper, section 6). A copy
//     that the level holds of the same block stays as it is.
//   - A level with write-back keeps stored-to blocks dirty and writes them back
//     when they are evicted; the victim is written back before the new block is
//     fetched. A write-back marks the block dirty in the level below. It is no
//     demand access: it neither counts as one, nor moves the block in the LRU
//     order, nor brings it in. Where the block is not there it goes on to the
//     next level. So misses do not depend on which accesses are stores, unless
//     a level has NoWriteAllocate or Inclusive.
//   - A level with write-through hands each store on in the same way.
//   - Levels keep their contents independently (neither inclusive nor
//     exclusive), unless Inclusive is set: then an eviction takes the block out
//     of all levels above.
//   - A TLB is a cache of pages: a TLB entry is a block of the memory that it
//     maps (2005 paper, Table 1, footnote 5).
//   - All threads share the hierarchy, in the order of the batches.
//
// Not modelled: time, bandwidth, prefetching, write buffers, instruction
// fetches, page tables in the caches, and physical addresses: sets are indexed
// by virtual address.
package cache
