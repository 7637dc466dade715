package reuse

import "math/bits"

// takerLines is the number of lines that a taker remembers: the streams of most
// loops, each of which takes slots in ascending order.
const takerLines = 4

// A taker removes many slots of a time line, between which none is added. What it
// takes from a few lines at hand it applies to the tree when it goes on to others:
// regular programs touch blocks again in the order in which they touched them, and
// the next slot is mostly in a line at hand. Where few are, it takes each by itself.
//
// Invariant: after is the number of live slots in lines after line at, and gone how
// many were taken from it since it came to hand, which the tree does not know yet.
type taker struct {
	t     *timeline
	lines [takerLines]takenLine
	last  int // of lines, used last

	looked, missed int
	off            int // slots that are taken by themselves
}

// takenLine is a line at hand. It is none if it has noLine for at.
type takenLine struct {
	at    uint32
	after uint32
	live  uint32 // in the line, before now
	gone  uint32
}

const (
	noLine = ^uint32(0)

	// Of every takerLook slots at least half must be in lines at hand; else the next
	// takerOff are taken by themselves.
	takerLook = 256
	takerOff  = 4096
)

// on makes k take slots of t.
func (k *taker) on(t *timeline) {
	k.t, k.last, k.looked, k.missed, k.off = t, 0, 0, 0, 0
	for i := range k.lines {
		k.lines[i].at = noLine
	}
}

// take is timeline.take.
func (k *taker) take(s uint32) uint32 {
	at := s >> lineBits
	l := &k.lines[k.last]
	if l.at != at {
		if k.off > 0 {
			k.off--
			return k.t.take(s)
		}
		l = k.find(at)
		if l == nil {
			return k.t.take(s)
		}
	}
	line := &k.t.lines[at]
	word := s >> 6 & 7
	bit := uint64(1) << (s & 63)
	before := uint32(bits.OnesCount64(line[word]&(bit-1))) + uint32(line[lineCount]>>(laneBits*word))&laneMask
	line[word] &^= bit
	line[lineCount] -= laneOnes << (laneBits * (word + 1) & 63)
	k.t.live--
	l.live--
	l.gone++
	for i := range k.lines {
		o := &k.lines[i]
		if o.at < at {
			o.after--
		}
	}
	k.looked++
	return l.after + l.live - before
}

// find brings line at to hand. It returns nil where that does not pay.
func (k *taker) find(at uint32) *takenLine {
	for i := range k.lines {
		if k.lines[i].at == at {
			k.last = i
			return &k.lines[i]
		}
	}
	k.missed++
	if k.looked++; k.looked >= takerLook {
		dense := 2*k.missed < k.looked
		k.looked, k.missed = 0, 0
		if !dense {
			k.done()
			k.off = takerOff
			return nil
		}
	}
	k.last = (k.last + 1) % takerLines
	l := &k.lines[k.last]
	k.settle(l)
	k.load(l, at)
	return l
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

// load makes l that of a line.
func (k *taker) load(l *takenLine, at uint32) {
	t := k.t
	line := &t.lines[at]
	now := t.now >> lineBits
	*l = takenLine{at: at}
	if at == now {
		l.live = t.now&(1<<lineBits-1) - t.gone
		return
	}
	l.live = uint32(line[lineCount]>>(laneBits*(lineCount-1)))&laneMask + uint32(bits.OnesCount64(line[lineCount-1]))
	before := t.before(at)
	for i := range k.lines {
		if o := &k.lines[i]; o.at < at {
			before -= o.gone
		}
	}
	l.after = t.live - before - l.live
}

// done applies all that was taken.
func (k *taker) done() {
	for i := range k.lines {
		k.settle(&k.lines[i])
	}
}
