// Package callpath divides what a run costs by the path of calls that led to it: the
// misses of memcpy go to those who called it. What goes in is a program's run, or a
// model of several; what comes out are accesses and misses by call path, exclusive and
// inclusive, simulated at a size or predicted at any.
//
//	main ─▶ load ─▶ memcpy        1000 misses: 1000 of main and of load
//	 └────▶ sort ─▶ memcpy          20 misses:   20 of main and of sort
//
// The path is kept from the order in which basic blocks are executed, without a look at
// the program's stack: a block that ends in a call pushes a frame with the address after
// it, a block that ends in a return takes the frames off down to the one with the address
// that control arrives at, and a jump to another routine is a tail call, whose caller
// stays in the path. Where control arrives in no such way, it came from a signal, an
// exception, longjmp or code that is not known: see walker.resolve. Each thread has a
// stack of its own.
//
//	block ends in    and control arrives at      the stack
//	call             the target                  + frame
//	return           address of a frame          − the frames down to it
//	jump             another routine             + frame that returns as the last does
//	anything         entry of a routine          + frame without a return address
//	anything         a routine on the stack      − the frames above it
//
// A routine that is in the path already is not entered in it again: recursion is folded,
// paths are finite, and inclusive costs count each access once. Stubs of the procedure
// linkage table are no routines of the path; what they access is their callers'.
//
// Not modelled: calls that a compiler inlined, which are part of their callers, and the
// tail call that a compiler made of a call and a return, of which the path tells, while a
// debugger would not. A thread that carries several stacks, as of goroutines, coroutines
// and signal handlers with their own, has one here: where control goes from one of these
// to another, the path is that of the routine on top, or begins anew.
package callpath
