package cfg

import (
	"math"

	"presage/perf/isa"
)

// fact is a comparison that is known to hold.
type fact struct {
	op   isa.Operator
	a, b *term
}

// opposite maps each comparison to its negation.
var opposite = map[isa.Operator]isa.Operator{
	isa.Equal: isa.NotEqual, isa.NotEqual: isa.Equal,
	isa.Less: isa.GreaterEqual, isa.GreaterEqual: isa.Less,
	isa.LessUnsigned: isa.GreaterEqualUnsigned, isa.GreaterEqualUnsigned: isa.LessUnsigned,
}

// interval is the range of the index, both ends included.
type interval struct {
	lo, hi int64
	mask   int64 // the only bits that may be set; 0: any
}

// maxTable bounds the number of entries of a table.
const maxTable = 1 << 14

func (v interval) bounded() bool { return v.lo > math.MinInt64 && v.hi < math.MaxInt64 }

// small reports whether the interval is small enough to enumerate.
func (v interval) small() bool { return v.bounded() && (v.hi < v.lo || uint64(v.hi-v.lo) < maxTable) }

// narrow applies a fact about the index, if it has the form
//
//	index + offset op limit
//
// or the reverse. Unsigned comparisons bound the index only if they bound it from
// above: then they also bound it from below.
func (v interval) narrow(f fact) interval {
	op, side, limit := f.op, f.a, f.b
	if side.kind == constant {
		side, limit = limit, side
		op = mirrored[op]
	}
	core, offset := side.core()
	if core.kind != index || limit.kind != constant {
		return v
	}
	n := limit.n
	switch op {
	case isa.Less:
		v.hi = min(v.hi, n-1-offset)
	case atMost:
		v.hi = min(v.hi, n-offset)
	case isa.GreaterEqual:
		v.lo = max(v.lo, n-offset)
	case above:
		v.lo = max(v.lo, n+1-offset)
	case isa.LessUnsigned:
		if n > 0 {
			v.lo, v.hi = max(v.lo, -offset), min(v.hi, n-1-offset)
		}
	case atMostUnsigned:
		if n >= 0 {
			v.lo, v.hi = max(v.lo, -offset), min(v.hi, n-offset)
		}
	}
	return v
}

// Comparisons with exchanged sides, which no instruction has.
const (
	atMost         = isa.Operator(200 + iota) // signed
	above                                     // signed
	atMostUnsigned                            //
	aboveUnsigned
)

var mirrored = map[isa.Operator]isa.Operator{
	isa.Less: above, isa.GreaterEqual: atMost,
	isa.LessUnsigned: aboveUnsigned, isa.GreaterEqualUnsigned: atMostUnsigned,
}

// unsigned reports whether f bounds the index from both sides.
func (f fact) unsigned() bool {
	return f.op == isa.LessUnsigned && f.a.index ||
		f.op == isa.GreaterEqualUnsigned && f.b.index
}

// mask returns the interval to which t's own form confines it, if that is narrow:
// low bits, a remainder, or high bits.
func (t *term) mask() (interval, bool) {
	switch {
	case t.kind == extension && t.op == isa.ZeroExtend && t.n <= 16:
		return interval{hi: 1<<t.n - 1}, true
	case t.kind != operation || t.b.kind != constant:
		return interval{}, false
	}
	n := t.b.n
	switch {
	case t.op == isa.And && n >= 0 && n < maxTable:
		return interval{hi: n, mask: n}, true
	case t.op == isa.RemainderUnsigned && n > 0 && n <= maxTable:
		return interval{hi: n - 1}, true
	case t.op == isa.ShiftRight && !t.word && n&63 >= 64-12:
		return interval{hi: 1<<(64-n&63) - 1}, true
	case t.op == isa.ShiftRight && t.word && n&31 >= 32-12:
		return interval{hi: 1<<(32-n&31) - 1}, true
	}
	return interval{}, false
}

// certain reports whether a mask serves to make the index fit its table, rather
// than only to extract the bits of a variable.
func (t *term) certain() bool {
	return t.kind == operation && t.op != isa.ShiftRight || t.kind == extension && t.n < 8
}
