package trace

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// Digest returns a hash of the plan, in hexadecimal. It is part of the key of
// stored results: a recording is valid only for the plan it was made under.
func (p *Plan) Digest() string {
	h := sha256.New()
	var b []byte
	put := func(values ...uint64) {
		for _, v := range values {
			b = binary.LittleEndian.AppendUint64(b, v)
		}
		if len(b) >= 4096 {
			h.Write(b)
			b = b[:0]
		}
	}
	put(uint64(len(p.Refs)), uint64(len(p.Blocks)))
	for _, r := range p.Refs {
		float := uint64(0)
		if r.Float {
			float = 1
		}
		// Operand shares a word with Kind, so that plans whose operands are all
		// 0 keep the digests from before Operand existed.
		put(uint64(r.PC), uint64(r.Size), uint64(r.Operand)<<8|uint64(r.Kind), float, uint64(r.Group))
	}
	for _, k := range p.Blocks {
		varies := uint64(0)
		if k.Varies {
			varies = 1 << 32 // above Refs, for the same reason
		}
		put(uint64(k.PC), uint64(k.Instructions), varies|uint64(k.Refs))
	}
	if f := p.Flow; f != nil {
		put(uint64(len(f.Edges)), uint64(len(f.Places)), uint64(len(f.Quiet)), uint64(len(f.Jumps)))
		for _, e := range f.Edges {
			put(uint64(e.From), uint64(e.To))
		}
		for _, list := range [][]PC{f.Places, f.Quiet, f.Jumps} {
			for _, pc := range list {
				put(uint64(pc))
			}
		}
	}
	if m := p.Memory; m != nil {
		put(memoryMark, uint64(len(m.Allocators)))
		for _, a := range m.Allocators {
			put(uint64(a.PC), uint64(a.Role))
		}
	}
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// memoryMark tells a MemoryPlan from the lists before it: no PC is as large.
const memoryMark = 1<<64 - 1
