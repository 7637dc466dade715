package sharing

import (
	"cmp"
	"maps"
	"math/bits"
	"slices"

	"presage/perf/trace"
)

// part is bytes of a block that are mostly one thread's, or none's.
type part struct {
	Address uint64 // of the first byte
	Bytes   uint64
	Thread  int // that they are mostly accessed by; common: they are not
}

// common is the Thread of bytes that several threads use.
const common = -1

// mostly is the share of the accesses of a byte, from the first coherence miss of its
// block on, that are one thread's if it is that thread's: others may set it at first, or
// add it up in the end.
const mostly = 0.75

// use counts an access of some bytes.
func (v *view) use(bytes uint64) {
	if v.uses == nil {
		v.uses = new([maxBlockBytes]uint32)
	}
	for ; bytes != 0; bytes &= bytes - 1 {
		if n := &v.uses[bits.TrailingZeros64(bytes)]; *n != ^uint32(0) {
			*n++
		}
	}
}

// mainly returns the thread that a byte is mostly accessed by, or common; false if it was
// not accessed.
func (x *block) mainly(byte uint64) (thread int, used bool) {
	most, all := uint32(0), uint64(0)
	for t := range x.by {
		if u := x.by[t].uses; u != nil {
			all += uint64(u[byte])
			if u[byte] > most {
				most, thread = u[byte], t
			}
		}
	}
	if float64(most) < mostly*float64(all) {
		thread = common
	}
	return thread, all > 0
}

// parts returns those of the blocks that have several, by ascending address.
func (c *collector) parts() []part {
	var all []part
	for _, n := range slices.Sorted(maps.Keys(c.pages)) {
		for i := range c.pages[n] {
			x := &c.pages[n][i]
			if !x.missed {
				continue
			}
			if own := x.parts((n*pageBlocks+uint64(i))<<c.shift, 1<<c.shift); severalThreads(own) {
				all = append(all, own...)
			}
		}
	}
	return all
}

// parts returns those of a block.
func (x *block) parts(addr, size uint64) []part {
	var own []part
	for b := range size {
		t, used := x.mainly(b)
		if !used {
			continue
		}
		if n := len(own) - 1; n >= 0 && own[n].Thread == t && own[n].Address+own[n].Bytes == addr+b {
			own[n].Bytes++
			continue
		}
		own = append(own, part{addr + b, 1, t})
	}
	return own
}

func severalThreads(parts []part) bool {
	return slices.ContainsFunc(parts, func(p part) bool { return p.Thread != parts[0].Thread })
}

// free returns the first address of the longest stretch that nothing accesses.
func (c *collector) free() uint64 {
	const page = pageBlocks
	at, longest := uint64(0), uint64(0)
	next := uint64(0) // page after the last
	for _, n := range append(slices.Sorted(maps.Keys(c.pages)), trace.AddrLimit>>c.shift/page) {
		if n > next && n-next > longest {
			at, longest = next, n-next
		}
		next = max(next, n+1)
	}
	return at * page << c.shift
}

// layout says where bytes go so that the parts of each thread lie together, on lines of
// their own.
//
//	as it is    0 1 2 3 0 1 2 3 │ 0 1 2 3 0 1 2 3
//	apart       0 0 0 0         │ 1 1 1 1         │ 2 2 2 2         │ 3 3 3 3
type layout struct {
	bytes  uint64 // of a block
	pieces map[uint64][]piece
}

// piece is a part that moves.
type piece struct {
	first, last uint64 // bytes
	to          uint64 // where the first one goes
	object      int32
}

// word is what addresses keep their remainder by when they move, so that no access to one
// comes to lie on two lines.
const word = 8

// layouts returns where parts are, which come by ascending address, and where they go, on
// lines from an address on: parts of one thread in blocks next to each other go together.
// objects are those of the parts.
func layouts(parts []part, objects []int32, blockBytes, free uint64) (from, to *layout) {
	from = &layout{blockBytes, make(map[uint64][]piece)}
	to = &layout{blockBytes, make(map[uint64][]piece)}
	moved := make([]uint64, len(parts))
	for i := 0; i < len(parts); {
		n := i + 1
		for n < len(parts) && parts[n].Address/blockBytes <= parts[n-1].Address/blockBytes+1 {
			n++
		}
		order := make([]int, 0, n-i)
		for k := i; k < n; k++ {
			order = append(order, k)
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(parts[a].Thread, parts[b].Thread) })
		for j, k := range order {
			p := &parts[k]
			if j == 0 || parts[order[j-1]].Thread != p.Thread {
				free = (free + blockBytes - 1) / blockBytes * blockBytes
			}
			free += (p.Address - free) % word
			to.add(free, p.Bytes, free, objects[k])
			moved[k] = free
			free += p.Bytes
		}
		i = n
	}
	for k, p := range parts {
		from.add(p.Address, p.Bytes, moved[k], objects[k])
	}
	return from, to
}

// add adds a piece to the blocks that it is in.
func (l *layout) add(addr, bytes, to uint64, object int32) {
	p := piece{addr, addr + bytes - 1, to, object}
	for b := p.first / l.bytes; b <= p.last/l.bytes; b++ {
		l.pieces[b] = append(l.pieces[b], p)
	}
}

// at returns the object of the piece that holds an address; -1 if none does.
func (l *layout) at(addr uint64) int32 {
	for _, p := range l.pieces[addr/l.bytes] {
		if p.first <= addr && addr <= p.last {
			return p.object
		}
	}
	return -1
}

// move appends an access, as the new layout has it, to some: where it comes to several
// pieces, or past them, or to several lines, one of a byte for each.
func (l *layout) move(dst []trace.Access, a trace.Access) []trace.Access {
	first, last := a.Addr(), a.Last()
	if l.pieces[first/l.bytes] == nil && l.pieces[last/l.bytes] == nil {
		return append(dst, a)
	}
	for first <= last {
		b := first / l.bytes
		end := min(last, (b+1)*l.bytes-1)
		to := first
		if i := slices.IndexFunc(l.pieces[b], func(p piece) bool { return p.last >= first }); i >= 0 {
			if p := &l.pieces[b][i]; p.first <= first {
				to = p.to + first - p.first
				end = min(end, p.last, first+l.bytes-1-to%l.bytes)
			} else {
				end = min(end, p.first-1)
			}
		}
		if first == a.Addr() && end == last {
			return append(dst, a-trace.Access(first)+trace.Access(to))
		}
		dst = append(dst, trace.Tag(a.Ref(), 1)+trace.Access(to))
		first = end + 1
	}
	return dst
}
