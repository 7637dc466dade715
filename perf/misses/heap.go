package misses

import (
	"fmt"

	"presage/perf/locality"
)

// mapThreshold is the size in bytes from which malloc of the GNU library maps a
// block by itself (mallopt(3), M_MMAP_THRESHOLD): its pages are fresh at each call,
// and given back when it is freed.
const mapThreshold = 128 << 10

// turnsToMappings says that a program maps blocks of memory in some of the runs
// that it took from the heap in others. It is empty if it does not, if its heap is
// not by brk, as in Go, or if that is not known.
//
// Not noticed: blocks that are in the heap in all runs, and would be mapped at the
// size of a prediction.
func turnsToMappings(runs *locality.Runs) string {
	least, most := 0, 0
	for i := range runs.Runs {
		run := &runs.Runs[i]
		if run.HeapPeak == 0 {
			return ""
		}
		if run.Mappings < runs.Runs[least].Mappings {
			least = i
		}
		if run.Mappings > runs.Runs[most].Mappings {
			most = i
		}
	}
	low, high := &runs.Runs[least], &runs.Runs[most]
	if low.Mappings == high.Mappings {
		return ""
	}
	return fmt.Sprintf("memory is mapped %d times at %s and %d times at %s: malloc turns from the heap to mappings, with fresh pages, at %d KiB, and sizes on both sides may have no common model",
		low.Mappings, low.Point, high.Mappings, high.Point, mapThreshold>>10)
}
