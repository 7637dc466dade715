package reuse

import "math/bits"

// Many slots of one line are asked for, used or taken at once.

// room returns a number of slots that are left.
func (t *timeline) room() int { return int((t.end-t.now)>>lineBits) * lineSlots }

// used makes the next n slots, all of one line, live.
func (t *timeline) used(n uint32) {
	t.live += n
	t.now += n
	if t.now&(1<<lineBits-1) == lineSlots {
		t.leave(t.now >> lineBits)
		t.now = next(t.now - 1)
	}
}

// window returns the marks of the 64 slots from one on; without meaning beyond the line.
func window(line *[lineWords]uint64, at uint32) uint64 {
	w, shift := at>>6, at&63
	return line[w%lineWords]>>shift | line[(w+1)%lineWords]<<1<<(63-shift)
}

// recurs returns the number of slots, at most most, of a row of slots so many apart
// between which the same are live.
func recurs(line *[lineWords]uint64, slot, step uint32, most int) int {
	from, all := slot&(1<<lineBits-1)+1, uint32(max(most-2, 0))*step
	for done := uint32(0); done < all; done += 64 {
		if x := window(line, from+done) ^ window(line, from+done+step); x != 0 {
			done += uint32(bits.TrailingZeros64(x))
			return min(most, int(done/step)+2)
		}
	}
	return most
}

// between returns how many of the n slots of a line after one are live.
func between(line *[lineWords]uint64, slot, n uint32) (live uint32) {
	for at := slot&(1<<lineBits-1) + 1; n > 0; at += 64 {
		some := min(n, 64)
		live += uint32(bits.OnesCount64(window(line, at) << (64 - some)))
		n -= some
	}
	return live
}

// after returns how many live slots, before now, come after a live one.
func (t *timeline) after(s uint32) uint32 {
	line := &t.lines[s>>lineBits]
	word := s >> 6 & 7
	before := uint32(bits.OnesCount64(line[word]&(1<<(s&63)-1))) + uint32(line[lineCount]>>(laneBits*word))&laneMask
	return t.live - 1 - before - t.before(s>>lineBits)
}

// takeMany removes n slots of a line, so many apart.
func (t *timeline) takeMany(slot, step uint32, n int) {
	at := slot >> lineBits
	line := &t.lines[at]
	s := slot & (1<<lineBits - 1)
	for range n {
		line[s>>6&7] &^= 1 << (s & 63)
		s += step
	}
	count, live := uint64(0), uint64(0)
	for w, marks := range line[:lineCount] {
		count |= live << (laneBits * w)
		live += uint64(bits.OnesCount64(marks))
	}
	line[lineCount] = count
	if at == t.now>>lineBits {
		t.gone += uint32(n)
	} else {
		t.lower(at, uint32(n))
	}
	t.live -= uint32(n)
}
