package reuse

import "math/bits"

// The desk is the top of the LRU stack while loops are analysed: it takes the
// place of the front, holds more blocks, and finds the distance of an access to
// any of them in a few instructions.
//
// It is a time line of deskSlots slots in a few words. A slot is live for the
// last access to the block that owns it; the distance of an access to a block
// held is the number of live slots after the block's own. All blocks held were
// accessed after those on the time line proper, so that of an access to one of
// these is the number of blocks held plus the distance found there.
const (
	deskSlots = 256

	// deskKeep is the number of blocks, the latest, that stay on the desk when
	// its slots run out. An iteration of a loop accesses no more, so that the
	// blocks of one iteration are held in the next.
	deskKeep = 64

	// heldWord marks an entry of table.last whose block is on the desk: no slot
	// of the time line has word 7.
	heldWord = 7
)

type desk struct {
	open  bool
	n     uint32 // blocks held
	now   uint32 // the next slot to use
	live  [deskSlots / 64]uint64
	owner [deskSlots]uint8 // slot → place
	place [deskSlots]heldBlock
	spare [deskSlots]uint8 // places not in use, in its last deskSlots-n elements

	// hint has, for a block modulo deskHints, a place that may be its own.
	hint [deskHints]uint8
}

// deskHints is a power of two. Many single accesses are to a few blocks, such as those of
// a routine's variables: these are found without the table.
const deskHints = 64

// heldBlock is a block on the desk, or ghostBlock.
type heldBlock struct {
	block uint64
	entry entry
	slot  uint32
}

// heldMark returns the mark in table.last of the block at place i.
func heldMark(i uint8) uint32 {
	return uint32(i)>>6<<lineBits | heldWord<<6 | uint32(i)&63
}

// heldAt returns the place of a block by its element of table.last, or false if
// it is not on the desk.
func heldAt(mark uint32) (uint8, bool) {
	return uint8(mark>>lineBits<<6 | mark&63), mark>>6&7 == heldWord
}

// allSpare is the spare of an empty desk. Places are taken from its front, so that those
// in use are mostly the first.
var allSpare = func() (list [deskSlots]uint8) {
	for i := range list {
		list[i] = uint8(i)
	}
	return list
}()

// clear makes a new desk an empty one.
func (d *desk) clear() {
	for i := range d.place {
		d.place[i].block = ghostBlock
	}
	d.reset()
}

// reset empties the desk.
func (d *desk) reset() {
	for w, live := range d.live {
		for ; live != 0; live &= live - 1 {
			d.place[d.owner[w<<6|bits.TrailingZeros64(live)]].block = ghostBlock
		}
	}
	d.n, d.now = 0, 0
	d.live = [deskSlots / 64]uint64{}
	d.spare = allSpare
}

// add holds a block as the latest and returns its place. A slot must be left.
func (d *desk) add(block uint64, e entry) uint8 {
	i := d.spare[d.n&(deskSlots-1)]
	d.n++
	d.place[i].block, d.place[i].entry = block, e
	d.put(i)
	return i
}

// put gives the next slot to the block at place i.
func (d *desk) put(i uint8) {
	s := d.now & (deskSlots - 1)
	d.live[s>>6] |= 1 << (s & 63)
	d.owner[s] = i
	d.place[i].slot = s
	d.now++
}

// again makes the block at place i the latest, and returns how many others were
// accessed since it was. A slot must be left.
func (d *desk) again(i uint8) uint32 {
	s := d.place[i].slot & (deskSlots - 1)
	if s+1 == d.now {
		return 0
	}
	w := s >> 6
	rest := d.live[w] &^ (1 << (s & 63))
	d.live[w] = rest
	n := bits.OnesCount64(rest >> (s & 63))
	for w++; w <= (d.now-1)>>6&(deskSlots/64-1); w++ {
		n += bits.OnesCount64(d.live[w])
	}
	d.put(i)
	return uint32(n)
}

// openDesk moves the front to the desk.
func (k *stack) openDesk() {
	if k.desk.open {
		return
	}
	k.rebase() // a sift without records permutes the places all the same
	k.desk.reset()
	for i := k.front.width - 1; i >= 0; i-- {
		e := k.entries[i]
		k.table.last[e] = heldMark(k.desk.add(k.front.place[i]>>recBits, e))
	}
	k.desk.open = true
}

// closeDesk moves the latest blocks back to the front, and the others to the
// time line.
func (k *stack) closeDesk() {
	if !k.desk.open {
		return
	}
	k.desk.open = false
	width := k.front.width
	k.shelve(uint32(width))
	k.front.width = int(k.desk.n)
	i := k.front.width
	for w, live := range k.desk.live {
		for ; live != 0; live &= live - 1 {
			h := &k.desk.place[k.desk.owner[w<<6|bits.TrailingZeros64(live)]]
			i--
			k.entries[i] = h.entry
			k.front.place[i] = h.block<<recBits | uint64(i)
		}
	}
	k.resize(width) // if less was held
}

// clearDesk makes room for n accesses, of at most deskSlots-deskKeep.
func (k *stack) clearDesk(n int) {
	d := &k.desk
	if int(d.now)+n <= deskSlots {
		return
	}
	k.shelve(deskKeep)
	live := d.live
	d.live, d.now = [deskSlots / 64]uint64{}, 0
	for w, l := range live {
		for ; l != 0; l &= l - 1 {
			d.put(d.owner[w<<6|bits.TrailingZeros64(l)]) // never past the slot read
		}
	}
}

// shelve puts all but the latest keep blocks of the desk on the time line.
func (k *stack) shelve(keep uint32) {
	d := &k.desk
	for w := range d.live {
		for ; d.live[w] != 0; d.live[w] &= d.live[w] - 1 {
			if d.n <= keep {
				return
			}
			i := d.owner[w<<6|bits.TrailingZeros64(d.live[w])]
			k.push(d.place[i].entry)
			d.place[i].block = ghostBlock
			d.n--
			d.spare[d.n] = i
		}
	}
}

// touch accesses a block through the desk and returns its place. It counts
// weight accesses of group at the distance found.
func (k *stack) touch(block uint64, group uint32, weight uint64) uint8 {
	i, d, cold := k.visit(block, group)
	if !cold {
		k.counts.addMany(group, d, weight)
	}
	return i
}

// visit accesses a block through the desk. It returns its place and the distance,
// unless this is the first access, which it counts for group.
func (k *stack) visit(block uint64, group uint32) (i uint8, distance uint32, cold bool) {
	hint := &k.desk.hint[block%deskHints]
	if i = *hint; k.desk.place[i].block == block {
		return i, k.desk.again(i), false
	}
	e, ok := k.table.find(block)
	if !ok {
		e = k.table.add(block)
	}
	last := k.table.last[e]
	if i, held := heldAt(last); held {
		*hint = i
		return i, k.desk.again(i), false
	}
	if last != 0 {
		distance = k.desk.n + k.line.take(last)
	} else {
		cold = true
		k.first(e, group)
	}
	i = k.desk.add(block, e)
	*hint = i
	k.table.last[e] = heldMark(i)
	return i, distance, cold
}
