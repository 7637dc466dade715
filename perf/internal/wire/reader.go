package wire

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// ErrDamaged is what a Reader reports of bytes that no Writer wrote in the
// structure that is asked for.
var ErrDamaged = errors.New("damaged record")

// Reader returns the values that a Writer wrote, in their order. After the first
// value that is damaged it returns zero values, and Err says so.
type Reader struct {
	data    []byte
	strings []string
	err     error
}

// NewReader returns a Reader of what a Writer wrote.
func NewReader(data []byte) *Reader { return &Reader{data: data} }

// Err returns ErrDamaged if a value was damaged.
func (r *Reader) Err() error { return r.err }

// End returns an error if a value was damaged, or if some are left.
func (r *Reader) End() error {
	if r.err == nil && len(r.data) > 0 {
		r.Fail()
	}
	return r.err
}

// Fail notes that the values make no sense to the caller.
func (r *Reader) Fail() {
	r.err = ErrDamaged
	r.data = nil
}

// Uint reads a number that is not negative.
func (r *Reader) Uint() uint64 {
	if len(r.data) > 0 && r.data[0] < 0x80 {
		v := r.data[0]
		r.data = r.data[1:]
		return uint64(v)
	}
	v, n := binary.Uvarint(r.data)
	if n <= 0 {
		r.Fail()
		return 0
	}
	r.data = r.data[n:]
	return v
}

// Int reads a number that may be negative.
func (r *Reader) Int() int64 {
	v := r.Uint()
	return int64(v>>1) ^ -int64(v&1)
}

// Float reads a number of floating point.
func (r *Reader) Float() float64 { return math.Float64frombits(bits.ReverseBytes64(r.Uint())) }

// FloatsLen reads the length of a list of numbers of floating point, for FloatsTo.
func (r *Reader) FloatsLen() int {
	v := r.Uint()
	if v > 8*uint64(len(r.data)) {
		r.Fail()
		return 0
	}
	return int(v)
}

// FloatsTo reads a list of numbers of floating point into list, which has the length
// that FloatsLen returned.
func (r *Reader) FloatsTo(list []float64) {
	for len(list) > 0 {
		some := list[:min(8, len(list))]
		list = list[len(some):]
		mask := r.Byte()
		for i := range some {
			some[i] = 0
			if mask>>i&1 == 0 {
				continue
			}
			if len(r.data) < 8 {
				r.Fail()
				return
			}
			some[i] = math.Float64frombits(binary.LittleEndian.Uint64(r.data))
			r.data = r.data[8:]
		}
	}
}

// Len reads how many values follow, of which each takes a byte at least. A damaged
// length thus costs no memory.
func (r *Reader) Len() int {
	v := r.Uint()
	if v > uint64(len(r.data)) {
		r.Fail()
		return 0
	}
	return int(v)
}

// Index reads a number below n.
func (r *Reader) Index(n int) int {
	v := r.Uint()
	if v >= uint64(max(n, 0)) {
		r.Fail()
		return 0
	}
	return int(v)
}

// Byte reads a byte.
func (r *Reader) Byte() byte {
	if len(r.data) == 0 {
		r.Fail()
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

// Flags reads booleans that Writer.Flags wrote, the first as the lowest bit.
func (r *Reader) Flags() Flags { return Flags(r.Byte()) }

// Flags are up to eight booleans.
type Flags byte

// Has reports whether the i-th boolean, from 0, is set.
func (f Flags) Has(i int) bool { return f>>i&1 != 0 }

// String reads a string.
func (r *Reader) String() string {
	n := r.Uint()
	if n > 0 {
		if n > uint64(len(r.strings)) {
			r.Fail()
			return ""
		}
		return r.strings[n-1]
	}
	size := r.Len()
	s := string(r.data[:size])
	r.data = r.data[size:]
	r.strings = append(r.strings, s)
	return s
}

// Strings reads a list of strings, nil if it is empty.
func (r *Reader) Strings() []string {
	n := r.Len()
	if n == 0 {
		return nil
	}
	list := make([]string, n)
	for i := range list {
		list[i] = r.String()
	}
	return list
}

// Ints reads a list of numbers from 0 to below limit, nil if it is empty.
func (r *Reader) Ints(limit int) []int {
	n := r.Len()
	if n == 0 {
		return nil
	}
	list := make([]int, n)
	before := int64(0)
	for i := range list {
		before += r.Int()
		if before < 0 || before >= int64(min(limit, math.MaxInt)) {
			r.Fail()
			return nil
		}
		list[i] = int(before)
	}
	return list
}
