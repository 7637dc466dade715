package misses

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"presage/perf/cache"
	"presage/perf/machine"
	"presage/perf/predict"
)

// CacheSize is a cache or a TLB by its size alone, for questions about caches
// that no machine has.
type CacheSize struct {
	// Name in tables; empty: made from the numbers, such as "4 MiB 2-way".
	Name string
	// Capacity is in bytes; of a TLB, the memory that its entries map. 0 is the
	// capacity that is asked for.
	Capacity uint64
	// Ways is the number of blocks in a set; 0: fully associative.
	Ways uint64
	// BlockBytes is the size of a block; of a TLB, what an entry maps. 0: the
	// smallest that the runs were profiled with.
	BlockBytes uint64

	machine     string
	bypassFloat bool
	notModelled []string
}

// CachesOf returns the named caches and TLBs of a machine, or all of them, to be
// asked about as they are or with another size. The capacity of an exclusive cache is
// that which it has together with the caches above that it holds no copies of, as what
// misses in it was in none of them; answers about it say so.
func CachesOf(m *machine.Machine, names ...string) ([]CacheSize, error) {
	var all []CacheSize
	for _, l := range predict.Levels(m) {
		c := CacheSize{
			Name: l.Name, Capacity: l.Blocks() * l.BlockBytes, Ways: l.Ways, BlockBytes: l.BlockBytes,
			machine: m.Name, bypassFloat: l.BypassFloat, notModelled: l.NotModelled,
		}
		if l.Sets == 1 {
			c.Ways = 0
		}
		if text := countedWith(m, l.Name); text != "" {
			c.notModelled = append(slices.Clip(c.notModelled), text)
		}
		all = append(all, c)
	}
	if len(names) == 0 {
		return all, nil
	}
	var chosen []CacheSize
	for _, name := range names {
		i := slices.IndexFunc(all, func(c CacheSize) bool { return c.Name == name })
		if i < 0 {
			var there []string
			for _, c := range all {
				there = append(there, c.Name)
			}
			return nil, fmt.Errorf("perf: %s has no level %q; it has %s", m.Name, name, strings.Join(there, ", "))
		}
		chosen = append(chosen, all[i])
	}
	return chosen, nil
}

// countedWith says which caches above an exclusive one of a machine its capacity counts;
// it is empty for others.
func countedWith(m *machine.Machine, name string) string {
	i := slices.IndexFunc(m.Caches, func(c machine.Cache) bool { return c.Name == name })
	if i < 0 || m.Caches[i].Filling != cache.Exclusive {
		return ""
	}
	var above []string
	for ; i > 0 && m.Caches[i].Filling == cache.Exclusive; i-- {
		above = append(above, m.Caches[i-1].Name)
	}
	if above == nil {
		return ""
	}
	return fmt.Sprintf("the capacity is that of %s together with %s, of which it holds no copies", name, strings.Join(above, " and "))
}

// String returns the name, or the numbers.
func (c CacheSize) String() string {
	if c.Name != "" {
		return c.Name
	}
	kind := "fully associative"
	if c.Ways > 0 {
		kind = fmt.Sprintf("%d-way", c.Ways)
	}
	if c.Capacity == 0 {
		return kind
	}
	return machine.Bytes(c.Capacity).String() + " " + kind
}

// level returns the cache as predictions see it. Its capacity must be given.
func (c CacheSize) level(m *Model) (predict.Level, error) {
	c.BlockBytes = cmp.Or(c.BlockBytes, m.smallestBlock())
	l := predict.Level{Name: c.String(), BlockBytes: c.BlockBytes, BypassFloat: c.bypassFloat, NotModelled: c.notModelled}
	if c.Capacity == 0 {
		return l, fmt.Errorf("perf: cache %q has no capacity", c.String())
	}
	if c.Capacity%c.BlockBytes != 0 {
		return l, fmt.Errorf("perf: cache %q: %d bytes are no whole number of blocks of %d bytes", c.String(), c.Capacity, c.BlockBytes)
	}
	blocks := c.Capacity / c.BlockBytes
	cache, err := predict.SetAssociative(blocks, cmp.Or(c.Ways, blocks))
	if err != nil {
		return l, fmt.Errorf("perf: cache %q: %w", c.String(), err)
	}
	l.Sets, l.Ways = cache.Sets, cache.Ways
	return l, nil
}
