package replay

import "testing"

// TestCovers tests which reasons for doubts are no worse than others.
func TestCovers(t *testing.T) {
	for _, c := range []struct {
		had, why doubt
		want     bool
	}{
		{follows, follows, true},
		{follows | drawnBranch, decided, true},
		{drawnBranch, decided, false},
		{decided, follows, false},
		{notShown, notCounted, true},
		{notCounted, notShown, false},
		{follows | notShown, otherAddress, false},
		{failsTraining | follows, otherCount, true},
		{drawnBranch, otherCount, false},
	} {
		if got := Covers(c.had.texts(), c.why.texts()[0]); got != c.want {
			t.Errorf("%q covers %q: %v", c.had.texts(), c.why.texts(), got)
		}
	}
}

// TestSlotsMoveOnce tests that the address of what does not move on the stack is taken
// from a run once, and that of nothing else.
func TestSlotsMoveOnce(t *testing.T) {
	slot := liveRef{kind: simple, coef: []int64{4000 * scale, 0, 0}}
	if !slot.moveSlot(4096) || slot.address([]int64{3, 4}) != 4096 {
		t.Errorf("it is at %d, and was seen at 4096", slot.address([]int64{3, 4}))
	}
	if slot.moveSlot(4104) || slot.address([]int64{5, 6}) != 4096 {
		t.Error("it moved again")
	}
	array := liveRef{kind: simple, coef: []int64{4000 * scale, 0, 8 * scale}}
	if array.moveSlot(4096) {
		t.Error("an array on the stack moved")
	}
}
