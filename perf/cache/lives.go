package cache

import (
	"math/bits"

	"presage/perf/trace/affine"
)

// The life of a block is the iterations in a row that access it. Where streams step
// differently, so that it is not known which share sets when, the first and the last access
// of each life are enough if a set has as many ways as it has blocks in any life of one of
// them. In between, other blocks come before it in its set where LRU would have them behind
// it, but it is not evicted: so the set has the same blocks, and those whose lives have ended
// in the same order. (Derived here.)

// settleLives adds the last access of each life to the asks of drafts.
func settleLives(drafts []draft) {
	for i := range drafts {
		d := &drafts[i]
		asks := d.asks
		for all := d.close; all != 0; all &= all - 1 {
			k := bits.TrailingZeros64(all)
			b := d.streams[k].Block(d.at)
			if !d.comesTo(k+1, k, d.at, b) && !d.comesTo(0, k, d.at+1, b) {
				asks |= 1 << k
			}
		}
		d.asks = asks
		for _, k := range d.latest {
			d.ends = append(d.ends, ask{stream: k})
		}
	}
}

// comesTo reports whether a stream of close, from one on, accesses a block of stream k in an
// iteration. Those of other steps have no block in common with it.
func (d *draft) comesTo(from, k int, at uint32, block uint64) bool {
	for j := from; j < len(d.streams); j++ {
		f := &d.streams[j]
		if d.close>>j&1 != 0 && f.Step == d.streams[k].Step && f.Block(at) == block {
			return true
		}
	}
	return false
}

// lifeMost is the largest number of iterations of a life that is looked at.
const lifeMost = 64

// fewInLives reports whether no set has more blocks of close in a life of one of them than
// ways, wherever arrays begin.
func (c *chain) fewInLives() bool {
	l := &c.levels[c.walkers[0].level]
	for _, x := range c.shapes.Clusters() {
		if x.Streams&c.close == 0 {
			continue
		}
		step := size(x.Step)
		if step == 0 {
			return false
		}
		life := (x.Hi-x.Lo+1<<l.shift-1)/step + 1
		if life > lifeMost {
			return false
		}
		n := uint64(0)
		for all := c.close; all != 0; all &= all - 1 {
			n += mostOf(&c.streams[bits.TrailingZeros64(all)], life, l)
		}
		if n > l.ways {
			return false
		}
	}
	return true
}

// mostOf returns a number of blocks of a stream that no set of a level exceeds in as many
// iterations.
func mostOf(f *affine.Stream, iterations uint64, l *level) uint64 {
	block, way, step := uint64(1)<<l.shift, l.sets<<l.shift, size(f.Step)
	if step < block {
		return 1 + step*(iterations-1)/(way-block)
	}
	n := uint64(1)
	for i := uint64(1); i < iterations; i++ {
		if by := i * step & (way - 1); by < block || way-by < block {
			n++
		}
	}
	return n
}
