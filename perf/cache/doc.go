// Package cache turns the batches of a run into exact hits and misses of a
// memory hierarchy, in total and for each reference group: the simulated truth
// against which predictions are judged.
//
//	access ─┬─▶ L1 ─ miss ─▶ L2 ─ miss ─▶ … memory
//	        └─▶ TLB1 ─ miss ─▶ TLB2 ─ miss ─▶ … page table
//
// What is modelled, and how:
//
//   - A level sees the misses of the level before it, as reads of that level's
//     whole blocks. An access that spans several blocks of the level where it
//     enters accesses each of them once, by ascending address.
//   - References to floating-point data skip a level with BypassFloat, as on
//     the Itanium 2 (2005 paper, section 6). A copy of the block that the level
//     holds is unaffected.
//   - A write-back level marks blocks dirty on stores and writes them back when
//     they are evicted; the victim is written back before the new block is
//     fetched. A write-back marks the block dirty in the level below. It is not
//     a demand access: it is not counted as one, does not change the LRU order,
//     and does not fetch the block. If the block is absent, it goes on to the
//     next level. So misses do not depend on which accesses are stores, unless
//     a level has NoWriteAllocate or Inclusive.
//   - A write-through level passes each store on in the same way.
//   - Levels are independent (neither inclusive nor exclusive), unless
//     Inclusive is set: then an eviction invalidates the block in all levels
//     above.
//   - A level whose Filling is Exclusive or Victims has what the level above
//     evicts, dirty or not. It is asked for the block that missed above before
//     it takes the evicted one. An exclusive level gives the block away, with
//     the duty to write it back; the other keeps a copy as its latest block.
//   - Prefetchers, if asked for, bring blocks into levels that are filled on
//     misses: see Prefetching. Time is the number of accesses of the program, or that
//     of a Clock.
//     TLBs see no prefetches, which do not leave a page.
//   - A TLB is a cache of pages: an entry is a block of the memory that it maps
//     (2005 paper, Table 1, footnote 5).
//   - All threads share the hierarchy, in the order of the batches.
//
// Not modelled: time, bandwidth, write buffers, instruction fetches, page
// tables in the caches, and prefetchers unless the hierarchy has some. Sets are indexed by virtual address,
// or by a random placement of pages: see Level.PageBytes.
package cache
