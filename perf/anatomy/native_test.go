//go:build linux && amd64

package anatomy

import (
	"errors"
	"math"
	"testing"

	"golang.org/x/sys/cpu"

	"presage/perf/engine"
	"presage/perf/engine/native"
	"presage/perf/store"
	"presage/perf/subject"
)

// TestObservedNativeStrides is TestObservedStrides of this machine.
func TestObservedNativeStrides(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	prog := unforeseen(t, "gcc", "-O1")
	needPtrace(t, prog)
	checkObserved(t, observedRows(t, prog))
}

// needPtrace skips the test where programs of this machine cannot be recorded.
func needPtrace(t *testing.T, prog *subject.Program) {
	t.Helper()
	if _, err := (native.Engine{}).Run(t.Context(), prog.File, engine.Request{}); errors.Is(err, native.ErrPtrace) {
		t.Skip(err)
	}
}

// TestObservedGathers: of a vector's elements the first counts, and what is behind the
// vector in its block is observed all the same.
func TestObservedGathers(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	if !cpu.X86.HasAVX2 {
		t.Skip("a processor without gathers")
	}
	prog := unforeseen(t, "gcc", "-O1", "-mavx2", "-DGATHER")
	needPtrace(t, prog)
	const (
		elementsPerVector = 4
		vectors           = elements / elementsPerVector
		step              = 8 * factor * elementsPerVector
		falls             = (vectors - 1) * factor * elementsPerVector / elements // below 0, mod 1000
	)
	seen := 0
	for _, r := range observedRows(t, prog) {
		if r.Routine != "vectors" || r.Strides == "32" {
			continue
		}
		if seen++; r.ObservedStride != step || math.Abs(r.ObservedShare-(1-float64(falls)/(vectors-1))) > 1e-12 {
			t.Errorf("%s: %q, want %d, but for %d of %d steps", r.PC, r.Strides, step, falls, vectors-1)
		}
	}
	if seen != 2 {
		t.Errorf("%d references without a formula, want a gather and the load behind it", seen)
	}
	s, err := CheckStrides(t.Context(), prog, nil, subject.RunOptions{Store: store.Open(t.TempDir())})
	if err != nil || s.Unaligned > 0 || s.Disagree > 0 || s.Agree == 0 {
		t.Errorf("formulas: %+v, %v", s, err)
	}
}
