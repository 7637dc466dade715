package reuse

import (
	"math/rand/v2"
	"testing"
)

// TestTimeline fills a time line that has a wide level up to its end, taking
// slots on the way from the line of now and from all before, and compares each
// rank with one found from a Fenwick tree of the slots taken.
func TestTimeline(t *testing.T) {
	const slots = 4 * lineSlots << (2 * treeLevels)
	if testing.Short() {
		t.Skip("a time line of 7 million slots")
	}
	line := newTimeline(slots, 0)
	if len(line.wideN) != 1 {
		t.Fatalf("%d wide levels, want 1", len(line.wideN))
	}
	rng := rand.New(rand.NewPCG(5, 6))
	seq := func(s uint32) int { return int(s>>lineBits)*lineSlots + int(s&(1<<lineBits-1)) }
	taken := make([]int32, slots+1)
	before := func(n int) (sum int) { // taken slots of those numbered below n
		for ; n > 0; n &= n - 1 {
			sum += int(taken[n])
		}
		return sum
	}
	var all []uint32
	gone := make([]bool, slots)
	count := 0
	takeBy := func(by func(uint32) uint32, s uint32) {
		n := seq(s)
		if gone[n] {
			return
		}
		got, want := by(s), len(all)-n-(count-before(n+1)) // slot 0 is the ghost's
		if int(got) != want {
			t.Fatalf("slot %d of %d: %d live after it, want %d", n, len(all)+1, got, want)
		}
		gone[n] = true
		count++
		for i := n + 1; i <= slots; i += i & -i {
			taken[i]++
		}
	}
	take := func(s uint32) { takeBy(line.take, s) }
	var taker taker
	taker.on(&line)
	for !line.full() {
		all = append(all, line.put(0))
		by := taker.take // while slots are added
		if len(all)/5000%2 == 0 {
			taker.done()
			by = line.take
		}
		if len(all)%97 == 0 {
			takeBy(by, all[len(all)-1-rng.IntN(min(len(all), 400))])
			takeBy(by, all[rng.IntN(len(all))])
		}
		for _, back := range []int{700, 1500, 5000} { // slots side by side
			if n := len(all); n > back && n%3 == 0 {
				takeBy(by, all[n-back])
			}
		}
	}
	taker.done()
	for range 40 { // slots side by side, and far apart
		taker.on(&line)
		at := [3]int{rng.IntN(len(all) - 1000), rng.IntN(len(all) - 1000), len(all) - 1000}
		slots := 1 + rng.IntN(2*takerFew) // of some of them each is taken by itself
		for i := range 900 {
			takeBy(func(s uint32) uint32 { return taker.takeOf(slots, s) }, all[at[i%3]+i])
			if i%slots == 0 {
				slots = 1 + rng.IntN(2*takerFew)
			}
			if i%50 == 0 {
				takeBy(taker.take, all[rng.IntN(len(all))])
			}
		}
		for range 2 * takerLook {
			takeBy(taker.take, all[rng.IntN(len(all))])
		}
		taker.done()
		take(all[rng.IntN(len(all))])
	}
	if len(all) != slots-1 {
		t.Errorf("%d slots given, want %d", len(all), slots-1)
	}
}
