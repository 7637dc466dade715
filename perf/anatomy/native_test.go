//go:build linux && amd64

package anatomy

import (
	"errors"
	"testing"

	"presage/perf/engine"
	"presage/perf/engine/native"
)

// TestObservedNativeStrides is TestObservedStrides of this machine.
func TestObservedNativeStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	prog := unforeseen(t, "gcc")
	if _, err := (native.Engine{}).Run(t.Context(), prog.File, engine.Request{}); errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
	checkObserved(t, observedRows(t, prog))
}
