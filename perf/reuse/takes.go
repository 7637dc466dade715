package reuse

// stays bounds the turns in which the blocks of a turn are still accessed: streams of a
// cluster are less than eight blocks apart, and move by one at least in a turn.
const stays = 12

// loss is the number of slots that a line has lost.
type loss struct{ line, slots uint32 }

// takeColumns takes the blocks of n turns off the time line and counts their distances.
func (k *stack) takeColumns(columns []column, n int, weight uint64) {
	last, losses := k.table.last, k.stretches.losses[:0]
	for i := range columns {
		c := &columns[i]
		for turn := max(0, n-stays); turn < n; turn++ {
			last[c.entryIn(turn)] = heldMark(0)
		}
		if c.cold {
			continue
		}
		if c.slope == 0 {
			k.counts.addMany(c.label, c.distance, weight*uint64(n))
		} else {
			for turn := range uint32(n) {
				k.counts.addMany(c.label, c.distance+c.slope*turn, weight)
			}
		}
		first := min(n, c.inLine)
		losses = k.line.unmark(losses, c.slot, c.step, first)
		if first < n {
			losses = k.line.unmark(losses, c.next, c.step, n-first)
		}
	}
	for _, l := range losses {
		k.line.recount(l.line, l.slots)
	}
}

// touchColumns notes first touches in n turns, in order.
func (k *stack) touchColumns(columns []column, n int) {
	var cold [stretchMost]*column
	some := 0
	for i := range columns {
		if columns[i].cold {
			cold[some] = &columns[i]
			some++
		}
	}
	if some == 0 {
		return
	}
	for turn := range n {
		for _, c := range cold[:some] {
			k.first(c.entryIn(turn), c.label)
		}
	}
}

// putColumns puts the blocks left in n turns on the time line, which has room.
func (k *stack) putColumns(left []column, n int) {
	t, last := &k.line, k.table.last
	for done, all := 0, n*len(left); done < all; {
		s := t.now
		some := min(all-done, lineSlots-int(s&(1<<lineBits-1)))
		owner := t.owner[s:][:some]
		first, rest := done/len(left), done%len(left)
		for i := range left {
			c, turn := &left[i], first
			if i < rest {
				turn++
			}
			for at := turn*len(left) + i - done; at < some; {
				e, end := int(c.entryIn(turn)), some
				if turn < c.inRow {
					end = min(some, at+(c.inRow-turn)*len(left))
				}
				for ; at < end; at += len(left) {
					owner[at] = entry(e)
					last[e] = s + uint32(at)
					e += c.advance
				}
				turn = c.inRow
			}
		}
		t.used(uint32(some))
		done += some
	}
}
