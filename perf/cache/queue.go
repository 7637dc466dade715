package cache

// What a loop asks of direct levels goes from level to level, some transfers at a time: a
// level sees in order what missed in the level above, and depends on no level below, unless
// that takes what it evicts.

// transfer asks a level for a block, after the level above wrote one to it.
type transfer struct {
	block  tag // of the level above; dirty for a store; 0: none
	victim tag // evicted there, written if dirty; 0: none
	from   origin
}

// origin is where a transfer comes from.
type origin struct{ group, ref uint32 }

// queued is about the number of transfers that go together.
const queued = 256

// enqueue adds accesses of iteration at of the loop at hand to the queue.
func (c *chain) enqueue(asks []ask, at uint32) {
	q, streams, walkers, shift := c.queue, c.streams, c.walkers, c.levels[c.walkers[0].level].shift&63
	for _, a := range asks {
		f := &streams[a.stream]
		block := (f.First + f.Step*uint64(at)) >> shift
		q = append(q, transfer{block: tagOf(block) | tag(a.mark), from: walkers[a.stream].origin})
	}
	c.queue = q
}

// deliver makes the transfers of the queue to the level that the loop at hand enters at,
// and what misses there to the levels below.
func (c *chain) deliver() {
	in, out := c.queue, c.spare
	i := int(c.walkers[0].level)
	shift := c.levels[i].shift
	for ; i < len(c.levels) && len(in) > 0; i++ {
		l := &c.levels[i]
		if l.gives {
			c.takeTurns(i, in, l.shift-shift)
			break
		}
		if l.shift == shift && i == int(c.walkers[0].level) {
			out = l.ask(out[:0], in)
		} else {
			out = l.serve(out[:0], in, l.shift-shift)
		}
		var below []Counts
		if i+1 < len(c.levels) {
			below = c.levels[i+1].counts
		}
		l.countMisses(out, below)
		in, out, shift = out, in, l.shift
	}
	c.queue, c.spare = in[:0], out
}

// servePlain makes transfers to a level whose blocks are 2^shift as large as theirs, and
// appends to out what it asks the level below for.
func (l *level) servePlain(out, in []transfer, shift uint) []transfer {
	tags, mask, places, far := l.tags, l.mask, l.places, l.far
	shift &= 63
	for k := range in {
		r := &in[k]
		if r.victim&dirty != 0 {
			out = l.write(out, r, shift)
		}
		if r.block == 0 {
			continue
		}
		block, mark := r.block.block()>>shift, r.block&dirty
		want, at := tagOf(block), block&mask*places
		carry := tags[at]
		if carry&^dirty == want {
			tags[at] = carry | mark
			continue
		}
		if far {
			held := false
			if held, carry = l.fetchFar(l.set(block), want, mark); !held {
				out = append(out, transfer{want, carry, r.from})
			}
			continue
		}
		held, victim := tag(0), tags[at+1] // there is one more tag than there are places
		switch {
		case places == 2:
			if tags[at+1] = carry; victim&^dirty == want {
				held = victim
			}
		case victim&^dirty == want: // not with one way, as other sets hold other blocks
			tags[at], tags[at+1] = victim|mark, carry
			continue
		default:
			held, victim = shiftIn(tags[at+1:at+places], want, carry)
		}
		if tags[at] = want | mark | held; held == 0 {
			out = append(out, transfer{want, victim, r.from})
		}
	}
	return out
}

// shiftIn moves the tags before want back by one, with carry before them, and returns want
// with its mark, or 0 and the last tag if it is not there.
func shiftIn(set []tag, want, carry tag) (held, last tag) {
	for len(set) >= 4 {
		t := set[0]
		set[0] = carry
		if t&^dirty == want {
			return t, 0
		}
		u := set[1]
		set[1] = t
		if u&^dirty == want {
			return u, 0
		}
		v := set[2]
		set[2] = u
		if v&^dirty == want {
			return v, 0
		}
		carry = set[3]
		set[3] = v
		if carry&^dirty == want {
			return carry, 0
		}
		set = set[4:]
	}
	for i, t := range set {
		set[i] = carry
		if t&^dirty == want {
			return t, 0
		}
		carry = t
	}
	return 0, carry
}

// write makes the write of a transfer, as serve does.
func (l *level) write(out []transfer, r *transfer, shift uint) []transfer {
	b := r.victim.block() >> shift
	if l.mark(b, dirty) {
		return out
	}
	return append(out, transfer{victim: tagOf(b) | dirty, from: r.from})
}

// seenAtHand is the number of pages of blocks seen that countMisses keeps at hand.
const seenAtHand = 4

// countMisses counts what a level asks the one below for, whose counts are given, if there
// is one.
func (l *level) countMisses(out []transfer, below []Counts) {
	counts := l.counts
	at := [seenAtHand]uint64{^uint64(0), ^uint64(0), ^uint64(0), ^uint64(0)}
	var pages [seenAtHand]*[1 << 9]uint64
	passed := 0
	for k := range out {
		r := &out[k]
		g := int(r.from.group)
		n := &counts[g]
		if r.block == 0 {
			n.PassedWrites++
			passed++
			continue
		}
		n.Misses++
		if g < len(below) {
			below[g].Accesses++
		}
		block := r.block.block()
		p := block >> seenPageBits
		k := p % seenAtHand
		if p != at[k] {
			at[k], pages[k] = p, l.seen.page(block)
		}
		word, bit := &pages[k][block>>6&(1<<9-1)], uint64(1)<<(block&63)
		if *word&bit == 0 {
			*word |= bit
			l.cold(n, block, r.from.group)
		}
		n.Writebacks += uint64(r.victim & dirty)
	}
	l.missed += uint64(len(out) - passed)
}

// takeTurns makes transfers to level i, whose victims the one below takes, which may give
// one back, to be written: each goes through all levels before the next.
func (c *chain) takeTurns(i int, in []transfer, shift uint) {
	l := &c.levels[i]
	for k := range in {
		r := &in[k]
		if r.victim&dirty != 0 {
			c.updateDirect(i-1, r.victim.block(), r.from.group)
		}
		if r.block == 0 {
			continue
		}
		block, mark, ref := r.block.block()>>(shift&63), r.block&dirty, &c.refs[r.from.ref]
		if l.pool != nil {
			c.touchDirect(i, block, ref, mark)
			continue
		}
		set, want := l.set(block), tagOf(block)
		held, victim := shiftIn(set, want, want|mark)
		if set[0] |= held & dirty; held == 0 {
			c.miss(i, block, victim, ref)
		}
	}
}
