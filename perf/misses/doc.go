// Package misses fits models of reuse distances over the problem size and predicts
// cache and TLB misses with them, on any machine and at any size; it simulates the
// same exactly, and judges predictions by simulations.
package misses
