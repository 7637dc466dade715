package replay

import "testing"

// TestProspect: a bound that more sizes settle is hardly any of a program, and what a routine
// does from there on, and what it calls, is much; an address says nothing of other places.
func TestProspect(t *testing.T) {
	places := make([]Place, 4)
	for i, context := range []int32{0, 1, 2, 1} {
		places[i].Context = context
	}
	for d, want := range map[doubt]float64{fewBounds | control: 0.61, fewSizes: 0.01, drawnBranch | control: 0} {
		in := &Instance{
			prog:   &Program{Places: places, Contexts: []Context{{Parent: -1}, {Parent: 0}, {Parent: 1}}},
			doubts: []doubt{0, d, 0, 0},
			gaps:   make([]gap, 4),
			fitted: &fitted{work: []uint64{39, 1, 20, 40}, bends: make([]bool, 4)},
		}
		if p := in.Prospect(); p.Curable != want || p.Doubtful != 0.01 {
			t.Errorf("%v: %+v, want %v curable", d.texts(), p, want)
		}
	}
}
