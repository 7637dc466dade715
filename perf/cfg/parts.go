package cfg

import "slices"

// This file finds the entries by which a part of a routine that lies elsewhere
// leads back: compilers move code that they take for rarely executed away from
// the rest, as gcc does to NAME.cold. To dominators and loops such an entry is
// none, or every loop that it leads back to would have two entries.

// noteSource notes that a routine jumps to a place of another one.
func (x *explorer) noteSource(d *draft, target uint64) {
	if x.sources == nil {
		x.sources = make(map[uint64][]*draft)
	}
	if !slices.Contains(x.sources[target], d) {
		x.sources[target] = append(x.sources[target], d)
	}
}

// partOf reports whether a draft is a part of a routine: only that leads to it,
// by jumps.
func (x *explorer) partOf(part, d *draft) bool {
	if part == d {
		return false
	}
	for _, pc := range part.entries {
		from := x.sources[pc]
		if x.called[pc] || len(from) == 0 || slices.ContainsFunc(from, func(s *draft) bool { return s != d }) {
			return false
		}
	}
	return len(part.entries) > 0
}

// findRejoins finds the entries of r that only its own parts lead to, as long as
// all code can be reached without them.
func (x *explorer) findRejoins(d *draft, r *Routine) {
	for _, b := range r.Entries[min(1, len(r.Entries)):] {
		pc := r.Blocks[b].PC()
		from := x.sources[pc]
		if len(from) > 0 && !x.called[pc] && !slices.ContainsFunc(from, func(s *draft) bool { return !x.partOf(s, d) }) {
			r.rejoins = append(r.rejoins, b)
		}
	}
	for len(r.rejoins) > 0 {
		seen := r.reached()
		i := slices.IndexFunc(r.rejoins, func(b int) bool { return !seen[b] })
		if i < 0 {
			return
		}
		r.rejoins = slices.Delete(r.rejoins, i, i+1)
	}
	r.rejoins = nil
}

// proper returns the entries that are not rejoins.
func (r *Routine) proper() []int {
	if len(r.rejoins) == 0 {
		return r.Entries
	}
	return slices.DeleteFunc(slices.Clone(r.Entries), func(b int) bool { return slices.Contains(r.rejoins, b) })
}

// reached reports, by block, whether a proper entry leads to it.
func (r *Routine) reached() []bool {
	seen := make([]bool, len(r.Blocks))
	work := slices.Clone(r.proper())
	for len(work) > 0 {
		b := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[b] {
			continue
		}
		seen[b] = true
		for _, e := range r.Blocks[b].Succs {
			if r.structural(e) {
				work = append(work, r.Edges[e].To)
			}
		}
	}
	return seen
}
