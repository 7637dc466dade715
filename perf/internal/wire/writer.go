package wire

import "encoding/binary"

// Writer appends values to a slice of bytes. The zero Writer is empty.
type Writer struct {
	data    []byte
	strings map[string]uint64
}

// Bytes returns what was written.
func (w *Writer) Bytes() []byte { return w.data }

// Uint writes a number that is not negative.
func (w *Writer) Uint(v uint64) { w.data = binary.AppendUvarint(w.data, v) }

// Int writes a number that may be negative.
func (w *Writer) Int(v int64) { w.data = binary.AppendVarint(w.data, v) }

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
