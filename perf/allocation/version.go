package allocation

import "presage/perf/trace"

// Version is part of the keys of stored results that name memory by a Table: raise it
// when an object gets another name, or other memory, such as by another choice of sites.
const Version = 1

// VersionOf returns the Version of results of a plan; 0 if it does not ask for changes of
// memory, so that no Table is filled.
func VersionOf(p *trace.Plan) int {
	if p.Memory == nil {
		return 0
	}
	return Version
}
