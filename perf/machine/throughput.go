package machine

import "presage/perf/isa"

// maxUses bounds the units that one instruction needs at once, because
// Throughput looks at every subset of them.
const maxUses = 8

// Throughput returns how many instructions of a class can begin in a cycle on
// average if the program has no other instructions and none waits for another:
// the reciprocal of the reciprocal throughput. It is 0 for a class without
// timing.
//
// Instructions of one class spread over their units without limit of order, so
// that the bound is tight where a set of uses S competes for a set of units:
// the least, over all S, of units(S) / cycles(S), the number of units that any of
// S may occupy over the cycles that all of S occupy them. (The condition of Hall
// for fractional matchings; derived here.) The widths bound it too.
func (c *Core) Throughput(class isa.Class) float64 {
	t, ok := c.Classes[class]
	if !ok {
		return 0
	}
	best := float64(c.Width())
	for subset := 1; subset < 1<<len(t.Uses); subset++ {
		var cycles Cycles
		units := make(map[string]bool)
		for i, u := range t.Uses {
			if subset>>i&1 == 1 {
				cycles += u.Cycles
				for _, name := range u.AnyOf {
					units[name] = true
				}
			}
		}
		count := 0
		for _, u := range c.Units {
			if units[u.Name] {
				count += u.Count
			}
		}
		best = min(best, float64(count)/float64(cycles))
	}
	return best
}

// Width returns the instructions a cycle that the core can sustain at most: the
// least of its known widths, 0 if none is known.
func (c *Core) Width() int {
	least := 0
	for _, w := range []int{c.FetchWidth, c.IssueWidth, c.RetireWidth} {
		if w != 0 && (least == 0 || w < least) {
			least = w
		}
	}
	return least
}
