package reuse

import "presage/perf/trace/affine"

// What the repeat of a segment finds depends on which of the segment's accesses share
// blocks, and on nothing before it (see segment.go). Where clusters of its loop, and the
// single accesses after it, share none, the loop's shape, phase and length tell all of it.
// So the distances that one repeat found are counted again for those of all segments like
// it, such as the other columns of a matrix (derived here).
const (
	// againTail is the largest number of single accesses after such a loop.
	againTail = 4

	// againMost bounds the likenesses that are remembered.
	againMost = 1 << 10
)

// likeness is what segments have in common whose repeats find the same.
type likeness struct {
	phases *affine.Phase // the first of the loop's shape
	phase  int           // of the loop's first iteration
	count  uint32
	tail   [againTail]likeAccess
}

// likeAccess is a single access: its group, and the first one of the tail to its block,
// counted from 1.
type likeAccess struct {
	group, first uint32
}

// found is what a repeat counts, beside what its shape does: accesses of a group at a distance,
// or at others of the same bin.
type found struct {
	group, distance uint32
	times           uint64
}

// again remembers what repeats found.
type again struct {
	known   map[likeness][]found
	scratch counts // all 0; while a repeat is learned from, those of the stack
	learns  bool
}

// repeatSegment analyses the segments that repeat that of piece i, which was analysed last.
func (k *stack) repeatSegment(i int, times uint64) {
	like, ok := k.likeness(i)
	if !ok {
		k.prepare(&k.pieces[i+1].Loop)
		k.segment(i+1, times)
		return
	}
	list, ok := k.again.known[like]
	if !ok {
		if list, ok = k.learn(i+1, times); ok {
			k.remember(like, list)
		}
		return
	}
	for _, f := range list {
		k.counts.addMany(f.group, f.distance, f.times*times)
	}
	k.shape.Count(k.phase+1, like.count-1, times)
	k.shape.Phases[like.phase].Begun += times
	k.accesses += times * uint64(len(k.pieces[i+1].Accesses))
}

// likeness returns that of the segment of piece i, which was analysed last, or false if
// blocks may be shared.
func (k *stack) likeness(i int) (l likeness, ok bool) {
	tail := k.pieces[i+1].Accesses
	if k.shape == nil || len(tail) > againTail {
		return l, false
	}
	l = likeness{phases: &k.shape.Phases[0], phase: k.phase & (len(k.shape.Phases) - 1), count: k.pieces[i].Loop.Count}
	clusters := k.shapes.Clusters()
	for n := range clusters {
		lo, hi := clusters[n].Span(l.count)
		lo, hi = lo>>k.shift, hi>>k.shift
		for m := range n {
			if oLo, oHi := clusters[m].Span(l.count); lo <= oHi>>k.shift && oLo>>k.shift <= hi {
				return l, false
			}
		}
		for _, a := range tail {
			if block := a.Addr() >> k.shift; lo <= block && block <= hi {
				return l, false
			}
		}
	}
	for n, a := range tail {
		block := a.Addr() >> k.shift
		if a.Last()>>k.shift != block {
			return l, false
		}
		first := 0
		for tail[first].Addr()>>k.shift != block {
			first++
		}
		l.tail[n] = likeAccess{k.groupOf[a.Ref()], uint32(first) + 1}
	}
	return l, true
}

// learn analyses the segment of piece i, for as many times, and returns what it counts
// each time, or false if that is not all: its loop has no shape yet.
func (k *stack) learn(i int, times uint64) (list []found, ok bool) {
	if len(k.again.scratch.near) != len(k.counts.near) {
		k.again.scratch = newCounts(len(k.counts.near))
	}
	k.counts, k.again.scratch, k.again.learns = k.again.scratch, k.counts, true
	k.prepare(&k.pieces[i].Loop)
	k.segment(i, times)
	k.counts, k.again.scratch, k.again.learns = k.again.scratch, k.counts, false
	for _, f := range k.streams {
		list = k.again.scratch.drain(list, f.Label)
	}
	for _, a := range k.pieces[i+1].Accesses {
		list = k.again.scratch.drain(list, k.groupOf[a.Ref()])
	}
	for n := range list {
		k.counts.addMany(list[n].group, list[n].distance, list[n].times)
		list[n].times /= times
	}
	return list, k.shape != nil
}

// remember keeps what the repeats of segments of a likeness find.
func (k *stack) remember(l likeness, list []found) {
	if k.again.known == nil || len(k.again.known) == againMost {
		k.again.known = make(map[likeness][]found)
	}
	k.again.known[l] = list
}

// drain appends what was counted for a group to list, and makes it 0. There are no cold
// accesses.
func (c *counts) drain(list []found, group uint32) []found {
	for d, n := range c.near[group] {
		if n > 0 {
			list = append(list, found{group, uint32(d), n})
		}
	}
	c.near[group] = [nearBins]uint64{}
	for i, page := range c.pages[int(group)*pagesEach:][:pagesEach] {
		if page == 0 {
			continue
		}
		for j, n := range c.bins[int(page)<<pageBits:][:pageBins] {
			if n > 0 {
				lo, _ := binEdges(uint32(i<<pageBits | j))
				list = append(list, found{group, uint32(lo), n})
			}
		}
		clear(c.bins[int(page)<<pageBits:][:pageBins])
	}
	return list
}
