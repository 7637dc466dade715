// Package replay learns a program's loop nests from runs of small sizes and
// generates, as ordinary batches, the trace of a run at a size that was never run.
//
//	runs ─ Collector ─▶ Run, Run, Run ─ Fit ─▶ Program ─ At(n) ─▶ Replay ─▶ batches
//	                                                     │
//	                          first part of the real run ┘
//
// A trace need not be searched for loops: the control-flow graph has them. A
// position is a Place, which is a basic block in a calling context, and an
// iteration vector: one counter for each loop around the block, those of the
// callers first. For
//
//	for (i = 0; i < n; i++)         place of the body:   depth 2, vector (i, j)
//	  for (j = 0; j < i; j++)       address of a load:   A + 8n·i + 8·j
//	    s += a[i*n+j];              branch at its end:   repeats while j ≤ i-2
//
// each address and each bound of a branch is an affine function of the vector,
// whose coefficients are polynomials of n. The Collector finds the functions
// while the program runs, with a state that does not grow with the run; Fit
// finds the polynomials in exact rational arithmetic; a Program replayed at a
// size that was run must give the trace of that run, which hashes of the
// addresses and branches of each place verify.
//
// Where one affine function is not enough there is one for each residue class,
// modulo 2, 4 or 8, of an index or of the sum or difference of two (unrolled
// loops), or a function of the number of executions since an outer loop went on
// (compressed rows). A bound, or an address, may be the least or greatest of up to four
// affine functions: min(T, n-T·j) iterations of a tile, max(1, T·j-t) for the first row
// of one that leans. Bounds of that kind are found from the points of all runs together,
// with the size as one more variable, as each run has one last tile; those of addresses,
// too, where one run does not show them; and the number of
// tiles is a quotient, rounded down, by a size of tiles that addresses show. It is known
// at a size if all quotients that agree with the runs are the same there: sizes of
// training should have several remainders. Where borders are periodic, addresses jump by
// a row or a plane at the first or last steps of loops: they are sums of functions of one
// index each, affine but for up to four jumps, at steps and by amounts that are
// polynomials of the size; one sum for each value of an index that has up to 32, such as
// the direction of a lattice, if need be. Coefficients are polynomials over all sizes or over those
// of n's residue class. What fits none of these is irregular: it is replayed by
// drawing addresses from the range that was seen, where steps of inner loops or first
// addresses that are regular do not say more (see Drift), and branches by frequency,
// and is never certified. A branch that depends on data spoils only what it decides
// about, see Certificate: the rest of a factorisation with pivoting is replayed.
//
// Where addresses are computed from numbers in memory, such as lists of the nodes of elements
// or the columns of a sparse matrix, they are functions of the iteration vector at which these
// were stored, or of how often places had been executed by then; and so are the ends of loops
// over compressed rows. Replays keep, of each word that such a number was stored in, when that
// was: see indirect and endNumbers. A branch may depend on the sum or difference of two indices.
//
// A program that is compiled anew for each size has runs of different executables.
// Code.Translate joins them where routines have the same control flow, whatever the
// order of blocks and the blocks that only pass on from one to another, though not
// always the same references: a compiler keeps other registers in memory for
// another size. Addresses in the image are relative to variables then, by their
// names. Shared libraries are the same file in all runs: their blocks correspond by where they
// stand in it, and those that only some runs executed were executed zero times in the
// others. What is replayed is best an executable of the size itself, of which only the
// start is run; static analysis of its code proves what that does not show.
//
// An instruction that accesses a number of elements that varies, such as rep movs or a
// gather, is a loop over these: see cfg.Program.Elements.
//
// Addresses outside the image are relative to the stack's start or to the lowest
// address of the data that overlap with them, an allocation. What overlaps at some sizes,
// and at others lies apart at no function of the size, are two: memory is given out again.
// Where allocations lie at the new size is read off the first part of a real run there, which
// also checks every function that is evaluated in it: from the first access to them, or,
// before there is one, from what malloc writes in front of them (see Anchor). See
// Certificate for what makes a scope's counts trustworthy.
//
// Memory that a program gives back and asks for again lies where the allocator puts it. Its
// addresses are learned from where a block begins, and its place at the new size is that of
// a model of the C library's malloc, which must have all addresses of the runs: see memory.go.
//
// What threads other than the first do is left out, if it is little, and so is what the signals
// of Go's runtime interrupt the first for: see elsewhere. Go's large objects lie where its
// allocator says.
//
// Of a program with shared libraries, the engine tells where each file was loaded, which
// parts its data from the stack and from allocations. Returns to another place than that
// after the call, as of longjmp, exceptions and dynamic linkers, are followed to the caller
// that has the place, or as jumps.
//
// Not modelled: borders that wrap where a sum of indices does, along diagonals; tiles
// within tiles; numbers in memory that are computed from others, or in executables of one size each; unrolled tiles of which the last is too short, at some sizes, for the
// unrolled loop to be entered; tiles whose loops a compiler leaves in two places, each with
// a bound of its own; executables of which a routine has another control flow than in the
// rest; threads that share the work, handlers of signals other than those of Go's runtime,
// recursion, more than one parameter.
package replay
