//go:build !amd64

package reuse

import "presage/perf/trace"

// stay is stayPlain.
func (k *stack) stay(accesses []trace.Access, block uint64) int {
	return k.stayPlain(accesses, block)
}
