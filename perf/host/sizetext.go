package host

import "presage/perf/machine"

// sizeText formats an amount of memory for people.
func sizeText(bytes uint64) string { return machine.Bytes(bytes).String() }
