package cache

import (
	"slices"

	"presage/perf/trace"
)

// naiveLine is a block held, and whether it is dirty.
type naiveLine struct {
	block uint64
	dirty bool
}

// naiveLevel is a straightforward LRU cache: a slice per set, latest first.
type naiveLevel struct {
	Level
	sets   map[uint64][]naiveLine
	ever   map[uint64]bool
	counts []Counts
}

// naive is a chain of LRU levels as doc.go describes it: the oracle.
type naive struct {
	plan   *trace.Plan
	levels []*naiveLevel
	stores bool
}

func newNaive(plan *trace.Plan, levels []Level, stores bool) *naive {
	n := &naive{plan: plan, stores: stores}
	for _, l := range levels {
		n.levels = append(n.levels, &naiveLevel{l, map[uint64][]naiveLine{}, map[uint64]bool{}, make([]Counts, plan.Groups())})
	}
	return n
}

func (l *naiveLevel) ways() int {
	if l.Ways == 0 {
		return int(l.Blocks)
	}
	return l.Ways
}

func (l *naiveLevel) set(block uint64) uint64 { return block % (l.Blocks / uint64(l.ways())) }

func (l *naiveLevel) index(block uint64) int {
	return slices.IndexFunc(l.sets[l.set(block)], func(x naiveLine) bool { return x.block == block })
}

// take removes and returns a block that is held.
func (l *naiveLevel) take(block uint64) naiveLine {
	s, i := l.sets[l.set(block)], l.index(block)
	line := s[i]
	l.sets[l.set(block)] = slices.Delete(slices.Clone(s), i, i+1)
	return line
}

func (n *naive) observe(accesses []trace.Access) {
	for _, a := range accesses {
		r := n.plan.Refs[a.Ref()]
		n.demand(0, a.Addr(), a.Last(), r, n.stores && r.Kind.Writes())
	}
}

func (n *naive) demand(i int, first, last uint64, r trace.Ref, store bool) {
	if i == len(n.levels) {
		return
	}
	l := n.levels[i]
	if r.Float && l.BypassFloat {
		n.demand(i+1, first, last, r, store)
		return
	}
	for b := first / l.BlockBytes; b <= last/l.BlockBytes; b++ {
		lo, hi := b*l.BlockBytes, (b+1)*l.BlockBytes-1
		n.block(i, b, lo, hi, max(lo, first), min(hi, last), r, store)
	}
}

func (n *naive) block(i int, b, lo, hi, first, last uint64, r trace.Ref, store bool) {
	l := n.levels[i]
	c := &l.counts[r.Group]
	c.Accesses++
	held := l.index(b) >= 0
	if !held {
		c.Misses++
		if !l.ever[b] {
			c.Cold++
		}
		l.ever[b] = true
		if store && l.NoWriteAllocate {
			n.demand(i+1, first, last, r, true)
			return
		}
	}
	line := naiveLine{block: b}
	if held {
		line = l.take(b)
	}
	line.dirty = line.dirty || store && !l.WriteThrough
	s := slices.Insert(slices.Clone(l.sets[l.set(b)]), 0, line)
	var victim *naiveLine
	if len(s) > l.ways() {
		victim = &s[len(s)-1]
		s = s[:len(s)-1]
	}
	l.sets[l.set(b)] = s
	if victim != nil {
		n.evict(i, *victim, r)
	}
	if !held {
		n.demand(i+1, lo, hi, r, false)
	}
	if store && l.WriteThrough {
		n.write(i+1, first, last, r)
	}
}

func (n *naive) evict(i int, victim naiveLine, r trace.Ref) {
	l := n.levels[i]
	lo, hi := victim.block*l.BlockBytes, (victim.block+1)*l.BlockBytes-1
	if l.Inclusive {
		for _, above := range n.levels[:i] {
			for b := lo / above.BlockBytes; b <= hi/above.BlockBytes; b++ {
				if above.index(b) >= 0 && above.take(b).dirty {
					above.counts[r.Group].Writebacks++
					victim.dirty = true
				}
			}
		}
	}
	if victim.dirty {
		l.counts[r.Group].Writebacks++
		n.write(i+1, lo, hi, r)
	}
}

func (n *naive) write(i int, first, last uint64, r trace.Ref) {
	if i == len(n.levels) {
		return
	}
	l := n.levels[i]
	for b := first / l.BlockBytes; b <= last/l.BlockBytes; b++ {
		if j := l.index(b); j >= 0 && !l.WriteThrough {
			l.sets[l.set(b)][j].dirty = true
			continue
		}
		l.counts[r.Group].PassedWrites++
		n.write(i+1, max(first, b*l.BlockBytes), min(last, (b+1)*l.BlockBytes-1), r)
	}
}
