package access

import "presage/perf/isa"

// Condition is that of a branch: it is taken if the difference of what it compares, as a
// sum, stands so to 0.
type Condition struct {
	Taken   isa.Operator // from Equal to GreaterEqualUnsigned; Opaque: the block ends in no branch, or it is not known on what
	First   Formula      // the difference the first time
	Strides []Stride     // one for each loop that holds the branch, from the innermost out
}

// Conditions returns those at the ends of a routine's blocks.
func (a *Analysis) Conditions(routine int) []Condition {
	ra := a.routine(routine)
	out := make([]Condition, len(ra.r.Blocks))
	for b := range out {
		i := len(ra.r.Blocks[b].Insts) - 1
		last := &ra.r.Blocks[b].Insts[i]
		if last.Class != isa.Branch || last.Value.Op < isa.Equal || last.Value.Op > isa.GreaterEqualUnsigned {
			continue
		}
		x, y := ra.sides(b, i, last.Value)
		apart, ok := x.plusScaled(y, -1)
		if !ok {
			continue
		}
		apart = ra.settled(apart)
		out[b] = Condition{last.Value.Op, ra.formula(ra.first(apart)), ra.strides(apart, b)}
	}
	return out
}
