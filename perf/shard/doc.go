// Package shard turns the batches of a run into characteristics of its shards,
// stretches of equal numbers of instructions: what the program does, whatever
// the machine.
//
//	instructions   ├──── shard 0 ────┼──── shard 1 ────┼── …
//	counted        mix of classes, taken branches
//	distances      between accesses to one block of data or code;
//	               from a producer to its first consumer
//
// The thirteen characteristics are those of Table 1 of Wu and Lee, "Inferred
// Models for Dynamic and Sparse Hardware-Software Spaces" (MICRO 2012), cited below as
// 2012. Its "re-use distance" is, according to its footnote, the number of instructions
// between two accesses to a block: a reuse time, not the reuse distance of package
// reuse.
//
// A shard starts without history: its first access to a block has no distance, and a
// value from an earlier shard has no producer. So a shard's characteristics are the
// same whether or not the run before it was seen. Caches and Stacks are the exceptions:
// they count misses in caches of all geometries, and the reuse distances of package reuse,
// which depend on the run before.
//
// Not modelled: values that pass through memory, and instructions outside the
// plan's blocks.
package shard
