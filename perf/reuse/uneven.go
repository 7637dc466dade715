package reuse

import (
	"math/bits"

	"presage/perf/trace"
)

// uneven measures blocks of a size that is no power of two: it passes on accesses to
// the blocks' numbers, as addresses of blocks of the next smaller power of two.
type uneven struct {
	method
	plan       *trace.Plan // if the inner method follows control
	divisor    uint64
	reciprocal uint64
	shift      uint // log2 of the inner method's block size
	out        trace.Batch
}

// newUneven returns m for blocks of another size. It is of blocks of the largest
// power of two that is no larger. A plan is given if it follows control.
func newUneven(m method, plan *trace.Plan, blockBytes uint64) *uneven {
	return &uneven{method: m, plan: plan, divisor: blockBytes, reciprocal: ^uint64(0)/blockBytes + 1, shift: evenShift(blockBytes)}
}

// evenShift returns the logarithm of the largest power of two that is no larger than
// a block.
func evenShift(blockBytes uint64) uint { return uint(bits.Len64(blockBytes)) - 1 }

// block returns the number of the block that holds an address. The reciprocal is
// above 2^64/divisor by less than 1, so that the product is above the quotient by
// less than 2^40/2^64, which is less than 1/divisor as long as that is below 2^24.
func (u *uneven) block(addr uint64) uint64 {
	if u.divisor >= 1<<24 {
		return addr / u.divisor
	}
	hi, _ := bits.Mul64(addr, u.reciprocal)
	return hi
}

// within returns an access to the first byte of a block, by a's reference.
func (u *uneven) within(a trace.Access, block uint64) trace.Access {
	return trace.Tag(a.Ref(), 1) | trace.Access(min(block<<u.shift, trace.AddrLimit-1)) // the last one may reach beyond
}

func (u *uneven) observe(b *trace.Batch) {
	s := &u.out
	s.Reset()
	s.Start, s.Thread = b.Start, b.Thread
	for _, a := range b.Accesses {
		first, last := u.block(a.Addr()), u.block(a.Last())
		if first != last {
			u.separate(b)
			break
		}
		s.Accesses = append(s.Accesses, u.within(a, first))
	}
	if len(s.Blocks) == 0 {
		s.Blocks = append(s.Blocks, b.Blocks...)
		s.Counts = append(s.Counts, b.Counts...)
	}
	u.method.observe(s)
}

// separate sets out to the accesses to blocks of a batch in which some access spans
// several.
func (u *uneven) separate(b *trace.Batch) {
	s := &u.out
	s.Accesses = s.Accesses[:0]
	add := func(accesses []trace.Access) {
		for _, a := range accesses {
			for block, last := u.block(a.Addr()), u.block(a.Last()); block <= last; block++ {
				s.Accesses = append(s.Accesses, u.within(a, block))
			}
		}
	}
	if u.plan == nil {
		add(b.Accesses)
		return
	}
	for id, accesses := range b.ByBlock(u.plan) {
		before := len(s.Accesses)
		add(accesses)
		s.Blocks, s.Counts = append(s.Blocks, id), append(s.Counts, uint32(len(s.Accesses)-before))
	}
}
