package timing

import (
	"testing"

	"presage/perf/subject"
)

// TestListedTimes: routines that are not listed are summed up, loops are left out.
func TestListedTimes(t *testing.T) {
	rows := func() []Row {
		var out []Row
		for _, cycles := range []float64{80, 10, 6, 4} {
			out = append(out, Row{Scope: "s", Instructions: cycles / 2, Schedule: cycles - 3, Flow: 2, Branch: 0.5, Waits: map[string]float64{"w": 0.5}, Cycles: cycles, Seconds: cycles / 100, CPI: 2})
		}
		return out
	}
	tm := &timer{of: part{by: subject.ByRoutine}, opt: PredictOptions{Listing: subject.Listing{Limit: 2}}}
	got := tm.summed(rows())
	if o := got[len(got)-1]; len(got) != 3 || o.Scope != subject.OtherScopes || o.Cycles != 10 || o.Instructions != 5 || o.Schedule != 4 || o.Flow != 4 ||
		o.Branch != 1 || o.Waits["w"] != 1 || o.Seconds != 0.1 || o.CPI != 2 {
		t.Errorf("%d rows, the last %+v", len(got), got[len(got)-1])
	}
	if again := rows(); again[2].Waits["w"] != 0.5 {
		t.Error("a row that was summed up is changed")
	}
	tm.of.by = subject.ByLoop
	if got := tm.summed(rows()); len(got) != 2 {
		t.Errorf("%d loops, want 2", len(got))
	}
	tm.of.exclusive = true
	if got := tm.summed(rows()); len(got) != 3 || got[2].Cycles != 10 {
		t.Errorf("%d loops without those inside them, want two and what the others sum up to", len(got))
	}
	s := &simulation{of: part{by: subject.ByRoutine}, list: subject.Listing{MinShare: 0.1}}
	sims := s.listed([]SimulatedRow{{Cycles: 80, Instructions: 40}, {Cycles: 10}, {Cycles: 6, Instructions: 3}, {Cycles: 4, Instructions: 2}})
	if o := sims[len(sims)-1]; len(sims) != 3 || o.Cycles != 10 || o.Instructions != 5 || o.CPI != 2 {
		t.Errorf("%d simulated rows, the last %+v", len(sims), o)
	}
}
