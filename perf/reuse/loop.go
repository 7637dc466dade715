package reuse

import (
	"presage/perf/trace"
	"presage/perf/trace/affine"
)

// A run of a loop is analysed by iterations in which some reference goes on to
// another block. In every other iteration, each access is to the same block as
// in the iteration before it, so the blocks accessed between two accesses to a
// block are those of one iteration: all iterations up to the next such move have
// the same distances, and leave the stack as the first of them does. So
//
//	iteration with moves     each access through the desk
//	iterations without       the first of them, its counts times their number
//
// (derived here). The cost follows the blocks that references move through
// rather than the accesses.
const (
	// loopRefs is the largest number of accesses of an iteration that are
	// analysed this way.
	loopRefs = affine.MaxStreams

	// loopLeast is the number of accesses below which a run is expanded.
	loopLeast = 24

	// deskTail is the number of single accesses up to which the desk takes them,
	// rather than being closed for them.
	deskTail = 32
)

// prepare sets streams to the accesses of a loop, or returns false if it is to be
// expanded: because there are too many, or little to gain.
func (k *stack) prepare(l *trace.Loop) bool {
	if len(l.Strides) > loopRefs || uint64(l.Count)*uint64(len(l.Strides)) < loopLeast {
		return false
	}
	if k.shape, k.phase = k.shapes.Again(l, k.streams); k.shape != nil {
		return true
	}
	k.streams, k.spills = k.streams[:0], false
	for _, s := range l.Strides {
		n := len(k.streams)
		f, ok := affine.NewStream(s, k.shift)
		switch {
		case n == loopRefs:
			return false
		case ok:
			k.streams = append(k.streams, f)
		case !k.appendBlocks(s):
			return false
		}
		label := k.groupOf[s.First.Ref()]
		for i := range k.streams[n:] {
			k.streams[n+i].Label = label
		}
	}
	return true
}

// appendBlocks adds the streams of a stride whose accesses may span several blocks, or
// returns false if they are too many.
func (k *stack) appendBlocks(s trace.Stride) (ok bool) {
	if k.streams, ok = affine.AppendSpanned(k.streams, s, k.shift); !ok {
		k.streams, ok = affine.AppendSpilling(k.streams, s, k.shift)
		k.spills = true
	}
	return ok
}

// run analyses the prepared streams of l, counting each access weight times.
func (k *stack) run(l *trace.Loop, weight uint64) {
	count := l.Count
	if k.shape == nil {
		if k.shape, k.phase = k.shapes.Find(k.streams, count); k.shape != nil {
			k.shapes.Keep(l)
		}
	}
	if k.shape != nil {
		k.runPhases(k.shape, k.phase, count, weight)
		return
	}
	k.openDesk()
	for at := uint32(0); at < count; {
		k.clearDesk(2 * len(k.streams))
		next := k.iterate(at, count, weight)
		if alike := next - at - 1; alike > 0 {
			k.repeat(weight * uint64(alike))
		}
		at = next
	}
}

// iterate accesses the blocks of iteration at, in which some stream moves, and
// returns the next such iteration, at most count.
func (k *stack) iterate(at, count uint32, weight uint64) uint32 {
	if k.spills {
		return k.iterateSpilling(at, count, weight)
	}
	d := &k.desk
	next := count
	for i := range k.streams {
		f := &k.streams[i]
		if f.Next == at {
			k.places[i] = k.touch(f.Move(at, count), f.Label, weight)
		} else {
			k.counts.addMany(f.Label, d.again(k.places[i]), weight)
		}
		next = min(next, f.Next)
	}
	k.accesses += uint64(len(k.streams)) * weight
	return next
}

// iterateSpilling is iterate where some streams spill.
func (k *stack) iterateSpilling(at, count uint32, weight uint64) uint32 {
	d := &k.desk
	next := count
	for i := range k.streams {
		f := &k.streams[i]
		moves, block := f.Next == at, uint64(0)
		if moves {
			block = f.Move(at, count)
		} else {
			block = d.place[k.places[i]].block
		}
		next = min(next, f.Next)
		if f.Spills && d.place[k.places[i-1]].block == block {
			k.places[i] = k.places[i-1]
			continue
		}
		if moves {
			k.places[i] = k.touch(block, f.Label, weight)
		} else {
			k.counts.addMany(f.Label, d.again(k.places[i]), weight)
		}
		k.accesses += weight
	}
	return next
}

// repeat accesses the blocks of an iteration again, for weight accesses of each
// stream.
func (k *stack) repeat(weight uint64) {
	d := &k.desk
	for i := range k.streams {
		f := &k.streams[i]
		if f.Spills && k.places[i] == k.places[i-1] {
			continue
		}
		k.counts.addMany(f.Label, d.again(k.places[i]), weight)
		k.accesses += weight
	}
}

// single passes accesses through the desk, counting each weight times.
func (k *stack) single(accesses []trace.Access, weight uint64) {
	shift, d := k.shift&63, &k.desk
	latest := uint64(ghostBlock)
	for _, a := range accesses {
		group := k.groupOf[a.Ref()]
		block, last := a.Addr()>>shift, a.Last()>>shift
		k.accesses += weight * (last - block + 1)
		for ; block <= last; block++ {
			if block == latest {
				k.counts.near[group][0] += weight
				continue
			}
			latest = block
			if d.now == deskSlots {
				k.clearDesk(1)
			}
			if i := d.hint[block%deskHints]; d.place[i].block == block {
				k.counts.addMany(group, d.again(i), weight)
			} else {
				k.touch(block, group, weight)
			}
		}
	}
}
