package misses

import (
	"fmt"
	"math"

	"presage/perf/fit"
	"presage/perf/locality"
	"presage/perf/subject"
)

// mapThreshold is the size in bytes from which malloc of the GNU library maps a
// block by itself (mallopt(3), M_MMAP_THRESHOLD): its pages are fresh at each call,
// and given back when it is freed.
const mapThreshold = 128 << 10

// turnsToMappings says that a program maps blocks of memory in some of the runs
// that it took from the heap in others. It is empty if it does not, if its heap is
// not by brk, as in Go, or if that is not known.
//
// Model.mayMap is about blocks that are in the heap in all runs.
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

const (
	// fewBlocks bounds a heap, in blocks that are just not mapped: a larger one is
	// probably made of many small blocks, which never are.
	fewBlocks = 8

	// elsewhere is the most bytes that a program with its data in the heap accesses
	// outside of it: the stack, tables of libraries and of the dynamic linker.
	elsewhere = 128 << 10
)

// heapInRuns returns the most bytes of heap that a run had, or 0 if that is not known,
// or runs differ in the number of mappings.
func heapInRuns(runs *locality.Runs) uint64 {
	most := uint64(0)
	for i := range runs.Runs {
		run := &runs.Runs[i]
		if run.HeapPeak == 0 || run.Mappings != runs.Runs[0].Mappings {
			return 0
		}
		most = max(most, run.HeapPeak)
	}
	return most
}

// mayMap says that a block of memory that was taken from the heap in all runs may be
// mapped at a point. It is empty where that cannot be: where data do not grow by as much
// as such a block has; where they do not fit into the heap of the runs, so that most of
// them are elsewhere; and where that heap has room for many blocks.
//
// Sizes of blocks are not known. So it also is said of a program with a small heap whose
// small blocks become more and not larger.
func (m *Model) mayMap(point subject.Point) string {
	if m.heap == 0 || m.heap > fewBlocks*mapThreshold {
		return ""
	}
	block := m.smallestBlock()
	touched := func(p subject.Point) float64 { return float64(block) * m.footprint.Blocks(block, fit.Point(p)) }
	least, most := math.Inf(1), 0.0
	for _, p := range m.Points {
		least, most = min(least, touched(p)), max(most, touched(p))
	}
	now := touched(point)
	if most > float64(m.heap)+elsewhere || now <= most || now-least < mapThreshold {
		return ""
	}
	return fmt.Sprintf("a block of %d KiB or more may come in, which malloc maps, with fresh pages: the runs took all theirs from the heap, at most %d KiB, and the data accessed grow from %.0f to %.0f KiB",
		mapThreshold>>10, m.heap>>10, most/1024, now/1024)
}
