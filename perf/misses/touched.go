package misses

import "presage/perf/locality"

// coldOf returns the number of blocks that a run touched, for its b-th block size.
func coldOf(run *locality.Run, b int) uint64 {
	cold := uint64(0)
	for g := range run.Reuse[b].Groups {
		cold += run.Reuse[b].Groups[g].Cold
	}
	return cold
}
