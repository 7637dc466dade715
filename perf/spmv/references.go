package spmv

import "presage/perf/trace"

// The arrays of a kernel: references to each are one group of the plan.
const (
	ArrayStart  trace.GroupID = iota // where rows of blocks end
	ArrayColumn                      // first columns of blocks
	ArrayValue
	ArrayX // the source vector
	ArrayY // the destination vector
	arrays
)

// The references of a kernel, in the order of the plan.
const (
	refStart trace.RefID = iota
	refColumn
	refValue
	refX
	refLoadY
	refStoreY
)

// Plan returns the common plan of the references of all kernels. The addresses
// of their instructions are placeholders.
func Plan() *trace.Plan {
	return &trace.Plan{Refs: []trace.Ref{
		{PC: 0, Size: 4, Kind: trace.Load, Group: ArrayStart},
		{PC: 4, Size: 4, Kind: trace.Load, Group: ArrayColumn},
		{PC: 8, Size: 8, Kind: trace.Load, Float: true, Group: ArrayValue},
		{PC: 12, Size: 8, Kind: trace.Load, Float: true, Group: ArrayX},
		{PC: 16, Size: 8, Kind: trace.Load, Float: true, Group: ArrayY},
		{PC: 20, Size: 8, Kind: trace.Store, Float: true, Group: ArrayY},
	}}
}

// arrayAlign is the alignment of the arrays, which lie one after the other:
// pages, as allocators align large arrays.
const arrayAlign = 8 << 10

// layout returns the addresses of the arrays.
func (b *Blocks) layout() (base [arrays]uint64) {
	y, x := b.Lengths()
	next := uint64(1 << 20)
	for i, bytes := range []int{4 * len(b.start), 4 * len(b.column), 8 * len(b.value), 8 * x, 8 * y} {
		base[i] = next
		next += (uint64(bytes) + arrayAlign - 1) &^ (arrayAlign - 1)
	}
	return base
}

// References sends the loads and stores of one product by the kernel of b's
// shape to sink, in the order of the kernel: for each row of blocks its end and
// the elements of y; for each block its column and, column by column, an
// element of x and R values; then y again. The engine's trace of the guest
// program has the same accesses in the same order, except for what a compiler
// reorders within a block. References returns the number of accesses.
func (b *Blocks) References(sink trace.Sink) uint64 {
	e := emitter{sink: sink, batch: sink.Exchange(nil)}
	base := b.layout()
	r, c := uint64(b.Shape.R), uint64(b.Shape.C)
	start := trace.Tag(refStart, 4) + trace.Access(base[ArrayStart])
	column := trace.Tag(refColumn, 4) + trace.Access(base[ArrayColumn])
	value := trace.Tag(refValue, 8) + trace.Access(base[ArrayValue])
	x := trace.Tag(refX, 8) + trace.Access(base[ArrayX])
	loadY := trace.Tag(refLoadY, 8) + trace.Access(base[ArrayY])
	storeY := trace.Tag(refStoreY, 8) + trace.Access(base[ArrayY])

	e.put(start)
	k := 0
	for i := range len(b.start) - 1 {
		out := e.room(1 + int(r))
		out = append(out, start+trace.Access(4*(i+1)))
		for j := range r {
			out = append(out, loadY+trace.Access(8*(uint64(i)*r+j)))
		}
		e.batch.Accesses = out
		for end := int(b.start[i+1]); k < end; k++ {
			out := e.room(1 + int(c*(r+1)))
			out = append(out, column+trace.Access(4*k))
			xj := x + trace.Access(8*int(b.column[k]))
			v := value + trace.Access(8*uint64(k)*r*c)
			for j := range c {
				out = append(out, xj+trace.Access(8*j))
				for at := j; at < r*c; at += c {
					out = append(out, v+trace.Access(8*at))
				}
			}
			e.batch.Accesses = out
		}
		out = e.room(int(r))
		for j := range r {
			out = append(out, storeY+trace.Access(8*(uint64(i)*r+j)))
		}
		e.batch.Accesses = out
	}
	e.flush()
	return e.sent
}

// emitter fills batches.
type emitter struct {
	sink  trace.Sink
	batch *trace.Batch
	sent  uint64
}

// room returns the accesses of the current batch with room for n more.
func (e *emitter) room(n int) []trace.Access {
	if len(e.batch.Accesses)+n > trace.BatchAccesses {
		e.flush()
	}
	return e.batch.Accesses
}

func (e *emitter) put(a trace.Access) { e.batch.Accesses = append(e.room(1), a) }

func (e *emitter) flush() {
	e.sent += uint64(len(e.batch.Accesses))
	e.batch = e.sink.Exchange(e.batch)
}
