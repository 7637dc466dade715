//go:build linux && amd64

package native

import "presage/perf/trace"

// hotBlock is what the reader needs of a block that has been executed. Those of all blocks
// lie side by side, as most of a record is read for them.
type hotBlock struct {
	refs         []hotRef
	block        *block
	span         uint32
	instructions uint32
	planBlock    int32 // -1: the record goes on with the planned block before it
	plain        bool  // a record of plain references, in a planned block from its beginning
}

// hotRef is a reference that is a single access: word slot, plus delta.
type hotRef struct {
	tag   trace.Access
	delta uint64
	slot  uint32
}

// known reports whether the reader knows a block, as it has been executed.
func (r *reader) known(id uint32) bool { return int(id) < len(r.hot) && r.hot[id].block != nil }

// keep makes a block known.
func (r *reader) keep(b *block) {
	for len(r.hot) <= int(b.id) {
		r.hot = append(r.hot, hotBlock{})
	}
	h := hotBlock{block: b, span: b.span, instructions: b.instructions, planBlock: b.planBlock}
	h.plain = b.memory == noMemory && !b.loop && (b.simple || len(b.refs) == 0) && (b.planBlock >= 0 || b.flows)
	if h.plain {
		for i := range b.refs {
			p := &b.refs[i]
			h.refs = append(h.refs, hotRef{p.tag, uint64(p.delta), uint32(p.slot)})
		}
	}
	r.hot[b.id] = h
}

// plainly reports whether records may be read by plain.
func (r *reader) plainly() bool {
	return r.batch != nil && r.flow == nil && len(r.plan.Blocks) > 0
}

// plain reads records from word i on as long as they are plain and fit into the batch, and
// returns the word at which the first begins that is not. It does what block does, for
// nearly all of a run.
func (r *reader) plain(w []uint64, i int) int {
	if r.partial || cap(r.batch.Blocks) == 0 {
		return i
	}
	chunks, limit := r.chunks, r.capacity
	if r.inRuns > 0 {
		limit = min(limit, trace.MaxExpansion-r.inRuns)
	}
	accesses, blocks, counts := r.batch.Accesses, r.batch.Blocks, r.batch.Counts
	limit, most := min(limit, cap(accesses)), min(r.capacity, cap(blocks))
	open, mark, begun, count, before := r.open, r.mark, r.begun, r.count, r.before
	for i < len(w) && w[i] < uint64(len(r.hot)) {
		h := &r.hot[w[i]]
		at := len(accesses)
		to := at + len(h.refs)
		if !h.plain || to > limit {
			break
		}
		if h.planBlock >= 0 {
			if len(blocks) >= most {
				break
			}
			if r.varies {
				if open {
					counts[len(counts)-1] = uint32(at - mark)
				}
				counts = append(counts, 0)
			}
			blocks = append(blocks, trace.BlockID(h.planBlock))
			open, mark, begun = true, at, count
		} else if b := h.block; !open || before == nil || before.end != b.pc || before.inBlock != b.inBlock {
			break
		}
		accesses = accesses[:to]
		out, record := accesses[at:to], w[i:]
		for k := range h.refs {
			p := &h.refs[k]
			a := record[p.slot] + p.delta
			a += chunks[a>>chunkBits&uint64(len(chunks)-1)].add
			out[k] = p.tag | trace.Access(a&addrMask)
		}
		count += uint64(h.instructions)
		before = h.block
		i += int(h.span)
	}
	r.batch.Accesses, r.batch.Blocks, r.batch.Counts = accesses, blocks, counts
	r.open, r.mark, r.begun, r.count, r.before = open, mark, begun, count, before
	return i
}

// blockSize is what the position in a buffer needs of a block.
type blockSize struct {
	span    uint32
	counted uint32 // instructions of a record; 0 if the record says how many
}

// blockSizes returns the sizes of all blocks.
func (m *machine) blockSizes() []blockSize {
	for _, b := range m.blocks[len(m.sizes):] {
		s := blockSize{span: b.span}
		if !b.loop && b.memory == noMemory {
			s.counted = b.instructions
		}
		m.sizes = append(m.sizes, s)
	}
	return m.sizes
}
