// Package machine reads machine descriptions, one commented YAML file for each
// machine with a unit and a source for every number, into validated Machines.
package machine

import (
	"slices"

	"presage/perf/cache"
)

// Bytes is an amount of memory.
type Bytes uint64

// Cycles is a time in processor cycles.
type Cycles float64

// Hertz is a frequency.
type Hertz float64

// Rate is a bandwidth in bytes per cycle.
type Rate float64

// Machine describes a processor and its memory hierarchy as far as predictions
// need it. A latency, penalty or frequency of 0 is not known.
type Machine struct {
	Name      string // short, as in commands: the file's name without .yaml
	Title     string // for people
	Processor string
	Frequency Hertz
	Core      Core

	Caches []Cache // for data, unified ones included, from the processor to memory
	TLBs   []TLB   // for data; a TLB after the first is asked when that misses
	Memory Memory
	// Prefetchers are not part of Hierarchy: see Prefetching.
	Prefetchers []Prefetcher
	// Exposures are the exposed shares of latencies; a level without one is
	// fully exposed.
	Exposures []Exposure

	Notes   string            // what a user should know about the description
	Sources map[string]string // what the short names of sources stand for

	Path string // of the file
}

// Cache is a level of cache. Its latency is that of a load that hits in it, its
// bandwidth what a core reads from it at most; 0: not known.
type Cache struct {
	cache.Level
	Latency   Cycles
	Bandwidth Rate
	Source    []string
}

// Capacity returns the cache's size.
func (c *Cache) Capacity() Bytes { return Bytes(c.Blocks * c.BlockBytes) }

// Sets returns the number of sets: 1 if the cache is fully associative.
func (c *Cache) Sets() uint64 { return sets(c.Blocks, c.Ways) }

// TLB is a translation buffer. MissPenalty is the cost of a miss.
type TLB struct {
	cache.TLB
	MissPenalty Cycles

	// Walks is the number of misses that hardware serves at a time while the core
	// continues; 0: the core waits for each, as where software refills the TLB.
	Walks int

	Source []string
}

// Sets returns the number of sets: 1 if the TLB is fully associative.
func (t *TLB) Sets() uint64 { return sets(t.Entries, t.Ways) }

func sets(blocks uint64, ways int) uint64 {
	if ways == 0 {
		return 1
	}
	return blocks / uint64(ways)
}

// Memory is the level behind the last cache.
type Memory struct {
	// RestartLatency is the latency of an isolated load, BackToBackLatency that
	// of one in a sequence of misses.
	RestartLatency, BackToBackLatency Cycles

	// StreamLatency is the exposed latency of a load from memory after the
	// blocks before it were read in ascending order: what hardware prefetching
	// leaves. As each such load fetches a block, memory serves blocks at least
	// at this interval.
	StreamLatency Cycles

	// OutstandingMisses is the number of loads that can wait for memory at
	// once.
	OutstandingMisses int

	// Bandwidth is what one core reads from memory at most.
	Bandwidth Rate

	Source []string
}

// Hierarchy returns the caches and TLBs as a configuration for exact
// simulation.
func (m *Machine) Hierarchy() cache.Config {
	var c cache.Config
	for i := range m.Caches {
		c.Levels = append(c.Levels, m.Caches[i].Level)
	}
	for i := range m.TLBs {
		c.TLBs = append(c.TLBs, m.TLBs[i].TLB)
	}
	return c
}

// BlockBytes returns the block sizes, ascending, whose reuse distances are
// needed to predict all of the machine's caches and TLBs.
func (m *Machine) BlockBytes() []uint64 {
	var sizes []uint64
	for i := range m.Caches {
		sizes = append(sizes, m.Caches[i].BlockBytes)
	}
	for i := range m.TLBs {
		sizes = append(sizes, m.TLBs[i].EntryBytes)
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}
