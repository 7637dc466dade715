package wire

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// Writer appends values to a slice of bytes. The zero Writer is empty.
type Writer struct {
	data    []byte
	strings map[string]uint64
}

// Bytes returns what was written.
func (w *Writer) Bytes() []byte { return w.data }

// Grow makes room for n bytes more.
func (w *Writer) Grow(n int) { w.data = slices.Grow(w.data, n) }

// Uint writes a number that is not negative.
func (w *Writer) Uint(v uint64) { w.data = binary.AppendUvarint(w.data, v) }

// Int writes a number that may be negative.
func (w *Writer) Int(v int64) { w.data = binary.AppendVarint(w.data, v) }

// Float writes a number of floating point, to the last bit. Whole numbers, and others of
// few digits in base 2, take few bytes: their last bytes are 0, and become the first.
func (w *Writer) Float(v float64) { w.Uint(bits.ReverseBytes64(math.Float64bits(v))) }

// Floats writes a list of numbers of floating point: for each eight of them, which are
// not 0, and these as they are.
func (w *Writer) Floats(list []float64) {
	w.Len(len(list))
	for len(list) > 0 {
		some := list[:min(8, len(list))]
		list = list[len(some):]
		at := len(w.data)
		w.data = append(w.data, 0)
		for i, v := range some {
			if b := math.Float64bits(v); b != 0 {
				w.data[at] |= 1 << i
				w.data = binary.LittleEndian.AppendUint64(w.data, b)
			}
		}
	}
}

// Len writes the length of what follows, or an index; it panics if n is negative.
func (w *Writer) Len(n int) {
	if n < 0 {
		panic("wire: negative length")
	}
	w.Uint(uint64(n))
}

// Byte writes a byte as it is.
func (w *Writer) Byte(b byte) { w.data = append(w.data, b) }

// Flags writes up to eight booleans as one byte; it panics if there are more.
func (w *Writer) Flags(flags ...bool) {
	if len(flags) > 8 {
		panic("wire: more than eight flags")
	}
	var b byte
	for i, set := range flags {
		if set {
			b |= 1 << i
		}
	}
	w.Byte(b)
}

// String writes a string: in full the first time, then by its number.
func (w *Writer) String(s string) {
	if n, ok := w.strings[s]; ok {
		w.Uint(n)
		return
	}
	if w.strings == nil {
		w.strings = make(map[string]uint64)
	}
	w.strings[s] = uint64(len(w.strings)) + 1
	w.Uint(0)
	w.Len(len(s))
	w.data = append(w.data, s...)
}

// Strings writes a list of strings.
func (w *Writer) Strings(list []string) {
	w.Len(len(list))
	for _, s := range list {
		w.String(s)
	}
}

// Ints writes a list of numbers that are not negative and mostly ascend: the first
// and the differences.
func (w *Writer) Ints(list []int) {
	w.Len(len(list))
	before := 0
	for _, v := range list {
		w.Int(int64(v - before))
		before = v
	}
}
