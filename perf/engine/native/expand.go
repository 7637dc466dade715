//go:build linux && amd64

package native

import (
	"math/bits"
	"slices"

	"presage/perf/trace"
)

const (
	addrMask = trace.AddrLimit - 1
	addrBits = 40 // of it
)

var _ [0]struct{} = [trace.AddrLimit - 1<<addrBits]struct{}{}

// expand appends the accesses of a simple block, for which there is room unless the
// block is larger than a batch.
func (r *reader) expand(b *block, w []uint64) {
	n := len(r.batch.Accesses)
	if cap(r.batch.Accesses)-n < len(b.refs) {
		r.expandAny(b, w)
		return
	}
	out := r.batch.Accesses[n : n+len(b.refs)]
	c := r.chunks
	for k := range b.refs {
		p := &b.refs[k]
		a := w[p.slot] + uint64(p.delta)
		a += c[a>>chunkBits&uint64(len(c)-1)].add
		out[k] = p.tag | trace.Access(a&addrMask)
	}
	r.batch.Accesses = r.batch.Accesses[:n+len(out)]
}

// expandAny appends the accesses of any block.
func (r *reader) expandAny(b *block, w []uint64) {
	for k := 0; k < len(b.refs); k++ {
		p := &b.refs[k]
		if p.form != repeated {
			r.access(p, w)
			continue
		}
		n := 1 // movs and cmps have two operands
		if k+1 < len(b.refs) && b.refs[k+1].form == repeated && b.refs[k+1].index == p.index {
			n = 2
		}
		r.repetition(b.refs[k:k+n], w)
		k += n - 1
	}
}

func (r *reader) put(tag trace.Access, addr uint64) {
	r.batch.Accesses = append(r.batch.Accesses, tag|trace.Access(r.chunks.synthetic(addr)))
}

// access appends the accesses of a reference.
func (r *reader) access(p *planned, w []uint64) {
	a := uint64(p.delta)
	if p.slot >= 0 {
		a += w[p.slot]
	}
	if p.fs {
		a += r.fs
	}
	switch p.form {
	case bitString:
		size := int64(p.size)
		shift := 64 - 8*size
		bit := int64(w[p.more]<<shift) >> shift
		r.put(p.tag, a+uint64(bit>>(bits.Len64(uint64(8*size))-1)*size))
	case masked:
		for lane := range uint64(p.lanes) {
			if w[p.more]>>lane&1 != 0 {
				r.put(p.tag, a+lane*uint64(p.size))
			}
		}
	case compressed:
		for lane := range uint64(bits.OnesCount64(w[p.more] & (1<<p.lanes - 1))) {
			r.put(p.tag, a+lane*uint64(p.size))
		}
	case signed:
		for lane := range int(p.lanes) {
			if sign(w[p.more:], lane, int(p.size)) {
				r.put(p.tag, a+uint64(lane)*uint64(p.size))
			}
		}
	case gathered:
		for lane := range int(p.lanes) {
			if w[p.more]>>lane&1 != 0 {
				r.put(p.tag, a+p.element(w, lane))
			}
		}
	case gatheredSigned:
		for lane := range int(p.lanes) {
			if sign(w[p.more:], lane, int(p.size)) {
				r.put(p.tag, a+p.element(w, lane))
			}
		}
	default:
		r.put(p.tag, a)
	}
}

// repetition appends the accesses of a repeated string instruction: as many as take
// a register from what it holds before to what it holds after.
func (r *reader) repetition(operands []planned, w []uint64) {
	p := &operands[0]
	n, step := int64(w[p.more]-w[p.slot]), uint64(p.size)
	if n < 0 {
		n, step = -n, -step
	}
	times, at := uint64(n/int64(p.size)), len(r.batch.Accesses)
	if times == 0 {
		return
	}
	r.batch.Accesses = slices.Grow(r.batch.Accesses, int(times)*len(operands))
	r.batch.Accesses = r.batch.Accesses[:at+int(times)*len(operands)]
	for k := range operands {
		o, out := &operands[k], r.batch.Accesses[at+k:]
		a := w[o.slot] + uint64(o.delta)
		if o.fs {
			a += r.fs
		}
		for i := range times {
			out[i*uint64(len(operands))] = o.tag | trace.Access(r.chunks.synthetic(a))
			a += step
		}
	}
}

// element returns the offset of an element of a gather.
func (p *planned) element(w []uint64, lane int) uint64 {
	v := w[p.vector:]
	if p.wide {
		return v[lane] << p.scale
	}
	return uint64(int64(int32(v[lane/2]>>(lane%2*32)))) << p.scale
}

// sign returns the highest bit of an element of size bytes of a vector.
func sign(v []uint64, lane, size int) bool {
	top := lane*size + size - 1
	return v[top/8]>>(top%8*8+7)&1 != 0
}
