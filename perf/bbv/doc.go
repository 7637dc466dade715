// Package bbv turns the blocks that a run executed into basic-block vectors,
// one for each interval, and reads and writes them in the .bb format of
// SimPoint 3.2 and of valgrind's exp-bbv.
//
//	blocks executed     A A A B │ A B B B │ B …        blocks of 5 and 10 instructions
//	interval            0       │ 1       │ 2 …
//	vector              A: 15   │ A: 5    │ B: 10 …    instructions executed in each block
//	                    B: 10   │ B: 30   │
//
// An element of a vector is the number of instructions executed in a block
// during an interval: executions times the block's length. Intervals are
// stretches of the program's own time, in instructions over all its threads.
package bbv
