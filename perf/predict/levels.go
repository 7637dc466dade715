package predict

import (
	"fmt"

	"presage/perf/cache"
	"presage/perf/machine"
)

// Level is a cache or a TLB as predictions see it: so many blocks, in sets.
type Level struct {
	Name        string
	BlockBytes  uint64
	Sets, Ways  uint64
	BypassFloat bool
	NotModelled []string // policies that predictions leave out
}

func (l Level) Blocks() uint64 { return l.Sets * l.Ways }

func (l Level) Cache() Cache { return Cache{Sets: l.Sets, Ways: l.Ways} }

// with returns the level with the capacity of so many blocks, as nearly as its ways
// divide it: with more sets or, if it has only one, more ways.
func (l Level) with(blocks uint64) Level {
	if l.Sets == 1 {
		l.Ways = blocks
	} else {
		l.Sets = (blocks + l.Ways/2) / l.Ways
	}
	return l
}

// together returns the blocks that the last cache holds with those above that it is
// exclusive of: of fully associative ones, a block is among them as long as it would be
// in one cache of their size.
func together(caches []machine.Cache) uint64 {
	i := len(caches) - 1
	n := caches[i].Blocks
	for ; i > 0 && caches[i].Filling == cache.Exclusive; i-- {
		n += caches[i-1].Blocks
	}
	return n
}

// Levels returns a machine's caches, then its TLBs. An exclusive cache is as large as it
// is with the caches above that it holds no copies of.
func Levels(m *machine.Machine) []Level {
	var all []Level
	for i := range m.Caches {
		c := &m.Caches[i]
		l := Level{c.Name, c.BlockBytes, c.Sets(), c.Blocks / c.Sets(), c.BypassFloat, notModelled(c.Replacement)}
		if c.Filling == cache.Exclusive {
			l = l.with(together(m.Caches[:i+1]))
		}
		if c.NoWriteAllocate {
			l.NotModelled = append(l.NotModelled, "not modelled: stores that do not allocate")
		}
		if c.Inclusive {
			l.NotModelled = append(l.NotModelled, "not modelled: inclusion")
		}
		if c.Filling == cache.Victims {
			l.NotModelled = append(l.NotModelled, "not modelled: that it holds only what the level above evicts")
		}
		all = append(all, l)
	}
	for i := range m.TLBs {
		t := &m.TLBs[i]
		all = append(all, Level{t.Name, t.EntryBytes, t.Sets(), t.Entries / t.Sets(), t.BypassFloat, notModelled(t.Replacement)})
	}
	return all
}

func notModelled(r cache.Replacement) []string {
	if r == cache.LRU {
		return nil
	}
	return []string{fmt.Sprintf("not modelled: %v replacement; LRU is assumed", r)}
}
