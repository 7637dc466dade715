package access

import "presage/perf/isa"

// TripCount is the number of iterations that a loop completes before the one in
// which it exits: Of / By + Plus, with the quotient rounded up or down. It assumes
// that the condition to stay holds at first, and that By divides Of if the loop
// exits on equality, as compilers ensure.
type TripCount struct {
	Of   Formula // of values from before the outermost loop
	By   int64   // above 0
	Up   bool    // rounded up
	Plus int64
	Exit int // the block that ends in the only branch that the loop is left by
}

// TripCounts returns the trip count of each loop of a routine that has a single
// exit branch whose condition is a sum of known values, and the same each time
// the loop is entered; nil for the other loops.
func (a *Analysis) TripCounts(routine int) []*TripCount {
	ra := a.routine(routine)
	counts := make([]*TripCount, len(ra.r.Loops))
	for l := range counts {
		counts[l] = ra.tripCount(l)
	}
	return counts
}

// tripCount returns the trip count of a loop, or nil.
func (a *routineAnalysis) tripCount(loop int) *TripCount {
	t := a.trip(loop)
	if !t.single {
		return nil
	}
	for l := a.r.Loops[loop].Parent; l >= 0; l = a.r.Loops[l].Parent {
		if !a.change(t.apart, l).none() {
			return nil
		}
	}
	begin := a.first(t.apart)
	minus, ok := begin.scaled(-1)
	if !ok {
		return nil
	}
	out := &TripCount{Exit: t.exit}
	of := minus
	switch by := t.by.constant; {
	case t.stays == isa.NotEqual && by > 0: // -begin = k by
		out.By = by
	case t.stays == isa.NotEqual:
		of, out.By = begin, -by
	case (t.stays == isa.Less || t.stays == isa.LessUnsigned) && by > 0: // ceil(-begin/by)
		out.By, out.Up = by, true
	case (t.stays == isa.GreaterEqual || t.stays == isa.GreaterEqualUnsigned) && by < 0: // floor(begin/-by) + 1
		of, out.By, out.Plus = begin, -by, 1
	default:
		return nil
	}
	out.Of = a.formula(of)
	return out
}
