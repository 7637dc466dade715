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
	NotModelled []string // policies that models leave out
	// Replayed says the same of misses that are counted in a replay, in which the level is as
	// the machine has it: a text for each of NotModelled.
	Replayed []string
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
		l := Level{Name: c.Name, BlockBytes: c.BlockBytes, Sets: c.Sets(), Ways: c.Blocks / c.Sets(), BypassFloat: c.BypassFloat}
		l.replaces(c.Replacement)
		if c.Filling == cache.Exclusive {
			l = l.with(together(m.Caches[:i+1]))
		}
		if c.NoWriteAllocate {
			l.leavesOut("stores that do not allocate", "with stores that do not allocate")
		}
		if c.Inclusive {
			l.leavesOut("inclusion", "as inclusive")
		}
		if c.Filling == cache.Victims {
			l.leavesOut("that it holds only what the level above evicts", "as a cache of what the level above evicts")
		}
		all = append(all, l)
	}
	for i := range m.TLBs {
		t := &m.TLBs[i]
		l := Level{Name: t.Name, BlockBytes: t.EntryBytes, Sets: t.Sets(), Ways: t.Entries / t.Sets(), BypassFloat: t.BypassFloat}
		l.replaces(t.Replacement)
		all = append(all, l)
	}
	return all
}

// replaces adds what models leave out of a replacement policy.
func (l *Level) replaces(r cache.Replacement) {
	if r != cache.LRU {
		l.leavesOut(fmt.Sprintf("%v replacement; LRU is assumed", r), fmt.Sprintf("with %v replacement", r))
	}
}

func (l *Level) leavesOut(modelled, replayed string) {
	l.NotModelled = append(l.NotModelled, "not modelled: "+modelled)
	l.Replayed = append(l.Replayed, "replayed "+replayed)
}
