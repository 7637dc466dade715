package cache

import (
	"errors"
	"fmt"
)

// Filling says what brings blocks into a level.
type Filling uint8

const (
	// OnMiss fills a level with each block that it is asked for and does not hold.
	OnMiss Filling = iota
	// Exclusive fills a level with what the level above evicts, and with nothing else.
	// A block that it is asked for moves to the level above, and leaves this one.
	Exclusive
	// Victims is as Exclusive, except that a block that it is asked for stays, as the
	// latest of its set, and the level above has a copy.
	Victims
)

// Level describes a cache. Its zero policies are LRU, write-back,
// write-allocate, non-inclusive and filled on misses.
type Level struct {
	Name       string
	Blocks     uint64 // capacity in blocks
	BlockBytes uint64 // a power of two
	Ways       int    // blocks in a set; 0: fully associative

	Replacement     Replacement
	WriteThrough    bool // stores go on to the next level at once
	NoWriteAllocate bool // a store that misses goes to the next level and does not fetch the block
	Inclusive       bool // contains every block of the levels above
	BypassFloat     bool // accesses to floating-point data skip the level

	// Filling says what brings blocks into the level.
	Filling Filling `json:",omitempty"`

	// PageBytes, if not 0, indexes the level by physical addresses: pages of
	// this size, a power of two of at least a block, lie in random places of
	// memory, so that only the offset in a page is known of an address's set.
	// 0: indexed by the program's addresses.
	PageBytes uint64
}

// TLB describes a translation buffer.
type TLB struct {
	Name       string
	Entries    uint64
	EntryBytes uint64 // memory that an entry maps, a power of two
	Ways       int    // entries in a set; 0: fully associative

	Replacement Replacement
	BypassFloat bool // accesses to floating-point data skip the level
}

// Config describes a memory hierarchy.
type Config struct {
	Levels []Level // from the processor to memory
	TLBs   []TLB   // a TLB after the first sees what misses in the one before

	// Seed seeds the random choices of NMRU and Random and the placement of
	// pages: the same seed gives the same result.
	Seed uint64

	// Prefetching, if not nil, brings blocks into Levels that were not asked for.
	Prefetching *Prefetching `json:",omitempty"`
}

const (
	maxBlockBytes = 1 << 30
	maxBlocks     = 1 << 31 // block positions are 32-bit numbers
)

// FullyAssociative returns the hierarchy with one set in each cache and TLB; with LRU
// replacement where the policy is an approximation of it for some ways.
func (c Config) FullyAssociative() Config {
	c = c.clone()
	for i := range c.Levels {
		c.Levels[i].Ways, c.Levels[i].PageBytes = 0, 0
		c.Levels[i].Replacement = c.Levels[i].Replacement.fullyAssociative()
	}
	for i := range c.TLBs {
		c.TLBs[i].Ways = 0
		c.TLBs[i].Replacement = c.TLBs[i].Replacement.fullyAssociative()
	}
	return c
}

// Check returns an error if c cannot be simulated.
func (c *Config) Check() error {
	if len(c.Levels)+len(c.TLBs) == 0 {
		return errors.New("cache: the hierarchy has neither levels nor TLBs")
	}
	names := make(map[string]bool)
	for i, l := range c.Levels {
		if err := l.check("level", i, names); err != nil {
			return err
		}
		if l.Inclusive {
			if err := c.checkInclusive(i); err != nil {
				return err
			}
		}
		if l.Filling != OnMiss {
			if err := c.checkVictims(i); err != nil {
				return err
			}
		}
	}
	for i, t := range c.TLBs {
		if err := t.level().check("TLB", i, names); err != nil {
			return err
		}
	}
	if c.Prefetching != nil {
		return c.Prefetching.check(c.Levels)
	}
	return nil
}

