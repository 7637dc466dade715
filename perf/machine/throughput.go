package machine

import "presage/perf/isa"

// maxUses bounds the units that one instruction needs at once; Throughput
// enumerates all subsets of them.
const maxUses = 8

// Throughput returns the average number of independent instructions of a class
// that can begin in a cycle if there are no others: the inverse of the
// reciprocal throughput. It is 0 for a class without timing.
//
// Instructions of one class spread over their units in any order, so the bound
// is tight where a set of uses S competes for a set of units: the least, over
// all S, of units(S) / cycles(S), the number of units that any of S may occupy
// over the cycles that all of S occupy them. (Hall's condition for fractional
// matchings; derived here.) The widths are further bounds.
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

// Width returns the largest sustainable number of instructions per cycle: the
// least of the core's known widths, or 0 if none is known.
func (c *Core) Width() int {
	least := 0
	for _, w := range []int{c.FetchWidth, c.IssueWidth, c.RetireWidth} {
		if w != 0 && (least == 0 || w < least) {
			least = w
		}
	}
	return least
}
