package reuse

import "presage/perf/trace"

// Of three iterations in a row of a loop of one block that access the same memory
// blocks in the same order, the last two have the same distances, are carried
// alike and leave the stack as it was: the stack is the same before both, and its
// top are the blocks of one iteration (derived here). So the last is not
// analysed: the one before it counts twice. With pages for blocks that leaves few
// iterations of most loops.
type repeats struct {
	batch   trace.Batch // of iterations that are analysed
	weights []uint64    // by its blocks: iterations that they stand for
	whole   []memo      // by reference: accesses whose memory blocks are each in one object

	skip int // batches that are not looked at, since few iterations repeated
	idle int // in a row that found too few
}

const (
	// worthwhile is the share of a batch's accesses, 1/worthwhile, that must repeat
	// for the next batches to be looked at.
	worthwhile = 12

	// mostIdle bounds the batches that are passed over, as a power of two.
	mostIdle = 4
)

// compact returns b without iterations that repeat the one before, and how often
// each execution of a block that is left counts; b itself and nil if there is
// nothing to gain.
func (c *carriers) compact(b *trace.Batch) (*trace.Batch, []uint64) {
	r := &c.repeats
	if len(b.Counts) > 0 || c.sources != nil && c.sources.tell {
		return b, nil
	}
	if r.skip > 0 {
		r.skip--
		return b, nil
	}
	out := &r.batch
	out.Reset()
	r.weights = r.weights[:0]
	at, from, first := 0, 0, 0 // accesses seen and not copied, blocks not copied
	row := 0                   // iterations in a row that repeat the one before, at most 1
	last := ^trace.BlockID(0)
	for i, id := range b.Blocks {
		s := &c.steps[id]
		n := int(s.refs)
		if at+n > len(b.Accesses) {
			break // ended by a fault
		}
		if id != last {
			row, last = 0, id
			at += n
			continue
		}
		switch now := b.Accesses[at : at+n]; {
		case !s.single || (now[n-1]^b.Accesses[at-1])>>c.shift != 0 || !c.alike(b.Accesses[at-n:at], now):
			row = 0
		case row == 0:
			if c.whole(now) {
				row = 1
			}
		default:
			if first < i {
				c.copied(b, from, at, first, i)
			}
			r.weights[len(r.weights)-1]++
			from, first = at+n, i+1
		}
		at += n
	}
	if skipped := len(b.Accesses) - len(out.Accesses) - (len(b.Accesses) - from); skipped*worthwhile < len(b.Accesses) {
		r.idle = min(r.idle+1, mostIdle)
		r.skip = 1<<r.idle - 1
	} else {
		r.idle = 0
	}
	if first == 0 {
		return b, nil
	}
	c.copied(b, from, len(b.Accesses), first, len(b.Blocks))
	c.accesses += uint64(len(b.Accesses) - len(out.Accesses))
	return out, r.weights
}

// copied appends a part of b to the iterations that are analysed.
func (c *carriers) copied(b *trace.Batch, from, to, firstBlock, toBlock int) {
	r := &c.repeats
	r.batch.Accesses = append(r.batch.Accesses, b.Accesses[from:to]...)
	r.batch.Blocks = append(r.batch.Blocks, b.Blocks[firstBlock:toBlock]...)
	for range toBlock - firstBlock {
		r.weights = append(r.weights, 1)
	}
}

// alike reports whether two iterations access the same blocks of memory in the
// same order, one with each access.
func (c *carriers) alike(before, now []trace.Access) bool {
	before = before[:len(now)]
	shift := c.shift & 63
	all := trace.Access(0)
	for i, a := range now {
		if (a^before[i])>>shift != 0 {
			return false
		}
		all |= a | before[i]
	}
	if all.Addr()&(c.largest-1) == 0 && c.largest <= 1<<shift {
		return true // all are aligned, and straddle nothing
	}
	for i, a := range now {
		if (a.Last()^a.Addr()|before[i].Last()^a.Addr())>>shift != 0 {
			return false
		}
	}
	return true
}

// whole reports whether each of the blocks of memory that are accessed is in one
// object, so that accesses to the same blocks are to the same objects.
func (c *carriers) whole(accesses []trace.Access) bool {
	for _, a := range accesses {
		m := &c.repeats.whole[a.Ref()]
		if uint64(a)-m.lo < m.size {
			continue
		}
		_, lo, hi := c.objects.at(a.Addr())
		lo, hi = (lo+1<<c.shift-1)>>c.shift<<c.shift, hi>>c.shift<<c.shift
		if a.Addr() < lo || a.Addr() >= hi {
			return false
		}
		c.recalled(m)
		*m = memo{lo: uint64(a) - a.Addr() + lo, size: hi - lo}
	}
	return true
}
