package reuse

import "math/bits"

// tracks follows the inherited activations of all threads through a chunk.
type tracks struct {
	past  *carrierPast
	turns []turn // that are to come
	at    map[int32]*track
	now   *track // of the thread that runs
	rest  []*track
}

// track are the inherited activations of a thread, with all that they have counted. None
// is added, and a block is counted for all within the one that carries its reuse: so the
// counts of activation i, which never grow with i, are those at the start of the chunk
// plus the sum of more up to i, which a Fenwick tree has. Recursion that is not seen to
// return leaves thousands of activations.
type track struct {
	active    []activation // at the start, but for iterations that carried reuses
	more      []uint32     // element i > 0 sums up i&-i of them, up to that of i
	inherited int
	restarted bool
}

func newTrack(active []activation) *track {
	return &track{active: active, more: make([]uint32, len(active)), inherited: len(active)}
}

func (t *tracks) begin() {
	for id, active := range t.past.controls {
		t.at[id] = newTrack(active)
	}
}

// carrier returns what carries first touch i, at distance d, and counts its block.
func (t *tracks) carrier(i int, d uint32) (loop int32, crosses uint32) {
	for len(t.turns) > 0 && t.turns[0].at <= i {
		t.follow(&t.turns[0])
		t.turns = t.turns[1:]
	}
	for _, o := range t.rest {
		o.carry(d)
	}
	return t.now.carry(d)
}

func (t *tracks) follow(turn *turn) {
	now := t.at[turn.thread]
	if now == nil { // a new thread has no loops
		now = newTrack(nil)
		t.at[turn.thread] = now
	}
	if now != t.now {
		t.now, t.rest = now, t.rest[:0]
		for _, o := range t.at {
			if o != now && o.inherited > 1 {
				t.rest = append(t.rest, o)
			}
		}
	}
	now.inherited, now.restarted = min(turn.inherited, len(now.active)), turn.restarted
}

// carry is carry for the inherited activations of a thread.
func (t *track) carry(d uint32) (loop int32, crosses uint32) {
	i, more := t.within(d)
	t.count(i + 1)
	if i == 0 {
		return NoLoop, 0
	}
	x := &t.active[i]
	switch {
	case t.restarted && i == t.inherited-1:
		return x.loop, 1 // the worker has counted it
	case d >= x.iteration+more:
		x.iteration++
		return x.loop, 1
	}
	return x.loop, 0
}

// within returns the innermost activation left that counts more than d, and what it has
// counted in the chunk; 0: only the outermost does.
func (t *track) within(d uint32) (at int, more uint32) {
	if last := t.inherited - 1; last > 0 { // mostly it
		if sum := t.sum(last); d < t.active[last].execution+sum {
			return last, sum
		}
	}
	for step := 1 << bits.Len(uint(t.inherited)) / 2; step > 0; step /= 2 {
		to := at + step
		if to >= t.inherited {
			continue
		}
		if sum := more + t.more[to]; d < t.active[to].execution+sum {
			at, more = to, sum
		}
	}
	return at, more
}

// sum returns what activation i has counted in the chunk.
func (t *track) sum(i int) (sum uint32) {
	for ; i > 0; i &= i - 1 {
		sum += t.more[i]
	}
	return sum
}

// count counts a block for the activations from i on.
func (t *track) count(i int) {
	for ; i < len(t.more); i += i & -i {
		t.more[i]++
	}
}

// exact returns the activations of a thread at the end of a chunk: what was entered in
// it is known, what was inherited is known now.
func (t *tracks) exact(id int32, c *control) []activation {
	active := append([]activation(nil), c.active...)
	x := t.at[id]
	for i := 1; i < c.inherited; i++ {
		more := x.sum(i)
		active[i].execution = x.active[i].execution + more
		if active[i].iteration == never {
			active[i].iteration = x.active[i].iteration + more
		}
	}
	return active
}
