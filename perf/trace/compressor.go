package trace

// Bounds of what a Compressor looks for.
const (
	// compressPeriod is the largest number of accesses of an iteration.
	compressPeriod = 64

	// compressLeast is the number of accesses below which a run is not worth
	// recording.
	compressLeast = 48

	// compressCount is the least number of iterations of a run.
	compressCount = 4

	// After compressLook accesses in no run, a gap is skipped, the next one twice
	// as long: what has no loops costs little.
	compressLook   = 4 * compressPeriod
	compressGap    = 128
	compressMaxGap = 1024

	// Where less than one access in compressShare of a batch is in runs, the next
	// batches pass unchanged: 1, then 3, up to compressSkip.
	compressShare = 3
	compressSkip  = 31
)

// Compressor is a Sink that finds the runs of loops in batches of an engine that
// records none, and passes them on to another Sink. It pays where collectors take
// runs and spend more on an access than the comparison with the iteration before
// costs, about a nanosecond where there are loops.
//
// If the plan lists blocks, it finds loops of one block; otherwise any sequence of
// references that repeats with constant strides. Most batches pass unchanged where
// there are few runs to find, and all do from the first that has runs on: an engine
// that records them knows its loops.
type Compressor struct {
	next Sink
	plan *Plan

	last []uint32 // reference → place of its last access in the batch, plus base
	base uint32   // above all places in the batches before

	strides []Stride

	skip, idle int  // batches to pass, and how many were after the last that paid little
	off        bool // the engine records runs itself
}

// NewCompressor returns a Compressor for runs under plan.
func NewCompressor(plan *Plan, next Sink) *Compressor {
	return &Compressor{next: next, plan: plan, last: make([]uint32, len(plan.Refs)), base: 1}
}

// Exchange implements Sink.
func (c *Compressor) Exchange(full *Batch) *Batch {
	if full != nil {
		if c.off = c.off || len(full.Runs) > 0; !c.off {
			c.try(full)
		}
	}
	return c.next.Exchange(full)
}

// try compresses a batch, unless those before it have shown that it does not pay.
func (c *Compressor) try(b *Batch) {
	all := len(b.Accesses) + len(b.Blocks)
	if max(len(b.Accesses), len(b.Blocks)) > MaxExpansion {
		return // a block with very many accesses
	}
	if c.skip > 0 {
		c.skip--
		return
	}
	if len(c.plan.Blocks) > 0 {
		c.compressBlocks(b)
	} else {
		c.compress(b)
	}
	if compressed := all - len(b.Accesses) - len(b.Blocks); compressed*compressShare >= all {
		c.idle = 0
		return
	}
	c.idle = min(2*c.idle+1, compressSkip)
	c.skip = c.idle
}

// compress finds runs in a batch without blocks: if the last accesses came, one
// after the other, as many places after the one of the same reference as they are
// themselves, the loop that these make up is followed as far as it goes.
func (c *Compressor) compress(b *Batch) {
	in := b.Accesses
	out := in[:0]
	done, same, period := 0, 0, 0 // accesses before done are in out or in runs
	if uint64(c.base)+uint64(len(in)) >= 1<<32 {
		clear(c.last)
		c.base = 1
	}
	gap, look := compressGap, compressLook
	for i := 0; i < len(in); i++ {
		if look--; look < 0 {
			i += gap
			gap, look = min(2*gap, compressMaxGap), compressLook
			continue
		}
		last := &c.last[in[i].Ref()]
		p := i + int(c.base) - int(*last)
		*last = uint32(i) + c.base
		if p != period {
			same, period = 0, p
		}
		if same++; same < period || period > compressPeriod {
			continue
		}
		from := i + 1 - 2*period
		same = 0 // the next attempt is an iteration away
		if from < done {
			continue
		}
		count := c.follow(in, from, period)
		if count < compressCount || count*period < compressLeast {
			continue
		}
		out = append(out, in[done:from]...)
		b.Accesses = out
		b.AddRun(Loop{Count: uint32(count), Strides: c.strides})
		done = from + count*period
		i = done - 1
		gap, look = compressGap, compressLook
		c.base += uint32(len(in)) // forget what came before
		period = 0
		if uint64(c.base)+uint64(len(in)) >= 1<<32 {
			clear(c.last)
			c.base = 1
		}
	}
	b.Accesses = append(out, in[done:]...)
	c.base += uint32(len(in))
}

// follow returns the number of iterations, of period accesses each, from a place
// on in which addresses step by constants, and sets strides to them. At least two
// iterations have the same references.
func (c *Compressor) follow(in []Access, from, period int) (count int) {
	c.strides = c.strides[:0]
	for j := range period {
		first, second := in[from+j], in[from+period+j]
		if (first^second)>>addrBits != 0 {
			return 1
		}
		c.strides = append(c.strides, Stride{first, int64(second) - int64(first)})
	}
	at := from + 2*period
	for count = 2; at+period <= len(in); count++ {
		// Equal differences of equal tags; a step out of the address space would
		// be one of another reference.
		now, before := in[at:at+period], in[at-period:at]
		for j := range c.strides {
			if int64(now[j]-before[j]) != c.strides[j].Step || (now[j]^before[j])>>addrBits != 0 {
				return count
			}
		}
		at += period
	}
	return count
}

// compressBlocks finds runs of single blocks.
func (c *Compressor) compressBlocks(b *Batch) {
	in, ids, counts := b.Accesses, b.Blocks, b.Counts
	b.Accesses, b.Blocks, b.Counts = in[:0], ids[:0], counts[:0]
	at := 0
	for i := 0; i < len(ids); {
		id := ids[i]
		refs := int(c.plan.Blocks[id].Refs)
		alike := 1
		for i+alike < len(ids) && ids[i+alike] == id {
			alike++
		}
		if c.plan.Blocks[id].Varies || alike < compressCount || refs > compressPeriod || at+alike*refs > len(in) {
			at = c.pass(b, in, ids, counts, at, i, alike)
			i += alike
			continue
		}
		for alike > 0 {
			count := alike
			if refs > 0 && alike > 1 {
				count = min(alike, c.follow(in[:at+alike*refs], at, refs))
			}
			if count < compressCount || count*max(refs, 8) < compressLeast {
				count = min(max(count-1, 1), alike) // the last may begin a run
				at = c.pass(b, in, ids, counts, at, i, count)
			} else {
				l := Loop{Count: uint32(count), Body: ids[i : i+1]}
				if refs > 0 {
					l.Strides = c.strides
				}
				if len(counts) > 0 {
					l.Counts = counts[i : i+1]
				}
				b.AddRun(l)
				at += count * refs
			}
			i, alike = i+count, alike-count
		}
	}
	b.Accesses = append(b.Accesses, in[at:]...)
}

// pass copies n executions of blocks, from the i-th on, whose accesses begin at at.
// It returns where those of the next begin.
func (c *Compressor) pass(b *Batch, in []Access, ids []BlockID, counts []uint32, at, i, n int) int {
	for ; n > 0; i, n = i+1, n-1 {
		refs := int(c.plan.Blocks[ids[i]].Refs)
		if len(counts) > 0 {
			refs = int(counts[i])
			b.Counts = append(b.Counts, counts[i])
		}
		end := min(at+refs, len(in))
		b.Blocks = append(b.Blocks, ids[i])
		b.Accesses = append(b.Accesses, in[at:end]...)
		at = end
	}
	return at
}

var _ Sink = (*Compressor)(nil)
