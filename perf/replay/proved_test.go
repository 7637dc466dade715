package replay

import (
	"testing"

	"presage/perf/isa"
)

// TestLastStepAgainstIteration compares the step up to which a branch goes one way, as code
// says, with going through the steps of a loop.
func TestLastStepAgainstIteration(t *testing.T) {
	known := 0
	for _, op := range []isa.Operator{isa.Equal, isa.NotEqual, isa.Less, isa.GreaterEqual} {
		for by := int64(-3); by <= 3; by++ {
			for first := int64(-12); first <= 12; first++ {
				for outer := int64(-3); outer <= 3; outer++ {
					f := linear{first, []int64{outer, by, 7}}
					for _, leaves := range []bool{false, true} {
						bound, ok := f.lastStep(op, 1, leaves)
						if !ok {
							continue
						}
						known++
						for i := range int64(4) {
							checkLastStep(t, &f, op, leaves, i, bound.first+bound.slopes[0]*i)
						}
					}
				}
			}
		}
	}
	if known == 0 {
		t.Error("nothing is known")
	}
}

// checkLastStep goes through the steps of a loop, the second, in step i of the one around.
func checkLastStep(t *testing.T, f *linear, op isa.Operator, leaves bool, i, bound int64) {
	t.Helper()
	holds := func(step int64) bool {
		return isa.Value{Op: op, A: 1, B: 2}.Eval(f.first+f.slopes[0]*i+f.slopes[1]*step, 0) != 0
	}
	for step := range int64(60) {
		if leaves && bound < 0 && step == 0 && op == isa.NotEqual {
			return // the loop would not end
		}
		if holds(step) != (step <= bound) {
			t.Fatalf("%+v %v 0, step %d of %d: %v, bound %d", f, op, step, i, holds(step), bound)
		}
		if leaves && !holds(step) {
			return
		}
	}
}
