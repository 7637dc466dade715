// Package affine takes runs of loops apart for collectors that see memory in
// blocks: it turns the strides of a run into streams of blocks, and finds the
// kinds of iterations that recur in a loop and the runs that repeat one another.
// All of it is exact.
package affine

import (
	"math/bits"

	"presage/perf/trace"
)

// MaxStreams is the largest number of accesses in an iteration of a loop that
// this package handles.
const MaxStreams = 64

// Stream is one access of each iteration of a loop, in blocks of 2^Shift bytes.
// Each lies in one block.
type Stream struct {
	First uint64 // address in iteration 0
	Step  uint64 // from one iteration to the next, modulo 2^64
	Next  uint32 // set by Move: the iteration that accesses another block
	Label uint32 // what tells accesses apart for the caller: see Shapes

	// Spills streams are of the last bytes of the accesses of the stream before: they make an
	// access in those iterations alone in which that is in another block.
	Spills bool

	shift   uint8
	kind    stepKind
	cluster uint8
	inverse uint64 // of the size of the step: see quotient
}

// stepKind says how a stream moves through blocks.
type stepKind uint8

const (
	stays    stepKind = iota
	upward            // by less than a block
	downward          // by less than a block
	leaps             // to another block in each iteration
)

// NewStream returns the stream of a stride in blocks of 2^shift bytes, at most
// 2^31. It returns false if an access may span two blocks: all must be aligned to
// their size.
func NewStream(s trace.Stride, shift uint) (Stream, bool) {
	bytes, size := s.First.Size(), uint64(1)<<shift
	f := Stream{First: s.First.Addr(), Step: uint64(s.Step), shift: uint8(shift)}
	if (f.First|f.Step)&(bytes-1) != 0 || bytes > size {
		return f, false
	}
	switch {
	case s.Step == 0:
	case s.Step >= int64(size) || -s.Step >= int64(size):
		f.kind = leaps
	case s.Step > 0:
		f.kind, f.inverse = upward, inverse(f.Step)
	default:
		f.kind, f.inverse = downward, inverse(-f.Step)
	}
	return f, true
}

// AppendSpanned appends to dst the streams of a stride that NewStream does not take, one
// for each of the blocks that its accesses span, by ascending address. It returns false,
// and dst, unless the step is of whole blocks, so that these are as many in every
// iteration, and dst has at most MaxStreams then.
//
// Accesses of vectors often span two blocks each, as arrays begin anywhere.
func AppendSpanned(dst []Stream, s trace.Stride, shift uint) ([]Stream, bool) {
	first, last := s.First.Addr()>>shift, s.First.Last()>>shift
	if uint64(s.Step)&(1<<shift-1) != 0 || last-first >= uint64(MaxStreams-len(dst)) {
		return dst, false
	}
	kind := stays
	if s.Step != 0 {
		kind = leaps
	}
	for block := first; block <= last; block++ {
		dst = append(dst, Stream{First: block << shift, Step: uint64(s.Step), shift: uint8(shift), kind: kind})
	}
	return dst, true
}

// AppendSpilling appends to dst the streams of a stride whose accesses span one block more
// in some iterations than in others: those of each block that all of them reach, and one
// that Spills. It returns false, and dst, if that has more than MaxStreams then.
func AppendSpilling(dst []Stream, s trace.Stride, shift uint) ([]Stream, bool) {
	reached := spilling(s, shift) - 1
	if len(dst)+reached >= MaxStreams {
		return dst, false
	}
	for n := range reached {
		dst = append(dst, byteStream(s.First.Addr()+uint64(n)<<shift, s.Step, shift))
	}
	f := byteStream(s.First.Last(), s.Step, shift)
	f.Spills = true
	return append(dst, f), true
}

// byteStream returns the stream of accesses to one byte.
func byteStream(addr uint64, step int64, shift uint) Stream {
	f, _ := NewStream(trace.Stride{Step: step}, shift)
	f.First = addr // the last byte may lie beyond those that an Access can hold
	return f
}

// spilling returns the number of streams that AppendSpilling appends.
func spilling(s trace.Stride, shift uint) int { return max(1, int(s.First.Size()>>shift)) + 1 }

// SpillsIn returns the number of iterations, of the first count, in which f, a stream that
// Spills, makes an access: it is in another block than the stream before it.
func (f *Stream) SpillsIn(before *Stream, count uint32) (n uint64) {
	shift := f.shift & 63
	period := uint32(1) << (uint(shift) - min(uint(bits.TrailingZeros64(f.Step)), uint(shift)))
	for i := range min(period, count) {
		if f.Block(i) != before.Block(i) {
			n += uint64((count-1-i)/period) + 1
		}
	}
	return n
}

// divided returns how many streams a stride makes by the first that takes it of NewStream,
// AppendSpanned and AppendSpilling, and the least power of two of bytes by multiples of
// which it may be moved and makes as many.
func divided(s trace.Stride, shift uint) (streams int, grain uint64) {
	if size := s.First.Size(); (s.First.Addr()|uint64(s.Step))&(size-1) == 0 && size <= 1<<shift {
		return 1, size
	}
	if uint64(s.Step)&(1<<shift-1) == 0 {
		return int(s.First.Last()>>shift-s.First.Addr()>>shift) + 1, 1 << shift
	}
	return spilling(s, shift), 1
}

