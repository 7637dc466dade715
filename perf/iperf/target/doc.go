// Package target turns memory accesses and instruction counts into the time
// that they would take on a machine with an in-order processor: a simulated
// stand-in for the machines whose measured times the IPERF report explains.
//
//	kernel, size ─ Run ─┐
//	                    ├─▶ Processor: clock ─ TLB ─ L1 ─ L2 ─ memory ─▶ seconds
//	batches ─ Collector ┘
//
// The processor issues in order. What is timed:
//
//   - instructions, at a fixed number of cycles each;
//   - a TLB miss, in full: a trap or a walk that everything waits for;
//   - a load that misses in a blocking cache, in full;
//   - a load that misses in a non-blocking first level: the processor goes on
//     until the loaded value is used, UseCycles later, or until another load
//     misses, or needs a block that is still on its way (the report's section
//     3.1.5: one request at a time, hits go on under it);
//   - stores, through a buffer that drains in order, a cycle each and what a miss
//     in a level behind the first takes: the processor waits only if it is full.
//
// Caches are LRU, with sub-blocks fetched one by one, and with sets from the
// program's addresses or from placed pages: each anywhere, or in the order of first
// touch in fragments of free memory. Package perf/cache counts
// misses of such hierarchies without time and without sub-blocks; package
// perf/pipeline times single instructions, without sub-blocks and physical
// addresses, and at a tenth of the speed.
//
// Not modelled: instruction fetches, bandwidth between caches, write-backs of
// dirty blocks, refresh, other programs, and page faults.
package target
