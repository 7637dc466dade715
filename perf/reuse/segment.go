package reuse

import (
	"presage/perf/trace"
	"presage/perf/trace/affine"
)

// A segment is a run of a loop with the single accesses up to the next one. If
// it accesses the same blocks as the segment before it, in the same order, then
// its distances depend on that segment alone, since the blocks that both access
// are on top of the stack when it begins, in the order in which the segment leaves
// them; and every further segment of this kind repeats it exactly (derived
// here). So of a row of equal segments two are analysed, the second for all that
// follow; or one, if what the second would find is remembered (see again.go). The
// inner loop of a matrix product that runs down a column, for instance, touches the
// same blocks for as many columns as fit a block.

// observe implements method.
func (k *stack) observe(b *trace.Batch) {
	if len(b.Runs) == 0 {
		k.closeDesk()
		k.plain(b.Accesses)
		return
	}
	k.pieces = k.pieces[:0]
	for p := range b.Pieces() {
		k.pieces = append(k.pieces, p)
	}
	k.outside(k.pieces[0].Accesses)
	for i := 0; i+1 < len(k.pieces); {
		if !k.prepare(&k.pieces[i].Loop) {
			k.expand(&k.pieces[i].Loop)
			k.outside(k.pieces[i+1].Accesses)
			i++
			continue
		}
		more := affine.Repeats(k.pieces, i, deskTail, k.shift)
		k.segment(i, 1)
		if more > 0 {
			k.repeatSegment(i, uint64(more))
		}
		i += 1 + more
	}
}

// segment analyses the prepared loop of piece i and the accesses after it.
func (k *stack) segment(i int, weight uint64) {
	k.run(&k.pieces[i].Loop, weight)
	if tail := k.pieces[i+1].Accesses; weight > 1 {
		k.single(tail, weight)
	} else {
		k.outside(tail)
	}
}

// outside analyses accesses that are not in a run.
func (k *stack) outside(accesses []trace.Access) {
	if k.desk.open && len(accesses) <= deskTail {
		k.single(accesses, 1)
		return
	}
	k.closeDesk()
	k.plain(accesses)
}

// expand analyses a run access by access.
func (k *stack) expand(l *trace.Loop) {
	if refs := uint32(len(l.Strides)); refs > 0 {
		for from := uint32(0); from < l.Count; {
			to := min(l.Count, from+1+sieve/refs)
			k.buffer = l.AppendAccesses(k.buffer[:0], from, to)
			k.outside(k.buffer)
			from = to
		}
	}
}
