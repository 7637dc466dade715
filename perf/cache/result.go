package cache

import (
	"slices"
)

// Counts counts the events at a level. Hits are Accesses - Misses.
type Counts struct {
	// Accesses are demand accesses, one for each block touched.
	Accesses uint64

	// Misses are accesses to blocks that the level did not hold. Cold counts
	// those that were the first demand ever, by any group, for the block at
	// this level. The others are capacity or conflict misses, or follow an
	// invalidation by an inclusive level below.
	Misses, Cold uint64

	// Writebacks are dirty blocks evicted from the level, counted for the group
	// whose access evicted them.
	Writebacks uint64

	// PassedWrites are writes from the level above, in pieces no larger than a
	// block of either level, that went on to the next level because this one
	// did not hold the block or is write-through.
	PassedWrites uint64
}

func (c *Counts) add(o Counts) {
	c.Accesses += o.Accesses
	c.Misses += o.Misses
	c.Cold += o.Cold
	c.Writebacks += o.Writebacks
	c.PassedWrites += o.PassedWrites
}

// addTimes adds n times what was counted from one time to another.
func (c *Counts) addTimes(to, from Counts, n uint64) {
	c.Accesses += n * (to.Accesses - from.Accesses)
	c.Misses += n * (to.Misses - from.Misses)
	c.Cold += n * (to.Cold - from.Cold)
	c.Writebacks += n * (to.Writebacks - from.Writebacks)
	c.PassedWrites += n * (to.PassedWrites - from.PassedWrites)
}

// LevelResult holds the counts of a level or TLB.
type LevelResult struct {
	Name   string
	Total  Counts
	Groups []Counts // by trace.GroupID

	// Prefetched are the prefetches that the level did not hold, in total and by
	// group; nil without prefetching, and for TLBs.
	Prefetched       *Prefetches  `json:",omitempty"`
	PrefetchedGroups []Prefetches `json:",omitempty"`
}

// Result holds the counts of all levels and TLBs, in the order of the
// configuration.
type Result struct {
	Config Config
	Levels []LevelResult
	TLBs   []LevelResult
}

// clone returns a deep copy, so that a caller's later changes do not reach a
// simulation.
func (c Config) clone() Config {
	c.Levels, c.TLBs = slices.Clone(c.Levels), slices.Clone(c.TLBs)
	if c.Prefetching != nil {
		p := c.Prefetching.clone()
		c.Prefetching = &p
	}
	return c
}
