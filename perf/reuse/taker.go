package reuse

import "math/bits"

// takerLines, a power of two, is the number of lines that a taker remembers: the streams
// of most loops, each of which takes slots in ascending order.
const takerLines = 8

// A taker removes many slots of a time line. What it takes from a few lines at hand it
// applies to the tree when it goes on to others: regular programs touch blocks again in
// the order in which they touched them, and the next slot is mostly in a line at hand.
// Where few are, it takes each by itself. Slots may be added in between; for all else
// that the time line is asked, done comes first.
type taker struct {
	t     *timeline
	lines [takerLines]takenLine // each in one of two places that its number determines
	taken lanes                 // from lines before each: see takenLine

	holds          bool // some line is at hand
	looked, missed int
	off            int    // slots that are taken by themselves
	turn           uint32 // which place is given up next
}

// lanes are counters of 16 bits, one for each line at hand. They suffice: without a look at
// another line there are no more slots to take than those lines have, and each look folds
// them once there were takerLook.
type lanes [takerLines / 4]uint64

func (x *lanes) at(i uint32) uint32 { return uint32(x[i/4]>>(i%4*16)) & 0xffff }

// takenLine is a line at hand. It is none if it has noLine for at.
//
// Invariants: before, less its lane of taker.taken, is the number of live slots in the
// lines before; gone is how many were taken from this one since it came to hand, which the
// tree does not know yet; later has a 1 for each line at hand that comes later.
type takenLine struct {
	at     uint32
	before uint32
	gone   uint32
	later  lanes
}

const (
	noLine = maxLines // later than all others
	noLane = takerLines

	// Of every takerLook slots at least half must be in lines at hand; else the next
	// takerOff are taken by themselves.
	takerLook = 256
	takerOff  = 4096

	takerFew = 16 // see takeOf
)

// on makes k take slots of t.
func (k *taker) on(t *timeline) {
	*k = taker{t: t}
	for i := range k.lines {
		k.lines[i].at = noLine
	}
}

// takeOf is take for one of so many slots that are taken before done is called. A line costs
// more to bring to hand than a few slots by themselves.
func (k *taker) takeOf(slots int, s uint32) uint32 {
	if slots <= takerFew && !k.holds {
		return k.t.take(s)
	}
	return k.take(s)
}

// take is timeline.take.
func (k *taker) take(s uint32) uint32 {
	t := k.t
	at := s >> lineBits
	lane := at % (takerLines / 2) * 2
	if k.lines[lane].at != at {
		lane++
		if k.lines[lane].at != at {
			if lane = k.hold(at); lane == noLane {
				return t.take(s)
			}
		}
	}
	l := &k.lines[lane%takerLines]
	line := &t.lines[at]
	word := s >> 6 & 7
	bit := uint64(1) << (s & 63)
	before := l.before - k.taken.at(lane)
	before += uint32(bits.OnesCount64(line[word]&(bit-1))) + uint32(line[lineCount]>>(laneBits*word))&laneMask
	line[word] &^= bit
	line[lineCount] -= laneOnes << (laneBits * (word + 1) & 63)
	l.gone++
	k.taken[0] += l.later[0]
	k.taken[1] += l.later[1]
	t.live--
	k.looked++
	return t.live - before
}

// fold makes lanes count from 0.
func (k *taker) fold() {
	for i := range k.lines {
		k.lines[i].before -= k.taken.at(uint32(i))
	}
	k.taken, k.looked, k.missed = lanes{}, 0, 0
}

// hold brings line at to hand and returns its lane, or noLane where that does not pay.
func (k *taker) hold(at uint32) (lane uint32) {
	if k.off > 0 {
		k.off--
		return noLane
	}
	k.missed++
	if k.looked >= takerLook {
		dense := 2*k.missed < k.looked
		k.fold()
		if !dense {
			k.done()
			k.off = takerOff
			return noLane
		}
	}
	lane = at%(takerLines/2)*2 + k.turn%2
	k.turn++
	k.settle(&k.lines[lane])
	now := takenLine{at: at, before: k.t.before(at) + k.taken.at(lane)}
	for i := range uint32(takerLines) {
		o := &k.lines[i]
		o.later[lane/4] &^= 0xffff << (lane % 4 * 16)
		switch {
		case o.at < at:
			now.before -= o.gone
			o.later[lane/4] |= 1 << (lane % 4 * 16)
		case o.at > at:
			now.later[i/4] |= 1 << (i % 4 * 16)
		}
	}
	now.later[lane/4] &^= 1 << (lane % 4 * 16) // it was none before
	k.lines[lane], k.holds = now, true
	return lane
}

// settle applies what was taken from a line to the tree.
func (k *taker) settle(l *takenLine) {
	if l.at == noLine {
		return
	}
	if l.at == k.t.now>>lineBits {
		k.t.gone += l.gone
	} else {
		k.t.lower(l.at, l.gone)
	}
	l.at = noLine
}

// done applies all that was taken.
func (k *taker) done() {
	if !k.holds {
		return
	}
	k.holds = false
	for i := range k.lines {
		k.settle(&k.lines[i])
	}
}