func (l Level) check(what string, i int, names map[string]bool) error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("cache: %s %d (%q) %s", what, i+1, l.Name, fmt.Sprintf(format, args...))
	}
	switch {
	case l.Name == "":
		return fail("has no name")
	case names[l.Name]:
		return fail("has the name of another; names must differ")
	case l.BlockBytes == 0 || l.BlockBytes&(l.BlockBytes-1) != 0 || l.BlockBytes > maxBlockBytes:
		return fail("has blocks of %d bytes, want a power of two from 1 to %d", l.BlockBytes, maxBlockBytes)
	case l.Blocks == 0 || l.Blocks > maxBlocks:
		return fail("has %d blocks, want 1 to %d", l.Blocks, uint64(maxBlocks))
	case l.Ways < 0 || uint64(l.Ways) > l.Blocks:
		return fail("has %d ways, want 1 to its %d blocks, or 0 for fully associative", l.Ways, l.Blocks)
	case l.Ways > 0 && l.Blocks%uint64(l.Ways) != 0:
		return fail("has %d blocks, not a multiple of its %d ways", l.Blocks, l.Ways)
	case l.PageBytes&(l.PageBytes-1) != 0 || l.PageBytes > 0 && l.PageBytes < l.BlockBytes:
		return fail("has pages of %d bytes, want a power of two of at least a block, or 0 for none", l.PageBytes)
	case int(l.Replacement) >= len(policies):
		return fail("has an unknown replacement policy, %v", l.Replacement)
	case policies[l.Replacement].tree && (l.waysOf()&(l.waysOf()-1) != 0 || l.waysOf() > maxTreeWays):
		return fail("has %d ways, want a power of two to %d for %v replacement", l.waysOf(), maxTreeWays, l.Replacement)
	}
	names[l.Name] = true
	return nil
}

func (c *Config) checkInclusive(i int) error {
	l := c.Levels[i]
	if i == 0 {
		return fmt.Errorf("cache: level 1 (%q) is inclusive, but there is no level above it", l.Name)
	}
	for _, above := range c.Levels[:i] {
		if above.Filling != OnMiss {
			return fmt.Errorf("cache: level %d (%q) cannot include %q, which takes what the level above it evicts", i+1, l.Name, above.Name)
		}
		if above.BlockBytes > l.BlockBytes {
			return fmt.Errorf("cache: level %d (%q) cannot include %q, whose blocks are larger", i+1, l.Name, above.Name)
		}
		if l.BypassFloat && !above.BypassFloat {
			return fmt.Errorf("cache: level %d (%q) cannot include %q, as floating-point data pass by it", i+1, l.Name, above.Name)
		}
	}
	return nil
}

// checkVictims returns an error unless level i can take what the level above evicts.
func (c *Config) checkVictims(i int) error {
	l := c.Levels[i]
	fail := func(format string, args ...any) error {
		return fmt.Errorf("cache: level %d (%q) takes what the level above evicts, %s", i+1, l.Name, fmt.Sprintf(format, args...))
	}
	if l.Filling > Victims {
		return fmt.Errorf("cache: level %d (%q) has an unknown filling, %d", i+1, l.Name, l.Filling)
	}
	if i == 0 {
		return fail("but there is none above it")
	}
	switch above := c.Levels[i-1]; {
	case above.BlockBytes != l.BlockBytes:
		return fail("whose blocks have %d bytes, not %d", above.BlockBytes, l.BlockBytes)
	case above.BypassFloat || l.BypassFloat:
		return fail("so that floating-point data cannot pass by either")
	case above.NoWriteAllocate:
		return fail("which stores that miss would pass by: it must allocate on writes")
	case l.Inclusive:
		return fail("and cannot also include it")
	case l.WriteThrough || l.NoWriteAllocate:
		return fail("and must be write-back and write-allocate, as it holds what that wrote")
	}
	return nil
}

// level returns t as a cache.
func (t TLB) level() Level {
	return Level{
		Name: t.Name, Blocks: t.Entries, BlockBytes: t.EntryBytes, Ways: t.Ways,
		Replacement: t.Replacement, BypassFloat: t.BypassFloat,
	}
}

// waysOf returns the number of blocks in a set.
func (l *Level) waysOf() uint64 {
	if l.Ways == 0 {
		return l.Blocks
	}
	return uint64(l.Ways)
}
