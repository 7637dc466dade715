package reuse

import "math/bits"

// Many slots of lines are asked for, used or removed at once.

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

// upTo returns how many slots of a line, up to one that is live, are.
func (t *timeline) upTo(s uint32) uint32 {
	line := &t.lines[s>>lineBits]
	word := s >> 6 & 7
	return uint32(bits.OnesCount64(line[word]<<(63-s&63))) + uint32(line[lineCount]>>(laneBits*word))&laneMask
}

// unmark removes n slots of a line, so many apart, and adds them to its losses: recount
// comes after.
func (t *timeline) unmark(losses []loss, slot, step uint32, n int) []loss {
	at := slot >> lineBits
	clearEvery(&t.lines[at], slot&(1<<lineBits-1), step, uint32(n))
	for i := len(losses) - 1; i >= 0; i-- {
		if losses[i].line == at {
			losses[i].slots += uint32(n)
			return losses
		}
	}
	return append(losses, loss{at, uint32(n)})
}

// clearEvery clears n bits of a line, step apart, a word at a time.
func clearEvery(line *[lineWords]uint64, at, step, n uint32) {
	every := uint64(1) // bits of a word, step apart
	for by := step; by < 64; by *= 2 {
		every |= every << by
	}
	for n > 0 {
		mask := every << (at & 63)
		some := uint32(bits.OnesCount64(mask))
		if some > n {
			mask &= 1<<(at&63+step*n) - 1
			some = n
		}
		line[at>>6&7] &^= mask
		at += step * some
		n -= some
	}
}

// recount makes all else fit the marks of a line from which so many slots were removed.
func (t *timeline) recount(at, gone uint32) {
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

// flat are the marks of two lines, without a gap. What comes after them has no meaning.
type flat [2*lineCount + 2]uint64

// flatten sets marks to those of a line and the next.
func (t *timeline) flatten(marks *flat, line uint32) {
	*(*[lineCount]uint64)(marks[:]) = *(*[lineCount]uint64)(t.lines[line][:])
	if int(line)+1 < len(t.lines) {
		*(*[lineCount]uint64)(marks[lineCount:]) = *(*[lineCount]uint64)(t.lines[line+1][:])
	}
}

// set makes a slot live, and returns false if it was.
func (m *flat) set(at uint32) bool {
	word, bit := at>>6, uint64(1)<<(at&63)
	free := m[word]&bit == 0
	m[word] |= bit
	return free
}

// window returns the marks of the 64 slots from one on.
func (m *flat) window(at uint32) uint64 {
	w, shift := at>>6, at&63
	return m[w]>>shift | m[w+1]<<1<<(63-shift)
}

// recurs returns the number of slots, at most most, of a row of slots so many apart
// between which the same are live.
func (m *flat) recurs(slot, step uint32, most int) int {
	from, all := slot&(1<<lineBits-1)+1, uint32(max(most-2, 0))*step
	for done := uint32(0); done < all; done += 64 {
		if x := m.window(from+done) ^ m.window(from+done+step); x != 0 {
			done += uint32(bits.TrailingZeros64(x))
			return min(most, int(done/step)+2)
		}
	}
	return most
}

// between returns how many of the n slots after one are live.
func (m *flat) between(slot, n uint32) (live uint32) {
	for at := slot&(1<<lineBits-1) + 1; n > 0; at += 64 {
		some := min(n, 64)
		live += uint32(bits.OnesCount64(m.window(at) << (64 - some)))
		n -= some
	}
	return live
}
