package reuse

import (
	"math"

	"presage/perf/trace"
)

// never is the distance of a block's first access, in lists of distances.
const never = math.MaxUint32

// A measure lists the distances of accesses instead of counting them, for a second
// pass that knows more of each access than its group. Its sift and its settle are
// those of the front but for this: a record's group is the place of its distance.
type measure struct {
	distances []uint32 // of the block accesses, in order
	straddles bool     // some access has several
}

// measure sets m to the distances of accesses. The desk must be closed.
func (k *stack) measure(m *measure, accesses []trace.Access) {
	m.straddles = false
	if cap(m.distances) < len(accesses) {
		m.distances = make([]uint32, 0, len(accesses))
	}
	m.distances = m.distances[:0]
	for len(accesses) > 0 {
		n := min(sieve, len(accesses))
		if records := k.siftInto(m, accesses[:n]); records > frontMax {
			k.settleInto(m, records)
		}
		if k.tally.accesses >= adaptPeriod {
			k.adapt()
		}
		accesses = accesses[n:]
	}
}

// siftInto is sift with a list of distances, of which it leaves those of records
// open.
func (k *stack) siftInto(m *measure, accesses []trace.Access) int {
	f0, f1, f2, f3 := k.front.place[0], k.front.place[1], k.front.place[2], k.front.place[3]
	f4, f5, f6, f7 := k.front.place[4], k.front.place[5], k.front.place[6], k.front.place[7]
	narrow, broad := k.front.width == 1, k.front.width == frontMax
	shift, records := k.shift&63, k.records
	var near, mid, more uint64
	n := uint64(frontMax)
	first := len(m.distances)
	m.grow(len(accesses))
	out := m.distances
	at := first
	for i := range accesses {
		a := accesses[i]
		block, last := a.Addr()>>shift, a.Last()>>shift
		for {
			key := block << recBits
			var d uint32
			var left uint64
			switch {
			case f0^key <= recMask:
				goto found
			case narrow:
				left, f0 = f0, key|n
			case f1^key <= recMask:
				d = 1
				near++
				f0, f1 = f1, f0
				goto found
			case f2^key <= recMask:
				d = 2
				near++
				f0, f1, f2 = f2, f0, f1
				goto found
			case f3^key <= recMask:
				d = 3
				near++
				f0, f1, f2, f3 = f3, f0, f1, f2
				goto found
			case !broad:
				left, f0, f1, f2, f3 = f3, key|n, f0, f1, f2
			case f4^key <= recMask:
				d = 4
				mid++
				f0, f1, f2, f3, f4 = f4, f0, f1, f2, f3
				goto found
			case f5^key <= recMask:
				d = 5
				mid++
				f0, f1, f2, f3, f4, f5 = f5, f0, f1, f2, f3, f4
				goto found
			case f6^key <= recMask:
				d = 6
				mid++
				f0, f1, f2, f3, f4, f5, f6 = f6, f0, f1, f2, f3, f4, f5
				goto found
			case f7^key <= recMask:
				d = 7
				mid++
				f0, f1, f2, f3, f4, f5, f6, f7 = f7, f0, f1, f2, f3, f4, f5, f6
				goto found
			default:
				left, f0, f1, f2, f3, f4, f5, f6, f7 = f7, key|n, f0, f1, f2, f3, f4, f5, f6
			}
			records[n] = record{block, uint32(at), uint32(left & recMask)}
			n++
		found:
			out[at] = d
			at++
			if block == last {
				break
			}
			block++
			more++
			out = append(out, 0) // room for one access more than there were
		}
	}
	m.distances = out
	m.straddles = m.straddles || more > 0
	k.front.place = [frontMax]uint64{f0, f1, f2, f3, f4, f5, f6, f7}
	k.tally.accesses += uint64(len(accesses)) + more
	k.tally.near += near
	k.tally.mid += mid
	return int(n)
}

// grow makes room for n distances more.
func (m *measure) grow(n int) {
	need := len(m.distances) + n
	if need > cap(m.distances) {
		m.distances = append(make([]uint32, 0, 2*need), m.distances...)
	}
	m.distances = m.distances[:need]
}

// settleInto is settle with a list of distances.
func (k *stack) settleInto(m *measure, n int) {
	entries, records := k.entries[:n], k.records[:n]
	k.findRecords(n)
	width := uint32(k.front.width)
	for i := frontMax; i < n; i++ {
		r := &records[i]
		d := uint32(never)
		if s := k.table.last[entries[i]]; s != 0 {
			d = width + k.line.take(s)
			if d < frontMax {
				k.near(d)
			}
		} else if k.chunk {
			k.firsts.add(touch{entry: entries[i]})
		} else {
			k.blocks++
		}
		m.distances[r.group] = d
		k.push(entries[r.out])
	}
	k.rebase()
}
