package pipeline

import (
	"cmp"
	"math/bits"
	"slices"

	"presage/perf/isa"
)

// units is which functional units, issue slots and cache ports are taken in
// which cycle: a bit each, in a ring of cycles.
//
// Reservations are made in program order. Where all are for one cycle, that
// gives what a scheduler gives that looks at each cycle, the oldest ready
// instruction first: a younger one takes what is left, and so never delays an
// older one.
type units struct {
	ring  []cycle
	floor int64 // no reservation will be made before it
}

type cycle struct {
	at    int64 // that the bits are of; a smaller number: none are taken
	taken uint64
}

// work is what an instruction needs in the cycle in which it begins, and the
// latest stretch of cycles that was found to have no room for it. What is
// taken stays taken, so that stretch need not be searched again.
type work struct {
	uses   [maxUses]unitUse
	n      int
	shared bool // some use is for more than a cycle
	got    [maxUses]uint64
	full   span
}

type unitUse struct {
	any    uint64 // the bits of which one is needed
	cycles int64
}

const unitsRing = 1 << 10 // at first; it grows with the times that occur

func newUnits() units {
	u := units{ring: make([]cycle, unitsRing)}
	u.clear()
	return u
}

func (u *units) clear() {
	for i := range u.ring {
		u.ring[i].at = -1
	}
}

// begin returns the first cycle from t on that has room for w, and takes it.
func (u *units) begin(w *work, t int64) int64 {
	if w.n == 0 {
		return t
	}
	if t >= w.full.from && t < w.full.to {
		t = w.full.to
	}
	first := t
	for {
		if t-u.floor >= int64(len(u.ring)) {
			u.grow(t)
		}
		e := &u.ring[t&int64(len(u.ring)-1)]
		if e.at != t {
			e.at, e.taken = t, 0
		}
		got, ok := uint64(0), true
		for i := range w.uses[:w.n] {
			free := w.uses[i].any &^ (e.taken | got)
			if w.shared && w.uses[i].cycles > 1 {
				free = u.lasting(free, t, w.uses[i].cycles)
				e = &u.ring[t&int64(len(u.ring)-1)] // the ring may have grown
			}
			if free == 0 {
				ok = false
				break
			}
			w.got[i] = free & -free
			got |= w.got[i]
		}
		if ok {
			e.taken |= got
			if w.shared {
				u.occupy(w, t)
			}
			break
		}
		t++
		if t == w.full.from {
			t = w.full.to
		}
	}
	if t > first {
		w.full = w.full.with(first, t)
	}
	return t
}

// with returns the span from first to t, joined with s if they touch.
func (s span) with(first, t int64) span {
	if first > s.to || t < s.from {
		return span{first, t}
	}
	return span{min(first, s.from), max(t, s.to)}
}

// lasting returns those of the bits that stay free for some cycles from t on.
func (u *units) lasting(free uint64, t, cycles int64) uint64 {
	if t+cycles-u.floor >= int64(len(u.ring)) {
		u.grow(t + cycles)
	}
	for i := int64(1); i < cycles && free != 0; i++ {
		if e := &u.ring[(t+i)&int64(len(u.ring)-1)]; e.at == t+i {
			free &^= e.taken
		}
	}
	return free
}

// occupy takes what w got for the cycles after t that it is needed for.
func (u *units) occupy(w *work, t int64) {
	for i := range w.uses[:w.n] {
		for c := int64(1); c < w.uses[i].cycles; c++ {
			e := &u.ring[(t+c)&int64(len(u.ring)-1)]
			if e.at != t+c {
				e.at, e.taken = t+c, 0
			}
			e.taken |= w.got[i]
		}
	}
}

// grow makes the ring reach beyond t.
func (u *units) grow(t int64) {
	old := u.ring
	n := len(old)
	for t-u.floor >= int64(n) {
		n *= 2
	}
	u.ring = make([]cycle, n)
	u.clear()
	for _, e := range old {
		if e.at >= u.floor {
			u.ring[e.at&int64(n-1)] = e
		}
	}
}

// layout gives the units, issue slots and ports their bits. Of the units that
// would do the lowest free bit is taken, so the units that the fewest classes
// can use come first, which leaves the others to the classes that need them.
type layout struct {
	issue, ports, stores uint64
	unit                 map[string]uint64
}

func newLayout(c *Config) layout {
	l := layout{unit: make(map[string]uint64)}
	users := make(map[string]int)
	for _, t := range c.Timings {
		for _, u := range t.Uses {
			for _, name := range u.AnyOf {
				users[name]++
			}
		}
	}
	order := slices.Clone(c.Units)
	slices.SortStableFunc(order, func(a, b Unit) int { return cmp.Compare(users[a.Name], users[b.Name]) })
	at := 0
	take := func(n int) uint64 {
		mask := uint64(0)
		for range n {
			mask |= 1 << at
			at++
		}
		return mask
	}
	for _, u := range order {
		l.unit[u.Name] = take(u.Count)
	}
	l.issue, l.ports, l.stores = take(c.IssueWidth), take(c.Memory.Ports), take(c.Memory.StoresPerCycle)
	return l
}

// work returns what an instruction of a class needs.
func (l *layout) work(class isa.Class, t Timing) work {
	var w work
	for _, u := range t.Uses {
		mask := uint64(0)
		for _, name := range u.AnyOf {
			mask |= l.unit[name]
		}
		w.add(mask, u.Cycles)
	}
	w.add(l.issue, 1)
	switch class {
	case isa.Load, isa.FPLoad, isa.Atomic:
		w.add(l.ports, 1)
	}
	// What has the fewest units to choose from chooses first.
	slices.SortStableFunc(w.uses[:w.n], func(a, b unitUse) int {
		return cmp.Compare(bits.OnesCount64(a.any), bits.OnesCount64(b.any))
	})
	return w
}

// commit returns what writing a store to the cache needs.
func (l *layout) commit() work {
	var w work
	w.add(l.stores, 1)
	w.add(l.ports, 1)
	return w
}

// add makes w need one of the units of a mask; none if the mask is 0.
func (w *work) add(mask uint64, cycles int) {
	if mask != 0 {
		w.uses[w.n] = unitUse{mask, int64(cycles)}
		w.n++
		w.shared = w.shared || cycles > 1
	}
}
