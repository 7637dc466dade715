package predict

import (
	"testing"

	"presage/perf/cache"
	"presage/perf/machine"
)

// TestExclusiveLevelsCountThoseAbove: an exclusive cache is as large as it is with those
// above that it holds no copies of.
func TestExclusiveLevelsCountThoseAbove(t *testing.T) {
	of := func(blocks uint64, ways int, filling cache.Filling) machine.Cache {
		return machine.Cache{Level: cache.Level{Name: "x", Blocks: blocks, BlockBytes: 64, Ways: ways, Filling: filling}}
	}
	for _, c := range []struct {
		caches []machine.Cache
		want   []uint64
	}{
		{[]machine.Cache{of(512, 8, 0), of(16384, 8, 0), of(524288, 16, cache.Exclusive)}, []uint64{512, 16384, 540672}},
		{[]machine.Cache{of(512, 8, 0), of(1024, 8, cache.Exclusive), of(4096, 16, cache.Exclusive)}, []uint64{512, 1536, 5632}},
		{[]machine.Cache{of(3, 0, 0), of(10, 0, cache.Exclusive)}, []uint64{3, 13}},
		{[]machine.Cache{of(512, 8, 0), of(1024, 8, cache.Victims)}, []uint64{512, 1024}},
	} {
		for i, l := range Levels(&machine.Machine{Caches: c.caches}) {
			if l.Blocks() != c.want[i] {
				t.Errorf("level %d of %d: %d blocks, want %d", i, len(c.caches), l.Blocks(), c.want[i])
			}
			if marked := len(l.NotModelled) > 0; marked != (c.caches[i].Filling == cache.Victims) {
				t.Errorf("level %d of %d: %v", i, len(c.caches), l.NotModelled)
			}
		}
	}
}
