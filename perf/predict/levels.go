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

// Levels returns a machine's caches, then its TLBs.
func Levels(m *machine.Machine) []Level {
	var all []Level
	for i := range m.Caches {
		c := &m.Caches[i]
		l := Level{c.Name, c.BlockBytes, c.Sets(), c.Blocks / c.Sets(), c.BypassFloat, notModelled(c.Replacement)}
		if c.NoWriteAllocate {
			l.NotModelled = append(l.NotModelled, "not modelled: stores that do not allocate")
		}
		if c.Inclusive {
			l.NotModelled = append(l.NotModelled, "not modelled: inclusion")
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
