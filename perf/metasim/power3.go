package metasim

import "presage/perf/cache"

// Power3 returns the caches that the paper simulates (section 4): 64 KB in 128 ways,
// and 4 MB in 4 ways, with lines of 128 bytes; and, beside them, the processor's data
// TLB, which it does not: 256 entries in 2 ways, for pages of 4 KB. The paper specifies
// neither the replacement policy (here LRU) nor the write policy (here write-back,
// write-allocate).
func Power3() cache.Config {
	const line = 128
	return cache.Config{
		Levels: []cache.Level{
			{Name: "L1", Blocks: 64 << 10 / line, BlockBytes: line, Ways: 128},
			{Name: "L2", Blocks: 4 << 20 / line, BlockBytes: line, Ways: 4},
		},
		TLBs: []cache.TLB{{Name: "TLB", Entries: 256, EntryBytes: 4 << 10, Ways: 2}},
	}
}
