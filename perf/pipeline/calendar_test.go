package pipeline

import (
	"math/rand/v2"
	"testing"
)

// TestCalendarAgainstRowOfCycles compares a calendar with an array of cycles, with
// requests that go back and forth in time, but not before a floor.
func TestCalendarAgainstRowOfCycles(t *testing.T) {
	if testing.Short() {
		t.Skip("slow under the race detector, and of one goroutine")
	}
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 8))
		var c calendar
		busy := make([]bool, 1<<14)
		floor := int64(0)
		for range 600 {
			if rng.IntN(4) == 0 {
				floor += rng.Int64N(20)
			}
			from, length := floor+rng.Int64N(400), 1+rng.Int64N(12)
			want, run := from, int64(0)
			for at := from; run < length; at++ {
				if run++; busy[at] {
					want, run = at+1, 0
				}
			}
			got := c.earliest(from, length)
			if got != want {
				t.Fatalf("seed %d: %d cycles from %d on are free at %d, want %d; busy %v", seed, length, from, got, want, c.busy)
			}
			if rng.IntN(4) > 0 {
				c.reserve(got, length, floor)
				for i := range length {
					busy[got+i] = true
				}
			}
		}
	}
}
