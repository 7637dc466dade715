// Package spmv tunes sparse matrix-vector multiplication, y = y + A·x, together
// with the caches it runs on: the case study of Wu and Lee, "Inferred Models
// for Dynamic and Sparse Hardware-Software Spaces" (MICRO 2012), section 5,
// cited below as 2012. It takes a matrix and returns block sizes and caches
// with their performance and power, simulated and predicted.
//
//	Matrix Market file ─▶ Matrix ─┬─ Fill: fill ratio of 64 block sizes
//	stand-in of Table 4 ─▶        └─ Blocks: BCSR r×c ─┬─ Multiply, natively
//	                                                   └─ Simulate: references of the
//	                                                      kernel × many caches
//	samples ─▶ Model (performance, power) ─▶ tuning: application, architecture, both
//
// Blocked compressed sparse rows (BCSR) with 2×2 blocks, as in Figure 11 of the
// paper, of a matrix of 4×6:
//
//	a00 a01  .   .   .   .
//	a10 a11  .   .  a14 a15     start  0 2 4
//	 .   .  a22  .  a24 a25     column 0 4 2 4
//	 .   .   .  a33 a34 a35     value  a00 a01 a10 a11  0 0 a14 a15  a22 0 0 a33  a24 a25 a34 a35
//
// Rows of blocks begin at multiples of r and blocks at multiples of c, as
// OSKI's do by default. Not modelled: unaligned blocks, several block sizes in
// one matrix, symmetry (both halves are stored), and multiple vectors.
package spmv
