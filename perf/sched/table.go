package sched

import (
	"cmp"
	"math/bits"
	"slices"
)

// maxUses is how many units an instruction can need at once.
const maxUses = 8

// placement says which kinds of units an instruction occupies, by its uses.
type placement [maxUses]int8

// table says which units are occupied in which cycles. With a period, cycles
// that are a period apart are the same (the modulo reservation table of Rau
// 1995, section 3.1); without, it grows as cycles are asked for.
//
// Only the number of occupied units of each kind is kept. That is enough: an
// interval of cycles fits if fewer than all units are occupied in each cycle,
// because intervals of which at most n overlap anywhere can be assigned to n units.
// (With a period this does not always hold for uses of several cycles: a use may
// then have to switch units.)
type table struct {
	core   *core
	kinds  []int // in the order of preference
	period int
	busy   []uint8 // by cycle and kind
	owner  []int32 // by cycle and kind: who reserved it last
	used   int     // cycles
}

// reset empties the table for a graph.
func (t *table) reset(c *core, g *Graph, period int) {
	t.core, t.period = c, period
	clear(t.busy[:t.used*len(c.names)])
	t.used = 0
	t.kinds = preference(t.kinds[:0], c, g)
	if period > 0 {
		t.grow(period)
	}
}

// preference appends the kinds of units, least demanded first.
func preference(dst []int, c *core, g *Graph) []int {
	pressure := make([]float64, len(c.names))
	for i, n := range c.demand(g) {
		for set := c.sets[i]; set != 0; set &= set - 1 {
			pressure[bits.TrailingZeros64(set)] += n / float64(c.unitsOf(c.sets[i]))
		}
	}
	for k := range c.names {
		dst = append(dst, k)
	}
	slices.SortStableFunc(dst, func(a, b int) int { return cmp.Compare(pressure[a], pressure[b]) })
	return dst
}

// grow makes room for cycles below n.
func (t *table) grow(n int) {
	if n <= t.used {
		return
	}
	t.used = n
	if need := n * len(t.core.names); need > len(t.busy) {
		busy, owner := make([]uint8, 2*need), make([]int32, 2*need)
		copy(busy, t.busy)
		copy(owner, t.owner)
		t.busy, t.owner = busy, owner
	}
}

// at returns the index of a cycle and kind.
func (t *table) at(cycle, kind int) int {
	if t.period > 0 {
		cycle %= t.period
	}
	return cycle*len(t.core.names) + kind
}

// take reserves units for an instruction that begins in a cycle. If they are not
// free, it reserves nothing and returns the set of kinds missing.
func (t *table) take(tm *timing, cycle int, who int32) (p placement, missing uint64, ok bool) {
	for i := range tm.uses {
		u := &tm.uses[i]
		if t.period == 0 {
			t.grow(cycle + u.cycles)
		}
		k := t.free(u, cycle)
		if k < 0 {
			t.release(tm, &p, cycle, i)
			return p, u.kinds, false
		}
		p[i] = int8(k)
		t.add(k, cycle, u.cycles, 1, who)
	}
	return p, 0, true
}

// free returns a kind with a free unit for a use that starts in a cycle, or -1.
func (t *table) free(u *use, cycle int) int {
	for _, k := range t.kinds {
		if u.kinds>>k&1 != 0 && t.fits(k, cycle, u.cycles) {
			return k
		}
	}
	return -1
}

func (t *table) fits(kind, cycle, cycles int) bool {
	if t.period > 0 && cycles > t.period { // meets itself
		return t.fitsAround(kind, cycle, cycles)
	}
	for c := cycle; c < cycle+cycles; c++ {
		if t.busy[t.at(c, kind)] >= t.core.counts[kind] {
			return false
		}
	}
	return true
}

// fitsAround reports whether a use longer than the period fits: then it
// occupies several units at once, on behalf of several iterations.
func (t *table) fitsAround(kind, cycle, cycles int) bool {
	for c := range t.period {
		n := cycles / t.period
		if (c-cycle%t.period+t.period)%t.period < cycles%t.period {
			n++
		}
		if int(t.busy[t.at(c, kind)])+n > int(t.core.counts[kind]) {
			return false
		}
	}
	return true
}

func (t *table) add(kind, cycle, cycles int, n int8, who int32) {
	for c := cycle; c < cycle+cycles; c++ {
		i := t.at(c, kind)
		t.busy[i] += uint8(n)
		t.owner[i] = who
	}
}

// release frees what the first uses of an instruction have reserved.
func (t *table) release(tm *timing, p *placement, cycle, uses int) {
	for i := range uses {
		t.add(int(p[i]), cycle, tm.uses[i].cycles, -1, -1)
	}
}

// holder returns the last instruction to reserve a unit of a set of kinds in a
// cycle, or -1 if unknown.
func (t *table) holder(kinds uint64, cycle int) int32 {
	last := int32(-1)
	for ; kinds != 0 && cycle < t.used; kinds &= kinds - 1 {
		i := t.at(cycle, bits.TrailingZeros64(kinds))
		if t.busy[i] > 0 {
			last = max(last, t.owner[i])
		}
	}
	return last
}
