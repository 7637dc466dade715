// Package tracetest makes batches with runs of loops for tests and benchmarks of
// collectors: random ones, and those of a few loop nests.
package tracetest

import (
	"math/rand/v2"
	"slices"

	"presage/perf/trace"
)

// Mixed returns batches of random runs and single accesses by the references of
// plan, at least count runs, and the same events without runs. Addresses
// stay within a few regions, so that blocks are accessed again at all distances;
// many runs repeat one before them, exactly or a few bytes further on. Blocks of
// the plan, if it lists any, are executed at random, each with its number of
// accesses.
func Mixed(rng *rand.Rand, plan *trace.Plan, count int) (batches, plain []*trace.Batch) {
	m := mixer{rng: rng, plan: plan, span: 1 << (6 + rng.IntN(10))}
	start := uint64(0)
	for runs := 0; runs < count; {
		b := &trace.Batch{Start: start, Thread: int32(rng.IntN(2))}
		for range 1 + rng.IntN(20) {
			m.singles(b)
			m.runs(b)
			runs++
			if n, _ := b.Expansion(); n > 2*most {
				break
			}
		}
		if rng.IntN(2) == 0 {
			m.singles(b)
		}
		p := new(trace.Batch)
		b.Expand(p)
		batches, plain = append(batches, b), append(plain, p)
		for _, id := range p.Blocks {
			start += uint64(plan.Blocks[id].Instructions)
		}
	}
	return batches, plain
}

type mixer struct {
	rng  *rand.Rand
	plan *trace.Plan
	span int

	loop    trace.Loop // the last one
	tail    []trace.Access
	between []trace.BlockID
}

// steps are the usual ones: within a block, whole blocks, rows, and none.
var steps = []int64{0, 0, 1, 2, 4, 8, 8, 8, 8, 16, 24, 32, 64, 72, 128, 256, 264, 1024, 4096, 4104}

// reach bounds a run's iterations, and longest is its largest step: no address
// leaves the space.
const (
	reach   = 400
	longest = 4104
	most    = 4000 // accesses of a run
)

var bases = []uint64{longest * reach, 0x1234_5678, 0xc0_0000_0000, trace.AddrLimit - 4*longest*reach}

func (m *mixer) access() trace.Access {
	ref := m.rng.IntN(len(m.plan.Refs))
	size := m.plan.Refs[ref].Size
	addr := bases[m.rng.IntN(len(bases))] + uint64(m.rng.IntN(m.span))
	if m.rng.IntN(8) > 0 {
		addr &^= uint64(size) - 1
	}
	return trace.Tag(trace.RefID(ref), size) + trace.Access(addr)
}

// accesses returns those of a few executions of blocks, or of no block if the
// plan has none.
func (m *mixer) accesses(executions int) (blocks []trace.BlockID, list []trace.Access) {
	for range executions {
		if len(m.plan.Blocks) == 0 {
			list = append(list, m.access())
			continue
		}
		id := m.rng.IntN(len(m.plan.Blocks))
		blocks = append(blocks, trace.BlockID(id))
		for range m.plan.Blocks[id].Refs {
			list = append(list, m.access())
		}
	}
	return blocks, list
}

func (m *mixer) singles(b *trace.Batch) {
	switch m.rng.IntN(5) { // mostly the same again
	case 0:
		m.between, m.tail = m.accesses(m.rng.IntN([]int{1, 3, 6, 60}[m.rng.IntN(4)]))
	case 1:
		if len(m.tail) > 0 {
			m.tail[m.rng.IntN(len(m.tail))] += 64
		}
	}
	b.Blocks, b.Accesses = append(b.Blocks, m.between...), append(b.Accesses, m.tail...)
}

func (m *mixer) runs(b *trace.Batch) {
	switch m.rng.IntN(8) { // mostly the same again
	case 0:
		m.draw()
	case 1: // elsewhere
		shift := trace.Access(m.rng.IntN(m.span)) &^ 7
		for i := range m.loop.Strides {
			m.loop.Strides[i].First += shift &^ 63
		}
	case 2: // further on, perhaps in the same block
		for i := range m.loop.Strides {
			m.loop.Strides[i].First += 8
		}
	}
	astray := func(s trace.Stride) bool { return s.First.Addr() > trace.AddrLimit-2*longest*reach }
	if m.loop.Count == 0 || slices.ContainsFunc(m.loop.Strides, astray) {
		m.draw()
	}
	b.AddRun(m.loop)
}

// draw makes a new loop.
func (m *mixer) draw() {
	l := &m.loop
	*l = trace.Loop{Count: 1 + m.rng.Uint32N([]uint32{4, 40, reach}[m.rng.IntN(3)])}
	var list []trace.Access
	for len(list) == 0 {
		l.Body, list = m.accesses(1 + m.rng.IntN([]int{2, 4, 12, 80}[m.rng.IntN(4)]))
	}
	l.Count = min(l.Count, most/uint32(len(list)))
	common := steps[m.rng.IntN(len(steps))]
	for _, a := range list {
		step := common
		if m.rng.IntN(3) == 0 {
			step = steps[m.rng.IntN(len(steps))]
		}
		if m.rng.IntN(4) == 0 {
			step = -step
		}
		l.Strides = append(l.Strides, trace.Stride{First: a, Step: step})
	}
	// Neighbours, as in stencils.
	for i := 1; i < len(l.Strides); i++ {
		if s := &l.Strides[i]; m.rng.IntN(2) == 0 {
			near := l.Strides[i-1].First.Addr() &^ 7
			s.First = trace.Tag(s.First.Ref(), uint8(s.First.Size())) + trace.Access(near+8*m.rng.Uint64N(3))
		}
	}
}
