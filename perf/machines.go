package perf

import (
	"github.com/go-gota/gota/dataframe"

	"presage/perf/frame"
	"presage/perf/machine"
	"presage/perf/machine/catalog"
)

// FindMachine reads a machine description: from a file if name ends in .yaml,
// otherwise the one of that name in the folder $PRESAGE_MACHINES, if that is
// set, or among Presage's own (folder machines/).
func FindMachine(name string) (*machine.Machine, error) {
	return catalog.Find(name)
}

// MachineTable returns a row for each cache, then each TLB, of each machine.
//
//   - kind: cache or tlb
//   - blocks, sets, ways, block_bytes, capacity_bytes: a TLB's blocks are its
//     entries, its capacity is the memory that they map
//   - bypass_float: floating-point accesses bypass it
//   - latency_cycles: of a hit in a cache, of a miss in a TLB; 0: not known
//   - source: short names that the description explains
func MachineTable(machines ...*machine.Machine) dataframe.DataFrame {
	var rows []catalog.LevelRow
	for _, m := range machines {
		rows = append(rows, catalog.Levels(m)...)
	}
	return frame.Of(rows)
}
