package timing

import (
	"cmp"
	"slices"

	"presage/perf/access"
	"presage/perf/misses"
	"presage/perf/trace"
)

// stream is a part of a group of references: those that walk through the same blocks or,
// if the group does not walk, those that access the same block in an iteration.
type stream struct {
	refs     []*access.Reference
	leader   *access.Reference // the one that comes to blocks first; nil: one reference that does not walk
	executed float64           // accesses
	blocks   float64           // that the accesses go through, at most
	rank     int               // how many other streams lead it
	missed   []float64         // by penalty
	walk     int32             // number among those with a leader, from 1; 0: none
}

// split splits a group into streams and divides its misses among them.
//
// What is known is the sum. In a walk, a stream misses at most once in each block. Of
// several in one array the one that leads, such as the last row of a stencil, brings in
// what the others find: first the leaders of all arrays miss, then what follows them,
// and so on. What is left over is spread over all accesses.
//
// Of fields of what a pointer leads to, the first that is accessed brings in the block, and
// the others wait for it: the load of the next pointer, as of one that missed itself.
func (d *disturber) split(m *missed, group int, walks bool) []stream {
	var list []stream
	for _, r := range m.model.References(misses.Group(group)) {
		n := d.executed(r)
		i := slices.IndexFunc(list, func(s stream) bool { return beside(s.refs[0], r, int64(m.blockBytes), walks) })
		if i < 0 {
			i = len(list)
			list = append(list, stream{missed: make([]float64, len(d.penalties))})
		}
		s := &list[i]
		s.refs, s.executed = append(s.refs, r), s.executed+n
		s.blocks = max(s.blocks, n*min(1, float64(pace(r))/float64(m.blockBytes)))
	}
	if walks {
		order(list)
	}
	for i := range list {
		switch s := &list[i]; {
		case walks:
			d.lead(s)
		case len(s.refs) > 1:
			s.leader = d.earliest(s)
		}
	}
	for k := range d.penalties {
		n := m.byGroup[k][group]
		if walks && !d.penalties[k].TLB {
			n = fill(list, k, n)
		}
		spread(list, k, n)
	}
	return list
}

// lead finds the reference that leads a stream: of those that are executed about as
// often as any, the one farthest along; of two that come to the same place, the load or
// else the first.
func (d *disturber) lead(s *stream) {
	most := 0.0
	for _, r := range s.refs {
		most = max(most, d.executed(r))
	}
	for _, r := range s.refs {
		switch {
		case d.executed(r) < most/2:
		case s.leader == nil:
			s.leader = r
		default:
			ahead := int64(0)
			if apart, ok := r.First.Minus(s.leader.First); ok && r.Base == s.leader.Base {
				ahead, _ = apart.Constant()
			}
			if backward(r) {
				ahead = -ahead
			}
			if ahead > 0 || ahead == 0 && r.Kind != trace.Store && s.leader.Kind == trace.Store {
				s.leader = r
			}
		}
	}
}

// earliest returns the first reference in the program of those of a stream that are
// executed about as often as any.
func (d *disturber) earliest(s *stream) *access.Reference {
	most := 0.0
	for _, r := range s.refs {
		most = max(most, d.executed(r))
	}
	var first *access.Reference
	for _, r := range s.refs {
		if d.executed(r) >= most/2 && (first == nil || r.PC < first.PC) {
			first = r
		}
	}
	return first
}

// beside reports whether references belong to one stream: walks that stay less than a
// block apart, and others whose addresses are that near in every iteration of a loop.
func beside(x, y *access.Reference, bytes int64, walks bool) bool {
	if walks {
		return together(x, y, bytes)
	}
	if !x.InGraph || !y.InGraph || x.RoutineIndex != y.RoutineIndex || x.Loop != y.Loop || x.Base != y.Base {
		return false
	}
	apart, ok := x.First.Minus(y.First)
	by, constant := apart.Constant()
	return ok && constant && max(by, -by) < bytes
}

// together reports whether references stay less than some bytes apart.
func together(x, y *access.Reference, bytes int64) bool {
	if x.RoutineIndex != y.RoutineIndex || x.Base != y.Base {
		return false
	}
	apart, ok := x.First.Minus(y.First)
	if !ok {
		return true
	}
	by, constant := apart.Constant()
	return !constant || max(by, -by) < bytes
}

// order ranks streams by how many lead them, and sorts them by rank.
func order(list []stream) {
	for i := range list {
		for j := range list {
			if i != j && list[i].refs[0].RoutineIndex == list[j].refs[0].RoutineIndex && leads(list[j].refs[0], list[i].refs[0]) {
				list[i].rank++
			}
		}
	}
	slices.SortStableFunc(list, func(a, b stream) int { return cmp.Compare(a.rank, b.rank) })
}

// leads reports whether a reference is known to come to the locations of another before
// that does: they are apart by a sum of the strides of both, of which the outermost
// loop's counts most.
func leads(x, y *access.Reference) bool {
	apart, ok := x.First.Minus(y.First)
	if !ok {
		return false
	}
	terms := slices.Clone(apart.Terms())
	for k := len(x.Strides) - 1; k >= 0; k-- {
		stride := x.Strides[k].Formula.Terms()
		if !x.Strides[k].Regular() || len(stride) != 1 {
			continue
		}
		i := slices.IndexFunc(terms, func(t access.Term) bool { return t.Symbol == stride[0].Symbol })
		if i < 0 {
			continue
		}
		if leading := (terms[i].Num > 0) == (stride[0].Num > 0); !leading {
			return false
		}
		// What further loops move by is less; anything else is another array.
		return elsewhere(slices.Delete(terms, i, i+1), x.Strides[:k])
	}
	return false
}

// elsewhere reports whether no term is left but multiples of strides and constants.
func elsewhere(terms []access.Term, strides []access.Stride) bool {
	for _, t := range terms {
		known := t.Symbol.Kind == access.Unit
		for k := range strides {
			for _, s := range strides[k].Formula.Terms() {
				known = known || s.Symbol == t.Symbol
			}
		}
		if !known {
			return false
		}
	}
	return true
}

// pace is by how many bytes a reference moves on in the innermost loop that moves it.
func pace(r *access.Reference) int64 {
	for _, stride := range r.Strides {
		if by, _ := stride.Formula.Constant(); by != 0 {
			return max(by, -by)
		}
	}
	return 0
}

// backward reports whether a reference walks to lower addresses.
func backward(r *access.Reference) bool {
	for _, stride := range r.Strides {
		if by, _ := stride.Formula.Constant(); by != 0 {
			return by < 0
		}
	}
	return false
}

// fill lets streams miss in their blocks, rank by rank, until n misses are divided. It
// returns those that are left.
func fill(list []stream, level int, n float64) float64 {
	for i := 0; i < len(list) && n > 0; {
		j, blocks := i, 0.0
		for ; j < len(list) && list[j].rank == list[i].rank; j++ {
			blocks += list[j].blocks
		}
		share := 1.0
		if blocks > n {
			share = n / blocks
		}
		for ; i < j; i++ {
			list[i].missed[level] = list[i].blocks * share
			n -= list[i].missed[level]
		}
	}
	return max(0, n)
}

// spread divides n misses among streams by their accesses.
func spread(list []stream, level int, n float64) {
	all := 0.0
	for i := range list {
		all += list[i].executed
	}
	for i := range list {
		if all > 0 {
			list[i].missed[level] += n * list[i].executed / all
		}
	}
}
