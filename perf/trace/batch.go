package trace

import (
	"fmt"
	"iter"
)

// Batch is a stretch of the events of one thread, in program order. A block's
// events never span two batches; a block that a fault ends early is the last of
// its batch and has fewer accesses than its Refs.
//
// An engine may record iterations of a loop as a Run instead of one by one. A
// Sink expands runs for collectors that do not take them: see RunCollector.
type Batch struct {
	Accesses []Access
	Blocks   []BlockID // executed blocks that the plan lists

	// Counts holds the number of accesses of each of Blocks. It is empty unless
	// the plan has a block that Varies; otherwise every count is Block.Refs.
	Counts []uint32

	// Runs are loops recorded once, in program order. See Run for their places
	// among the other events.
	Runs       []Run
	Strides    []Stride  // of all runs
	Bodies     []BlockID // of all runs
	BodyCounts []uint32  // accesses of each of Bodies; empty where Counts would be

	// Changes are what Plan.Memory asks for: all come before the batch's first event.
	// The last batch of a run may have nothing else.
	Changes []Change

	Start  uint64 // instructions executed by the program before the batch
	Thread int32  // 0 for the first thread, then in order of creation
}

// Reset empties b but keeps its memory.
func (b *Batch) Reset() {
	b.Accesses, b.Blocks, b.Counts = b.Accesses[:0], b.Blocks[:0], b.Counts[:0]
	b.Runs, b.Strides, b.Bodies, b.BodyCounts = b.Runs[:0], b.Strides[:0], b.Bodies[:0], b.BodyCounts[:0]
	b.Changes = b.Changes[:0]
	b.Start, b.Thread = 0, 0
}

// ByBlock yields the executed blocks of b, each with its accesses. All planned
// references must be in planned blocks: ByBlock panics if accesses are left over.
// It panics if b has runs: a collector that calls it takes expanded batches.
func (b *Batch) ByBlock(p *Plan) iter.Seq2[BlockID, []Access] {
	return func(yield func(BlockID, []Access) bool) {
		if len(b.Runs) > 0 {
			panic("trace: ByBlock of a batch with runs: Expand it first")
		}
		rest := b.Accesses
		for i, id := range b.Blocks {
			n := int(p.Blocks[id].Refs)
			if len(b.Counts) > 0 {
				n = int(b.Counts[i])
			}
			n = min(n, len(rest)) // a fault may have ended the last block
			if !yield(id, rest[:n:n]) {
				return
			}
			rest = rest[n:]
		}
		if len(rest) > 0 {
			panic(fmt.Sprintf("trace: %d accesses belong to no block", len(rest)))
		}
	}
}

// A Sink takes full batches from an engine. Exchange takes ownership of full, which
// the caller must not touch again, and returns an empty batch to fill. An engine
// calls Exchange from one goroutine at a time. The first call passes nil, to obtain
// the first batch.
type Sink interface {
	Exchange(full *Batch) (empty *Batch)
}

// A Collector measures one thing about a run. Observe sees the batches of a
// run one at a time, in order; it must neither modify nor keep them.
type Collector interface {
	Observe(b *Batch)
}

// A RunCollector is a Collector that may take batches with Runs. A Collector
// that is none, or whose TakesRuns returns false, sees expanded batches.
type RunCollector interface {
	Collector
	TakesRuns() bool // the same throughout a run
}

// A Holder is a Collector that may go on reading a batch after it has returned: a
// Sink that can do without the batch calls Hold in place of Observe.
type Holder interface {
	Collector
	// Hold is Observe of a batch that stays as it is until done is called, once, by any
	// goroutine.
	Hold(b *Batch, done func())
}

// takesRuns reports whether c sees batches as they were recorded.
func takesRuns(c Collector) bool {
	r, ok := c.(RunCollector)
	return ok && r.TakesRuns()
}
