package perf

import (
	"presage/perf/machine"
	"presage/perf/machine/catalog"
)

// FindMachine reads a machine description: from a file if name ends in .yaml,
// otherwise the one of that name in the folder $PRESAGE_MACHINES, if that is
// set, or among those that come with Presage (folder machines/).
func FindMachine(name string) (*machine.Machine, error) {
	return catalog.FindMachine(name)
}
