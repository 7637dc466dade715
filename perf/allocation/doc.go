// Package allocation tells what a program's memory is for. What goes in is an
// executable and, from a run of it, the changes of its memory (trace.MemoryPlan); what
// comes out is the object at an address at that time: a variable, the stack, or an
// allocation site, which is the line of the source that asked for the memory.
//
//	executable ─ Plan ─▶ allocators: malloc, operator new, mmap, …
//	                         │ the engine runs
//	                         ▼
//	changes ─ Table.Apply ─▶ Table ─ At ─▶ variable, stack, alloc main.c:12
//
// The site of an allocation is the innermost caller of the outermost allocator that has
// a line of the source outside the headers of the system: a vector that grows belongs
// to the line that appends to it, what a library without lines allocates to the line
// that called the library. Without any line it is named by a routine.
//
// Memory that was freed belongs to its last site until it is allocated again. So what
// an allocator itself accesses before it returns, such as calloc when it clears memory,
// is still the former owner's, or nobody's. Allocators that a program has of its own
// under other names are not told from what they take.
package allocation
