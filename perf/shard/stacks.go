package shard

import (
	"fmt"

	"presage/perf/isa"
	"presage/perf/reuse"
	"presage/perf/trace"
)

// Bounds returns the distances in blocks at which Distribution counts: 0 to 2^17, which
// is 8 MiB, two in an octave.
func Bounds() []uint64 {
	list := []uint64{0, 1, 2}
	for n := uint64(2); n < 1<<17; n *= 2 {
		list = append(list, n+n/2, 2*n)
	}
	return list
}

// Distribution is how the accesses of a stream in a shard are distributed over reuse
// distances, in blocks of BlockBytes.
type Distribution struct {
	Stream Stream
	// Beyond holds, for each of Bounds, the accesses with this distance or a longer one,
	// or to blocks that were never accessed before; the first is the number of accesses.
	Beyond []uint64
}

// Stacks counts the reuse distances of a shard in each stream. They say of a
// fully associative cache of any size what it misses, whatever the machine. It is a
// trace.Collector.
//
// As the misses of Caches, distances depend on everything recorded before the shard.
// Consecutive instructions fetched from one block of code are one access to it.
type Stacks struct {
	window  Window
	blocks  []fetched
	streams [streams]*stack
	line    uint64 // of code, that was fetched from last
	before  [streams][]uint64
	found   []Distribution // nil until the window has ended
	inside  bool
}

var _ trace.Collector = (*Stacks)(nil)

// stack measures the distances of a stream of its own.
type stack struct {
	*reuse.Collector
	waiting trace.Batch
}

func (s *stack) access(a trace.Access) {
	s.waiting.Accesses = append(s.waiting.Accesses, a)
	if len(s.waiting.Accesses) >= trace.BatchAccesses {
		s.flush()
	}
}

func (s *stack) flush() {
	s.Observe(&s.waiting)
	s.waiting.Reset()
}

// beyond returns the accesses so far by bound.
func (s *stack) beyond() (list []uint64) {
	s.flush()
	h := s.Result().Total()
	for _, b := range Bounds() {
		list = append(list, h.Misses(b))
	}
	return list
}

// NewStacks returns a Stacks for a run under plan: see New.
func NewStacks(plan *trace.Plan, code [][]isa.Inst, window Window) (*Stacks, error) {
	if window.From >= window.To {
		return nil, fmt.Errorf("shard: the window from %d to %d is empty", window.From, window.To)
	}
	blocks, err := fetches(plan, code)
	if err != nil {
		return nil, err
	}
	d := &Stacks{window: window, blocks: blocks}
	for i := range d.streams {
		c, err := reuse.New(&trace.Plan{Refs: []trace.Ref{{PC: 1, Size: 1}}}, reuse.Options{BlockBytes: BlockBytes})
		if err != nil {
			return nil, err
		}
		d.streams[i] = &stack{Collector: c}
	}
	return d, nil
}

// Observe implements trace.Collector. It panics where a batch names a block
// that is not in the plan.
func (d *Stacks) Observe(b *trace.Batch) {
	at, accesses := b.Start, b.Accesses
	for _, id := range b.Blocks {
		d.bound(at)
		f := &d.blocks[id]
		for _, line := range f.lines {
			if line != d.line {
				d.access(Code, trace.Tag(0, 1)|trace.Access(line*BlockBytes))
			}
			d.line = line
		}
		n := min(f.refs, len(accesses))
		for _, a := range accesses[:n] {
			d.access(Data, trace.Tag(0, uint8(a.Size()))|trace.Access(a.Addr()))
		}
		accesses = accesses[n:]
		at += f.instructions
	}
}

func (d *Stacks) access(s Stream, a trace.Access) {
	d.streams[s].access(a)
	d.streams[Both].access(a)
}

// bound begins and ends the window before the instruction at.
func (d *Stacks) bound(at uint64) {
	if !d.inside && d.found == nil && at >= d.window.From {
		d.inside = true
		for i, s := range d.streams {
			d.before[i] = s.beyond()
		}
	}
	if d.inside && at >= d.window.To {
		d.end()
	}
}

func (d *Stacks) end() {
	d.inside = false
	for i, s := range d.streams {
		list := s.beyond()
		for k, n := range d.before[i] {
			list[k] -= n
		}
		d.found = append(d.found, Distribution{Stream(i), list})
	}
}

// Result returns the distributions of the window by stream; none if the run did not
// reach it.
func (d *Stacks) Result() []Distribution {
	if d.inside {
		d.end()
	}
	return d.found
}
