package replay

import "testing"

// TestOver: a place is over if what leads to it was certainly executed for the last time,
// and the run was out of it when it was left.
func TestOver(t *testing.T) {
	const main, called, deeper = 0, 1, 2 // contexts, and the places in them
	for _, c := range []struct {
		why            string
		calls          Value  // of the call in main
		real, replayed uint64 // times that it was made
		doubt          doubt
		at             int32 // where the replay begins
		want           bool
	}{
		{"all calls made", Value{At: 3, Spare: spareSizes}, 3, 0, 0, main, true},
		{"one more in the replay", Value{At: 3, Spare: spareSizes}, 2, 1, 0, main, false},
		{"one more in the replay than there are", Value{At: 3, Spare: spareSizes}, 3, 1, 0, main, false},
		{"one more to come, which the replay lacks", Value{At: 3, Spare: spareSizes}, 2, 0, 0, main, false},
		{"no exact number of calls", Value{At: 3}, 3, 0, 0, main, false},
		{"a call in doubt", Value{At: 3, Spare: spareSizes}, 3, 0, follows, main, false},
		{"in the last call", Value{At: 3, Spare: spareSizes}, 3, 0, 0, called, false},
		{"in what it calls", Value{At: 3, Spare: spareSizes}, 3, 0, 0, deeper, false},
	} {
		in := &Instance{
			prog: &Program{
				Contexts: []Context{{Parent: -1, Call: noBlock}, {Parent: main, Call: 10}, {Parent: called, Call: 20}},
				Places:   []Place{{Context: main, Block: 10}, {Context: called, Block: 20, Counts: 1}, {Context: deeper, Block: 30, Counts: 1}},
			},
			values: []Value{c.calls, {At: 99}},
			start:  state{place: c.at},
		}
		j := &judgement{Instance: in, replayed: &Outcome{Visits: []uint64{c.replayed, 0, 0}}, doubts: []doubt{c.doubt, 0, 0}}
		start := &Follower{Real: Outcome{Visits: []uint64{c.real, 3, 3}}}
		if j.over(main, start) {
			t.Errorf("%s: main is over", c.why)
		}
		if got := j.over(deeper, start); got != c.want {
			t.Errorf("%s: %v", c.why, got)
		}
	}
}
