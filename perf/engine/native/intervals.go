//go:build linux && amd64

package native

import "slices"

// intervals is a set of addresses.
type intervals struct {
	list  []interval // ascending, neither empty nor touching
	total uint64     // bytes
}

type interval struct{ lo, hi uint64 }

// add adds [lo, hi).
func (s *intervals) add(lo, hi uint64) {
	if lo >= hi {
		return
	}
	i := 0
	for i < len(s.list) && s.list[i].hi < lo {
		i++
	}
	n := i
	for n < len(s.list) && s.list[n].lo <= hi {
		lo, hi = min(lo, s.list[n].lo), max(hi, s.list[n].hi)
		s.total -= s.list[n].hi - s.list[n].lo
		n++
	}
	s.list = slices.Replace(s.list, i, n, interval{lo, hi})
	s.total += hi - lo
}

// remove removes [lo, hi).
func (s *intervals) remove(lo, hi uint64) {
	var kept []interval
	s.total = 0
	for _, v := range s.list {
		for _, part := range []interval{{v.lo, min(v.hi, lo)}, {max(v.lo, hi), v.hi}} {
			if part.lo < part.hi {
				kept = append(kept, part)
				s.total += part.hi - part.lo
			}
		}
	}
	s.list = kept
}

// around returns the interval that contains an address.
func (s *intervals) around(addr uint64) (lo, hi uint64, ok bool) {
	for _, v := range s.list {
		if addr >= v.lo && addr < v.hi {
			return v.lo, v.hi, true
		}
	}
	return 0, 0, false
}
