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

// upTo returns how many slots of a line, up to one that is live, are.
func (t *timeline) upTo(s uint32) uint32 {
	line := &t.lines[s>>lineBits]
	word := s >> 6 & 7
	return uint32(bits.OnesCount64(line[word]<<(63-s&63))) + uint32(line[lineCount]>>(laneBits*word))&laneMask
}

// unmark removes n slots of a line, so many apart: recount comes after.
func (t *timeline) unmark(slot, step uint32, n int) {
	line := &t.lines[slot>>lineBits]
	s := slot & (1<<lineBits - 1)
	for range n {
		line[s>>6&7] &^= 1 << (s & 63)
		s += step
	}
}

// recount makes all else fit the marks of a line from which so many slots were removed.
func (t *timeline) recount(at, gone uint32) {
	if gone == 0 {
		return
	}
	line := &t.lines[at]
	count, live := uint64(0), uint64(0)
	for w, marks := range line[:lineCount] {
		count |= live << (laneBits * w)
		live += uint64(bits.OnesCount64(marks))
	}
	line[lineCount] = count
	if at == t.now>>lineBits {
		t.gone += gone
	} else {
		t.lower(at, gone)
	}
	t.live -= gone
}
