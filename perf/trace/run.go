package trace

import (
	"fmt"
	"iter"
	"math/bits"
	"slices"
)

// MaxExpansion bounds the events that a batch stands for: at most this many
// accesses, and as many executions of blocks, when its runs are expanded. An
// engine splits a longer loop between two iterations into several runs, in
// several batches.
const MaxExpansion = 64 << 10

// Run is a stretch of consecutive iterations of a loop, recorded once instead of
// access by access. Every iteration executes the same blocks and the same
// references in the same order, and the addresses of each reference step by a
// constant. An iteration of a run is complete: a block that a fault ends early is
// recorded in Batch.Blocks.
//
// A batch holds its events in three lists. Accesses and Blocks are in program
// order when its runs are left out; a run says how many of each come before it.
// Runs at the same place follow one another in the order of Batch.Runs. So the
// batch
//
//	Blocks    e f e
//	Accesses  p p q p p       2 references in e, 1 in f
//	Runs      {Accesses: 3, Blocks: 2, Count: 3, Refs: 1, Body: 1}
//	Bodies    g
//	Strides   {First: x, Step: 8}
//
// stands for the executed blocks e f g g g e, and the accesses
// p p q x x+8 x+16 p p.
//
// Refs and Body are lengths: a run owns the elements of Batch.Strides and
// Batch.Bodies that follow those of the run before it. Batch.Pieces and
// Batch.AddRun do this arithmetic.
type Run struct {
	Accesses uint32 // elements of Batch.Accesses before the run
	Blocks   uint32 // elements of Batch.Blocks before the run
	Count    uint32 // iterations, at least 1
	Refs     uint32 // accesses in each iteration: elements of Batch.Strides
	Body     uint32 // planned blocks executed in each iteration: elements of Batch.Bodies
}

// Stride is one access of each iteration of a run.
type Stride struct {
	First Access // in the first iteration
	Step  int64  // bytes that the address grows by from one iteration to the next
}

// At returns the access of iteration i, counted from 0.
func (s Stride) At(i uint32) Access {
	// The address stays below AddrLimit, so no carry leaves it.
	return s.First + Access(uint64(s.Step)*uint64(i))
}

// Loop is a run with what it owns of its batch.
type Loop struct {
	Count   uint32    // iterations; 0: no run
	Body    []BlockID // the planned blocks executed in each iteration, in order
	Counts  []uint32  // accesses of each of Body; empty unless the plan has a block that Varies
	Strides []Stride  // the accesses of each iteration, in order
}

// Piece is a part of a batch: some events, and the run that follows them. The
// slices belong to the batch.
type Piece struct {
	Accesses []Access
	Blocks   []BlockID
	Counts   []uint32 // of Blocks; empty unless the plan has a block that Varies
	Loop     Loop     // Count is 0 in the last piece, which has no run
}

// Pieces yields the parts of b in program order. The last one has no run, and
// may have no events.
func (b *Batch) Pieces() iter.Seq[Piece] {
	return func(yield func(Piece) bool) {
		strides, bodies, counts := b.Strides, b.Bodies, b.BodyCounts
		access, block := uint32(0), uint32(0)
		for i := range b.Runs {
			r := &b.Runs[i]
			p := b.piece(access, r.Accesses, block, r.Blocks)
			p.Loop.Count = r.Count
			p.Loop.Strides, strides = strides[:r.Refs:r.Refs], strides[r.Refs:]
			p.Loop.Body, bodies = bodies[:r.Body:r.Body], bodies[r.Body:]
			if len(counts) > 0 {
				p.Loop.Counts, counts = counts[:r.Body:r.Body], counts[r.Body:]
			}
			if !yield(p) {
				return
			}
			access, block = r.Accesses, r.Blocks
		}
		yield(b.piece(access, uint32(len(b.Accesses)), block, uint32(len(b.Blocks))))
	}
}

func (b *Batch) piece(fromAccess, toAccess, fromBlock, toBlock uint32) Piece {
	p := Piece{Accesses: b.Accesses[fromAccess:toAccess:toAccess], Blocks: b.Blocks[fromBlock:toBlock:toBlock]}
	if len(b.Counts) > 0 {
		p.Counts = b.Counts[fromBlock:toBlock:toBlock]
	}
	return p
}

// AddRun appends a run after the events that b holds so far. It copies the
// slices of l.
func (b *Batch) AddRun(l Loop) {
	b.Runs = append(b.Runs, Run{
		Accesses: uint32(len(b.Accesses)), Blocks: uint32(len(b.Blocks)),
		Count: l.Count, Refs: uint32(len(l.Strides)), Body: uint32(len(l.Body)),
	})
	b.Bodies = append(b.Bodies, l.Body...)
	b.BodyCounts = append(b.BodyCounts, l.Counts...)
	b.Strides = append(b.Strides, l.Strides...)
}

// Empty reports whether b has no events; it may have Changes.
func (b *Batch) Empty() bool { return len(b.Accesses)+len(b.Blocks)+len(b.Runs) == 0 }

// Expansion returns the number of accesses, and of executions of blocks, that b
// stands for.
func (b *Batch) Expansion() (accesses, blocks uint64) {
	accesses, blocks = uint64(len(b.Accesses)), uint64(len(b.Blocks))
	for i := range b.Runs {
		r := &b.Runs[i]
		accesses += uint64(r.Count) * uint64(r.Refs)
		blocks += uint64(r.Count) * uint64(r.Body)
	}
	return accesses, blocks
}