// Addr returns the address in an iteration.
func (f *Stream) Addr(iteration uint32) uint64 { return f.First + f.Step*uint64(iteration) }

// Block returns the block accessed in an iteration.
func (f *Stream) Block(iteration uint32) uint64 { return f.Addr(iteration) >> (f.shift & 63) }

// Move returns the block accessed in an iteration, and sets Next to the first one
// after it that accesses another, or to count if none before count does.
func (f *Stream) Move(iteration, count uint32) (block uint64) {
	addr := f.Addr(iteration)
	mask := uint64(1)<<(f.shift&63) - 1
	n := uint64(1)
	switch f.kind {
	case stays:
		n = uint64(count)
	case upward:
		n += quotient(mask-addr&mask, f.inverse)
	case downward:
		n += quotient(addr&mask, f.inverse)
	}
	f.Next = uint32(min(uint64(iteration)+n, uint64(count)))
	return addr >> (f.shift & 63)
}

// Row is some blocks next to one another.
type Row struct{ First, Last uint64 }

// Row returns the blocks that the stream accesses in count iterations, or false if it leaps
// over some between them.
func (f *Stream) Row(count uint32) (r Row, ok bool) {
	first, last := f.Block(0), f.Block(count-1)
	return Row{min(first, last), max(first, last)}, f.kind != leaps
}

// MostInSet returns a bound of the number of blocks, of those that the stream accesses
// in count iterations, of which all have the same remainder by sets, a power of two.
//
// Blocks next to one another differ in remainders until these recur. Addresses a whole
// block or more apart recur, modulo sets blocks, after sets·size/2^g iterations, where
// 2^g is the greatest power of two that divides the step; before, they are at least
// 2^g apart.
func (f *Stream) MostInSet(count uint32, sets uint64) uint64 {
	if f.kind != leaps {
		last := f.Addr(count - 1)
		return (max(f.First, last)>>f.shift-min(f.First, last)>>f.shift)/sets + 1
	}
	g := min(uint(bits.TrailingZeros64(f.Step)), uint(f.shift)+uint(bits.TrailingZeros64(sets)))
	period := sets << f.shift >> g
	return (uint64(count) + period - 1) / period << max(0, int(f.shift)-int(g))
}

// inverse returns a number for quotient to divide by d > 0 with.
func inverse(d uint64) uint64 {
	if d == 1 {
		return 0
	}
	return ^uint64(0)/d + 1
}

// quotient returns n/d, rounded down, for n·d < 2^64. The inverse exceeds 2^64/d
// by less than 1, so the product exceeds 2^64·n/d by less than n < 2^64/d: too
// little to reach the next integer.
func quotient(n, inverse uint64) uint64 {
	if inverse == 0 {
		return n
	}
	q, _ := bits.Mul64(n, inverse)
	return q
}

// Repeats returns how many of the segments after that of piece i repeat it: a
// segment is the run of a piece with the single accesses up to the next run.
// One repeats another if the same references access the same blocks of 2^shift
// bytes in the same order. At most tail single accesses follow the run of piece i.
func Repeats(pieces []trace.Piece, i, tail int, shift uint) int {
	n := 0
	if len(pieces[i+1].Accesses) > tail {
		return n
	}
	for j := i + 1; j+1 < len(pieces) && repeats(pieces, i, j, shift); j++ {
		n++
	}
	return n
}

func repeats(pieces []trace.Piece, i, j int, shift uint) bool {
	a, b := &pieces[i].Loop, &pieces[j].Loop
	if a.Count != b.Count || len(a.Strides) != len(b.Strides) {
		return false
	}
	for n := range a.Strides {
		if !sameBlocks(a.Strides[n], b.Strides[n], shift) {
			return false
		}
	}
	x, y := pieces[i+1].Accesses, pieces[j+1].Accesses
	if len(x) != len(y) {
		return false
	}
	for n := range x {
		if x[n].Ref() != y[n].Ref() || x[n].Addr()>>shift != y[n].Addr()>>shift || x[n].Last()>>shift != y[n].Last()>>shift {
			return false
		}
	}
	return true
}

// sameBlocks reports whether b accesses the blocks that a does. With a step that is a
// multiple of 2^g, at most a block, the addresses of all iterations divided by 2^g, and so
// their blocks, follow from the first.
func sameBlocks(a, b trace.Stride, shift uint) bool {
	differs := a.First ^ b.First // where the references, and so the sizes, are the same, in addresses
	if a.Step != b.Step || differs>>(shift&63) != 0 {
		return false
	}
	g := min(uint(bits.TrailingZeros64(uint64(a.Step))), shift) & 63
	last := trace.Access(a.First.Size() - 1)
	return differs>>g == 0 && ((a.First+last)^(b.First+last))>>g == 0
}
