package reuse

import "presage/perf/trace"

// parcel is a batch that waits for a worker: the one that was observed, if it is held,
// or a copy.
type parcel struct {
	batch trace.Batch
	done  func() // ends the hold; nil: it is a copy
	own   trace.Batch
	bytes int   // that it keeps from other uses
	ahead ahead // of the batch, for carriers
}

// holdShare is the part of the memory of a batch, 1/holdShare, that must be in use for
// it to be held: what is less is copied, so that much may wait in little memory.
const holdShare = 2

// take makes c a batch that stays as it is until done is called; nil: until take returns.
func (c *parcel) take(b *trace.Batch, done func(), of chunks) {
	used := bytesOf(len(b.Accesses), len(b.Blocks)+len(b.Counts), len(b.Runs), len(b.Strides))
	all := bytesOf(cap(b.Accesses), cap(b.Blocks)+cap(b.Counts), cap(b.Runs), cap(b.Strides))
	if done != nil && used*holdShare >= all && (len(b.Runs) == 0 || of.takesRuns()) {
		c.batch, c.done, c.bytes = *b, done, all
		c.batch.Changes = nil // prepare has them
		return
	}
	of.copy(&c.own, b)
	if done != nil {
		done()
	}
	c.batch = c.own
	c.bytes = bytesOf(len(c.own.Accesses), len(c.own.Blocks)+len(c.own.Counts), len(c.own.Runs), len(c.own.Strides))
}

// release ends what take began.
func (c *parcel) release() {
	if c.done != nil {
		c.done()
	}
	c.batch, c.done = trace.Batch{}, nil
}

// bytesOf returns the memory of the lists of a batch.
func bytesOf(accesses, blocks, runs, strides int) int {
	return 8*accesses + 4*blocks + 20*runs + 16*strides
}
