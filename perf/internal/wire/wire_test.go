package wire

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestRoundTrip reads what was written, at the limits of each kind of value.
func TestRoundTrip(t *testing.T) {
	var w Writer
	uints := []uint64{0, 1, 127, 128, math.MaxUint64}
	ints := []int64{0, -1, 1, 63, -64, math.MinInt64, math.MaxInt64}
	texts := []string{"", "main.sweep", "", "main.sweep", "x"}
	list := []int{3, 1, 1, 9}
	for _, v := range uints {
		w.Uint(v)
	}
	for _, v := range ints {
		w.Int(v)
	}
	floats := []float64{0, math.Copysign(0, -1), 1, -2.5, 1.0 / 3, math.MaxFloat64, math.SmallestNonzeroFloat64, math.Inf(-1)}
	for _, v := range floats {
		w.Float(v)
	}
	lists := [][]float64{nil, {0}, {1.0 / 3}, append([]float64{0, 0, 0}, floats...), make([]float64, 16)}
	for _, list := range lists {
		w.Floats(list)
	}
	w.Strings(texts)
	w.Flags(true, false, true)
	w.Ints(list)
	w.Ints(nil)
	w.Byte(200)
	r := NewReader(w.Bytes())
	for _, v := range uints {
		if got := r.Uint(); got != v {
			t.Errorf("%d read as %d", v, got)
		}
	}
	for _, v := range ints {
		if got := r.Int(); got != v {
			t.Errorf("%d read as %d", v, got)
		}
	}
	for _, v := range floats {
		if got := r.Float(); math.Float64bits(got) != math.Float64bits(v) {
			t.Errorf("%g read as %g", v, got)
		}
	}
	for _, list := range lists {
		got := make([]float64, r.FloatsLen())
		for i := range got {
			got[i] = 7 // to be overwritten
		}
		r.FloatsTo(got)
		if fmt.Sprint(got) != fmt.Sprint(list) {
			t.Errorf("%v read as %v", list, got)
		}
	}
	if diff := cmp.Diff(texts, r.Strings()); diff != "" {
		t.Error(diff)
	}
	if f := r.Flags(); !f.Has(0) || f.Has(1) || !f.Has(2) {
		t.Errorf("flags %b", f)
	}
	if diff := cmp.Diff(list, r.Ints(10)); diff != "" {
		t.Error(diff)
	}
	if got := r.Ints(10); got != nil {
		t.Errorf("no numbers read as %v", got)
	}
	if got := r.Byte(); got != 200 {
		t.Errorf("byte %d", got)
	}
	if err := r.End(); err != nil {
		t.Error(err)
	}
}

// TestStringsAreWrittenOnce: a name that recurs costs a byte.
func TestStringsAreWrittenOnce(t *testing.T) {
	var w Writer
	w.String("a long name")
	n := len(w.Bytes())
	w.String("a long name")
	if len(w.Bytes()) != n+1 {
		t.Errorf("%d bytes, then %d", n, len(w.Bytes()))
	}
}

// TestDamage: what was not written is an error, and costs no memory.
func TestDamage(t *testing.T) {
	for name, read := range map[string]func(r *Reader){
		"a length beyond the end": func(r *Reader) { r.Strings() },
		"a number of a string":    func(r *Reader) { _ = r.String() },
		"an index":                func(r *Reader) { r.Index(3) },
		"an index of none":        func(r *Reader) { r.Index(0) },
		"a list of floats":        func(r *Reader) { r.FloatsLen() },
		"floats":                  func(r *Reader) { r.FloatsTo(make([]float64, 3)) },
		"a list":                  func(r *Reader) { r.Ints(1 << 40) },
	} {
		r := NewReader([]byte{0xff, 0xff, 0xff, 0xff, 0x7f})
		if read(r); !errors.Is(r.Err(), ErrDamaged) {
			t.Errorf("%s: %v", name, r.Err())
		}
	}
	for _, data := range [][]byte{nil, {0x80}} {
		r := NewReader(data)
		if got := r.Uint(); got != 0 || r.Err() == nil {
			t.Errorf("%v read as %d, %v", data, got, r.Err())
		}
		if r.Byte() != 0 || r.Int() != 0 || r.String() != "" {
			t.Error("values after the end")
		}
	}
	r := NewReader([]byte{1, 6}) // 3
	if list := r.Ints(3); list != nil || r.Err() == nil {
		t.Errorf("a number beyond the limit: %v, %v", list, r.Err())
	}
	r = NewReader([]byte{1})
	if err := r.End(); err == nil {
		t.Error("a byte is left, and no error")
	}
}

func FuzzReader(f *testing.F) {
	var w Writer
	w.Strings([]string{"a", "b", "a"})
	w.Ints([]int{1, 5})
	f.Add(w.Bytes())
	f.Fuzz(func(t *testing.T, data []byte) {
		r := NewReader(data)
		if list := r.Strings(); len(list) > len(data) {
			t.Errorf("%d strings of %d bytes", len(list), len(data))
		}
		if list := r.Ints(100); len(list) > len(data) {
			t.Errorf("%d numbers of %d bytes", len(list), len(data))
		}
		if r.End() != nil && r.Err() == nil {
			t.Error("an error that Err does not return")
		}
	})
}
