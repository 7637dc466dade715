package metasim

import (
	"slices"
	"testing"

	"presage/perf/cache"
)

// TestPagesOfLevels: pages tell nothing of the first level, of levels that a part of the
// accesses skips, of blocks larger than pages, and of caches that blocks are brought to.
func TestPagesOfLevels(t *testing.T) {
	config := cache.Config{
		Levels: []cache.Level{
			{Name: "L1", Blocks: 64, BlockBytes: 64, Ways: 2, BypassFloat: true},
			{Name: "L2", Blocks: 1024, BlockBytes: 128, Ways: 4},
			{Name: "L3", Blocks: 1024, BlockBytes: 8192, Ways: 4},
		},
		TLBs: []cache.TLB{
			{Name: "L1 TLB", Entries: 32, EntryBytes: 4096, BypassFloat: true},
			{Name: "L2 TLB", Entries: 128, EntryBytes: 4096},
		},
	}
	if got, want := newPages(&config).at, []bool{false, true, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	config.Prefetching = new(cache.Prefetching)
	if got, want := newPages(&config).at, []bool{false, false, false, false, true}; !slices.Equal(got, want) {
		t.Errorf("with prefetching: %v, want %v", got, want)
	}
}
