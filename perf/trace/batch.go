package trace

import (
	"fmt"
	"iter"
)

// Batch is a run of events of one thread, in program order. A block's events
// never span two batches; a block that a fault ends early is the last
// of its batch and has fewer accesses than its Refs.
type Batch struct {
	Accesses []Access
	Blocks   []BlockID // executed blocks that the plan lists

	// Counts holds the number of accesses of each of Blocks. It is empty unless
	// the plan has a block that Varies; otherwise every count is Block.Refs.
	Counts []uint32

	Start  uint64 // instructions executed by the program before the batch
	Thread int32  // 0 for the first thread, then in order of creation
}

// Reset empties b but keeps its memory.
func (b *Batch) Reset() {
	b.Accesses, b.Blocks, b.Counts = b.Accesses[:0], b.Blocks[:0], b.Counts[:0]
	b.Start, b.Thread = 0, 0
}

// ByBlock yields the executed blocks of b, each with its accesses. All planned
// references must be in planned blocks: ByBlock panics if accesses are left over.
func (b *Batch) ByBlock(p *Plan) iter.Seq2[BlockID, []Access] {
	return func(yield func(BlockID, []Access) bool) {
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
