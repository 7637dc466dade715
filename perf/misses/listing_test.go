package misses

import (
	"math"
	"testing"

	"presage/perf/internal/num"
	"presage/perf/subject"
)

// TestListedRowsKeepTheSums: whatever is listed, the rows add up to the same.
func TestListedRowsKeepTheSums(t *testing.T) {
	var predicted []Row
	var simulated []SimulatedRow
	for _, misses := range []float64{900, 60, 30, 9, 1, 0} {
		predicted = append(predicted, Row{
			Scope: "s", Accesses: 10 * misses, Misses: misses, Low: misses / 2, High: 2 * misses, FullyAssoc: misses - 1, Cold: misses / 3,
			Doubtful: 0.5, Ratio: 0.1,
		})
		simulated = append(simulated, SimulatedRow{Scope: "s", Accesses: 10 * misses, Misses: misses, Full: misses - 1, Cold: misses / 3, Ratio: 0.1})
	}
	for n, l := range map[int]subject.Listing{6: {}, 3: {Limit: 2}, 4: {MinShare: 0.03}, 1: {MinShare: 1}} {
		rows, sims := listed(predicted, l), listedSimulated(simulated, l)
		if len(rows) != n || len(sims) != n {
			t.Errorf("%+v: %d predicted and %d simulated rows, want %d", l, len(rows), len(sims), n)
		}
		var p Row
		var s SimulatedRow
		for i := range rows {
			p.Accesses, p.Misses, p.Low, p.High = p.Accesses+rows[i].Accesses, p.Misses+rows[i].Misses, p.Low+rows[i].Low, p.High+rows[i].High
			p.FullyAssoc, p.Cold, p.Doubtful = p.FullyAssoc+rows[i].FullyAssoc, p.Cold+rows[i].Cold, p.Doubtful+rows[i].Doubtful*rows[i].Misses
			s.Accesses, s.Misses, s.Full, s.Cold = s.Accesses+sims[i].Accesses, s.Misses+sims[i].Misses, s.Full+sims[i].Full, s.Cold+sims[i].Cold
			if r := rows[i]; r.Misses > 0 && math.Abs(r.Ratio-num.Ratio(r.Misses, r.Accesses)) > 1e-12 {
				t.Errorf("%+v: miss ratio of %+v", l, r)
			}
		}
		if p.Accesses != 10000 || p.Misses != 1000 || p.Low != 500 || p.High != 2000 || p.FullyAssoc != 994 || math.Abs(p.Cold-1000./3) > 1e-9 || math.Abs(p.Doubtful-500) > 1e-9 {
			t.Errorf("%+v: predicted rows sum up to %+v", l, p)
		}
		if s.Accesses != 10000 || s.Misses != 1000 || s.Full != 994 || math.Abs(s.Cold-1000./3) > 1e-9 {
			t.Errorf("%+v: simulated rows sum up to %+v", l, s)
		}
		if last := rows[len(rows)-1]; n < 6 && (last.Scope != subject.OtherScopes || sims[n-1].Scope != subject.OtherScopes) {
			t.Errorf("%+v: the last row is of %s", l, last.Scope)
		}
	}
}
