package cache

import (
	"slices"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// server is servePlain for sets of so many places, to level with tags and a mask. It writes
// to out, where there must be room for two transfers for each of in, and returns the number
// of bytes.
//
// It has no branch on what a set holds. All places are compared with the block wanted at
// once. The tags before it, or all if it is missing, move back by one, which is a
// permutation of the lanes, and the others are chosen from what was there. What a miss
// would ask for is always written, and written over unless it is one.
type server func(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

// wideServers reports whether there are servers by vectors of eight tags.
var wideServers = cpu.X86.HasAVX512F && cpu.X86.HasAVX512DQ && cpu.X86.HasBMI1 && cpu.X86.HasBMI2

// serverOf returns the server for sets of so many places; nil: none.
func serverOf(places uint64) server {
	if !cpu.X86.HasAVX2 || !cpu.X86.HasBMI1 || !cpu.X86.HasBMI2 {
		return nil
	}
	if wideServers {
		switch places {
		case 8:
			return serve8wide
		case 16:
			return serve16wide
		}
	}
	switch places {
	case 2:
		return serve2
	case 4:
		return serve4
	case 8:
		return serve8
	case 12:
		return serve12
	case 16:
		return serve16
	}
	return nil
}

// serve is servePlain, by a server if there is one.
func (l *level) serve(out, in []transfer, shift uint) []transfer {
	f := serverOf(l.places)
	if f == nil || l.pool != nil || len(in) == 0 {
		return l.servePlain(out, in, shift)
	}
	n := len(out)
	out = slices.Grow(out, 2*len(in))[:n+2*len(in)]
	n += f(&l.tags[0], l.mask, uint64(shift), in, &out[n]) / int(unsafe.Sizeof(transfer{}))
	return out[:n]
}

// ask is serve for transfers that all ask for a block of the level's own size, after no write.
func (l *level) ask(out, in []transfer) []transfer {
	if l.places != 8 || !wideServers || l.pool != nil || len(in) == 0 {
		return l.serve(out, in, 0)
	}
	n := len(out)
	out = slices.Grow(out, 2*len(in))[:n+2*len(in)]
	n += ask8wide(&l.tags[0], l.mask, in, &out[n]) / int(unsafe.Sizeof(transfer{}))
	return out[:n]
}

// ask8wide is a server for ask.
//
//go:noescape
func ask8wide(tags *tag, mask uint64, in []transfer, out *transfer) int

//go:noescape
func serve2(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

//go:noescape
func serve4(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

//go:noescape
func serve8(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

//go:noescape
func serve12(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

//go:noescape
func serve16(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

//go:noescape
func serve8wide(tags *tag, mask, shift uint64, in []transfer, out *transfer) int

//go:noescape
func serve16wide(tags *tag, mask, shift uint64, in []transfer, out *transfer) int
