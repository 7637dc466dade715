package reuse

import "presage/perf/trace"

// The front is the top of the LRU stack: the width blocks accessed last, in
// order, kept apart from the time line. An access that finds its block at place
// d of the front has distance d and changes nothing else.
//
// Most accesses of regular programs end in the sift. Those that miss the front
// become records, to be settled on the time line later: first all their table
// entries are looked up, so that cache misses overlap, and only then are they
// processed in order.
const (
	frontMax = 8

	// sieve is the number of accesses that are sifted before their records are
	// settled.
	sieve = 128

	// A place of the front is block<<recBits | record: comparing it with a
	// block takes one exclusive or, and moving it moves its record.
	recBits = 20
	recMask = 1<<recBits - 1
)

// record is an access that missed the front.
type record struct {
	block uint64
	group uint32
	out   uint32 // the record of the block that left the front for this one
}

// front is the state of the top of the stack between sifts. Place i < width is
// the block with distance i; its record is one of the first frontMax.
type front struct {
	place [frontMax]uint64
	width int
	stays bool // most accesses are to the block of the one before: see stay
}

// tally counts accesses by their distance, to choose the front's width.
type tally struct {
	accesses uint64 // block accesses
	near     uint64 // at distance 1 to 3
	mid      uint64 // at distance 4 to 7
	records  uint64 // that missed the front
}

// stayPlain counts accesses to a block, the one accessed last, up to the first that touches
// another, and returns their number. It counts by reference, which is quickest.
func (k *stack) stayPlain(accesses []trace.Access, block uint64) int {
	const addrBits = 40 // of an Access
	at := block << (k.shift & 63) << (64 - addrBits)
	stayed, ends := k.stayed, &k.ends
	for i, a := range accesses {
		if uint64(a)<<(64-addrBits)^at >= ends[a>>addrBits&(sizes-1)] {
			return i
		}
		stayed[a.Ref()]++
	}
	return len(accesses)
}

// sift passes accesses through the front and returns the number of records,
// of which the first frontMax stand for the places at the start.
func (k *stack) sift(accesses []trace.Access) int {
	f0, f1, f2, f3 := k.front.place[0], k.front.place[1], k.front.place[2], k.front.place[3]
	f4, f5, f6, f7 := k.front.place[4], k.front.place[5], k.front.place[6], k.front.place[7]
	narrow, broad := k.front.width == 1, k.front.width == frontMax
	shift, groupOf, records, counts := k.shift&63, k.groupOf, k.records, k.counts.near
	var near, mid, more uint64
	n := uint64(frontMax)
	for at := 0; at < len(accesses); at++ {
		if k.front.stays {
			at += k.stay(accesses[at:], f0>>recBits)
			if at == len(accesses) {
				break
			}
		}
		a := accesses[at]
		block, last := a.Addr()>>shift, a.Last()>>shift
		group := groupOf[a.Ref()]
		count := &counts[group]
		for {
			key := block << recBits
			var out uint64
			switch {
			case f0^key <= recMask:
				count[0]++
				goto found
			case narrow:
				out, f0 = f0, key|n
			case f1^key <= recMask:
				count[1]++
				near++
				f0, f1 = f1, f0
				goto found
			case f2^key <= recMask:
				count[2]++
				near++
				f0, f1, f2 = f2, f0, f1
				goto found
			case f3^key <= recMask:
				count[3]++
				near++
				f0, f1, f2, f3 = f3, f0, f1, f2
				goto found
			case !broad:
				out, f0, f1, f2, f3 = f3, key|n, f0, f1, f2
			case f4^key <= recMask:
				count[4]++
				mid++
				f0, f1, f2, f3, f4 = f4, f0, f1, f2, f3
				goto found
			case f5^key <= recMask:
				count[5]++
				mid++
				f0, f1, f2, f3, f4, f5 = f5, f0, f1, f2, f3, f4
				goto found
			case f6^key <= recMask:
				count[6]++
				mid++
				f0, f1, f2, f3, f4, f5, f6 = f6, f0, f1, f2, f3, f4, f5
				goto found
			case f7^key <= recMask:
				count[7]++
				mid++
				f0, f1, f2, f3, f4, f5, f6, f7 = f7, f0, f1, f2, f3, f4, f5, f6
				goto found
			default:
				out, f0, f1, f2, f3, f4, f5, f6, f7 = f7, key|n, f0, f1, f2, f3, f4, f5, f6
			}
			records[n] = record{block, group, uint32(out & recMask)}
			n++
		found:
			if block == last {
				break
			}
			block++
			more++
		}
	}
	k.front.place = [frontMax]uint64{f0, f1, f2, f3, f4, f5, f6, f7}
	k.tally.accesses += uint64(len(accesses)) + more
	k.tally.near += near
	k.tally.mid += mid
	k.tally.records += n - frontMax
	return int(n)
}

// settle puts records frontMax to n on the time line and makes the first
// records those of the front's places again.
func (k *stack) settle(n int) {
	entries, records := k.entries[:n], k.records[:n]
	k.findRecords(n)
	width := uint32(k.front.width)
	for i := frontMax; i < n; i++ {
		r := &records[i]
		if s := k.table.last[entries[i]]; s != 0 {
			d := width + k.line.take(s)
			if d < frontMax {
				k.near(d)
			}
			k.counts.add(r.group, d)
		} else {
			k.first(entries[i], r.group)
		}
		k.push(entries[r.out])
	}
	k.rebase()
}

// findRecords sets the entries of records frontMax to n.
func (k *stack) findRecords(n int) {
	entries, records := k.entries[:n], k.records[:n]
	for i := frontMax; i < n; i++ {
		e, ok := k.table.find(records[i].block)
		if !ok {
			e = k.table.add(records[i].block)
		}
		entries[i] = e
	}
	var touch uint32
	for _, e := range entries[frontMax:] {
		touch += k.table.last[e]
	}
	k.touched = touch
}

// near tallies a short distance found on the time line.
func (k *stack) near(d uint32) {
	switch {
	case d == 0:
	case d < 4:
		k.tally.near++
	default:
		k.tally.mid++
	}
}

// rebase makes record i that of place i of the front.
func (k *stack) rebase() {
	var top [frontMax]entry
	for i := range k.front.width {
		p := &k.front.place[i]
		top[i] = k.entries[*p&recMask]
		*p = *p&^recMask | uint64(i)
	}
	copy(k.entries, top[:])
}

// push puts e, which leaves the front, on the time line.
func (k *stack) push(e entry) {
	if k.line.full() {
		k.taker.done()
		k.line.renumber(k.table.last)
	}
	k.table.last[e] = k.line.put(e)
}

// resize changes the front's width between sifts, keeping the stack's order.
func (k *stack) resize(width int) {
	k.closeDesk()
	k.rebase() // a sift without records permutes the places all the same
	for k.front.width > width {
		k.front.width--
		k.push(k.entries[k.front.width])
	}
	for k.front.width < width {
		s := k.line.newest()
		e := k.line.owner[s]
		k.line.take(s)
		k.entries[k.front.width] = e
		k.front.place[k.front.width] = k.table.block(e)<<recBits | uint64(k.front.width)
		k.front.width++
	}
}
