// Package ptmalloc gives the addresses that the malloc of the GNU C library gives to a
// program of one thread: what goes in is the requests, in order; what comes out is where
// each lies.
//
//	New(layout) ─▶ Heap ── Malloc(48) ──▶ 0x842a0
//	                    ── Free(0x842a0)
//	                    ── Malloc(40) ──▶ 0x842a0, from the thread's cache
//	                    ── Malloc(1<<20) ▶ 0x3fffefe010, a mapping
//
// It follows glibc 2.26 to 2.39 (malloc/malloc.c), with its defaults: caches of the thread,
// fast, small, large and unsorted bins, the top of the heap, mappings above a threshold that
// grows when such are freed, trimming. What is used where no model is wanted is a run;
// package replay holds the model against all addresses of its runs before it trusts it.
//
// Not modelled: threads, tunables, other allocators, and the program's own calls of brk.
package ptmalloc
