package callpath

import (
	"slices"

	"presage/perf/trace"
)

// frame is a routine being executed.
type frame struct {
	ret     trace.PC // where it returns to; 0: not known
	site    trace.PC // of the call
	routine int32
	node    int32
	tail    bool // it was jumped to: it returns when the frame below does
	looks   bool // it looks up what a stub is to call, and jumps there
}

// thread is the stack of a thread; the first frame is of no routine.
type thread struct {
	frames []frame
	last   int32 // block executed last; none: none was
}

// maxFrames bounds the frames of a thread. A stack of 8 MiB has room for half as many
// calls.
const maxFrames = 1 << 20

// walker follows control from block to block.
type walker struct {
	*code
	tree
	threads map[int32]*thread
	*thread
	number int32 // of thread
	lost   uint64
	depth  int // the most frames
}

func newWalker(c *code) *walker {
	own := *c
	own.places = slices.Clone(c.places) // they hold memos
	w := &walker{code: &own, tree: newTree(), threads: make(map[int32]*thread), depth: maxFrames, number: none}
	return w
}

// observe calls f with the path and the accesses of each block of a batch.
func (w *walker) observe(b *trace.Batch, f func(node int32, accesses []trace.Access)) {
	if b.Thread != w.number {
		w.number, w.thread = b.Thread, w.threads[b.Thread]
		if w.thread == nil {
			w.thread = &thread{frames: []frame{{routine: none}}, last: none}
			w.threads[b.Thread] = w.thread
		}
	}
	for id, accesses := range b.ByBlock(w.plan) {
		w.step(int32(id))
		f(w.top().node, accesses)
	}
}

func (w *walker) top() *frame { return &w.frames[len(w.frames)-1] }

// step follows control to a block.
func (w *walker) step(id int32) {
	c := &w.places[id]
	last := w.last
	w.last = id
	if last == none || c.pc == w.start && c.routine != w.top().routine { // the dynamic linker is done
		w.frames = w.frames[:1]
		w.push(frame{routine: c.routine})
		return
	}
	p := &w.places[last]
	switch p.ends {
	case runsOn:
		if c.routine != w.top().routine {
			w.resolve(c)
		}
	case calls:
		w.call(p, c)
	case returns:
		w.giveBack(c)
	case jumps:
		switch {
		case c.pc == p.target:
			w.tailCall(p, c)
		case c.routine != w.top().routine: // a branch that is not taken runs on
			w.resolve(c)
		}
	case departs:
		switch {
		case c.routine == w.top().routine:
		case p.header && c.entry:
			w.replace(c, true)
		case w.isUnknown(p.routine):
			w.resolve(c)
		case c.entry || w.isUnknown(c.routine):
			w.tailCall(p, c)
		default:
			w.resolve(c)
		}
	}
}

// isUnknown reports whether a routine stands for all code that no graph holds. Its frames
// are not in paths, and what it does is not known: it may call, jump or return.
func (w *walker) isUnknown(routine int32) bool { return int(routine) == w.routines-1 }

// call follows a call of p to c.
func (w *walker) call(p, c *place) {
	switch {
	case c.pc == p.next: // what was called is not recorded
	case p.target == c.pc || p.target == 0 && c.entry || w.isUnknown(c.routine):
		w.pushFrom(p, frame{ret: p.next, site: p.last, routine: c.routine})
	default:
		w.resolve(c)
	}
}

// giveBack follows a return to c.
func (w *walker) giveBack(c *place) {
	if w.pop(c.pc) {
		return
	}
	if n := len(w.frames); n > 1 && w.frames[n-1].ret == 0 {
		w.frames = w.frames[:n-1]
	}
	w.resolve(c)
}

// tailCall follows a jump of p to c, of another routine.
func (w *walker) tailCall(p, c *place) {
	top := *w.top()
	if top.looks || top.routine >= 0 && w.stub[top.routine] {
		w.replace(c, false)
		return
	}
	for i := len(w.frames) - 1; i >= 0; i-- {
		if w.frames[i].routine == c.routine {
			w.frames = w.frames[:i+1]
			return
		}
		if !w.frames[i].tail {
			break
		}
	}
	w.push(frame{ret: top.ret, site: p.last, routine: c.routine, tail: true})
}

// replace makes the last frame, of a stub or of what looks up its target, one of c.
func (w *walker) replace(c *place, looks bool) {
	top := *w.top()
	w.frames = w.frames[:len(w.frames)-1]
	top.routine, top.looks = c.routine, looks
	w.push(top)
}

// resolve follows control that arrives at c otherwise: back to a frame by longjmp, an
// exception or the end of a signal's handler; to the entry of a routine because of a
// signal or a call by code that is not recorded; or from where the path is not known,
// which a thread's first block does, too.
func (w *walker) resolve(c *place) {
	switch {
	case w.pop(c.pc) || c.routine == w.top().routine:
	case c.entry:
		w.push(frame{routine: c.routine})
	default:
		for i := len(w.frames) - 1; i > 0; i-- {
			if w.frames[i].routine == c.routine {
				w.frames = w.frames[:i+1]
				return
			}
		}
		if !w.isUnknown(c.routine) {
			w.lost++
			w.frames = w.frames[:1]
		}
		w.push(frame{routine: c.routine})
	}
}

// pop takes the frames off down to the last one that returns to pc, with the frames that
// jumped there, and reports whether there is one.
func (w *walker) pop(pc trace.PC) bool {
	for i := len(w.frames) - 1; i > 0; i-- {
		if w.frames[i].ret == pc {
			for w.frames[i].tail {
				i--
			}
			w.frames = w.frames[:i]
			return true
		}
	}
	return false
}

// pushFrom is push after a call by p, which remembers the path that it led to.
func (w *walker) pushFrom(p *place, f frame) {
	if from := w.top().node; p.from == from && p.target != 0 && len(w.frames) < w.depth {
		f.node = p.to
		w.frames = append(w.frames, f)
		return
	}
	from := w.top().node
	w.push(f)
	p.from, p.to = from, w.top().node
}

// push adds a frame, and finds its path.
func (w *walker) push(f frame) {
	if len(w.frames) >= w.depth {
		w.lost++
		w.frames = append(w.frames[:1], w.frames[w.depth/2:]...)
		w.frames[1].tail = false // what it would return with is gone
	}
	f.node = w.top().node
	if !w.stub[f.routine] {
		f.node = w.child(f.node, f.site, f.routine)
	}
	w.frames = append(w.frames, f)
}
