package explore

import (
	"fmt"
	"slices"
	"strconv"

	"presage/perf/machine"
)

// maxCapacity bounds caches, in bytes: 64 GiB, more than a TLB of large pages maps.
const maxCapacity = 64 << 30

// waysLadder are the numbers of ways that the slider has; 0, at its end, is fully
// associative.
var waysLadder = []uint64{1, 2, 3, 4, 6, 8, 10, 11, 12, 16, 20, 24, 32, 64, 0}

// capacities are what the slider has: powers of two and one and a half times them,
// from four blocks on, and the capacity as it is.
func (st *State) capacities() []uint64 {
	var all []uint64
	largest := min(maxCapacity, st.Block<<22)
	for c := 4 * st.Block; c <= largest; c *= 2 {
		all = append(all, c, c+c/2)
	}
	return all
}

// rung returns the value at an index of a ladder.
func rung(ladder []uint64, index string) (uint64, error) {
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(ladder) {
		return 0, fmt.Errorf("step %q: want 0 to %d", index, len(ladder)-1)
	}
	return ladder[i], nil
}

// nearest returns the index of the largest value up to v; 0 in a ladder is above all.
func nearest(ladder []uint64, v uint64) int {
	if v == 0 {
		return len(ladder) - 1
	}
	at := 0
	for i, c := range ladder {
		if c != 0 && c <= v {
			at = i
		}
	}
	return at
}

// with returns a ladder in which v stands, in the place of the nearest value.
func with(ladder []uint64, v uint64) []uint64 {
	ladder = slices.Clone(ladder)
	if !slices.Contains(ladder, v) {
		ladder[nearest(ladder, v)] = v
	}
	return ladder
}

// slider is an input of type range whose steps are a ladder.
type slider struct {
	ID, Label string
	At, Max   int
	Texts     []string // of the steps
}

// Text is the value.
func (s slider) Text() string { return s.Texts[s.At] }

func newSlider(id, label string, ladder []uint64, v uint64, text func(uint64) string) slider {
	ladder = with(ladder, v)
	s := slider{ID: id, Label: label, At: slices.Index(ladder, v), Max: len(ladder) - 1}
	for _, v := range ladder {
		s.Texts = append(s.Texts, text(v))
	}
	return s
}

func (st *State) capacitySlider() slider {
	return newSlider(keyCapacityStep, "Capacity", st.capacities(), st.Capacity, func(v uint64) string { return machine.Bytes(v).String() })
}

func (st *State) waysSlider() slider {
	return newSlider(keyWaysStep, "Ways", waysLadder, st.Ways, waysText)
}

func waysText(ways uint64) string {
	if ways == 0 {
		return "fully associative"
	}
	return strconv.FormatUint(ways, 10)
}