// Expand sets dst, another batch, to the events of b without runs. It keeps
// dst's memory.
func (b *Batch) Expand(dst *Batch) {
	dst.Reset()
	dst.Start, dst.Thread = b.Start, b.Thread
	dst.Changes = append(dst.Changes, b.Changes...)
	for p := range b.Pieces() {
		dst.Accesses = append(dst.Accesses, p.Accesses...)
		dst.Blocks = append(dst.Blocks, p.Blocks...)
		dst.Counts = append(dst.Counts, p.Counts...)
		l := &p.Loop
		dst.Accesses = l.AppendAccesses(dst.Accesses, 0, l.Count)
		if len(l.Body) == 0 {
			continue
		}
		for range l.Count {
			dst.Blocks = append(dst.Blocks, l.Body...)
			dst.Counts = append(dst.Counts, l.Counts...)
		}
	}
}

// AppendAccesses appends to dst the accesses of iterations from to to-1.
func (l *Loop) AppendAccesses(dst []Access, from, to uint32) []Access {
	refs := len(l.Strides)
	if refs == 0 || from >= to {
		return dst
	}
	at := len(dst)
	dst = slices.Grow(dst, int(to-from)*refs)[:at+int(to-from)*refs]
	for j, s := range l.Strides {
		a := s.At(from)
		for i := at + j; i < len(dst); i += refs {
			dst[i] = a
			a += Access(s.Step)
		}
	}
	return dst
}

// Check returns an error unless the runs of b are consistent with one another
// and with the plan under which they were recorded. It is for tests of engines:
// a Sink does not check.
func (b *Batch) Check(p *Plan) error {
	if err := b.checkLengths(); err != nil {
		return err
	}
	if accesses, blocks := b.Expansion(); len(b.Runs) > 0 && max(accesses, blocks) > MaxExpansion {
		return fmt.Errorf("trace: a batch with runs stands for %d accesses and %d blocks, at most %d are allowed", accesses, blocks, MaxExpansion)
	}
	varies := slices.ContainsFunc(p.Blocks, func(b Block) bool { return b.Varies })
	i := 0
	for piece := range b.Pieces() {
		if i == len(b.Runs) {
			break
		}
		if err := piece.Loop.check(p, varies); err != nil {
			return fmt.Errorf("trace: run %d: %w", i, err)
		}
		i++
	}
	return nil
}

// checkLengths checks what Pieces relies on.
func (b *Batch) checkLengths() error {
	var last Run
	strides, bodies := 0, 0
	for i, r := range b.Runs {
		switch {
		case r.Accesses < last.Accesses || r.Blocks < last.Blocks:
			return fmt.Errorf("trace: run %d stands before the one that precedes it", i)
		case int(r.Accesses) > len(b.Accesses) || int(r.Blocks) > len(b.Blocks):
			return fmt.Errorf("trace: run %d comes after %d accesses and %d blocks of a batch with %d and %d", i, r.Accesses, r.Blocks, len(b.Accesses), len(b.Blocks))
		case r.Count == 0 || r.Refs+r.Body == 0:
			return fmt.Errorf("trace: run %d has no events", i)
		}
		strides, bodies, last = strides+int(r.Refs), bodies+int(r.Body), r
	}
	if strides != len(b.Strides) || bodies != len(b.Bodies) || len(b.BodyCounts) > 0 && len(b.BodyCounts) != bodies {
		return fmt.Errorf("trace: runs have %d strides and %d blocks, the batch %d and %d, with %d counts", strides, bodies, len(b.Strides), len(b.Bodies), len(b.BodyCounts))
	}
	return nil
}

func (l *Loop) check(p *Plan, varies bool) error {
	for _, s := range l.Strides {
		ref := int(s.First.Ref())
		if ref >= len(p.Refs) {
			return fmt.Errorf("reference %d of %d", ref, len(p.Refs))
		}
		if size := uint64(p.Refs[ref].Size); s.First.Size() != size {
			return fmt.Errorf("reference %d accesses %d bytes, in the plan %d", ref, s.First.Size(), size)
		}
		hi, lo := bits.Mul64(magnitude(s.Step), uint64(l.Count-1))
		room := s.First.Addr()
		if s.Step > 0 {
			room = AddrLimit - 1 - room
		}
		if hi > 0 || lo > room {
			return fmt.Errorf("reference %d leaves the address space: %d steps of %d from %#x", ref, l.Count-1, s.Step, s.First.Addr())
		}
	}
	if len(p.Blocks) == 0 {
		if len(l.Body) > 0 {
			return fmt.Errorf("it executes blocks, but the plan lists none")
		}
		return nil
	}
	if varies != (len(l.Counts) > 0) && len(l.Body) > 0 {
		return fmt.Errorf("%d blocks with %d counts; some vary: %t", len(l.Body), len(l.Counts), varies)
	}
	refs := 0
	for i, id := range l.Body {
		if int(id) >= len(p.Blocks) {
			return fmt.Errorf("block %d of %d", id, len(p.Blocks))
		}
		block := &p.Blocks[id]
		n := block.Refs
		if varies {
			n = l.Counts[i]
		}
		if n != block.Refs && (!block.Varies || n < block.Refs) {
			return fmt.Errorf("block %d has %d accesses, in the plan %d", id, n, block.Refs)
		}
		refs += int(n)
	}
	if refs != len(l.Strides) {
		return fmt.Errorf("its blocks have %d references, it has %d", refs, len(l.Strides))
	}
	return nil
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}
